package mdm.framework;

import java.util.concurrent.Callable;

/**
 * The thread of a helper, which on a phone would be a process. It and the main thread never run at the same time: one
 * runs while the other waits, so that everything happens in one order. Views and nodes are touched by the main thread
 * alone, which runs what this thread asks for.
 */
final class HelperThread {
    static final long NEVER = Long.MAX_VALUE;

    /** What the thread does; it ends with it. */
    interface Work {
        void run() throws Exception;
    }

    private final Thread main = Thread.currentThread();
    private final Thread thread;
    private boolean isItsTurn;
    private boolean isEnded;
    private boolean isInterrupted;
    private boolean waitsForInput;
    private long wakeAt = NEVER;
    private Callable<?> asked;
    private Object result;
    private Throwable thrown;

    HelperThread(Work work) {
        thread = new Thread(() -> run(work), "mdm-helper");
        thread.setContextClassLoader(HelperThread.class.getClassLoader());
        thread.setDaemon(true);
    }

    private void run(Work work) {
        try {
            pause();
            work.run();
        } catch (Throwable failure) {
            failure.printStackTrace();
        } finally {
            synchronized (this) {
                isEnded = true;
                isItsTurn = false;
                notifyAll();
            }
        }
    }

    /** Called by the main thread: begins, and waits until the thread first asks for input. */
    void start() {
        synchronized (this) {
            isItsTurn = true;
        }
        thread.start();
        serve();
    }

    /** Called by the main thread: lets the thread run until it sleeps, asks for input or ends. */
    void resume() {
        synchronized (this) {
            if (isEnded || isItsTurn || asked != null) {
                return;
            }
            wakeAt = NEVER;
            waitsForInput = false;
            give(true);
        }
        serve();
    }

    /** Runs what the thread asks for until it rests. */
    private void serve() {
        Callable<?> next = waitForRest();
        while (next != null) {
            Object value = null;
            Throwable failure = null;
            try {
                value = next.call();
            } catch (Throwable caught) {
                failure = caught;
            }
            synchronized (this) {
                asked = null;
                result = value;
                thrown = failure;
                give(true);
            }
            next = waitForRest();
        }
    }

    private synchronized Callable<?> waitForRest() {
        waitUntil(false);
        return isEnded ? null : asked;
    }

    /** Has the main thread do something now. Called by either thread. */
    @SuppressWarnings("unchecked")
    <T> T onMain(Callable<T> work) throws Exception {
        if (Thread.currentThread() == main) {
            return work.call();
        }
        synchronized (this) {
            asked = work;
            give(false);
            waitUntil(true);
            if (thrown instanceof Exception) {
                throw (Exception) thrown;
            }
            if (thrown != null) {
                throw (Error) thrown;
            }
            return (T) result;
        }
    }

    /** Called by the thread: rests until the phone's clock shows that time. */
    void sleepUntil(long uptime) throws InterruptedException {
        synchronized (this) {
            wakeAt = uptime;
        }
        pause();
        synchronized (this) {
            if (isInterrupted) {
                throw new InterruptedException("the helper is being ended");
            }
        }
    }

    /** Called by the thread: rests until there may be input. */
    void waitForInput() {
        synchronized (this) {
            waitsForInput = true;
        }
        pause();
    }

    private synchronized void pause() {
        give(false);
        waitUntil(true);
    }

    private void give(boolean toThread) {
        isItsTurn = toThread;
        notifyAll();
    }

    private void waitUntil(boolean turn) {
        boolean wasInterrupted = false;
        while (isItsTurn != turn && !(isEnded && !turn)) {
            try {
                wait();
            } catch (InterruptedException e) {
                wasInterrupted = true;
            }
        }
        if (wasInterrupted) {
            Thread.currentThread().interrupt();
        }
    }

    /** When it wants to run again; {@link #NEVER} while it runs, waits for input or has ended. */
    synchronized long wakeAt() {
        return isItsTurn || isEnded || asked != null ? NEVER : wakeAt;
    }

    synchronized boolean isWaitingForInput() {
        return waitsForInput && !isEnded;
    }

    synchronized boolean isEnded() {
        return isEnded;
    }

    /** Ends every sleep from now on with an exception. */
    synchronized void interruptSleeps() {
        isInterrupted = true;
    }
}
