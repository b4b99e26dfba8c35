package mdm.framework.shadows;

import android.os.Handler;
import android.view.InputEvent;
import android.view.View;
import mdm.framework.Keyboard;
import org.robolectric.annotation.ClassName;
import org.robolectric.annotation.Implementation;
import org.robolectric.annotation.Implements;
import org.robolectric.shadows.ShadowInputMethodManager;

/** Gives requests for the keyboard to {@link Keyboard}. */
@Implements(className = "android.view.inputmethod.InputMethodManager")
public class InputMethodManagerShadow extends ShadowInputMethodManager {
    @Override
    @Implementation
    protected boolean isActive(View view) {
        return Keyboard.serves(view);
    }

    @Override
    @Implementation
    protected boolean isActive() {
        return Keyboard.isServing();
    }

    /** Asks the keyboard about a key before the view gets it: 1 for one that it took, 0 for one that it leaves. */
    @Implementation
    protected int dispatchInputEvent(
            InputEvent event,
            Object token,
            @ClassName("android.view.inputmethod.InputMethodManager$FinishedInputEventCallback") Object callback,
            Handler handler) {
        return Keyboard.takesKey(event) ? 1 : 0;
    }
}
