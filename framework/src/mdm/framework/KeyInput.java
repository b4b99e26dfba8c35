package mdm.framework;

import android.os.SystemClock;
import android.view.InputDevice;
import android.view.KeyCharacterMap;
import android.view.KeyEvent;

/** Presses keys in the window that has the focus, as the command `input` does. */
final class KeyInput {
    private final ScreenWindows windows;

    KeyInput(ScreenWindows windows) {
        this.windows = windows;
    }

    /** Presses and releases a key; a long press is a repeated one, as `input keyevent --longpress` sends it. */
    boolean press(int code, boolean isLong, int meta) {
        long now = SystemClock.uptimeMillis();
        boolean taken = inject(event(now, KeyEvent.ACTION_DOWN, code, 0, 0, meta));
        if (isLong) {
            inject(event(now, KeyEvent.ACTION_DOWN, code, 1, KeyEvent.FLAG_LONG_PRESS, meta));
        }
        return inject(event(now, KeyEvent.ACTION_UP, code, 0, 0, meta)) || taken;
    }

    private static KeyEvent event(long at, int action, int code, int repeat, int flags, int meta) {
        return new KeyEvent(
                at,
                at,
                action,
                code,
                repeat,
                meta,
                KeyCharacterMap.VIRTUAL_KEYBOARD,
                0,
                flags,
                InputDevice.SOURCE_KEYBOARD);
    }

    /** Types by the key map; false, and nothing typed, when the map lacks a character. */
    boolean type(String text) {
        KeyEvent[] events = KeyCharacterMap.load(KeyCharacterMap.VIRTUAL_KEYBOARD).getEvents(text.toCharArray());
        if (events == null) {
            return false;
        }
        for (KeyEvent event : events) {
            long now = SystemClock.uptimeMillis();
            KeyEvent timed = KeyEvent.changeTimeRepeat(event, now, 0);
            timed.setSource(InputDevice.SOURCE_KEYBOARD);
            inject(timed);
        }
        return true;
    }

    boolean inject(KeyEvent event) {
        ScreenWindows.Window window = windows.focusedWindow();
        if (window == null) {
            return false;
        }
        window.root.dispatchInputEvent(event);
        return true;
    }
}
