package mdm.framework;

import android.app.Activity;
import android.graphics.Rect;
import android.os.IBinder;
import android.view.IWindow;
import android.view.View;
import android.view.ViewRootImpl;
import android.view.WindowManager.LayoutParams;
import android.view.WindowManagerGlobal;
import java.util.ArrayList;
import java.util.List;
import mdm.framework.shadows.AccessibilityManagerShadow;
import org.robolectric.shadow.api.Shadow;
import org.robolectric.shadows.ShadowViewRootImpl;
import org.robolectric.util.ReflectionHelpers;

/** The windows on the screen in the order in which they lie on each other, and which of them has the focus. */
final class ScreenWindows {
    private final ActivityStack stack;
    private ViewRootImpl focused;

    ScreenWindows(ActivityStack stack) {
        this.stack = stack;
    }

    /** A window that can be seen. */
    static final class Window {
        final ViewRootImpl root;
        final LayoutParams attributes;

        Window(ViewRootImpl root) {
            this.root = root;
            attributes = root.mWindowAttributes;
        }

        View view() {
            return root.getView();
        }

        Rect frame() {
            return new Rect(ReflectionHelpers.<Rect>getField(root, "mWinFrame"));
        }

        boolean has(int flag) {
            return (attributes.flags & flag) != 0;
        }

        boolean isFocusable() {
            return !has(LayoutParams.FLAG_NOT_FOCUSABLE);
        }

        /** True for a window that takes every touch, also those beside it. */
        boolean isModal() {
            return isFocusable() && !has(LayoutParams.FLAG_NOT_TOUCH_MODAL);
        }

        boolean isApplicationWindow() {
            return attributes.type == LayoutParams.TYPE_BASE_APPLICATION;
        }

        /** The number by which accessibility knows the window. */
        int accessibilityId() {
            Object attachInfo = ReflectionHelpers.getField(root, "mAttachInfo");
            int id = ReflectionHelpers.<Integer>getField(attachInfo, "mAccessibilityWindowId");
            if (id <= 0) {
                id = AccessibilityManagerShadow.newWindowId();
                ReflectionHelpers.setField(attachInfo, "mAccessibilityWindowId", id);
            }
            return id;
        }
    }

    static List<ViewRootImpl> roots() {
        return new ArrayList<>(
                ReflectionHelpers.<ArrayList<ViewRootImpl>>getField(WindowManagerGlobal.getInstance(), "mRoots"));
    }

    static ViewRootImpl rootOf(IWindow window) {
        for (ViewRootImpl root : roots()) {
            if (ReflectionHelpers.getField(root, "mWindow") == window) {
                return root;
            }
        }
        return null;
    }

    /** Returns the visible windows, the topmost last. */
    List<Window> visible() {
        List<ViewRootImpl> roots = roots();
        List<Window> windows = new ArrayList<>();
        for (Activity activity : stack.visible()) {
            IBinder token = activity.getActivityToken();
            for (ViewRootImpl root : roots) {
                if (root.mWindowAttributes.token == token && !isChild(root)) {
                    addWithChildren(root, roots, windows);
                }
            }
        }
        for (ViewRootImpl root : roots) {
            if (root.mWindowAttributes.type >= LayoutParams.FIRST_SYSTEM_WINDOW) {
                addWithChildren(root, roots, windows);
            }
        }
        return windows;
    }

    static boolean isChild(ViewRootImpl root) {
        int type = root.mWindowAttributes.type;
        return type >= LayoutParams.FIRST_SUB_WINDOW && type <= LayoutParams.LAST_SUB_WINDOW;
    }

    private static void addWithChildren(ViewRootImpl root, List<ViewRootImpl> roots, List<Window> out) {
        View view = root.getView();
        if (view == null || view.getVisibility() != View.VISIBLE || !view.isAttachedToWindow()) {
            return;
        }
        out.add(new Window(root));
        IBinder token = ReflectionHelpers.<IWindow>getField(root, "mWindow").asBinder();
        for (ViewRootImpl other : roots) {
            if (isChild(other) && other.mWindowAttributes.token == token) {
                addWithChildren(other, roots, out);
            }
        }
    }

    /** Returns the window that has the focus: the topmost one that can have it. */
    Window focusedWindow() {
        List<Window> windows = visible();
        for (int i = windows.size() - 1; i >= 0; i--) {
            if (windows.get(i).isFocusable()) {
                return windows.get(i);
            }
        }
        return null;
    }

    /** Tells windows that they got or lost the focus; true when that changed. */
    boolean updateFocus() {
        Window window = focusedWindow();
        ViewRootImpl now = window == null ? null : window.root;
        if (now == focused) {
            return false;
        }
        if (focused != null && focused.getView() != null) {
            tell(focused, false);
        }
        focused = now;
        if (now != null) {
            tell(now, true);
        }
        return true;
    }

    private static void tell(ViewRootImpl root, boolean hasFocus) {
        ShadowViewRootImpl shadow = Shadow.extract(root);
        shadow.callWindowFocusChanged(hasFocus);
    }

    /** Takes every window away without telling anybody, as when a process dies. */
    static void removeAll() {
        WindowManagerGlobal global = WindowManagerGlobal.getInstance();
        for (String field : new String[] {"mRoots", "mParams", "mViews"}) {
            ReflectionHelpers.<ArrayList<?>>getField(global, field).clear();
        }
    }
}
