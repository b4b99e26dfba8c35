package mdm.helper;

import android.view.accessibility.AccessibilityNodeInfo;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;

/** Keeps the nodes of the last two trees, so that a request can name one by serial and index. */
final class KeptTrees {
    private static final int TREES_MAX = 2;

    /** A node and what the tree said of it. The node itself changes when it is refreshed. */
    private static final class Kept {
        final AccessibilityNodeInfo info;
        final String className;
        final String text;
        final String description;

        Kept(AccessibilityNodeInfo info) {
            this.info = info;
            this.className = copy(info.getClassName());
            this.text = copy(info.getText());
            this.description = copy(info.getContentDescription());
        }

        boolean isSame() {
            return className.equals(copy(info.getClassName())) && text.equals(copy(info.getText()))
                    && description.equals(copy(info.getContentDescription()));
        }

        private static String copy(CharSequence text) {
            return Objects.toString(text, "");
        }
    }

    private static final class Tree {
        final int serial;
        final long hash;
        final List<Kept> nodes = new ArrayList<>();

        Tree(int serial, long hash) {
            this.serial = serial;
            this.hash = hash;
        }
    }

    private final List<Tree> trees = new ArrayList<>();
    private int lastSerial;

    /**
     * Keeps a tree that was read. A tree that is kept already under this hash keeps its serial and gets the new nodes:
     * they are the same to the client, and the old ones may be dead. True if that was so.
     */
    boolean renew(long hash, List<ScreenTree.Node> nodes) {
        for (Tree tree : trees) {
            if (tree.hash == hash) {
                trees.remove(tree);
                trees.add(filled(new Tree(tree.serial, hash), nodes));
                return true;
            }
        }
        return false;
    }

    /** Keeps a tree under a new serial, which is never 0. */
    int keep(long hash, List<ScreenTree.Node> nodes) {
        lastSerial = lastSerial == Integer.MAX_VALUE ? 1 : lastSerial + 1;
        if (trees.size() == TREES_MAX) {
            trees.remove(0);
        }
        trees.add(filled(new Tree(lastSerial, hash), nodes));
        return lastSerial;
    }

    /** The node as it is now, if it is still what the tree said. */
    AccessibilityNodeInfo find(Automation automation, long serial, long index) throws Refusal {
        for (Tree tree : trees) {
            if (tree.serial == serial) {
                if (index >= tree.nodes.size()) {
                    throw new Refusal(Refusal.BAD_REQUEST,
                            "tree " + serial + " has " + tree.nodes.size() + " nodes, not " + index);
                }
                return current(automation, tree.nodes.get((int) index));
            }
        }
        throw new Refusal(Refusal.NODE_GONE, "tree " + serial + " is not kept any more; read the screen again");
    }

    void clear() {
        trees.clear();
    }

    private static AccessibilityNodeInfo current(Automation automation, Kept kept) throws Refusal {
        if (!automation.refresh(kept.info) || !kept.info.isVisibleToUser()) {
            throw new Refusal(Refusal.NODE_GONE, "the node is not on the screen any more");
        }
        if (!kept.isSame()) {
            throw new Refusal(Refusal.NODE_CHANGED, "the node shows something else since it was read");
        }
        return kept.info;
    }

    private static Tree filled(Tree tree, List<ScreenTree.Node> nodes) {
        for (ScreenTree.Node node : nodes) {
            tree.nodes.add(new Kept(node.info));
        }
        return tree;
    }
}
