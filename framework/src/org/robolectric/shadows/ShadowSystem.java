package org.robolectric.shadows;

import android.os.SystemClock;
import mdm.framework.PhoneClock;

/**
 * Takes the place of Robolectric's class of this name, which comes later on the class path: there the wall clock is the
 * time since boot, so that every date would be of 1970.
 */
public class ShadowSystem {
    public static long nanoTime() {
        return SystemClock.uptimeNanos();
    }

    public static long currentTimeMillis() {
        return PhoneClock.wallMillis();
    }
}
