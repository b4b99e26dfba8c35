package mdm.helper;

import android.accessibilityservice.AccessibilityServiceInfo;
import android.app.UiAutomation;
import android.os.Build;
import android.os.HandlerThread;
import android.os.Looper;
import java.lang.reflect.Constructor;
import java.lang.reflect.Method;
import java.util.concurrent.TimeoutException;

/** UiAutomation while it is ours. It has no public way in for a program of the shell, so it is made by reflection. */
final class UiAutomationHolder {
    private static final long CONNECT_MS_MAX = 5_000;
    /** UiAutomation.FLAG_DONT_SUPPRESS_ACCESSIBILITY_SERVICES: a screen reader goes on speaking. */
    private static final int DONT_SUPPRESS_SERVICES = 1;
    private static final int CLEAR_CACHE_SDK = 34;

    final UiAutomation automation;
    private final HandlerThread thread;

    private UiAutomationHolder(UiAutomation automation, HandlerThread thread) {
        this.automation = automation;
        this.thread = thread;
    }

    static UiAutomationHolder connect() throws Refusal {
        HandlerThread thread = new HandlerThread("mdm-helper-automation");
        thread.start();
        try {
            UiAutomation automation = create(thread.getLooper());
            connect(automation);
            UiAutomationHolder holder = new UiAutomationHolder(automation, thread);
            holder.setFlags();
            return holder;
        } catch (ReflectiveOperationException | RuntimeException e) {
            thread.quit();
            throw refusal(Hidden.causeOf(e));
        }
    }

    /** Also when it was taken away, which makes each of these calls fail. */
    void disconnect() {
        try {
            automation.setOnAccessibilityEventListener(null);
            UiAutomation.class.getMethod("disconnect").invoke(automation);
        } catch (ReflectiveOperationException | RuntimeException e) {
            // The system gives it back by itself when this process ends.
        }
        thread.quit();
    }

    void forgetCachedNodes() {
        try {
            if (Build.VERSION.SDK_INT >= CLEAR_CACHE_SDK) {
                automation.clearCache();
                return;
            }
            Class<?> type = Class.forName("android.view.accessibility.AccessibilityInteractionClient");
            Object client = type.getMethod("getInstance").invoke(null);
            clearCache(client);
        } catch (ReflectiveOperationException | RuntimeException e) {
            // The cache follows events by itself; clearing it only makes sure.
        }
    }

    /** From API 33 the cache of one connection is cleared, before that the cache of all. */
    private void clearCache(Object client) throws ReflectiveOperationException {
        try {
            Object id = UiAutomation.class.getMethod("getConnectionId").invoke(automation);
            Hidden.call(client, "clearCache", id);
        } catch (NoSuchMethodException e) {
            Hidden.call(client, "clearCache");
        }
    }

    private void setFlags() {
        AccessibilityServiceInfo info = automation.getServiceInfo();
        if (info == null) {
            throw new IllegalStateException("the connection has no service");
        }
        info.flags |= AccessibilityServiceInfo.FLAG_RETRIEVE_INTERACTIVE_WINDOWS
                | AccessibilityServiceInfo.FLAG_REPORT_VIEW_IDS
                | AccessibilityServiceInfo.FLAG_INCLUDE_NOT_IMPORTANT_VIEWS;
        automation.setServiceInfo(info);
    }

    /** The constructor takes a looper and a connection; some versions put the number of the display before them. */
    private static UiAutomation create(Looper looper) throws ReflectiveOperationException {
        Object connection = Class.forName("android.app.UiAutomationConnection").getConstructor().newInstance();
        Constructor<?> best = null;
        for (Constructor<?> constructor : UiAutomation.class.getDeclaredConstructors()) {
            boolean takesLooper = false;
            boolean takesConnection = false;
            for (Class<?> type : constructor.getParameterTypes()) {
                takesLooper |= type == Looper.class;
                takesConnection |= type.isInstance(connection);
            }
            boolean isShorter = best == null
                    || constructor.getParameterTypes().length < best.getParameterTypes().length;
            best = takesLooper && takesConnection && isShorter ? constructor : best;
        }
        if (best == null) {
            throw new NoSuchMethodException("UiAutomation has no constructor with a looper and a connection");
        }
        best.setAccessible(true);
        return (UiAutomation) best.newInstance(Hidden.fill(best.getParameterTypes(), looper, connection));
    }

    private static void connect(UiAutomation automation) throws ReflectiveOperationException {
        Method timed = find("connectWithTimeout", int.class, long.class);
        if (timed != null) {
            timed.invoke(automation, DONT_SUPPRESS_SERVICES, CONNECT_MS_MAX);
            return;
        }
        Method withFlags = find("connect", int.class);
        if (withFlags != null) {
            withFlags.invoke(automation, DONT_SUPPRESS_SERVICES);
        } else {
            UiAutomation.class.getMethod("connect").invoke(automation);
        }
    }

    private static Method find(String name, Class<?>... types) {
        try {
            return UiAutomation.class.getMethod(name, types);
        } catch (NoSuchMethodException e) {
            return null;
        }
    }

    private static Refusal refusal(Throwable thrown) {
        Throwable inner = thrown;
        for (int depth = 0; inner.getCause() != null && depth < 10; depth++) {
            inner = inner.getCause();
        }
        if (inner instanceof ReflectiveOperationException) {
            return new Refusal(Refusal.UNSUPPORTED, "UiAutomation cannot be made on this phone", inner);
        }
        if (inner instanceof SecurityException) {
            return new Refusal(Refusal.REFUSED, "the phone does not let the shell have UiAutomation", inner);
        }
        // Android says «already registered» with an IllegalStateException, and a connection that never comes in words only.
        boolean isBusy = inner instanceof IllegalStateException || inner instanceof TimeoutException
                || inner.getClass() == RuntimeException.class;
        return isBusy ? new Refusal(Refusal.AUTOMATION_BUSY, "UiAutomation cannot be had now", inner)
                : new Refusal(Refusal.INTERNAL, "UiAutomation", inner);
    }
}
