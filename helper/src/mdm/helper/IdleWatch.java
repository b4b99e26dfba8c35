package mdm.helper;

/** Gives UiAutomation back, and later ends the helper, when no request comes. */
final class IdleWatch implements Runnable {
    static final long END_MS = 600_000;
    private static final long LOOK_EVERY_MS = 1_000;

    private final Runnable end;
    private final long startNs = System.nanoTime();
    private Session session;

    IdleWatch(Runnable end) {
        this.end = end;
    }

    /** The session whose requests count from now on. */
    synchronized void follow(Session session) {
        this.session = session;
    }

    @Override
    public void run() {
        try {
            while (look()) {
                Thread.sleep(LOOK_EVERY_MS);
            }
        } catch (InterruptedException e) {
            // Nobody interrupts this thread; if somebody does, that is an end too.
        }
        end.run();
    }

    /** False when the helper was idle for too long. It must not hang on a session that is busy. */
    private boolean look() {
        Session followed = followed();
        if (followed == null) {
            return System.nanoTime() - startNs < END_MS * 1_000_000;
        }
        long idleMs = followed.idleMs();
        if (idleMs >= END_MS) {
            return false;
        }
        if (idleMs >= Session.GIVE_BACK_MS) {
            followed.giveBackIfIdle();
        }
        return true;
    }

    private synchronized Session followed() {
        return session;
    }
}
