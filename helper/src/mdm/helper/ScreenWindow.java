package mdm.helper;

import android.graphics.Rect;

/** What the tree says of a window. The handle is the `Automation`'s own, to find the root by. */
public final class ScreenWindow {
    public static final int NO_PARENT = -1;

    public static final int ACTIVE = 1;
    public static final int FOCUSED = 2;
    public static final int ACCESSIBILITY_FOCUSED = 4;
    public static final int PICTURE_IN_PICTURE = 8;

    public final int id;
    public final int type;
    public final int layer;
    public final int flags;
    public final CharSequence title;
    public final Rect bounds;
    public final int parentId;
    public final Object handle;

    /** A title may be null; a parent that is no window of the same list counts as none. */
    public ScreenWindow(int id, int type, int layer, int flags, CharSequence title, Rect bounds, int parentId,
            Object handle) {
        this.id = id;
        this.type = type;
        this.layer = layer;
        this.flags = flags;
        this.title = title;
        this.bounds = bounds;
        this.parentId = parentId;
        this.handle = handle;
    }
}
