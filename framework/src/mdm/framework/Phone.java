package mdm.framework;

import android.app.Application;
import android.content.ClipData;
import android.content.ClipboardManager;
import android.content.Context;
import android.graphics.Bitmap;
import android.graphics.Rect;
import android.view.InputEvent;
import android.view.KeyEvent;
import android.view.MotionEvent;
import android.view.View;
import android.view.accessibility.AccessibilityEvent;
import android.view.accessibility.AccessibilityManager;
import android.view.accessibility.AccessibilityNodeInfo;
import android.view.inputmethod.InputMethodManager;
import java.io.IOException;
import java.util.List;
import java.util.function.Consumer;
import mdm.framework.shadows.AccessibilityManagerShadow;
import org.robolectric.shadow.api.Shadow;
import org.robolectric.shadows.ShadowInputMethodManager;
import org.robolectric.shadows.ShadowView;

/** The phone as a whole: puts the parts together and keeps their order after each message. */
final class Phone implements ScreenAccess {
    final Application application;
    final ActivityStack stack;
    final ScreenWindows windows;
    final AccessibleWindows accessible;
    final PhoneClock clock;
    final TouchInput touch;
    final KeyInput keys;
    private final NodeConnection nodes;
    private final ScreenContent content = new ScreenContent();
    private Consumer<AccessibilityEvent> eventListener = event -> {};
    private boolean keyboardWanted;
    private boolean keyboardAsked;

    Phone(Application application) {
        this.application = application;
        stack = new ActivityStack(application);
        windows = new ScreenWindows(stack);
        accessible = new AccessibleWindows(windows, stack, application.getPackageName());
        clock = new PhoneClock(this::keepOrder, this::crashed);
        touch = new TouchInput(windows);
        keys = new KeyInput(windows);
        nodes = new NodeConnection(windows);
        AccessibilityManagerShadow.setListener(
                event -> {
                    Journal.accessibilityEvent();
                    eventListener.accept(event);
                });
        InputMethodManager manager = application.getSystemService(InputMethodManager.class);
        ShadowInputMethodManager shadow = Shadow.extract(manager);
        shadow.setSoftInputVisibilityHandler(
                visible -> {
                    keyboardWanted = visible;
                    keyboardAsked = true;
                });
        ShadowView.addGlobalPerformClickListener(view -> Journal.listener(ViewTruth.number(view), "click"));
        ShadowView.addGlobalPerformLongClickListener(
                view -> {
                    Journal.listener(ViewTruth.number(view), "longClick");
                    return false;
                });
    }

    /** Does between two messages what the system server does: activities, focus, keyboard. */
    private void keepOrder() {
        try {
            stack.settle();
        } catch (Throwable thrown) {
            crashed(thrown);
        }
        boolean moved = windows.updateFocus();
        tellOfWindows();
        content.look(windows, moved);
        if (keyboardAsked) {
            keyboardAsked = false;
            Keyboard.setShown(keyboardWanted, windows);
        }
        Keyboard.focusMoved(windows, moved);
        ShadowInputMethodManager shadow =
                Shadow.extract(application.getSystemService(InputMethodManager.class));
        if (shadow.isSoftInputVisible() != Keyboard.isShown()) {
            org.robolectric.util.ReflectionHelpers.setStaticField(
                    ShadowInputMethodManager.class, "softInputVisible", Keyboard.isShown());
        }
    }

    private void tellOfWindows() {
        if (!application.getSystemService(AccessibilityManager.class).isEnabled()) {
            return;
        }
        for (AccessibilityEvent event : accessible.changes()) {
            eventListener.accept(event);
        }
    }

    /** Notes which view a finger comes down on. */
    void noteTouch(int x, int y) {
        Journal.listener(ViewTruth.number(ViewFinder.innermost(windows, x, y)), "touch");
    }

    void crashed(Throwable thrown) {
        Journal.crashed(stack.frontName(), thrown);
        stack.die();
        windows.updateFocus();
    }

