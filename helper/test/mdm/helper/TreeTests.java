package mdm.helper;

import static mdm.helper.Tests.equal;
import static mdm.helper.Tests.refused;
import static mdm.helper.Tests.test;

import android.view.accessibility.AccessibilityNodeInfo;

/** What is read of a screen, and what is written of it. */
final class TreeTests {
    private TreeTests() {}

    static void run() {
        test("windows are in order of layer and know their parent", TreeTests::windows);
        test("a node that is not visible is left out", TreeTests::hidden);
        test("every extra is written", TreeTests::extras);
        test("an old phone's facts come from androidx", TreeTests::compat);
        test("a child that cannot be read makes the tree incomplete", TreeTests::missingChild);
        test("a cycle ends at the depth", TreeTests::cycle);
        test("the number of nodes has a limit", TreeTests::many);
        test("reading ends after five seconds", TreeTests::slow);
        test("a screen without windows is refused", TreeTests::noWindow);
        test("the hash does not follow serial and time", TreeTests::hash);
    }

    private static void windows() throws Refusal {
        String text = text(Screens.full());
        has(text, "window 0 id=5 type=1 layer=0 flags=accessibility-focused|picture-in-picture title=\"\" "
                + "bounds=[0,0][1080,2400] parent=0\n  nodes=5");
        has(text, "window 1 id=9 type=1 layer=3 flags=active|focused title=\"Delete?\" bounds=[0,0][1080,2400] parent=1");
    }

    private static void hidden() throws Refusal {
        String text = text(Screens.full());
        has(text, "node 3 flags=enabled|scrollable children=1\n    class=\"android.widget.ListView\"");
        equal(false, text.contains("not on the screen"));
    }

    private static void extras() throws Refusal {
        String text = text(Screens.full());
        for (String line : new String[] {"hint=\"you@example.org\"", "state=\"20 percent\"", "role=\"Volume slider\"",
            "error=\"No address\"", "pane-title=\"Settings\"", "tooltip=\"Where we write to\"",
            "range kind=1 min=-1.5 max=10.0 current=2.25",
            "collection rows=100 columns=2 selection-mode=2 hierarchical=1",
            "item row=7 row-span=1 column=0 column-span=2 heading=1 selected=1", "live-region=1", "input-type=33",
            "selection start=4 end=4", "actions 2097152=\"\" 131072=\"\" 2131361793=\"Suggest one\"",
            "source high=2 low=17", "source high=4294967295 low=1", "container-title=\"Contact\"",
            "class=\"android.widget.EditText\" package=\"org.example\" id=\"org.example:id/mail\"",
            "text=\"caf\u00e9 \ud83d\ude00 \\\"quoted\\\"\\nline\"", "bounds=[-40,900][1120,1500]", "drawing-order=2",
            "flags=checkable|checked|enabled", "complete=1"}) {
            has(text, line);
        }
        equal(3, text.split("source high=").length);
        has(text, "flags=enabled|password|selected|heading|showing-hint|dismissable|multi-line|context-clickable"
                + "|accessibility-focused|screen-reader-focusable|text-entry-key|can-open-popup");
    }

    private static void compat() throws Refusal {
        String prefix = "androidx.view.accessibility.AccessibilityNodeInfoCompat.";
        ModelPhone phone = new ModelPhone();
        phone.sdk = 24;
        AccessibilityNodeInfo node = phone.node("a.B", "x");
        node.getExtras().putCharSequence(prefix + "PANE_TITLE_KEY", "Pane");
        node.getExtras().putCharSequence(prefix + "STATE_DESCRIPTION_KEY", "On");
        node.getExtras().putInt(prefix + "BOOLEAN_PROPERTY_KEY", 2);
        phone.window(1, 1, 0, 0, null, ScreenWindow.NO_PARENT, node);
        String text = text(phone);
        has(text, "pane-title=\"Pane\"");
        has(text, "state=\"On\"");
        has(text, "flags=enabled|heading");
    }

    private static void missingChild() throws Refusal {
        ModelPhone phone = new ModelPhone();
        AccessibilityNodeInfo root = phone.node("a.Root", null, null, phone.node("a.Child", "there"));
        phone.window(1, 1, 0, 0, null, ScreenWindow.NO_PARENT, root);
        has(text(phone), "complete=0");
        has(text(phone), "text=\"there\"");
    }

    private static void cycle() throws Refusal {
        ModelPhone phone = new ModelPhone();
        AccessibilityNodeInfo root = phone.node("a.Root", null);
        phone.setChildren(root, root);
        phone.window(1, 1, 0, 0, null, ScreenWindow.NO_PARENT, root);
        has(text(phone), "nodes=" + TreeReader.DEPTH_MAX);
        has(text(phone), "complete=0");
    }

    private static void many() throws Refusal {
        ModelPhone phone = new ModelPhone();
        AccessibilityNodeInfo row = phone.node("a.Row", "r");
        AccessibilityNodeInfo[] rows = new AccessibilityNodeInfo[300];
        java.util.Arrays.fill(rows, row);
        AccessibilityNodeInfo[] lists = new AccessibilityNodeInfo[300];
        java.util.Arrays.fill(lists, phone.node("a.List", null, rows));
        phone.window(1, 1, 0, 0, null, ScreenWindow.NO_PARENT, phone.node("a.Root", null, lists));
        has(text(phone), "nodes=" + TreeReader.NODES_MAX);
        has(text(phone), "complete=0");
    }

    private static void slow() throws Refusal {
        ModelPhone phone = new ModelPhone();
        phone.childMs = 1_000;
        AccessibilityNodeInfo row = phone.node("a.Row", "r");
        AccessibilityNodeInfo root = phone.node("a.Root", null, row, row, row, row, row, row, row, row);
        phone.window(1, 1, 0, 0, null, ScreenWindow.NO_PARENT, root);
        has(text(phone), "nodes=6");
        has(text(phone), "complete=0");
    }

    private static void noWindow() throws Exception {
        ModelPhone phone = new ModelPhone();
        refused(Refusal.NO_WINDOW, () -> text(phone));
        phone.window(1, 1, 0, 0, null, ScreenWindow.NO_PARENT, null);
        refused(Refusal.NO_WINDOW, () -> text(phone));
    }

    private static void hash() throws Refusal {
        ModelPhone phone = Screens.full();
        long first = body(phone).hash();
        phone.clockMs += 1_000;
        equal(first, body(phone).hash());
        phone.windows.get(0).bounds.left++;
        equal(false, first == body(phone).hash());
    }

    static Bytes body(ModelPhone phone) throws Refusal {
        return TreeWriter.write(phone.sdk, phone.screen(), phone.frontActivity(), TreeReader.read(phone));
    }

    private static String text(ModelPhone phone) throws Refusal {
        return TreeText.describe(new Bytes().u32(1).u64(2).append(body(phone)).toArray());
    }

    private static void has(String text, String part) {
        if (!text.contains(part)) {
            throw new AssertionError(part + " is not in\n" + text);
        }
    }
}
