package mdm.helper;

import java.nio.charset.StandardCharsets;
import java.util.HashMap;
import java.util.Map;

/** The strings of a tree, each once, in the order in which they were first met. String 0 is empty. */
final class StringTable {
    static final int CHARS_MAX = 10_000;
    /** All strings of a tree together; what comes after is left out and the tree is not complete. */
    static final int BYTES_MAX = 8 << 20;

    private final Map<String, Integer> numbers = new HashMap<>();
    private final Bytes bytes = new Bytes();
    private boolean isFull;

    StringTable() {
        number("");
    }

    /** The number of a text, which may be null. A long text is cut, never inside a character. */
    int number(CharSequence text) {
        String cut = text == null ? "" : cut(text);
        Integer known = numbers.get(cut);
        if (known != null) {
            return known;
        }
        byte[] utf8 = cut.getBytes(StandardCharsets.UTF_8);
        if (bytes.size() + utf8.length > BYTES_MAX) {
            isFull = true;
            return 0;
        }
        int number = numbers.size();
        numbers.put(cut, number);
        bytes.u32(utf8.length).raw(utf8, 0, utf8.length);
        return number;
    }

    /** True if a string was left out. */
    boolean isFull() {
        return isFull;
    }

    void writeTo(Bytes out) {
        out.u32(numbers.size()).append(bytes);
    }

    static String cut(CharSequence text) {
        if (text.length() <= CHARS_MAX) {
            return text.toString();
        }
        int end = Character.isHighSurrogate(text.charAt(CHARS_MAX - 1)) ? CHARS_MAX - 1 : CHARS_MAX;
        return text.subSequence(0, end).toString();
    }
}
