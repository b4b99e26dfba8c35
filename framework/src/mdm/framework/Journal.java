package mdm.framework;

import android.os.SystemClock;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.util.ArrayList;
import java.util.List;

/** What happened since the last answer: log lines, activities, crashes, toasts, events and frames. */
public final class Journal {
    static final int ENTRIES_MAX = 4096;
    static final int TEXT_CHARS_MAX = 16 * 1024;

    private static final String PRIORITIES = "??VDIWEF";
    private static final List<Entry> entries = new ArrayList<>();
    private static long toastUntil;
    private static int left;
    private static long eventCount;
    private static long eventAt = -1;
    private static long drawCount;
    private static long drawnAt = -1;
    private static long contentAt = -1;

    private Journal() {}

    /** One thing that happened. */
    interface Entry {
        void write(WireWriter out);
    }

    public static synchronized void log(int priority, String tag, String message) {
        // A part of Robolectric, not of the phone.
        if (tag.equals("LifecycleMonitor")) {
            return;
        }
        char letter = priority > 1 && priority < PRIORITIES.length() ? PRIORITIES.charAt(priority) : 'I';
        long at = PhoneClock.phoneUptime();
        add(out -> out.u8(1).i64(at).u8(letter).text(tag).text(message));
    }

    /** Notes a toast and returns when it is shown, in Android's uptime. */
    public static synchronized long toast(String text, long shownMs) {
        // One toast is shown at a time.
        long from = Math.max(SystemClock.uptimeMillis(), toastUntil);
        toastUntil = from + shownMs;
        long phoneFrom = PhoneClock.toPhone(from);
        add(out -> out.u8(2).text(text).i64(phoneFrom).i64(phoneFrom + shownMs));
        return from;
    }

    static synchronized void started(String activity, boolean within) {
        long at = PhoneClock.phoneUptime();
        add(out -> out.u8(3).i64(at).text(activity).u8(within ? 1 : 0));
    }

    static synchronized void crashed(String activity, Throwable cause) {
        long at = PhoneClock.phoneUptime();
        StringWriter trace = new StringWriter();
        cause.printStackTrace(new PrintWriter(trace));
        add(out -> out.u8(4).i64(at).text(activity).text(trace.toString()));
    }

    /** Notes that a listener of the app was called: which view, and what for. */
    static synchronized void listener(long view, String what) {
        long at = PhoneClock.phoneUptime();
        add(out -> out.u8(5).i64(at).i64(view).text(what));
    }

    static synchronized void accessibilityEvent() {
        eventCount++;
        eventAt = PhoneClock.phoneUptime();
    }

    public static synchronized void drawn() {
        drawCount++;
        drawnAt = PhoneClock.phoneUptime();
    }

    static synchronized long draws() {
        return drawCount;
    }

    static synchronized void contentChanged() {
        contentAt = PhoneClock.phoneUptime();
    }

    /** Forgets what happened before the phone was ready. */
    static synchronized void clear() {
        entries.clear();
    }

    /** Forgets everything: the phone's time begins anew. */
    static synchronized void restart() {
        entries.clear();
        left = 0;
        toastUntil = 0;
        eventCount = 0;
        eventAt = -1;
        drawCount = 0;
        drawnAt = -1;
        contentAt = -1;
    }

    private static void add(Entry entry) {
        if (entries.size() < ENTRIES_MAX) {
            entries.add(entry);
        } else {
            left++;
        }
    }

    static synchronized void write(WireWriter out) {
        out.u32(entries.size());
        for (Entry entry : entries) {
            entry.write(out);
        }
        out.u32(left).i64(eventCount).i64(eventAt).i64(drawCount).i64(drawnAt).i64(contentAt);
        entries.clear();
        left = 0;
    }
}
