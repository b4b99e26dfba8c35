package mdm.helper;

/** A request that is answered with a code and a sentence instead of a result. The connection stays. */
public final class Refusal extends Exception {
    public static final int BAD_REQUEST = 1;
    public static final int AUTOMATION_BUSY = 2;
    public static final int NODE_GONE = 3;
    public static final int NODE_CHANGED = 4;
    public static final int REFUSED = 5;
    public static final int NO_WINDOW = 6;
    public static final int PROTECTED = 7;
    public static final int UNSUPPORTED = 8;
    public static final int INTERNAL = 9;
    public static final int TOO_LATE = 10;

    public final int code;

    public Refusal(int code, String message) {
        super(message);
        this.code = code;
    }

    public Refusal(int code, String message, Throwable cause) {
        super(message + ": " + describe(cause), cause);
        this.code = code;
    }

    /** Names the innermost cause, which is the one that says what happened. */
    public static String describe(Throwable thrown) {
        Throwable inner = thrown;
        for (int depth = 0; inner.getCause() != null && depth < 10; depth++) {
            inner = inner.getCause();
        }
        return inner.getMessage() == null ? inner.getClass().getName()
                : inner.getClass().getName() + ": " + inner.getMessage();
    }
}
