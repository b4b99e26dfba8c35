package mdm.helper;

import android.graphics.Rect;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** Writes what was read of the screen: the part of a tree that the hash is over. */
public final class TreeWriter {
    /** Leaves room in a frame for the strings and the head. */
    static final int NODE_BYTES_MAX = 7 << 20;

    private final StringTable strings = new StringTable();
    private final NodeWriter nodes;
    private boolean isCut;

    private TreeWriter(int sdk) {
        this.nodes = new NodeWriter(sdk, strings);
    }

    /** Everything after `uptime_ms`. */
    static Bytes write(int sdk, Screen screen, String component, ScreenTree tree) {
        TreeWriter writer = new TreeWriter(sdk);
        Bytes windows = writer.windows(tree.windows);
        boolean isComplete = tree.isComplete && !writer.isCut && !writer.strings.isFull();
        Bytes out = new Bytes().u16(screen.width).u16(screen.height).u8(screen.rotation);
        out.str(StringTable.cut(component)).u8(isComplete ? 1 : 0);
        writer.strings.writeTo(out);
        return out.append(windows);
    }

    private Bytes windows(List<ScreenTree.Window> windows) {
        Map<Integer, Integer> places = new HashMap<>();
        for (int at = 0; at < windows.size(); at++) {
            places.put(windows.get(at).window.id, at + 1);
        }
        Bytes out = new Bytes().v(windows.size());
        for (ScreenTree.Window window : windows) {
            ScreenWindow its = window.window;
            Integer parent = its.parentId == ScreenWindow.NO_PARENT ? null : places.get(its.parentId);
            out.z(its.id).v(its.type & 0xffffffffL).z(its.layer).v(its.flags).v(strings.number(its.title));
            rect(out, its.bounds).v(parent == null ? 0 : parent);
            nodes(out, window);
        }
        return out;
    }

    /** When the room is spent, the window says that it has no nodes: half a window would have wrong counts of children. */
    private void nodes(Bytes out, ScreenTree.Window window) {
        Bytes written = new Bytes();
        for (ScreenTree.Node node : window.nodes) {
            nodes.write(written, node);
            if (out.size() + written.size() > NODE_BYTES_MAX) {
                isCut = true;
                out.v(0);
                return;
            }
        }
        out.v(window.nodes.size()).append(written);
    }

    static Bytes rect(Bytes out, Rect rect) {
        return out.z(rect.left).z(rect.top).z(rect.right).z(rect.bottom);
    }
}
