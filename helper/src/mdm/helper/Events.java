package mdm.helper;

import android.view.accessibility.AccessibilityEvent;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.List;

/**
 * Tells the client of accessibility events while it wants them. On a phone a thread of its own sends them; a caller who
 * moves the clock himself sends what is due with `tellDue`.
 */
final class Events implements Automation.EventListener {
    static final int TEXT_BYTES_MAX = 2_000;
    private static final int NAME_CHARS_MAX = 500;
    private static final int NO_WINDOW = -1;

    private final Automation automation;
    private final Frames frames;
    private final EventQueue queue = new EventQueue();
    private boolean isOn;
    private boolean isOver;
    /** The number of the last event that was sent; only who sends uses it. */
    private int number;

    Events(Automation automation, Frames frames) {
        this.automation = automation;
        this.frames = frames;
    }

    void start() {
        Thread sender = new Thread(this::send, "mdm-helper-events");
        sender.setDaemon(true);
        sender.start();
    }

    void turn(boolean on) {
        synchronized (this) {
            isOn = on;
            queue.clear();
        }
        automation.listen(on ? this : null);
    }

    /** UiAutomation was given back: the client learns that it hears nothing any more. */
    synchronized void tellEnd() {
        if (isOn) {
            long now = automation.uptimeMillis();
            queue.add(new EventQueue.Item(EventQueue.ENDED, NO_WINDOW, 0, now, "", "", ""), now);
            notifyAll();
        }
    }

    void end() {
        automation.listen(null);
        synchronized (this) {
            isOn = false;
            isOver = true;
            notifyAll();
        }
    }

    @Override
    public void onEvent(AccessibilityEvent event) {
        EventQueue.Item item = describe(automation.sdk(), event);
        synchronized (this) {
            if (isOn) {
                queue.add(item, automation.uptimeMillis());
                notifyAll();
            }
        }
    }

    private void send() {
        try {
            while (waitUntilDue()) {
                tellDue();
            }
        } catch (IOException | InterruptedException e) {
            // The connection has ended, which the thread that reads it finds out as well.
        }
    }

    /** Sends every event that is due. Returns how long until the next one is, and -1 if none waits. */
    long tellDue() throws IOException {
        for (EventQueue.Item item = take(); item != null; item = take()) {
            number++;
            frames.write(0, Frames.EVENT, item.write(number));
        }
        synchronized (this) {
            return isOver ? -1 : queue.waitMs(automation.uptimeMillis());
        }
    }

    private synchronized EventQueue.Item take() {
        return isOver ? null : queue.take(automation.uptimeMillis());
    }

    /** False at the end. */
    private synchronized boolean waitUntilDue() throws InterruptedException {
        while (!isOver) {
            long waitMs = queue.waitMs(automation.uptimeMillis());
            if (waitMs == 0) {
                return true;
            }
            // A wait of 0 has no end, which is right when no event waits: the next one notifies.
            wait(Math.max(0, waitMs));
        }
        return false;
    }

    static EventQueue.Item describe(int sdk, AccessibilityEvent event) {
        int type = event.getEventType();
        int changes = event.getContentChangeTypes();
        if (type == AccessibilityEvent.TYPE_WINDOWS_CHANGED) {
            changes = sdk >= 28 ? event.getWindowChanges() : 0;
        }
        String text = isTold(event) ? join(event.getText()) : "";
        return new EventQueue.Item(type, event.getWindowId(), changes, event.getEventTime(),
                name(event.getPackageName()), name(event.getClassName()), text);
    }

    private static boolean isTold(AccessibilityEvent event) {
        if (event.getEventType() == AccessibilityEvent.TYPE_ANNOUNCEMENT) {
            return true;
        }
        boolean isToast = event.getParcelableData() == null || name(event.getClassName()).contains("Toast");
        return event.getEventType() == AccessibilityEvent.TYPE_NOTIFICATION_STATE_CHANGED && isToast;
    }

    private static String name(CharSequence text) {
        return text == null ? "" : text.subSequence(0, Math.min(text.length(), NAME_CHARS_MAX)).toString();
    }

    /** The parts of a text with a line feed between them, cut at the end of a character. */
    static String join(List<CharSequence> parts) {
        StringBuilder all = new StringBuilder();
        for (CharSequence part : parts) {
            if (part != null && all.length() <= TEXT_BYTES_MAX) {
                all.append(all.length() == 0 ? "" : "\n").append(part);
            }
        }
        byte[] utf8 = all.toString().getBytes(StandardCharsets.UTF_8);
        if (utf8.length <= TEXT_BYTES_MAX) {
            return all.toString();
        }
        int end = TEXT_BYTES_MAX;
        while ((utf8[end] & 0xc0) == 0x80) {
            end--;
        }
        return new String(utf8, 0, end, StandardCharsets.UTF_8);
    }
}