    /** Stands for switching the phone off and on again; no app runs afterwards. Files of the app stay. */
    void restart() {
        hideKeyboard();
        stack.die();
        windows.updateFocus();
        setAccessibilityEnabled(false);
        setClip(null);
        PhoneClock.restart();
        Journal.restart();
    }

    void hideKeyboard() {
        Keyboard.setShown(false, windows);
    }

    @Override
    public List<WindowInfo> windows() {
        return accessible.all();
    }

    @Override
    public AccessibilityNodeInfo root(int windowId) {
        for (ScreenWindows.Window window : windows.visible()) {
            if (window.accessibilityId() == windowId) {
                return nodes.root(window);
            }
        }
        return AccessibleWindows.nodeOfOurs(windowId);
    }

    @Override
    public AccessibilityNodeInfo activeRoot() {
        ScreenWindows.Window focused = windows.focusedWindow();
        return focused == null ? null : nodes.root(focused);
    }

    /** Writes the dump. `uiautomator` asks for no windows, so it sees what lies below the keyboard. */
    String dump(int rotation) throws IOException {
        Rect frame = Screen.frame();
        nodes.setKnowsWindows(false);
        try {
            return TreeDump.write(activeRoot(), rotation, frame.width(), frame.height());
        } finally {
            nodes.setKnowsWindows(true);
        }
    }

    @Override
    public AccessibilityNodeInfo inputFocus() {
        ScreenWindows.Window focused = windows.focusedWindow();
        return focused == null ? null : nodes.inputFocus(focused);
    }

    @Override
    public void setEventListener(Consumer<AccessibilityEvent> listener) {
        eventListener = listener;
    }

    @Override
    public void setAccessibilityEnabled(boolean enabled) {
        AccessibilityManager manager = application.getSystemService(AccessibilityManager.class);
        AccessibilityManagerShadow shadow = Shadow.extract(manager);
        if (manager.isEnabled() != enabled) {
            // Only what changes from now on is told.
            accessible.changes();
            shadow.setEnabled(enabled);
        }
    }

    @Override
    public boolean inject(InputEvent event) {
        if (event instanceof MotionEvent && ((MotionEvent) event).getAction() == MotionEvent.ACTION_DOWN) {
            noteTouch((int) ((MotionEvent) event).getX(), (int) ((MotionEvent) event).getY());
        }
        return event instanceof MotionEvent
                ? touch.inject((MotionEvent) event)
                : keys.inject((KeyEvent) event);
    }

    @Override
    public Bitmap picture() {
        return Screen.picture(windows);
    }

    @Override
    public ClipData clip() {
        return clipboardManager().getPrimaryClip();
    }

    @Override
    public void setClip(ClipData clip) {
        if (clip == null) {
            clipboardManager().clearPrimaryClip();
        } else {
            clipboardManager().setPrimaryClip(clip);
        }
    }

    private ClipboardManager clipboardManager() {
        return (ClipboardManager) application.getSystemService(Context.CLIPBOARD_SERVICE);
    }

    /** Writes what every answer carries. */
    void writeState(WireWriter out) {
        Journal.write(out);
        out.i64(PhoneClock.phoneUptime());
        out.flag(stack.isHome()).text(application.getPackageName()).text(stack.isHome() ? "" : stack.frontName());
        List<String> names = stack.names();
        out.u32(names.size());
        for (String name : names) {
            out.text(name);
        }
        ScreenWindows.Window focused = windows.focusedWindow();
        boolean dialog = focused != null && !focused.isApplicationWindow();
        out.flag(focused != null).flag(dialog);
        rect(out, focused == null ? new Rect() : focused.frame());
        out.flag(Keyboard.isShown());
        rect(out, Keyboard.isShown() ? Keyboard.frame(Screen.frame()) : new Rect());
        View editor = Keyboard.focusedEditor(windows);
        out.text(editor == null ? "" : editorName(editor));
    }

    private static String editorName(View editor) {
        String name = ViewTruth.idName(editor);
        return name.isEmpty() ? editor.getClass().getName() : name;
    }

    private static void rect(WireWriter out, Rect rect) {
        out.u32(rect.left).u32(rect.top).u32(rect.right).u32(rect.bottom);
    }
}
