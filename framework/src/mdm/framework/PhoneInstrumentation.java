package mdm.framework;

import android.app.Activity;
import android.app.ActivityThread;
import android.content.ActivityNotFoundException;
import android.content.Context;
import android.content.Intent;
import android.os.Bundle;
import android.os.IBinder;
import android.os.UserHandle;
import org.robolectric.android.internal.RoboMonitoringInstrumentation;
import org.robolectric.util.ReflectionHelpers;

/** Gives every start of an activity to the stack, where Robolectric would only write it down. */
final class PhoneInstrumentation extends RoboMonitoringInstrumentation {
    private final ActivityStack stack;

    PhoneInstrumentation(ActivityStack stack) {
        this.stack = stack;
    }

    /** Takes the place of the instrumentation that Robolectric made. */
    void takeOver(ActivityThread thread) {
        android.app.Instrumentation before = thread.getInstrumentation();
        for (String field :
                new String[] {"mThread", "mMessageQueue", "mInstrContext", "mAppContext", "mComponent"}) {
            ReflectionHelpers.setField(
                    android.app.Instrumentation.class, this, field, ReflectionHelpers.getField(before, field));
        }
        ReflectionHelpers.setField(thread, "mInstrumentation", this);
    }

    @Override
    public ActivityResult execStartActivity(
            Context who, IBinder thread, IBinder token, Activity target, Intent intent, int request, Bundle options) {
        request(target, null, intent, request);
        return null;
    }

    @Override
    public ActivityResult execStartActivity(
            Context who, IBinder thread, IBinder token, String target, Intent intent, int request, Bundle options) {
        request(who instanceof Activity ? (Activity) who : null, target, intent, request);
        return null;
    }

    @Override
    public ActivityResult execStartActivity(
            Context who,
            IBinder thread,
            IBinder token,
            String target,
            Intent intent,
            int request,
            Bundle options,
            UserHandle user) {
        request(who instanceof Activity ? (Activity) who : null, target, intent, request);
        return null;
    }

    @Override
    public void execStartActivities(
            Context who, IBinder thread, IBinder token, Activity target, Intent[] intents, Bundle options) {
        for (Intent intent : intents) {
            request(target, null, intent, -1);
        }
    }

    private void request(Activity caller, String who, Intent intent, int request) {
        if (!stack.request(intent, caller, who, request)) {
            throw new ActivityNotFoundException("No Activity found to handle " + intent);
        }
    }

    @Override
    public boolean onException(Object source, Throwable thrown) {
        // Thrown on, as on a phone, where it ends the process.
        return false;
    }
}
