package mdm.helper;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;

/** Reads a tree as the protocol page says, without any code of the writer, and tells it line by line. */
final class TreeText {
    private static final String[] FLAGS = {
        "checkable", "checked", "clickable", "enabled", "focusable", "focused", "scrollable", "long-clickable",
        "password", "selected", "editable", "heading", "showing-hint", "dismissable", "multi-line",
        "context-clickable", "accessibility-focused", "screen-reader-focusable", "important", "text-entry-key",
        "content-invalid", "can-open-popup", "partially-checked",
    };
    private static final String[] WINDOW_FLAGS = {"active", "focused", "accessibility-focused", "picture-in-picture"};
    private static final String[] TEXTS = {"hint", "state", "role", "error", "pane-title", "tooltip"};

    private final ByteBuffer in;
    private final StringBuilder out = new StringBuilder();
    private String[] strings;

    private TreeText(byte[] bytes) {
        this.in = ByteBuffer.wrap(bytes);
    }

    /** The tree after its hash. */
    static String describe(byte[] tree) {
        TreeText text = new TreeText(tree);
        text.head();
        text.windows();
        if (text.in.hasRemaining()) {
            throw new AssertionError(text.in.remaining() + " bytes are left");
        }
        return text.out.toString();
    }

    private void head() {
        line("serial=%d uptime_ms=%d", in.getInt(), in.getLong());
        line("width=%d height=%d rotation=%d", in.getShort(), in.getShort(), in.get());
        line("component=%s", quote(str()));
        line("complete=%d", in.get());
        strings = new String[in.getInt()];
        for (int at = 0; at < strings.length; at++) {
            strings[at] = str();
        }
        line("strings=%d", strings.length);
    }

    private void windows() {
        long count = v();
        for (int at = 0; at < count; at++) {
            out.append(String.format("window %d id=%d type=%d layer=%d", at, z(), v(), z()));
            line(" flags=%s title=%s bounds=%s parent=%d", flags(v(), WINDOW_FLAGS), string(), bounds(), v());
            long nodes = v();
            line("  nodes=%d", nodes);
            for (int node = 0; node < nodes; node++) {
                node(node);
            }
        }
    }

    private void node(int number) {
        line("  node %d flags=%s children=%d", number, flags(v(), FLAGS), v());
        line("    class=%s package=%s id=%s", string(), string(), string());
        line("    text=%s description=%s bounds=%s drawing-order=%d", string(), string(), bounds(), v());
        long extras = v();
        for (int bit = 0; bit < 16; bit++) {
            if ((extras >> bit & 1) == 1) {
                line("    %s", extra(bit));
            }
        }
    }

    private String extra(int bit) {
        switch (bit) {
            case 6:
                return String.format("range kind=%d min=%s max=%s current=%s", v(), in.getFloat(), in.getFloat(),
                        in.getFloat());
            case 7:
                return String.format("collection rows=%d columns=%d selection-mode=%d hierarchical=%d", z(), z(), v(),
                        v());
            case 8:
                return String.format("item row=%d row-span=%d column=%d column-span=%d heading=%d selected=%d", z(),
                        z(), z(), z(), v(), v());
            case 9:
                return "live-region=" + v();
            case 10:
                return "input-type=" + v();
            case 11:
                return String.format("selection start=%d end=%d", z(), z());
            case 12:
                return actions();
            case 13:
                return String.format("source high=%d low=%d", v(), v());
            case 14:
                return "container-title=" + string();
            case 15:
                return "expanded=" + v();
            default:
                return TEXTS[bit] + "=" + string();
        }
    }

    private String actions() {
        StringBuilder text = new StringBuilder("actions");
        long count = v();
        for (int at = 0; at < count; at++) {
            text.append(" ").append(v()).append("=").append(string());
        }
        return text.toString();
    }

    private String flags(long bits, String[] names) {
        StringBuilder text = new StringBuilder();
        for (int bit = 0; bit < names.length; bit++) {
            if ((bits >> bit & 1) == 1) {
                text.append(text.length() == 0 ? "" : "|").append(names[bit]);
            }
        }
        return text.length() == 0 ? "none" : text.toString();
    }

    private String bounds() {
        return String.format("[%d,%d][%d,%d]", z(), z(), z(), z());
    }

    private String string() {
        return quote(strings[(int) v()]);
    }

    static String quote(String text) {
        return "\"" + text.replace("\\", "\\\\").replace("\"", "\\\"").replace("\n", "\\n") + "\"";
    }

    private String str() {
        byte[] utf8 = new byte[in.getInt()];
        in.get(utf8);
        return new String(utf8, StandardCharsets.UTF_8);
    }

    private long v() {
        long value = 0;
        int shift = 0;
        byte next = in.get();
        while (next < 0) {
            value |= (long) (next & 0x7f) << shift;
            shift += 7;
            next = in.get();
        }
        return value | (long) next << shift;
    }

    private int z() {
        long value = v();
        return (int) (value >>> 1 ^ -(value & 1));
    }

    private void line(String format, Object... values) {
        out.append(String.format(format, values)).append("\n");
    }
}
