package mdm.framework.shadows;

import android.util.Log;
import mdm.framework.Journal;
import org.robolectric.annotation.Implementation;
import org.robolectric.annotation.Implements;
import org.robolectric.shadows.ShadowLog;

/** Gives every line of {@code android.util.Log} to the journal. */
@Implements(className = "android.util.Log")
public class LogShadow extends ShadowLog {
    private static final int PAYLOAD_BYTES_MAX = 4068;

    @Implementation
    protected static int println_native(int buffer, int priority, String tag, String message) {
        return println(priority, tag, message);
    }

    @Implementation
    protected static int logger_entry_max_payload_native() {
        return PAYLOAD_BYTES_MAX;
    }

    @Implementation
    protected static int println(int priority, String tag, String message) {
        Journal.log(priority, tag == null ? "" : tag, message == null ? "" : message);
        return message == null ? 0 : message.length();
    }

    @Implementation
    protected static boolean isLoggable(String tag, int level) {
        return level >= Log.INFO;
    }

    @Implementation
    protected static int v(String tag, String message) {
        return println(Log.VERBOSE, tag, message);
    }

    @Implementation
    protected static int v(String tag, String message, Throwable cause) {
        return println(Log.VERBOSE, tag, with(message, cause));
    }

    @Implementation
    protected static int d(String tag, String message) {
        return println(Log.DEBUG, tag, message);
    }

    @Implementation
    protected static int d(String tag, String message, Throwable cause) {
        return println(Log.DEBUG, tag, with(message, cause));
    }

    @Implementation
    protected static int i(String tag, String message) {
        return println(Log.INFO, tag, message);
    }

    @Implementation
    protected static int i(String tag, String message, Throwable cause) {
        return println(Log.INFO, tag, with(message, cause));
    }

    @Implementation
    protected static int w(String tag, String message) {
        return println(Log.WARN, tag, message);
    }

    @Implementation
    protected static int w(String tag, Throwable cause) {
        return println(Log.WARN, tag, with("", cause));
    }

    @Implementation
    protected static int w(String tag, String message, Throwable cause) {
        return println(Log.WARN, tag, with(message, cause));
    }

    @Implementation
    protected static int e(String tag, String message) {
        return println(Log.ERROR, tag, message);
    }

    @Implementation
    protected static int e(String tag, String message, Throwable cause) {
        return println(Log.ERROR, tag, with(message, cause));
    }

    @Implementation
    protected static int wtf(String tag, String message) {
        return println(Log.ASSERT, tag, message);
    }

    @Implementation
    protected static int wtf(String tag, String message, Throwable cause) {
        return println(Log.ASSERT, tag, with(message, cause));
    }

    private static String with(String message, Throwable cause) {
        return cause == null ? message : message + '\n' + Log.getStackTraceString(cause);
    }
}
