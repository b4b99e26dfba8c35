package android.util;

/** Stands in for Android's own class, whose native code a JVM does not have. Nodes and events ask it and say nothing. */
public final class Log {
    private Log() {}

    public static boolean isLoggable(String tag, int level) {
        return false;
    }

    public static int w(String tag, String message) {
        return 0;
    }

    public static int e(String tag, String message) {
        return 0;
    }

    public static int e(String tag, String message, Throwable thrown) {
        return 0;
    }
}
