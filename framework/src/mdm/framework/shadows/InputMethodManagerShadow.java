package mdm.framework.shadows;

import android.view.View;
import mdm.framework.Keyboard;
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
}
