package mdm.framework;

import android.graphics.Rect;
import android.util.Xml;
import android.view.accessibility.AccessibilityNodeInfo;
import java.io.IOException;
import java.io.StringWriter;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.Set;
import org.xmlpull.v1.XmlSerializer;

/** Writes what `uiautomator dump` writes: the focused window, with the platform's own serializer. */
final class TreeDump {
    static final int NODES_MAX = 20_000;

    private static final Set<String> NEVER_NAF =
            Set.of(
                    "android.widget.GridView",
                    "android.widget.GridLayout",
                    "android.widget.ListView",
                    "android.widget.TableLayout");

    private final int width;
    private final int height;
    private final XmlSerializer out;
    /** The nodes that are being written, the innermost last. */
    private final Deque<AccessibilityNodeInfo> around = new ArrayDeque<>();
    private int nodes;

    private TreeDump(int width, int height, XmlSerializer out) {
        this.width = width;
        this.height = height;
        this.out = out;
    }

    /** Returns the document, or null when no window has a root. */
    static String write(AccessibilityNodeInfo root, int rotation, int width, int height) throws IOException {
        if (root == null) {
            return null;
        }
        StringWriter text = new StringWriter();
        XmlSerializer serializer = Xml.newSerializer();
        serializer.setOutput(text);
        serializer.startDocument("UTF-8", true);
        serializer.startTag("", "hierarchy");
        serializer.attribute("", "rotation", Integer.toString(rotation));
        new TreeDump(width, height, serializer).node(root, 0);
        serializer.endTag("", "hierarchy");
        serializer.endDocument();
        return text.toString();
    }

    private void node(AccessibilityNodeInfo node, int index) throws IOException {
        // An activity inside another: the top view of each window has the same number, so the inner one is the outer one.
        if (++nodes > NODES_MAX || around.contains(node)) {
            return;
        }
        around.addLast(node);
        out.startTag("", "node");
        if (!NEVER_NAF.contains(String.valueOf(node.getClassName())) && isSilent(node)) {
            attribute("NAF", "true");
        }
        attribute("index", Integer.toString(index));
        attribute("text", clean(node.getText()));
        attribute("resource-id", clean(node.getViewIdResourceName()));
        attribute("class", clean(node.getClassName()));
        attribute("package", clean(node.getPackageName()));
        attribute("content-desc", clean(node.getContentDescription()));
        attribute("checkable", Boolean.toString(node.isCheckable()));
        attribute("checked", Boolean.toString(node.isChecked()));
        attribute("clickable", Boolean.toString(node.isClickable()));
        attribute("enabled", Boolean.toString(node.isEnabled()));
        attribute("focusable", Boolean.toString(node.isFocusable()));
        attribute("focused", Boolean.toString(node.isFocused()));
        attribute("scrollable", Boolean.toString(node.isScrollable()));
        attribute("long-clickable", Boolean.toString(node.isLongClickable()));
        attribute("password", Boolean.toString(node.isPassword()));
        attribute("selected", Boolean.toString(node.isSelected()));
        attribute("bounds", visibleBounds(node).toShortString());
        for (int i = 0; i < node.getChildCount(); i++) {
            AccessibilityNodeInfo child = node.getChild(i);
            if (child != null && child.isVisibleToUser()) {
                node(child, i);
            }
        }
        around.removeLast();
        out.endTag("", "node");
    }

    private void attribute(String name, String value) throws IOException {
        out.attribute("", name, value);
    }

    private Rect visibleBounds(AccessibilityNodeInfo node) {
        Rect bounds = new Rect();
        node.getBoundsInScreen(bounds);
        // Leaves a rectangle outside of the screen as it is, as uiautomator does.
        bounds.intersect(new Rect(0, 0, width, height));
        return bounds;
    }

    /** True for a node that can be clicked and says nothing, "not accessibility friendly". */
    private static boolean isSilent(AccessibilityNodeInfo node) {
        boolean isWordless = clean(node.getContentDescription()).isEmpty() && clean(node.getText()).isEmpty();
        return node.isClickable() && node.isEnabled() && isWordless && !hasWordsBelow(node);
    }

    private static boolean hasWordsBelow(AccessibilityNodeInfo node) {
        for (int i = 0; i < node.getChildCount(); i++) {
            AccessibilityNodeInfo child = node.getChild(i);
            if (child == null) {
                continue;
            }
            if (!clean(child.getContentDescription()).isEmpty() || !clean(child.getText()).isEmpty()) {
                return true;
            }
            if (hasWordsBelow(child)) {
                return true;
            }
        }
        return false;
    }

    /** Puts a dot for what XML cannot hold. */
    private static String clean(CharSequence text) {
        if (text == null) {
            return "";
        }
        StringBuilder out = new StringBuilder(text.length());
        for (int i = 0; i < text.length(); i++) {
            char c = text.charAt(i);
            out.append(isForbidden(c) ? '.' : c);
        }
        return out.toString();
    }

    private static boolean isForbidden(char c) {
        return (c >= 0x1 && c <= 0x8)
                || (c >= 0xB && c <= 0xC)
                || (c >= 0xE && c <= 0x1F)
                || (c >= 0x7F && c <= 0x84)
                || (c >= 0x86 && c <= 0x9F)
                || (c >= 0xFDD0 && c <= 0xFDDF);
    }
}
