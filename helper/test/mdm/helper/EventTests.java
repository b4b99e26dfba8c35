package mdm.helper;

import static mdm.helper.Tests.equal;
import static mdm.helper.Tests.test;

import android.view.accessibility.AccessibilityEvent;
import java.util.Arrays;
import java.util.Collections;

/** Merging, order and limits of events, and what is told of one. */
final class EventTests {
    private static final int SCROLLED = AccessibilityEvent.TYPE_VIEW_SCROLLED;
    private static final int CONTENT = EventQueue.CONTENT_CHANGED;

    private EventTests() {}

    static void run() {
        test("content changes of a window become one", EventTests::merge);
        test("another kind goes at once and takes what waits along", EventTests::order);
        test("a client that does not read loses no count", EventTests::full);
        test("texts of toasts and announcements only", EventTests::texts);
        test("a text is cut between characters", EventTests::cut);
    }

    private static void merge() {
        EventQueue queue = new EventQueue();
        queue.add(item(CONTENT, 1, 1, 100), 100);
        queue.add(item(CONTENT, 2, 1, 105), 105);
        queue.add(item(CONTENT, 1, 2, 119), 119);
        equal(null, queue.take(119));
        equal(1L, queue.waitMs(119));
        equal("2048 w1 c3 x2 t119", describe(queue.take(120)));
        equal(null, queue.take(120));
        queue.add(item(CONTENT, 1, 4, 121), 121);
        equal("2048 w2 c1 x1 t105", describe(queue.take(125)));
        equal(null, queue.take(125));
        equal("2048 w1 c4 x1 t121", describe(queue.take(141)));
        equal(-1L, queue.waitMs(141));
    }

    private static void order() {
        EventQueue queue = new EventQueue();
        queue.add(item(CONTENT, 1, 1, 100), 100);
        queue.add(item(SCROLLED, 1, 0, 101), 101);
        queue.add(item(SCROLLED, 1, 0, 102), 102);
        equal("2048 w1 c1 x1 t100", describe(queue.take(102)));
        equal("4096 w1 c0 x1 t101", describe(queue.take(102)));
        equal("4096 w1 c0 x1 t102", describe(queue.take(102)));
    }

    private static void full() {
        EventQueue queue = new EventQueue();
        for (int count = 0; count < 1_000; count++) {
            queue.add(item(SCROLLED, count % 300, 0, count), count);
        }
        queue.add(item(AccessibilityEvent.TYPE_ANNOUNCEMENT, 9_999, 0, 1_000), 1_000);
        int events = 0;
        int merged = 0;
        for (EventQueue.Item item = queue.take(2_000); item != null; item = queue.take(2_000)) {
            events++;
            merged += item.merged;
        }
        equal("256 1001", events + " " + merged);
    }

    private static void texts() {
        AccessibilityEvent toast = event(AccessibilityEvent.TYPE_NOTIFICATION_STATE_CHANGED, "android.widget.Toast$TN");
        equal("Saved\ntwice", Events.describe(34, toast).text);
        equal("Saved\ntwice", Events.describe(34, event(AccessibilityEvent.TYPE_ANNOUNCEMENT, null)).text);
        equal("", Events.describe(34, event(AccessibilityEvent.TYPE_VIEW_TEXT_CHANGED, "a.B")).text);
        AccessibilityEvent notification = event(AccessibilityEvent.TYPE_NOTIFICATION_STATE_CHANGED, "a.Notification");
        notification.setParcelableData(new android.graphics.Rect());
        equal("", Events.describe(34, notification).text);
        EventQueue.Item item = Events.describe(34, toast);
        equal("64 -1 0 org.example android.widget.Toast$TN 55", item.type + " " + item.window + " " + item.changes
                + " " + item.packageName + " " + item.className + " " + item.uptimeMs);
    }

    private static void cut() {
        String long1 = String.join("", Collections.nCopies(1_999, "x"));
        equal(long1, Events.join(Collections.<CharSequence>singletonList(long1 + "\u00e4")));
        equal("a\nb", Events.join(Arrays.<CharSequence>asList("a", null, "b")));
    }

    private static AccessibilityEvent event(int type, String className) {
        AccessibilityEvent event = new AccessibilityEvent(type);
        event.setPackageName("org.example");
        event.setClassName(className);
        event.setEventTime(55);
        event.getText().add("Saved");
        event.getText().add("twice");
        return event;
    }

    private static EventQueue.Item item(int type, int window, int changes, long uptimeMs) {
        return new EventQueue.Item(type, window, changes, uptimeMs, "p", "c", "");
    }

    private static String describe(EventQueue.Item item) {
        return item.type + " w" + item.window + " c" + item.changes + " x" + item.merged + " t" + item.uptimeMs;
    }
}
