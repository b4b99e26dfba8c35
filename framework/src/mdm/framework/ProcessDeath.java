package mdm.framework;

import android.animation.AnimationHandler;
import org.robolectric.shadows.ShadowChoreographer;
import org.robolectric.shadows.ShadowPausedLooper;
import org.robolectric.util.ReflectionHelpers;

/**
 * Ends the app as far as a process can do that to a part of itself: its windows, messages, frames and animations are
 * gone. Static fields of the app and its threads stay, which on a phone they do not.
 */
final class ProcessDeath {
    private ProcessDeath() {}

    static void forgetEverything() {
        ScreenWindows.removeAll();
        ShadowPausedLooper.resetLoopers();
        ReflectionHelpers.setStaticField(AnimationHandler.class, "sAnimatorHandler", new ThreadLocal<>());
        ShadowChoreographer.setPaused(true);
        ShadowChoreographer.setFrameDelay(PhoneClock.FRAME);
    }
}
