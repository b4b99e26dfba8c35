package mdm.framework.shadows;

import android.view.View;
import android.view.ViewGroup;
import android.widget.TextView;
import android.widget.Toast;
import mdm.framework.Journal;
import org.robolectric.annotation.Implementation;
import org.robolectric.annotation.Implements;
import org.robolectric.shadows.ShadowToast;
import org.robolectric.util.ReflectionHelpers;

/** Stands for the system's toasts: each is noted with its text and the time for which it would be shown. */
@Implements(className = "android.widget.Toast")
public class ToastShadow extends ShadowToast {
    private static final long SHORT_MS = 2000;
    private static final long LONG_MS = 3500;

    @Override
    @Implementation
    protected void show() {
        String text = ReflectionHelpers.getField(this, "text");
        StringBuilder shown = new StringBuilder(text == null ? "" : text);
        if (getView() != null) {
            addTexts(getView(), shown);
        }
        Journal.toast(shown.toString(), getDuration() == Toast.LENGTH_LONG ? LONG_MS : SHORT_MS);
    }

    private static void addTexts(View view, StringBuilder out) {
        if (view instanceof TextView) {
            out.append(out.length() > 0 ? " " : "").append(((TextView) view).getText());
        } else if (view instanceof ViewGroup) {
            ViewGroup group = (ViewGroup) view;
            for (int i = 0; i < group.getChildCount(); i++) {
                addTexts(group.getChildAt(i), out);
            }
        }
    }
}
