package mdm.framework;

import android.graphics.Rect;
import android.view.IWindow;
import android.view.InsetsState;
import android.view.ViewRootImpl;
import android.view.WindowInsets;
import android.view.WindowLayout;
import android.view.WindowManager.LayoutParams;
import android.window.ClientWindowFrames;
import java.lang.reflect.Field;
import java.util.Map;
import java.util.WeakHashMap;
import org.robolectric.util.ReflectionHelpers;

/**
 * Places windows as the window manager does, with Android's own {@link WindowLayout}; Robolectric knows neither child
 * windows nor the keyboard. Called around each request of a window to the window manager.
 */
public final class WindowPlacement {
    private static final int WINDOWING_MODE_FULLSCREEN = 1;
    /** From API level 35 on, what a request for a layout gives back is in one object of this class. */
    private static final String RESULT = "android.view.WindowRelayoutResult";

    /** What each window last asked for; it does not say it again when it did not change. */
    private static final Map<IWindow, LayoutParams> ASKED = new WeakHashMap<>();

    private static final WindowLayout LAYOUT = new WindowLayout();

    private WindowPlacement() {}

    public static Object[] before(String method, Object[] args) {
        if (method.equals("relayout") || method.startsWith("addToDisplay")) {
            LayoutParams attributes = find(args, LayoutParams.class);
            if (attributes != null) {
                LayoutParams copy = new LayoutParams();
                copy.copyFrom(attributes);
                ASKED.put((IWindow) args[0], copy);
            }
        }
        return args;
    }

    public static void after(String method, Object[] args) {
        boolean adds = method.startsWith("addToDisplay");
        if (!adds && !method.equals("relayout")) {
            return;
        }
        InsetsState state = find(args, InsetsState.class);
        if (state == null) {
            return;
        }
        Keyboard.addInset(state);
        LayoutParams attributes = ASKED.get(args[0]);
        ClientWindowFrames frames = find(args, ClientWindowFrames.class);
        if (adds || attributes == null || frames == null) {
            return;
        }
        ViewRootImpl root = ScreenWindows.rootOf((IWindow) args[0]);
        int visibleTypes =
                root == null ? WindowInsets.Type.defaultVisible() : root.getInsetsController().getRequestedVisibleTypes();
        frames.attachedFrame = parentFrame(attributes);
        LAYOUT.computeFrames(
                attributes,
                state,
                cutoutSafe(state),
                new Rect(state.getDisplayFrame()),
                WINDOWING_MODE_FULLSCREEN,
                (int) args[2],
                (int) args[3],
                visibleTypes,
                1f,
                frames);
    }

    private static Rect cutoutSafe(InsetsState state) {
        Rect safe = new Rect();
        state.getDisplayCutoutSafe(safe);
        return safe;
    }

    /** Returns the frame of the window that this one is attached to; null for one of its own. */
    private static Rect parentFrame(LayoutParams attributes) {
        boolean isChild =
                attributes.type >= LayoutParams.FIRST_SUB_WINDOW && attributes.type <= LayoutParams.LAST_SUB_WINDOW;
        if (!isChild || attributes.token == null) {
            return null;
        }
        for (ViewRootImpl root : ScreenWindows.roots()) {
            IWindow window = ReflectionHelpers.getField(root, "mWindow");
            if (window.asBinder() == attributes.token) {
                return new Rect(ReflectionHelpers.<Rect>getField(root, "mWinFrame"));
            }
        }
        return null;
    }

    private static <T> T find(Object[] args, Class<T> type) {
        for (Object arg : args) {
            if (type.isInstance(arg)) {
                return type.cast(arg);
            }
            if (arg != null && arg.getClass().getName().equals(RESULT)) {
                return findField(arg, type);
            }
        }
        return null;
    }

    private static <T> T findField(Object result, Class<T> type) {
        for (Field field : result.getClass().getFields()) {
            if (field.getType() == type) {
                return type.cast(ReflectionHelpers.getField(result, field.getName()));
            }
        }
        return null;
    }
}
