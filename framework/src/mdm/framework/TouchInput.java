package mdm.framework;

import android.graphics.Rect;
import android.os.Handler;
import android.os.Looper;
import android.os.SystemClock;
import android.view.InputDevice;
import android.view.MotionEvent;
import android.view.MotionEvent.PointerCoords;
import android.view.MotionEvent.PointerProperties;
import android.view.View;
import android.view.ViewGroup;
import android.view.ViewRootImpl;
import android.view.WindowManager.LayoutParams;
import java.util.List;
import org.robolectric.util.ReflectionHelpers;

/** Puts fingers on the screen: finds the window under them, and gives it every part of the gesture at its time. */
final class TouchInput {
    static final int FINGERS_MAX = 10;
    private static final long FRAME_MS = 16;

    private final ScreenWindows windows;
    /** Input does not wait for a frame, as the barrier of one makes other messages do. */
    private final Handler handler = Handler.createAsync(Looper.getMainLooper());
    private ScreenWindows.Window target;
    private boolean swallowed;
    private long downTime;

    TouchInput(ScreenWindows windows) {
        this.windows = windows;
    }

    /** Fingers that come down together, rest, move evenly and are lifted together after both times. */
    void gesture(float[] from, float[] to, long holdMs, long ms) {
        long start = SystemClock.uptimeMillis();
        downTime = start;
        int fingers = from.length / 2;
        act(MotionEvent.ACTION_DOWN, from, 1, start);
        for (int finger = 1; finger < fingers; finger++) {
            act(pointer(MotionEvent.ACTION_POINTER_DOWN, finger), from, finger + 1, start);
        }
        long moves = start + holdMs;
        for (long at = FRAME_MS; at < ms; at += FRAME_MS) {
            float part = (float) at / ms;
            schedule(moves + at, MotionEvent.ACTION_MOVE, between(from, to, part), fingers);
        }
        long end = moves + ms;
        if (end > start) {
            schedule(end, MotionEvent.ACTION_MOVE, to, fingers);
            handler.postAtTime(() -> lift(to, end), end);
        } else {
            lift(to, start);
        }
    }

    private void lift(float[] at, long time) {
        for (int finger = at.length / 2 - 1; finger > 0; finger--) {
            act(pointer(MotionEvent.ACTION_POINTER_UP, finger), at, finger + 1, time);
        }
        act(MotionEvent.ACTION_UP, at, 1, time);
    }

    private void schedule(long time, int action, float[] points, int fingers) {
        handler.postAtTime(() -> act(action, points, fingers, time), time);
    }

    /** One part of a gesture, now. Of several fingers it is the last one that comes or goes. */
    void now(int action, float[] points) {
        long now = SystemClock.uptimeMillis();
        int fingers = points.length / 2;
        boolean ofLast = action == MotionEvent.ACTION_POINTER_DOWN || action == MotionEvent.ACTION_POINTER_UP;
        if (action == MotionEvent.ACTION_DOWN) {
            downTime = now;
        }
        act(ofLast ? pointer(action, fingers - 1) : action, points, fingers, now);
    }

    private static int pointer(int action, int index) {
        return action | (index << MotionEvent.ACTION_POINTER_INDEX_SHIFT);
    }

    private static float[] between(float[] from, float[] to, float part) {
        float[] points = new float[from.length];
        for (int i = 0; i < points.length; i++) {
            points[i] = from[i] + (to[i] - from[i]) * part;
        }
        return points;
    }

    private void act(int action, float[] points, int fingers, long time) {
        PointerProperties[] properties = new PointerProperties[fingers];
        PointerCoords[] coordinates = new PointerCoords[fingers];
        for (int i = 0; i < fingers; i++) {
            properties[i] = new PointerProperties();
            properties[i].id = i;
            properties[i].toolType = MotionEvent.TOOL_TYPE_FINGER;
            coordinates[i] = new PointerCoords();
            coordinates[i].x = points[2 * i];
            coordinates[i].y = points[2 * i + 1];
            coordinates[i].pressure = 1;
            coordinates[i].size = 1;
        }
        inject(
                MotionEvent.obtain(
                        downTime,
                        time,
                        action,
                        fingers,
                        properties,
                        coordinates,
                        0,
                        0,
                        1,
                        1,
                        0,
                        0,
                        InputDevice.SOURCE_TOUCHSCREEN,
                        0));
    }

    /** Gives an event in coordinates of the screen to the window that has the gesture; false when none takes it. */
    boolean inject(MotionEvent event) {
        if (event.getActionMasked() == MotionEvent.ACTION_DOWN) {
            choose(event);
        }
        if (swallowed || target == null || target.root.getView() == null) {
            return swallowed;
        }
        send(target, event);
        return true;
    }

    private void choose(MotionEvent event) {
        int x = (int) event.getX();
        int y = (int) event.getY();
        target = null;
        swallowed = Keyboard.isShown() && Keyboard.frame(Screen.frame()).contains(x, y);
        if (swallowed) {
            return;
        }
        List<ScreenWindows.Window> visible = windows.visible();
        for (int i = visible.size() - 1; i >= 0; i--) {
            ScreenWindows.Window window = visible.get(i);
            if (window.has(LayoutParams.FLAG_NOT_TOUCHABLE)) {
                continue;
            }
            if (window.isModal() || touchable(window).contains(x, y)) {
                target = window;
                return;
            }
            if (window.has(LayoutParams.FLAG_WATCH_OUTSIDE_TOUCH)) {
                MotionEvent outside = MotionEvent.obtain(event);
                outside.setAction(MotionEvent.ACTION_OUTSIDE);
                send(window, outside);
            }
        }
    }

    private static Rect touchable(ScreenWindows.Window window) {
        return window.frame();
    }

    private static void send(ScreenWindows.Window window, MotionEvent event) {
        MotionEvent copy = MotionEvent.obtain(event);
        Rect frame = window.frame();
        copy.offsetLocation(-frame.left, -frame.top);
        window.root.dispatchInputEvent(copy);
    }

    /** Returns the view that holds the gesture: where the chain of touch targets ends. */
    View holder() {
        if (target == null || target.root.getView() == null) {
            return null;
        }
        View view = target.root.getView();
        while (view instanceof ViewGroup) {
            Object next = ReflectionHelpers.getField(view, "mFirstTouchTarget");
            if (next == null) {
                return view;
            }
            view = ReflectionHelpers.getField(next, "child");
        }
        return view;
    }

    ViewRootImpl targetRoot() {
        return target == null ? null : target.root;
    }
}
