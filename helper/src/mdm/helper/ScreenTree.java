package mdm.helper;

import android.view.accessibility.AccessibilityNodeInfo;
import java.util.ArrayList;
import java.util.List;

/** The nodes of all windows as they were read, in document order, before they are written. */
final class ScreenTree {
    /** A node with the number of its children that were read. */
    static final class Node {
        final AccessibilityNodeInfo info;
        int children;

        Node(AccessibilityNodeInfo info) {
            this.info = info;
        }
    }

    /** A window and its share of the nodes. */
    static final class Window {
        final ScreenWindow window;
        final List<Node> nodes = new ArrayList<>();

        Window(ScreenWindow window) {
            this.window = window;
        }
    }

    /** The lowest first. */
    final List<Window> windows = new ArrayList<>();
    boolean isComplete = true;

    /** The nodes of all windows, in the order that an index in a request counts them. */
    List<Node> nodes() {
        List<Node> all = new ArrayList<>();
        for (Window window : windows) {
            all.addAll(window.nodes);
        }
        return all;
    }
}
