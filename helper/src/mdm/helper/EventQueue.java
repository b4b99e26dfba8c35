package mdm.helper;

import java.util.ArrayDeque;
import java.util.Iterator;

/**
 * Events that wait to be sent. Content changes of a window wait a moment for more of their kind and go as one; nothing
 * overtakes them, so events keep their order.
 */
public final class EventQueue {
    static final int EVENTS_MAX = 256;
    static final long MERGE_MS = 20;
    /** AccessibilityEvent's. */
    public static final int CONTENT_CHANGED = 2048;
    /** Our own: no events are told from here on, until UiAutomation is taken again. */
    public static final int ENDED = 0;

    /** What is told of an event, or of several that were merged. */
    public static final class Item {
        final int type;
        final int window;
        final String packageName;
        final String className;
        final String text;
        long uptimeMs;
        int changes;
        int merged = 1;
        private long dueMs;

        public Item(int type, int window, int changes, long uptimeMs, String packageName, String className,
                String text) {
            this.type = type;
            this.window = window;
            this.changes = changes;
            this.uptimeMs = uptimeMs;
            this.packageName = packageName;
            this.className = className;
            this.text = text;
        }

        /** The payload of a frame. */
        public Bytes write(int number) {
            return new Bytes().u32(number).u64(uptimeMs).u32(merged).u32(type).u32(changes).u32(window)
                    .str(packageName).str(className).str(text);
        }

        private void merge(Item other) {
            merged += other.merged;
            uptimeMs = Math.max(uptimeMs, other.uptimeMs);
            changes |= other.type == type ? other.changes : 0;
        }
    }

    private final ArrayDeque<Item> waiting = new ArrayDeque<>();

    public void add(Item item, long nowMs) {
        boolean isContent = item.type == CONTENT_CHANGED;
        if (isContent && mergeIntoEqual(item)) {
            return;
        }
        if (waiting.size() >= EVENTS_MAX) {
            if (!mergeIntoEqual(item)) {
                waiting.peekLast().merge(item);
            }
            return;
        }
        item.dueMs = isContent ? nowMs + MERGE_MS : nowMs;
        if (!isContent) {
            hurry(nowMs);
        }
        waiting.add(item);
    }

    /** The next event to send; null if none is due. */
    public Item take(long nowMs) {
        Item first = waiting.peekFirst();
        return first == null || first.dueMs > nowMs ? null : waiting.pollFirst();
    }

    /** How long until an event is due; 0 if one is, and -1 if none waits. */
    public long waitMs(long nowMs) {
        Item first = waiting.peekFirst();
        return first == null ? -1 : Math.max(0, first.dueMs - nowMs);
    }

    public void clear() {
        waiting.clear();
    }

    private boolean mergeIntoEqual(Item item) {
        Iterator<Item> newestFirst = waiting.descendingIterator();
        while (newestFirst.hasNext()) {
            Item other = newestFirst.next();
            if (other.type == item.type && other.window == item.window && other.text.equals(item.text)) {
                other.merge(item);
                return true;
            }
        }
        return false;
    }

    /** What waits for more of its kind goes now. */
    private void hurry(long nowMs) {
        for (Item item : waiting) {
            item.dueMs = Math.min(item.dueMs, nowMs);
        }
    }
}
