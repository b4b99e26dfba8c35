package mdm.framework.shadows;

import android.os.IBinder;
import android.os.SystemClock;
import android.view.IWindow;
import android.view.accessibility.AccessibilityEvent;
import android.view.accessibility.IAccessibilityInteractionConnection;
import java.util.function.Consumer;
import org.robolectric.annotation.Implementation;
import org.robolectric.annotation.Implements;
import org.robolectric.shadows.ShadowAccessibilityManager;

/** Stands for the accessibility service: gives each window a number of its own and hands out the events. */
@Implements(className = "android.view.accessibility.AccessibilityManager")
public class AccessibilityManagerShadow extends ShadowAccessibilityManager {
    private static int lastWindowId;
    private static Consumer<AccessibilityEvent> listener = event -> {};

    /** Sets who hears of events while accessibility is on. */
    public static void setListener(Consumer<AccessibilityEvent> consumer) {
        listener = consumer;
    }

    public static int newWindowId() {
        return ++lastWindowId;
    }

    @Override
    @Implementation
    protected void sendAccessibilityEvent(AccessibilityEvent event) {
        if (isEnabled()) {
            event.setEventTime(SystemClock.uptimeMillis());
            listener.accept(event);
        }
    }

    @Implementation
    protected int addAccessibilityInteractionConnection(
            IWindow window,
            IBinder leash,
            String packageName,
            IAccessibilityInteractionConnection connection) {
        return newWindowId();
    }
}
