package mdm.framework;

import android.content.ClipData;
import android.graphics.Bitmap;
import android.graphics.Rect;
import android.view.InputEvent;
import android.view.accessibility.AccessibilityEvent;
import android.view.accessibility.AccessibilityNodeInfo;
import java.util.List;
import java.util.function.Consumer;

/**
 * What a program with UiAutomation can do with the screen. The dump is written with it, and a helper that runs in this
 * process uses it in place of the real UiAutomation. Actions go through the nodes themselves.
 */
public interface ScreenAccess {
    /** A window as accessibility describes it. */
    final class WindowInfo {
        public final int id;
        /** Higher ones lie above lower ones. */
        public final int layer;
        /** One of {@code AccessibilityWindowInfo.TYPE_*}. */
        public final int type;
        public final String title;
        public final Rect bounds;
        public final boolean focused;
        public final boolean active;
        /** The number of the window that it belongs to; -1 for one of its own. */
        public final int parent;

        WindowInfo(int id, int layer, int type, String title, Rect bounds, boolean focused, int parent) {
            this.id = id;
            this.layer = layer;
            this.type = type;
            this.title = title;
            this.bounds = bounds;
            this.focused = focused;
            this.active = focused;
            this.parent = parent;
        }
    }

    /** Returns the windows that accessibility tells of, the topmost first. */
    List<WindowInfo> windows();

    /** Returns the root of a window, or null when it is gone. */
    AccessibilityNodeInfo root(int windowId);

    /** Returns the root of the window that has the focus, or null without one. */
    AccessibilityNodeInfo activeRoot();

    /** Returns the node with the input focus, or null. */
    AccessibilityNodeInfo inputFocus();

    /** Sets who hears of events; events are sent only while accessibility is on. */
    void setEventListener(Consumer<AccessibilityEvent> listener);

    void setAccessibilityEnabled(boolean enabled);

    /** Puts an event of a finger or a key into the window that it belongs to; false when no window takes it. */
    boolean inject(InputEvent event);

    Bitmap picture();

    /** Returns what the clipboard holds; null when that is nothing. */
    ClipData clip();

    /** Null empties the clipboard. */
    void setClip(ClipData clip);
}
