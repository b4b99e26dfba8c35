package mdm.helper;

import android.app.UiAutomation;
import android.content.ClipData;
import android.graphics.Bitmap;
import android.graphics.Rect;
import android.os.Build;
import android.os.SystemClock;
import android.view.InputEvent;
import android.view.accessibility.AccessibilityNodeInfo;
import android.view.accessibility.AccessibilityWindowInfo;
import java.util.ArrayList;
import java.util.List;

/** The phone itself, as its shell user may use it: UiAutomation, and services of the system behind hidden interfaces. */
final class ShellAutomation implements Automation {
    /** Brings what lies below a node along with it, in the order in which the tree is read. */
    private static final int PREFETCH = AccessibilityNodeInfo.FLAG_PREFETCH_DESCENDANTS_DEPTH_FIRST
            | AccessibilityNodeInfo.FLAG_PREFETCH_UNINTERRUPTIBLE;
    private static final int PREFETCH_SDK = 33;

    private final ShellClipboard clipboard = new ShellClipboard();
    private UiAutomationHolder holder;
    private EventListener listener;

    @Override
    public int sdk() {
        return Build.VERSION.SDK_INT;
    }

    @Override
    public long uptimeMillis() {
        return SystemClock.uptimeMillis();
    }

    @Override
    public void sleepUntil(long uptimeMillis) throws InterruptedException {
        long left = uptimeMillis - SystemClock.uptimeMillis();
        while (left > 0) {
            Thread.sleep(left);
            left = uptimeMillis - SystemClock.uptimeMillis();
        }
    }

    @Override
    public Screen screen() throws Refusal {
        return ShellScreen.read();
    }

    @Override
    public String frontActivity() {
        return FrontActivity.read();
    }

    @Override
    public synchronized void take() throws Refusal {
        if (holder == null) {
            holder = UiAutomationHolder.connect();
            pass();
        }
    }

    @Override
    public synchronized void giveBack() {
        if (holder != null) {
            holder.disconnect();
            holder = null;
        }
    }

    @Override
    public synchronized boolean isHeld() {
        return holder != null;
    }

    @Override
    public void forgetCachedNodes() {
        UiAutomationHolder held = held();
        if (held != null) {
            held.forgetCachedNodes();
        }
    }

    @Override
    public List<ScreenWindow> windows() throws Refusal {
        UiAutomation automation = automation();
        try {
            List<ScreenWindow> windows = new ArrayList<>();
            for (AccessibilityWindowInfo window : automation.getWindows()) {
                windows.add(describe(window));
            }
            if (windows.isEmpty()) {
                addActive(windows, automation);
            }
            if (windows.isEmpty() && automation.getServiceInfo() == null) {
                throw lost(null);
            }
            return windows;
        } catch (IllegalStateException e) {
            throw lost(e);
        }
    }

    @Override
    public AccessibilityNodeInfo root(ScreenWindow window) {
        if (window.handle instanceof AccessibilityNodeInfo) {
            return (AccessibilityNodeInfo) window.handle;
        }
        AccessibilityWindowInfo its = (AccessibilityWindowInfo) window.handle;
        return sdk() >= PREFETCH_SDK ? its.getRoot(PREFETCH) : its.getRoot();
    }

    @Override
    public AccessibilityNodeInfo child(AccessibilityNodeInfo node, int index) {
        return sdk() >= PREFETCH_SDK ? node.getChild(index, PREFETCH) : node.getChild(index);
    }

    @Override
    public AccessibilityNodeInfo inputFocus() throws Refusal {
        try {
            return automation().findFocus(AccessibilityNodeInfo.FOCUS_INPUT);
        } catch (IllegalStateException e) {
            throw lost(e);
        }
    }

    @Override
    public synchronized void listen(EventListener listener) {
        this.listener = listener;
        pass();
    }

    @Override
    public boolean inject(InputEvent event, boolean wait) throws Refusal {
        try {
            return automation().injectInputEvent(event, wait);
        } catch (IllegalStateException e) {
            throw lost(e);
        }
    }

    @Override
    public Bitmap picture() throws Refusal {
        try {
            return automation().takeScreenshot();
        } catch (IllegalStateException e) {
            throw lost(e);
        }
    }

    @Override
    public ClipData clip() throws Refusal {
        return clipboard.get();
    }

    @Override
    public void setClip(ClipData clip) throws Refusal {
        clipboard.set(clip);
    }

    private static ScreenWindow describe(AccessibilityWindowInfo window) {
        Rect bounds = new Rect();
        window.getBoundsInScreen(bounds);
        AccessibilityWindowInfo parent = window.getParent();
        int flags = (window.isActive() ? ScreenWindow.ACTIVE : 0) | (window.isFocused() ? ScreenWindow.FOCUSED : 0)
                | (window.isAccessibilityFocused() ? ScreenWindow.ACCESSIBILITY_FOCUSED : 0)
                | (Build.VERSION.SDK_INT >= 26 && window.isInPictureInPictureMode()
                        ? ScreenWindow.PICTURE_IN_PICTURE : 0);
        return new ScreenWindow(window.getId(), window.getType(), window.getLayer(), flags, window.getTitle(), bounds,
                parent == null ? ScreenWindow.NO_PARENT : parent.getId(), window);
    }

    /** A phone that tells of no windows may still give the root of the active one. */
    private static void addActive(List<ScreenWindow> windows, UiAutomation automation) {
        AccessibilityNodeInfo root = automation.getRootInActiveWindow();
        if (root != null) {
            Rect bounds = new Rect();
            root.getBoundsInScreen(bounds);
            windows.add(new ScreenWindow(root.getWindowId(), AccessibilityWindowInfo.TYPE_APPLICATION, 0,
                    ScreenWindow.ACTIVE | ScreenWindow.FOCUSED, null, bounds, ScreenWindow.NO_PARENT, root));
        }
    }

    private synchronized UiAutomationHolder held() {
        return holder;
    }

    private UiAutomation automation() throws Refusal {
        UiAutomationHolder held = held();
        if (held == null) {
            throw lost(null);
        }
        return held.automation;
    }

    /** Called when UiAutomation turns out to be somebody else's. The next request tries to take it again. */
    private Refusal lost(IllegalStateException cause) {
        giveBack();
        String message = "UiAutomation was taken away by another program";
        return cause == null ? new Refusal(Refusal.AUTOMATION_BUSY, message)
                : new Refusal(Refusal.AUTOMATION_BUSY, message, cause);
    }

    private synchronized void pass() {
        if (holder != null) {
            EventListener to = listener;
            holder.automation.setOnAccessibilityEventListener(to == null ? null : to::onEvent);
        }
    }
}
