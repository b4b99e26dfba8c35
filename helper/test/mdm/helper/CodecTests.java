package mdm.helper;

import static mdm.helper.Tests.equal;
import static mdm.helper.Tests.equalBytes;
import static mdm.helper.Tests.refused;
import static mdm.helper.Tests.test;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.util.Collections;

/** Numbers, strings, frames, the hash and sizes. */
final class CodecTests {
    private CodecTests() {}

    static void run() {
        test("numbers are big-endian", () -> equalBytes("01020304050607080102030401ff3f800000",
                new Bytes().u64(0x0102030405060708L).u32(0x01020304).u8(1).u8(255).f32(1)));
        test("unsigned LEB128", () -> equalBytes("007f8001ffffffff0f", new Bytes().v(0).v(127).v(128).v(0xffffffffL)));
        test("zigzag LEB128", () -> equalBytes("00010203feffffff0fffffffff0f",
                new Bytes().z(0).z(-1).z(1).z(-2).z(Integer.MAX_VALUE).z(Integer.MIN_VALUE)));
        // The vectors of the authors of FNV.
        test("hash of nothing", () -> equal(0xcbf29ce484222325L, new Bytes().hash()));
        test("hash of a", () -> equal(0xaf63dc4c8601ec8cL, new Bytes().u8('a').hash()));
        test("hash of foobar", () -> equal(0x85944171f73967e8L, of("foobar").hash()));
        test("hash that is zero is told as one", () -> equal(1L, hex("d5 6b b9 53 42 87 08 36").hash()));
        test("strings", CodecTests::strings);
        test("a string is cut between characters", CodecTests::longString);
        test("frames", CodecTests::frames);
        test("payloads that end too early or too late", CodecTests::payloads);
        test("a picture keeps its shape", CodecTests::sizes);
        test("a nonce has 32 digits", CodecTests::nonces);
        test("the method that takes the values is called", CodecTests::overloads);
        test("parameters that other versions have are filled", CodecTests::fill);
    }

    private static void strings() throws Refusal {
        Bytes bytes = new Bytes().str("h\u00e4 \ud83d\ude00");
        equalBytes("0000000868c3a420f09f9880", bytes);
        equal("h\u00e4 \ud83d\ude00", new Payload(bytes.toArray()).str());
        StringTable table = new StringTable();
        equal("0 1 2 1 0", table.number(null) + " " + table.number("a") + " " + table.number("b") + " "
                + table.number(new StringBuilder("a")) + " " + table.number(""));
        Bytes written = new Bytes();
        table.writeTo(written);
        equalBytes("0000000300000000000000016100000001" + "62", written);
    }

    private static void longString() {
        String nines = String.join("", Collections.nCopies(StringTable.CHARS_MAX - 1, "9"));
        equal(nines, StringTable.cut(nines + "\ud83d\ude00"));
        equal(StringTable.CHARS_MAX, StringTable.cut(nines + "ab").length());
    }

    private static void frames() throws IOException {
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        new Frames(new ByteArrayInputStream(new byte[0]), out).write(7, Frames.TREE, of("ab"));
        Frames.Frame frame = new Frames(new ByteArrayInputStream(out.toByteArray()), out).read();
        equal("7 2 ab", frame.id + " " + frame.kind + " " + new String(frame.payload));
        equal(null, new Frames(new ByteArrayInputStream(new byte[0]), out).read());
        for (String bad : new String[] {"00 00 00 04 00 00 00 01", "00 10 00 01 00 00 00 01 02", "ff ff ff ff",
            "00 00 00 06 00 00 00 01 02", "00 00"}) {
            try {
                new Frames(new ByteArrayInputStream(hex(bad).toArray()), out).read();
                throw new AssertionError(bad + " was read");
            } catch (IOException e) {
                // That is what must happen.
            }
        }
    }

    private static void payloads() throws Exception {
        refused(Refusal.BAD_REQUEST, () -> new Payload(new byte[3]).u32());
        refused(Refusal.BAD_REQUEST, () -> new Payload(new byte[1]).end());
        refused(Refusal.BAD_REQUEST, () -> new Payload(hex("ff ff ff ff 61").toArray()).str());
        refused(Refusal.BAD_REQUEST, () -> new Payload(hex("00 00 00 02 c3 28").toArray()).str());
    }

    private static void sizes() {
        equal("461 1024", size(Pictures.fit(1080, 2400, 1024, 1024)));
        equal("1080 2400", size(Pictures.fit(1080, 2400, 0, 0)));
        equal("1080 2400", size(Pictures.fit(1080, 2400, 4000, 4000)));
        equal("1 100", size(Pictures.fit(3, 2400, 100, 100)));
    }

    private static void nonces() throws IOException {
        equal(16, Main.nonce("000102030405060708090A0b0c0d0e0f").length);
        equal((byte) 0x0f, Main.nonce("000102030405060708090A0b0c0d0e0f")[15]);
        for (String bad : new String[] {"", "00", "000102030405060708090a0b0c0d0e0g"}) {
            try {
                Main.nonce(bad);
                throw new AssertionError(bad + " was taken");
            } catch (IOException e) {
                // That is what must happen.
            }
        }
    }

    private static void fill() {
        Class<?>[] types = {String.class, String.class, int.class, int.class, boolean.class, Object.class};
        equal("[pkg, null, 1, 0, false, null]", Tests.join(Hidden.fill(types, "pkg", 1)));
    }

    /** Two methods as a vendor's clipboard has them. */
    public static final class Overloaded {
        public String get(String name, int user, boolean flag) {
            return name + user + flag;
        }

        public String get(int user) {
            return "no name";
        }
    }

    private static void overloads() throws Exception {
        equal("pkg0false", Hidden.call(new Overloaded(), "get", "pkg"));
        equal("no name", Hidden.call(new Overloaded(), "get"));
        try {
            Hidden.call(new Overloaded(), "get", 1.5);
            throw new AssertionError("a method took a number that none takes");
        } catch (NoSuchMethodException e) {
            // That is what must happen.
        }
    }

    private static String size(int[] size) {
        return size[0] + " " + size[1];
    }

    private static Bytes of(String ascii) {
        Bytes bytes = new Bytes();
        for (char one : ascii.toCharArray()) {
            bytes.u8(one);
        }
        return bytes;
    }

    static Bytes hex(String text) {
        Bytes bytes = new Bytes();
        for (String one : text.split(" ")) {
            bytes.u8(Integer.parseInt(one, 16));
        }
        return bytes;
    }
}
