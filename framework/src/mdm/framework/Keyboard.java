package mdm.framework;

import android.graphics.Rect;
import android.view.InsetsSource;
import android.view.InsetsState;
import android.view.View;
import android.view.ViewRootImpl;
import android.view.WindowInsets;
import android.view.WindowManager.LayoutParams;
import android.view.inputmethod.EditorInfo;
import android.view.inputmethod.InputConnection;
import org.robolectric.util.ReflectionHelpers;

/**
 * Stands for the keyboard: a rectangle at the lower edge that takes touches and makes an inset, and a connection to the
 * field that it types into. It has no keys of its own. There is one, as on a phone.
 */
public final class Keyboard {
    /** The part of the screen's height that it takes. */
    private static final float UPRIGHT_HEIGHT = 0.35f;
    private static final float SIDEWAYS_HEIGHT = 0.5f;

    private static boolean shown;
    private static View served;

    private Keyboard() {}

    public static boolean isShown() {
        return shown;
    }

    public static boolean serves(View view) {
        return served == view && served != null;
    }

    public static boolean isServing() {
        return served != null;
    }

    /** Shows or hides it, as an app asks for. */
    static void setShown(boolean visible, ScreenWindows windows) {
        served = visible ? focusedEditor(windows) : null;
        boolean now = visible && served != null;
        if (now != shown) {
            shown = now;
            relayoutAll();
        }
    }

    /** Takes Back while it is shown, and goes when the key is released; true for an event that it took. */
    public static boolean takesKey(android.view.InputEvent event) {
        boolean takes =
                shown
                        && event instanceof android.view.KeyEvent
                        && ((android.view.KeyEvent) event).getKeyCode() == android.view.KeyEvent.KEYCODE_BACK;
        if (takes && ((android.view.KeyEvent) event).getAction() == android.view.KeyEvent.ACTION_UP) {
            shown = false;
            served = null;
            relayoutAll();
        }
        return takes;
    }

    /** Follows the focus: it goes with the window that it belongs to, and comes where a window asks for it. */
    static void focusMoved(ScreenWindows windows, boolean windowChanged) {
        View editor = focusedEditor(windows);
        if (windowChanged) {
            ScreenWindows.Window window = windows.focusedWindow();
            int mode = window == null ? LayoutParams.SOFT_INPUT_STATE_UNSPECIFIED : window.attributes.softInputMode;
            setShown(wantsKeyboard(mode, editor), windows);
        } else if (shown && editor == null && !usesInputMethod(windows)) {
            setShown(false, windows);
        } else if (shown && editor != null) {
            served = editor;
        }
    }

    private static boolean usesInputMethod(ScreenWindows windows) {
        ScreenWindows.Window window = windows.focusedWindow();
        return window != null && LayoutParams.mayUseInputMethod(window.attributes.flags);
    }

    private static boolean wantsKeyboard(int mode, View editor) {
        if (editor == null) {
            return false;
        }
        boolean forward = (mode & LayoutParams.SOFT_INPUT_IS_FORWARD_NAVIGATION) != 0;
        boolean resizes =
                (mode & LayoutParams.SOFT_INPUT_MASK_ADJUST) == LayoutParams.SOFT_INPUT_ADJUST_RESIZE;
        int state = mode & LayoutParams.SOFT_INPUT_MASK_STATE;
        if (state == LayoutParams.SOFT_INPUT_STATE_UNCHANGED) {
            return shown;
        }
        return state == LayoutParams.SOFT_INPUT_STATE_ALWAYS_VISIBLE
                || (forward && state == LayoutParams.SOFT_INPUT_STATE_VISIBLE)
                || (forward && resizes && state == LayoutParams.SOFT_INPUT_STATE_UNSPECIFIED);
    }

    /** Returns the focused view if it takes text. */
    static View focusedEditor(ScreenWindows windows) {
        ScreenWindows.Window window = windows.focusedWindow();
        View focus = window == null ? null : window.view().findFocus();
        return focus != null && focus.onCheckIsTextEditor() ? focus : null;
    }

    /** Opens a connection to the focused field, as a keyboard gets it; null when there is none. */
    static InputConnection connect(ScreenWindows windows) {
        View editor = focusedEditor(windows);
        return editor == null ? null : editor.onCreateInputConnection(new EditorInfo());
    }

    /** Returns its place on a screen of this size. */
    static Rect frame(Rect display) {
        float part = display.height() > display.width() ? UPRIGHT_HEIGHT : SIDEWAYS_HEIGHT;
        return new Rect(
                display.left, display.bottom - Math.round(display.height() * part), display.right, display.bottom);
    }

    static void addInset(InsetsState state) {
        if (shown) {
            InsetsSource source = state.getOrCreateSource(InsetsSource.ID_IME, WindowInsets.Type.ime());
            source.setFrame(frame(state.getDisplayFrame())).setVisible(true);
        } else {
            state.removeSource(InsetsSource.ID_IME);
        }
    }

    private static void relayoutAll() {
        for (ViewRootImpl root : ScreenWindows.roots()) {
            ReflectionHelpers.setField(root, "mForceNextWindowRelayout", true);
            root.requestLayout();
        }
    }
}
