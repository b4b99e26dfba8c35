package mdm.helper;

import java.io.File;
import java.util.Arrays;
import java.util.Objects;

/** Runs every test and then writes the test vectors to the folder that it is given. */
public final class Tests {
    /** A test throws when it fails. */
    interface Test {
        void run() throws Exception;
    }

    private static int passed;
    private static int failed;

    private Tests() {}

    public static void main(String[] arguments) throws Exception {
        CodecTests.run();
        TouchTests.run();
        EventTests.run();
        TreeTests.run();
        SessionTests.run();
        Vectors.write(new File(arguments[0]));
        System.out.println("helper: " + passed + " passed, " + failed + " failed");
        // Threads of a failed test may still wait for something.
        System.out.flush();
        Runtime.getRuntime().halt(failed == 0 ? 0 : 1);
    }

    static void test(String name, Test test) {
        try {
            test.run();
            passed++;
        } catch (Throwable thrown) {
            failed++;
            System.err.println("FAILED " + name);
            thrown.printStackTrace();
        }
    }

    static void equal(Object wanted, Object found) {
        if (!Objects.equals(wanted, found)) {
            throw new AssertionError("wanted " + wanted + ", found " + found);
        }
    }

    static void equalBytes(String wantedHex, Bytes found) {
        StringBuilder hex = new StringBuilder();
        for (byte one : found.toArray()) {
            hex.append(String.format("%02x", one & 0xff));
        }
        equal(wantedHex, hex.toString());
    }

    /** The test must be refused with this code. */
    static Refusal refused(int code, Test test) throws Exception {
        try {
            test.run();
        } catch (Refusal refusal) {
            equal(code, refusal.code);
            return refusal;
        }
        throw new AssertionError("nothing was refused");
    }

    static String join(Object... parts) {
        return Arrays.toString(parts);
    }
}
