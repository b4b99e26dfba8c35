package mdm.helper;

import java.util.ArrayList;
import java.util.List;

/** Turns samples (which fingers are down, and when) into the steps that MotionEvents are made of. */
public final class TouchPlan {
    static final int SAMPLES_MAX = 2_000;
    static final int POINTERS_MAX = 10;
    static final long DURATION_MS_MAX = 60_000;
    /** Android's own limit. */
    static final int POINTER_ID_MAX = 31;

    // The actions of MotionEvent.
    public static final int DOWN = 0;
    public static final int UP = 1;
    public static final int MOVE = 2;
    public static final int CANCEL = 3;
    public static final int POINTER_DOWN = 5;
    public static final int POINTER_UP = 6;

    /** A finger and where it is. */
    public static final class Finger {
        public final int id;
        public final int x;
        public final int y;

        public Finger(int id, int x, int y) {
            this.id = id;
            this.x = x;
            this.y = y;
        }

        boolean isAt(Finger other) {
            return x == other.x && y == other.y;
        }
    }

    /** One MotionEvent: the fingers that it tells of, and which of them the action is about. */
    public static final class Step {
        public final long atMs;
        /** When the first finger of this gesture went down. */
        public final long downMs;
        public final int action;
        public final int actionIndex;
        public final List<Finger> fingers;

        Step(long atMs, long downMs, int action, int actionIndex, List<Finger> fingers) {
            this.atMs = atMs;
            this.downMs = downMs;
            this.action = action;
            this.actionIndex = actionIndex;
            this.fingers = fingers;
        }
    }

    private final List<Step> steps = new ArrayList<>();
    private List<Finger> down = new ArrayList<>();
    private long downMs;

    private TouchPlan() {}

    /** Reads the whole request before anything is sent, so that a bad one touches nothing. */
    public static List<Step> read(byte[] request) throws Refusal {
        Payload payload = new Payload(request);
        int count = payload.u16();
        if (count == 0 || count > SAMPLES_MAX) {
            throw bad(count + " samples; there must be 1 to " + SAMPLES_MAX);
        }
        TouchPlan plan = new TouchPlan();
        long lastMs = 0;
        for (int at = 0; at < count; at++) {
            long atMs = payload.u32();
            if (atMs < lastMs || atMs > DURATION_MS_MAX) {
                throw bad("sample " + at + " is at " + atMs + " ms, after one at " + lastMs + " ms; the end is "
                        + DURATION_MS_MAX + " ms");
            }
            lastMs = atMs;
            plan.sample(atMs, fingers(payload));
        }
        payload.end();
        if (!plan.down.isEmpty()) {
            throw bad("the last sample leaves " + plan.down.size() + " fingers down");
        }
        return plan.steps;
    }

    private static List<Finger> fingers(Payload payload) throws Refusal {
        int count = payload.u8();
        if (count > POINTERS_MAX) {
            throw bad(count + " fingers; at most " + POINTERS_MAX + " can be down");
        }
        List<Finger> fingers = new ArrayList<>();
        for (int at = 0; at < count; at++) {
            Finger finger = new Finger(payload.u8(), payload.i32(), payload.i32());
            if (finger.id > POINTER_ID_MAX || find(fingers, finger.id) >= 0) {
                throw bad("finger " + finger.id + " is there twice, or its number is above " + POINTER_ID_MAX);
            }
            fingers.add(finger);
        }
        return fingers;
    }

    /** First the fingers that went up, where they were; then the moves; then the fingers that came down. */
    private void sample(long atMs, List<Finger> now) {
        for (Finger finger : new ArrayList<>(down)) {
            if (find(now, finger.id) < 0) {
                lift(atMs, finger);
            }
        }
        move(atMs, now);
        for (Finger finger : now) {
            if (find(down, finger.id) < 0) {
                press(atMs, finger);
            }
        }
    }

    private void lift(long atMs, Finger finger) {
        step(atMs, down.size() == 1 ? UP : POINTER_UP, find(down, finger.id));
        down.remove(finger);
    }

    private void press(long atMs, Finger finger) {
        if (down.isEmpty()) {
            downMs = atMs;
        }
        down.add(finger);
        step(atMs, down.size() == 1 ? DOWN : POINTER_DOWN, down.size() - 1);
    }

    private void move(long atMs, List<Finger> now) {
        boolean isMoved = false;
        for (int at = 0; at < down.size(); at++) {
            Finger to = now.get(find(now, down.get(at).id));
            isMoved |= !to.isAt(down.get(at));
            down.set(at, to);
        }
        if (isMoved) {
            step(atMs, MOVE, 0);
        }
    }

    private void step(long atMs, int action, int actionIndex) {
        steps.add(new Step(atMs, downMs, action, actionIndex, new ArrayList<>(down)));
    }

    private static int find(List<Finger> fingers, int id) {
        for (int at = 0; at < fingers.size(); at++) {
            if (fingers.get(at).id == id) {
                return at;
            }
        }
        return -1;
    }

    private static Refusal bad(String message) {
        return new Refusal(Refusal.BAD_REQUEST, message);
    }
}
