package mdm.helper;

import android.view.InputDevice;
import android.view.MotionEvent;
import android.view.MotionEvent.PointerCoords;
import android.view.MotionEvent.PointerProperties;
import java.util.List;

/** Sends the steps of a touch, each at its own time. */
final class Toucher {
    private static final int ACTION_INDEX_SHIFT = 8;

    private final Automation automation;

    Toucher(Automation automation) {
        this.automation = automation;
    }

    /** Returns when the system has taken the last step. A touch that is cut off is cancelled, so that no finger stays. */
    void touch(List<TouchPlan.Step> steps) throws Refusal, InterruptedException {
        long start = automation.uptimeMillis();
        for (int at = 0; at < steps.size(); at++) {
            TouchPlan.Step step = steps.get(at);
            automation.sleepUntil(start + step.atMs);
            if (!send(step, step.action, start, at == steps.size() - 1)) {
                if (step.action != TouchPlan.DOWN) {
                    send(step, TouchPlan.CANCEL, start, true);
                }
                throw new Refusal(Refusal.REFUSED, "the system did not take touch event " + at + " of " + steps.size());
            }
        }
    }

    private boolean send(TouchPlan.Step step, int action, long start, boolean wait) throws Refusal {
        int count = step.fingers.size();
        PointerProperties[] properties = new PointerProperties[count];
        PointerCoords[] coords = new PointerCoords[count];
        for (int at = 0; at < count; at++) {
            TouchPlan.Finger finger = step.fingers.get(at);
            properties[at] = new PointerProperties();
            properties[at].id = finger.id;
            properties[at].toolType = MotionEvent.TOOL_TYPE_FINGER;
            coords[at] = new PointerCoords();
            coords[at].x = finger.x;
            coords[at].y = finger.y;
            coords[at].pressure = 1;
            coords[at].size = 1;
        }
        int index = action == TouchPlan.CANCEL ? 0 : step.actionIndex << ACTION_INDEX_SHIFT;
        MotionEvent event = MotionEvent.obtain(start + step.downMs, start + step.atMs, action | index, count,
                properties, coords, 0, 0, 1, 1, 0, 0, InputDevice.SOURCE_TOUCHSCREEN, 0);
        try {
            return automation.inject(event, wait);
        } finally {
            event.recycle();
        }
    }
}
