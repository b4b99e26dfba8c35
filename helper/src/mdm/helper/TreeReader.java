package mdm.helper;

import android.view.accessibility.AccessibilityNodeInfo;
import java.util.ArrayList;
import java.util.List;

/** Reads the nodes of all windows, within limits on their number, their depth and the time that it takes. */
final class TreeReader {
    static final int NODES_MAX = 20_000;
    static final int DEPTH_MAX = 200;
    static final int WINDOWS_MAX = 100;
    static final int CHILDREN_MAX = 20_000;
    static final long READ_MS_MAX = 5_000;

    private final Automation automation;
    private final ScreenTree tree = new ScreenTree();
    private final long endsAt;
    private int nodes;

    private TreeReader(Automation automation) {
        this.automation = automation;
        this.endsAt = automation.uptimeMillis() + READ_MS_MAX;
    }

    static ScreenTree read(Automation automation) throws Refusal {
        automation.forgetCachedNodes();
        return new TreeReader(automation).readWindows();
    }

    private ScreenTree readWindows() throws Refusal {
        List<ScreenWindow> windows = new ArrayList<>(automation.windows());
        windows.sort((a, b) -> Integer.compare(a.layer, b.layer));
        if (windows.size() > WINDOWS_MAX) {
            windows = windows.subList(0, WINDOWS_MAX);
            tree.isComplete = false;
        }
        for (ScreenWindow window : windows) {
            ScreenTree.Window read = new ScreenTree.Window(window);
            tree.windows.add(read);
            readWindow(read);
        }
        if (nodes == 0) {
            throw new Refusal(Refusal.NO_WINDOW, windows.isEmpty() ? "the system tells of no window"
                    : "none of " + windows.size() + " windows gives its root; they may just be changing");
        }
        return tree;
    }

    private void readWindow(ScreenTree.Window into) {
        AccessibilityNodeInfo root = isSpent() ? null : rootOf(into.window);
        if (root == null) {
            tree.isComplete = false;
            return;
        }
        // Like uiautomator, which asks no root whether it is visible.
        readNode(into.nodes, root, 1);
    }

    private void readNode(List<ScreenTree.Node> into, AccessibilityNodeInfo info, int depth) {
        ScreenTree.Node node = new ScreenTree.Node(info);
        into.add(node);
        nodes++;
        int count = Math.min(info.getChildCount(), CHILDREN_MAX);
        for (int index = 0; index < count; index++) {
            if (depth >= DEPTH_MAX || isSpent()) {
                tree.isComplete = false;
                return;
            }
            AccessibilityNodeInfo child = childOf(info, index);
            if (child == null) {
                tree.isComplete = false;
            } else if (child.isVisibleToUser()) {
                node.children++;
                readNode(into, child, depth + 1);
            }
        }
    }

    private boolean isSpent() {
        return nodes >= NODES_MAX || automation.uptimeMillis() >= endsAt;
    }

    /** A window may go while it is read; then it has no root, which is no reason to give up the others. */
    private AccessibilityNodeInfo rootOf(ScreenWindow window) {
        try {
            return automation.root(window);
        } catch (RuntimeException e) {
            return null;
        }
    }

    private AccessibilityNodeInfo childOf(AccessibilityNodeInfo node, int index) {
        try {
            return automation.child(node, index);
        } catch (RuntimeException e) {
            return null;
        }
    }
}
