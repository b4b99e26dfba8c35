package mdm.helper;

import android.view.InputDevice;
import android.view.KeyCharacterMap;
import android.view.KeyEvent;
import java.util.ArrayList;
import java.util.List;

/** Presses keys. */
final class KeySender {
    static final int KEYS_MAX = 500;
    static final long HOLD_MS_MAX = 60_000;
    /** After this a key that is held says once that it is pressed long, as a keyboard does. */
    private static final long LONG_PRESS_MS = 500;

    /** A key with its meta state, and how long it is held. */
    static final class Press {
        final int code;
        final int meta;
        final long holdMs;

        Press(int code, int meta, long holdMs) {
            this.code = code;
            this.meta = meta;
            this.holdMs = holdMs;
        }
    }

    private final Automation automation;

    KeySender(Automation automation) {
        this.automation = automation;
    }

    static List<Press> read(byte[] request) throws Refusal {
        Payload payload = new Payload(request);
        int count = payload.u16();
        if (count == 0 || count > KEYS_MAX) {
            throw new Refusal(Refusal.BAD_REQUEST, count + " keys; there must be 1 to " + KEYS_MAX);
        }
        List<Press> presses = new ArrayList<>();
        long held = 0;
        for (int at = 0; at < count; at++) {
            Press press = new Press(payload.u16(), payload.i32(), payload.u32());
            held += press.holdMs;
            presses.add(press);
        }
        payload.end();
        if (held > HOLD_MS_MAX) {
            throw new Refusal(Refusal.BAD_REQUEST, "keys are held for " + held + " ms; at most " + HOLD_MS_MAX);
        }
        return presses;
    }

    void press(List<Press> presses) throws Refusal, InterruptedException {
        for (Press press : presses) {
            press(press);
        }
    }

    void press(Press press) throws Refusal, InterruptedException {
        long start = automation.uptimeMillis();
        send(press, start, start, KeyEvent.ACTION_DOWN, 0, 0);
        if (press.holdMs >= LONG_PRESS_MS) {
            automation.sleepUntil(start + LONG_PRESS_MS);
            send(press, start, start + LONG_PRESS_MS, KeyEvent.ACTION_DOWN, 1, KeyEvent.FLAG_LONG_PRESS);
        }
        automation.sleepUntil(start + press.holdMs);
        send(press, start, start + press.holdMs, KeyEvent.ACTION_UP, 0, 0);
    }

    /** Sends the keys of a text as the key map gave them, with the time of now. */
    void type(KeyEvent[] events) throws Refusal {
        for (KeyEvent event : events) {
            KeyEvent now = KeyEvent.changeTimeRepeat(event, automation.uptimeMillis(), 0);
            if (!automation.inject(now, true)) {
                throw new Refusal(Refusal.REFUSED, "the system did not take key " + event.getKeyCode());
            }
        }
    }

    private void send(Press press, long down, long at, int action, int repeat, int flags) throws Refusal {
        KeyEvent event = new KeyEvent(down, at, action, press.code, repeat, press.meta,
                KeyCharacterMap.VIRTUAL_KEYBOARD, 0, flags, InputDevice.SOURCE_KEYBOARD);
        if (!automation.inject(event, true)) {
            throw new Refusal(Refusal.REFUSED, "the system did not take key " + press.code);
        }
    }
}
