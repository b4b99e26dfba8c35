package mdm.framework;

import android.content.ClipData;
import android.graphics.Bitmap;
import android.graphics.Rect;
import android.os.Build;
import android.os.Bundle;
import android.os.SystemClock;
import android.view.InputEvent;
import android.view.KeyEvent;
import android.view.accessibility.AccessibilityEvent;
import android.view.accessibility.AccessibilityNodeInfo;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import mdm.helper.Automation;
import mdm.helper.Refusal;
import mdm.helper.ScreenWindow;

/** What the helper needs of the system, from this phone's screen. Everything but the clock is done by the main thread. */
final class HelperAutomation implements Automation {
    private final Phone phone;
    private final HelperThread thread;
    private final java.util.function.IntSupplier rotation;
    private volatile boolean isHeld;
    /** Whether UiAutomation is to be had: nobody else holds it. */
    private volatile boolean isFree;
    private volatile EventListener listener;

    HelperAutomation(Phone phone, HelperThread thread, java.util.function.IntSupplier rotation) {
        this.phone = phone;
        this.thread = thread;
        this.rotation = rotation;
    }

    void setFree(boolean free) {
        isFree = free;
    }

    boolean isListening() {
        return isHeld && listener != null;
    }

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
        while (SystemClock.uptimeMillis() < uptimeMillis) {
            thread.sleepUntil(uptimeMillis);
        }
    }

    @Override
    public mdm.helper.Screen screen() {
        Rect frame = call(Screen::frame);
        return new mdm.helper.Screen(frame.width(), frame.height(), rotation.getAsInt());
    }

    @Override
    public String frontActivity() {
        return call(() -> phone.accessible.component());
    }

    @Override
    public void take() throws Refusal {
        if (isHeld) {
            return;
        }
        if (!isFree) {
            throw new Refusal(Refusal.AUTOMATION_BUSY, "UiAutomationService already registered");
        }
        isHeld = true;
        call(
                () -> {
                    phone.setEventListener(this::tell);
                    phone.setAccessibilityEnabled(true);
                    return null;
                });
    }

    @Override
    public void giveBack() {
        if (isHeld) {
            isHeld = false;
            call(
                    () -> {
                        phone.setAccessibilityEnabled(false);
                        phone.setEventListener(event -> {});
                        return null;
                    });
        }
    }

    @Override
    public boolean isHeld() {
        return isHeld;
    }

    /** The connection of the nodes has no cache. */
    @Override
    public void forgetCachedNodes() {}

    @Override
    public List<ScreenWindow> windows() throws Refusal {
        if (!isHeld) {
            throw new Refusal(Refusal.AUTOMATION_BUSY, "UiAutomation was taken away by another program");
        }
        return call(
                () -> {
                    List<ScreenWindow> windows = new ArrayList<>();
                    for (ScreenAccess.WindowInfo its : phone.windows()) {
                        int flags = (its.active ? ScreenWindow.ACTIVE : 0) | (its.focused ? ScreenWindow.FOCUSED : 0);
                        windows.add(
                                new ScreenWindow(
                                        its.id, its.type, its.layer, flags, its.title, its.bounds, its.parent, its));
                    }
                    return windows;
                });
    }

    @Override
    public AccessibilityNodeInfo root(ScreenWindow window) {
        return callApp(() -> phone.root(window.id), null);
    }

    @Override
    public AccessibilityNodeInfo child(AccessibilityNodeInfo node, int index) {
        return callApp(() -> node.getChild(index), null);
    }

    @Override
    public boolean refresh(AccessibilityNodeInfo node) {
        return AccessibleWindows.isOurs(node) || callApp(node::refresh, false);
    }

    @Override
    public boolean perform(AccessibilityNodeInfo node, int action, Bundle arguments) {
        return !AccessibleWindows.isOurs(node) && callApp(() -> node.performAction(action, arguments), false);
    }

    @Override
    public AccessibilityNodeInfo inputFocus() {
        return callApp(phone::inputFocus, null);
    }

    @Override
    public void listen(EventListener listener) {
        this.listener = listener;
    }

    private void tell(AccessibilityEvent event) {
        EventListener to = listener;
        if (isHeld && to != null) {
            to.onEvent(event);
        }
    }

    /** The app has handled the event on return, whether it was to wait for that or not. */
    @Override
    public boolean inject(InputEvent event, boolean wait) {
        return call(
                () -> {
                    boolean isTaken = isHomeKey(event) ? goHome((KeyEvent) event) : phone.inject(event);
                    phone.clock.runDue();
                    return isTaken;
                });
    }

    private static boolean isHomeKey(InputEvent event) {
        return event instanceof KeyEvent && ((KeyEvent) event).getKeyCode() == KeyEvent.KEYCODE_HOME;
    }

    /** The system takes this key before any window. */
    private boolean goHome(KeyEvent event) {
        if (event.getAction() == KeyEvent.ACTION_UP) {
            phone.stack.requestHome();
        }
        return true;
    }

    @Override
    public Bitmap picture() {
        return call(phone::picture);
    }

    @Override
    public ClipData clip() {
        return call(phone::clip);
    }

    @Override
    public void setClip(ClipData clip) {
        call(
                () -> {
                    phone.setClip(clip);
                    return null;
                });
    }

    private <T> T call(Callable<T> work) {
        try {
            return thread.onMain(work);
        } catch (RuntimeException e) {
            throw e;
        } catch (Exception e) {
            throw new IllegalStateException(e);
        }
    }

    /** Runs code of the app. What that throws ends the app and not the helper, which is another process on a phone. */
    private <T> T callApp(Callable<T> work, T otherwise) {
        return call(
                () -> {
                    try {
                        return work.call();
                    } catch (Throwable thrown) {
                        phone.crashed(thrown);
                        return otherwise;
                    }
                });
    }
}
