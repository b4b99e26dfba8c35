package mdm.framework;

import org.robolectric.util.ReflectionHelpers;
import org.robolectric.util.ReflectionHelpers.ClassParameter;

/** Gives the display a status bar and a bar for gestures, as insets; nothing is drawn there. */
final class SystemBars {
    private SystemBars() {}

    static void install() {
        try {
            Class<?> type = Class.forName("org.robolectric.shadows.SystemUi");
            Object bars = ReflectionHelpers.callStaticMethod(type, "systemUiForDefaultDisplay");
            Class<?> behavior = Class.forName("org.robolectric.shadows.SystemUi$StatusBarBehavior");
            Object status = ReflectionHelpers.getStaticField(type, "STANDARD_STATUS_BAR");
            call(bars, "setStatusBarBehavior", behavior, status);
            behavior = Class.forName("org.robolectric.shadows.SystemUi$NavigationBarBehavior");
            Object navigation = ReflectionHelpers.getStaticField(type, "GESTURAL_NAVIGATION");
            call(bars, "setNavigationBarBehavior", behavior, navigation);
        } catch (ClassNotFoundException absent) {
            throw new IllegalStateException("this Robolectric has no system bars", absent);
        }
    }

    @SuppressWarnings("unchecked")
    private static void call(Object bars, String method, Class<?> type, Object value) {
        ReflectionHelpers.callInstanceMethod(
                bars, method, ClassParameter.from((Class<Object>) type, value));
    }
}
