package mdm.framework;

import android.animation.AnimationHandler;
import android.app.ActivityThread;
import android.view.ViewRootImpl;
import com.google.common.collect.Multimap;
import java.util.Map;
import org.robolectric.shadows.ShadowChoreographer;
import org.robolectric.shadows.ShadowPausedLooper;
import org.robolectric.shadows.ShadowWindowManagerImpl;
import org.robolectric.util.ReflectionHelpers;

/**
 * Ends the app as far as a process can do that to a part of itself: its windows, messages, frames and animations are
 * gone. Static fields of the app and its threads stay, which on a phone they do not.
 */
final class ProcessDeath {
    private ProcessDeath() {}

    static void forgetEverything() {
        letGo();
        ScreenWindows.removeAll();
        ShadowPausedLooper.resetLoopers();
        ReflectionHelpers.setStaticField(AnimationHandler.class, "sAnimatorHandler", new ThreadLocal<>());
        ShadowChoreographer.setPaused(true);
        ShadowChoreographer.setFrameDelay(PhoneClock.FRAME);
    }

    /** Lets go of activities and windows that nobody destroys: they would fill the heap. */
    private static void letGo() {
        for (ViewRootImpl root : ScreenWindows.roots()) {
            ReflectionHelpers.callInstanceMethod(root, "unregisterListeners");
        }
        ReflectionHelpers.<Map<?, ?>>getField(ActivityThread.currentActivityThread(), "mActivities").clear();
        ReflectionHelpers.<Multimap<?, ?>>getStaticField(ShadowWindowManagerImpl.class, "views").clear();
    }
}
