package mdm.framework;

import android.graphics.Rect;
import android.graphics.Region;
import android.os.IBinder;
import android.os.SystemClock;
import android.text.TextUtils;
import android.view.IWindow;
import android.view.WindowManager.LayoutParams;
import android.view.accessibility.AccessibilityEvent;
import android.view.accessibility.AccessibilityNodeInfo;
import android.view.accessibility.AccessibilityWindowInfo;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import mdm.framework.ScreenAccess.WindowInfo;
import org.robolectric.util.ReflectionHelpers;

/**
 * The windows that accessibility tells of. It leaves out what is covered: whatever lies behind a window that takes every
 * touch. The keyboard and the home screen have no views here; each is one node of ours that fills its window.
 */
final class AccessibleWindows {
    private static final int KEYBOARD = 900_001;
    private static final int HOME = 900_002;
    private static final String KEYBOARD_PACKAGE = "com.android.inputmethod.latin";
    private static final String HOME_PACKAGE = "com.android.launcher3";
    private static final String HOME_ACTIVITY = "com.android.launcher3.uioverrides.QuickstepLauncher";

    private final ScreenWindows windows;
    private final ActivityStack stack;
    private final String appPackage;
    /** What was last told of each window. */
    private Map<Integer, WindowInfo> told = new LinkedHashMap<>();

    AccessibleWindows(ScreenWindows windows, ActivityStack stack, String appPackage) {
        this.windows = windows;
        this.stack = stack;
        this.appPackage = appPackage;
    }

    /** Returns the activity in front as `package/class`. */
    String component() {
        return stack.isHome()
                ? HOME_PACKAGE + "/" + HOME_ACTIVITY
                : appPackage + "/" + stack.frontName();
    }

    /** Returns the windows, the topmost first. */
    List<WindowInfo> all() {
        List<WindowInfo> found = new ArrayList<>();
        List<ScreenWindows.Window> visible = windows.visible();
        Rect display = Screen.frame();
        Region uncovered = new Region(display);
        if (Keyboard.isShown()) {
            Rect keys = Keyboard.frame(display);
            found.add(
                    new WindowInfo(
                            KEYBOARD, visible.size() + 1, AccessibilityWindowInfo.TYPE_INPUT_METHOD, "", keys, false, -1));
            uncovered.op(keys, Region.Op.DIFFERENCE);
        }
        ScreenWindows.Window focused = windows.focusedWindow();
        boolean isBlocked = false;
        for (int i = visible.size() - 1; i >= 0 && !isBlocked; i--) {
            ScreenWindows.Window window = visible.get(i);
            Rect frame = window.frame();
            boolean hasFocus = focused != null && window.root == focused.root;
            if (hasFocus || new Region(frame).op(uncovered, Region.Op.INTERSECT)) {
                found.add(describe(window, i + 1, hasFocus));
            }
            if (!window.has(LayoutParams.FLAG_NOT_TOUCHABLE)) {
                uncovered.op(frame, Region.Op.DIFFERENCE);
            }
            isBlocked = window.isModal();
        }
        if (stack.isHome() && !isBlocked) {
            int type = AccessibilityWindowInfo.TYPE_APPLICATION;
            found.add(new WindowInfo(HOME, 0, type, "", display, focused == null, -1));
        }
        return found;
    }

    private WindowInfo describe(ScreenWindows.Window window, int layer, boolean hasFocus) {
        int type = AccessibilityWindowInfo.TYPE_APPLICATION;
        return new WindowInfo(
                window.accessibilityId(), layer, type, title(window), window.frame(), hasFocus, parent(window));
    }

    /** A panel has no title for accessibility, and its own counts instead. */
    private static String title(ScreenWindows.Window window) {
        CharSequence title = window.attributes.accessibilityTitle;
        if (TextUtils.isEmpty(title) && ScreenWindows.isChild(window.root)) {
            title = window.attributes.getTitle();
        }
        return title == null ? "" : title.toString();
    }

    private int parent(ScreenWindows.Window window) {
        if (ScreenWindows.isChild(window.root)) {
            for (ScreenWindows.Window other : windows.visible()) {
                IBinder token = ReflectionHelpers.<IWindow>getField(other.root, "mWindow").asBinder();
                if (token == window.attributes.token) {
                    return other.accessibilityId();
                }
            }
        }
        return -1;
    }

    /** Returns the node of a window without views; null for another one. */
    static AccessibilityNodeInfo nodeOfOurs(int windowId) {
        if (windowId != KEYBOARD && windowId != HOME) {
            return null;
        }
        Rect display = Screen.frame();
        AccessibilityNodeInfo node = new AccessibilityNodeInfo();
        node.setClassName("android.widget.FrameLayout");
        node.setPackageName(windowId == HOME ? HOME_PACKAGE : KEYBOARD_PACKAGE);
        node.setBoundsInScreen(windowId == HOME ? display : Keyboard.frame(display));
        node.setVisibleToUser(true);
        node.setEnabled(true);
        return node;
    }

    static boolean isOurs(AccessibilityNodeInfo node) {
        return node.getWindowId() == AccessibilityWindowInfo.UNDEFINED_WINDOW_ID;
    }

    /** Makes the events about windows that came, went or changed, as the accessibility service sends them. */
    List<AccessibilityEvent> changes() {
        Map<Integer, WindowInfo> now = new LinkedHashMap<>();
        for (WindowInfo window : all()) {
            now.put(window.id, window);
        }
        List<AccessibilityEvent> events = new ArrayList<>();
        Set<Integer> ids = new LinkedHashSet<>(told.keySet());
        ids.addAll(now.keySet());
        for (int id : ids) {
            int changes = difference(told.get(id), now.get(id));
            if (changes != 0) {
                events.add(event(id, changes));
            }
        }
        told = now;
        return events;
    }

    private static AccessibilityEvent event(int windowId, int changes) {
        AccessibilityEvent event = new AccessibilityEvent(AccessibilityEvent.TYPE_WINDOWS_CHANGED);
        event.setWindowId(windowId);
        event.setWindowChanges(changes);
        event.setImportantForAccessibility(true);
        event.setEventTime(SystemClock.uptimeMillis());
        return event;
    }

    private static int difference(WindowInfo before, WindowInfo now) {
        if (before == null || now == null) {
            return before == null
                    ? AccessibilityEvent.WINDOWS_CHANGE_ADDED
                    : AccessibilityEvent.WINDOWS_CHANGE_REMOVED;
        }
        return (before.title.equals(now.title) ? 0 : AccessibilityEvent.WINDOWS_CHANGE_TITLE)
                | (before.bounds.equals(now.bounds) ? 0 : AccessibilityEvent.WINDOWS_CHANGE_BOUNDS)
                | (before.layer == now.layer ? 0 : AccessibilityEvent.WINDOWS_CHANGE_LAYER)
                | (before.active == now.active ? 0 : AccessibilityEvent.WINDOWS_CHANGE_ACTIVE)
                | (before.focused == now.focused ? 0 : AccessibilityEvent.WINDOWS_CHANGE_FOCUSED)
                | (before.parent == now.parent ? 0 : AccessibilityEvent.WINDOWS_CHANGE_PARENT);
    }
}
