package mdm.framework.shadows;

import android.content.Context;
import android.os.Handler;
import android.os.Looper;
import android.view.View;
import android.view.ViewGroup;
import android.view.accessibility.AccessibilityEvent;
import android.view.accessibility.AccessibilityManager;
import android.widget.TextView;
import android.widget.Toast;
import mdm.framework.Journal;
import org.robolectric.RuntimeEnvironment;
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
        long from = Journal.toast(shown.toString(), getDuration() == Toast.LENGTH_LONG ? LONG_MS : SHORT_MS);
        View view = getView();
        Handler.createAsync(Looper.getMainLooper()).postAtTime(() -> tell(text, view), from);
    }

    /** Sends the event that a toast is to accessibility when it comes up, as the system's own presenter does. */
    private static void tell(String text, View view) {
        Context context = RuntimeEnvironment.getApplication();
        AccessibilityManager manager = context.getSystemService(AccessibilityManager.class);
        if (!manager.isEnabled()) {
            return;
        }
        AccessibilityEvent event = new AccessibilityEvent(AccessibilityEvent.TYPE_NOTIFICATION_STATE_CHANGED);
        event.setClassName(Toast.class.getName());
        event.setPackageName(context.getPackageName());
        if (view != null) {
            view.dispatchPopulateAccessibilityEvent(event);
        } else {
            event.getText().add(text);
        }
        manager.sendAccessibilityEvent(event);
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
