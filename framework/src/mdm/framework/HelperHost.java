package mdm.framework;

import android.os.SystemClock;
import java.io.IOException;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.IntSupplier;
import mdm.helper.Session;

/**
 * Runs the sessions of helpers: the code of the jar that a phone gets, over this phone's screen. The Rust side has the
 * socket and hands the bytes over; time passes for a session as it does for the screen.
 */
final class HelperHost implements PhoneClock.Alarm {
    private static final int OPEN = 0;
    private static final int STEP = 1;
    private static final int CLOSE = 2;
    private static final int SESSIONS_MAX = 16;
    private static final int NONCE_BYTES = 16;
    /** How often the screen is looked at for events while nobody asks: about as long as events wait to be merged. */
    private static final long LOOK_MS = 20;

    private final Phone phone;
    private final IntSupplier rotation;
    private final Map<Integer, Served> sessions = new TreeMap<>();

    HelperHost(Phone phone, IntSupplier rotation) {
        this.phone = phone;
        this.rotation = rotation;
    }

    /** One connection. */
    private final class Served {
        private final HelperPipe pipe;
        private final HelperThread thread;
        private final HelperAutomation automation;
        private final Session session;

        Served(byte[] nonce) {
            Session[] made = new Session[1];
            thread = new HelperThread(() -> made[0].serveWithoutSender());
            pipe = new HelperPipe(thread);
            automation = new HelperAutomation(phone, thread, rotation);
            session = new Session(automation, nonce, pipe.in(), pipe.out());
            made[0] = session;
        }

        /** When it wants to do something by itself. */
        long dueAt() {
            boolean mayGiveBack = automation.isHeld() && thread.isWaitingForInput();
            long idleAt = SystemClock.uptimeMillis() - session.idleMs() + Session.GIVE_BACK_MS;
            return Math.min(thread.wakeAt(), mayGiveBack ? idleAt : HelperThread.NEVER);
        }

        void ring(long now) {
            if (thread.wakeAt() <= now) {
                thread.resume();
            } else {
                session.giveBackIfIdle();
            }
        }

        void end() {
            pipe.close();
            thread.interruptSleeps();
            thread.resume();
        }
    }

    @Override
    public long dueAt() {
        long due = HelperThread.NEVER;
        for (Served served : sessions.values()) {
            due = Math.min(due, served.dueAt());
        }
        return due;
    }

    @Override
    public void ring() {
        long now = SystemClock.uptimeMillis();
        for (Served served : sessions.values()) {
            if (served.dueAt() <= now) {
                served.ring(now);
            }
        }
    }

    void endAll() {
        for (Served served : sessions.values()) {
            served.end();
        }
        sessions.clear();
    }

    /** Handles a request and returns the number of its connection. */
    int handle(WireReader request) {
        int number = request.i32();
        int what = request.u8();
        Served served = sessions.get(number);
        switch (what) {
            case OPEN:
                open(number, request.bytes());
                break;
            case STEP:
                boolean isFree = request.flag();
                byte[] input = request.bytes();
                if (served != null) {
                    step(served, isFree, input);
                }
                break;
            case CLOSE:
                if (served != null) {
                    served.end();
                    sessions.remove(number);
                }
                break;
            default:
                throw new IllegalArgumentException("a helper does nothing of the number " + what);
        }
        return number;
    }

    private void open(int number, byte[] nonce) {
        if (nonce.length != NONCE_BYTES || sessions.containsKey(number) || sessions.size() >= SESSIONS_MAX) {
            throw new IllegalArgumentException("no helper can be opened as " + number);
        }
        Served served = new Served(nonce);
        sessions.put(number, served);
        served.thread.start();
        served.thread.resume();
    }

    private static void step(Served served, boolean isFree, byte[] input) {
        served.automation.setFree(isFree);
        if (input.length == 0) {
            return;
        }
        if (!served.pipe.feed(input)) {
            served.end();
        } else if (served.thread.isWaitingForInput()) {
            served.thread.resume();
        }
    }

    /** Writes how a connection stands: open, holds UiAutomation, when it must be stepped again, what is for the client. */
    void write(int number, WireWriter out) throws IOException {
        Served served = sessions.get(number);
        if (served == null) {
            out.flag(false).flag(false).i64(-1).bytes(new byte[0]);
            return;
        }
        long now = SystemClock.uptimeMillis();
        long eventMs = served.thread.isEnded() ? -1 : served.session.tellEvents();
        long due = Math.min(served.dueAt(), eventMs < 0 ? HelperThread.NEVER : now + eventMs);
        if (served.automation.isListening()) {
            due = Math.min(due, Math.max(phone.clock.nextDueMillis(), now + LOOK_MS));
        }
        out.flag(!served.thread.isEnded()).flag(served.automation.isHeld());
        out.i64(due == HelperThread.NEVER ? -1 : PhoneClock.toPhone(due)).bytes(served.pipe.takeOutput());
        if (served.thread.isEnded()) {
            sessions.remove(number);
        }
    }
}
