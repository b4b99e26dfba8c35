package mdm.framework;

import android.os.Looper;
import android.os.SystemClock;
import java.time.Duration;
import java.util.function.Consumer;
import org.robolectric.shadow.api.Shadow;
import org.robolectric.shadows.ShadowChoreographer;
import org.robolectric.shadows.ShadowPausedLooper;
import org.robolectric.shadows.ShadowSystemClock;

/**
 * Moves Android's clock to the phone's time, and runs every message and frame that is due on the way at its own time.
 * Between two requests the clock stands still.
 */
public final class PhoneClock {
    /** A frame of a display with 60 Hz. */
    static final Duration FRAME = Duration.ofNanos(16_666_667);
    /** More than this is not played; the clock jumps over the rest. */
    static final long PLAYED_MS_MAX = 60_000;
    private static final long NANOS_PER_MS = 1_000_000;
    /** Messages that run at one and the same time before they count as an endless loop. */
    private static final int ROUNDS_MAX = 20_000;

    /** What happens by itself besides messages and frames. */
    interface Alarm {
        /** When that is, in Android's uptime; the largest number for never. */
        long dueAt();

        /** Lets it happen; it is due later or never afterwards. */
        void ring();
    }

    /** Android's uptime when the phone's was 0. */
    private static long offset;
    private static long wallAtBoot;

    private final ShadowPausedLooper looper = Shadow.extract(Looper.getMainLooper());
    private final Consumer<Throwable> onCrash;
    private final Runnable afterRound;
    private Alarm alarm;

    PhoneClock(Runnable afterRound, Consumer<Throwable> onCrash) {
        this.afterRound = afterRound;
        this.onCrash = onCrash;
    }

    void setAlarm(Alarm alarm) {
        this.alarm = alarm;
    }

    /** Lets this moment be the phone's time 0. */
    static void startNow(long wall) {
        wallAtBoot = wall;
        offset = SystemClock.uptimeMillis();
    }

    /**
     * Begins the phone's time anew, with the wall clock of the first time. It begins with a whole second, after every
     * frame that may still have been planned: so it does not matter what the phone did before.
     */
    static void restart() {
        long second = 1000 * NANOS_PER_MS;
        moveTo((SystemClock.uptimeNanos() / second + 2) * second);
        startNow(wallAtBoot);
    }

    /** Returns the wall clock, in milliseconds since 1970. */
    public static long wallMillis() {
        return wallAtBoot + phoneUptime();
    }

    static long phoneUptime() {
        return SystemClock.uptimeMillis() - offset;
    }

    static long toPhone(long uptime) {
        return uptime - offset;
    }

    /** Advances to this time of the phone; returns false when a part was too long to play. */
    boolean advanceTo(long phoneUptime) {
        long target = (phoneUptime + offset) * NANOS_PER_MS;
        boolean whole = target - SystemClock.uptimeNanos() <= PLAYED_MS_MAX * NANOS_PER_MS;
        if (!whole) {
            moveTo(target - PLAYED_MS_MAX * NANOS_PER_MS);
        }
        runDue();
        for (long next = nextDue(); next <= target; next = nextDue()) {
            moveTo(next);
            runDue();
        }
        moveTo(target);
        runDue();
        return whole;
    }

    /** Runs what is due now, until nothing is. */
    void runDue() {
        for (int round = 0; round < ROUNDS_MAX; round++) {
            try {
                looper.idle();
            } catch (Throwable thrown) {
                onCrash.accept(thrown);
            }
            afterRound.run();
            boolean rings = alarm != null && alarm.dueAt() <= SystemClock.uptimeMillis();
            if (rings) {
                alarm.ring();
            }
            if (!rings && looper.isIdle()) {
                return;
            }
        }
    }

    private static void moveTo(long uptimeNanos) {
        long by = uptimeNanos - SystemClock.uptimeNanos();
        if (by > 0) {
            ShadowSystemClock.advanceBy(Duration.ofNanos(by));
        }
    }

    /** Returns when something is next due, in milliseconds of Android's uptime; the largest number for never. */
    long nextDueMillis() {
        long due = nextDue();
        return due == Long.MAX_VALUE ? due : (due + NANOS_PER_MS - 1) / NANOS_PER_MS;
    }

    /** Returns when the next message, frame or alarm is due, in nanoseconds of Android's uptime. */
    private long nextDue() {
        long task = looper.getNextScheduledTaskTime().toMillis();
        long frame = ShadowChoreographer.getNextVsyncTimeNanos();
        long next = task > 0 ? task * NANOS_PER_MS : Long.MAX_VALUE;
        long rings = alarm == null ? Long.MAX_VALUE : alarm.dueAt();
        next = rings < Long.MAX_VALUE ? Math.min(next, rings * NANOS_PER_MS) : next;
        return frame > 0 ? Math.min(next, frame) : next;
    }
}
