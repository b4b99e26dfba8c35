package mdm.framework.shadows;

import android.app.ActionBar;
import android.app.FragmentManager;
import mdm.framework.ActivityStack;
import org.robolectric.annotation.Implementation;
import org.robolectric.annotation.Implements;
import org.robolectric.shadows.ShadowActivity;
import org.robolectric.util.ReflectionHelpers;

/** Does on Back what an activity does, where Robolectric would only finish it, and asks our stack about tasks. */
@Implements(className = "android.app.Activity")
public class ActivityShadow extends ShadowActivity {
    @Override
    @Implementation
    protected void onBackPressed() {
        ActionBar bar = ReflectionHelpers.getField(realActivity, "mActionBar");
        if (bar != null && bar.collapseActionView()) {
            return;
        }
        FragmentManager fragments = realActivity.getFragmentManager();
        if (!fragments.isStateSaved() && fragments.popBackStackImmediate()) {
            return;
        }
        ActivityStack.current().backOut(realActivity);
    }

    @Override
    @Implementation
    protected boolean moveTaskToBack(boolean nonRoot) {
        ActivityStack.current().requestHome();
        return true;
    }

    @Override
    @Implementation
    protected boolean isTaskRoot() {
        return ActivityStack.current().isRoot(realActivity);
    }

    @Override
    @Implementation
    protected void finishAffinity() {
        ActivityStack.current().finishAll();
    }

    /** The same for groups, of which Robolectric has a shadow too. */
    @SuppressWarnings("deprecation")
    @Implements(className = "android.app.ActivityGroup")
    public static class ActivityGroupShadow extends ActivityShadow {}

    /** Lets an activity with tabs find its own tab host, where Robolectric would give it an empty one. */
    @Implements(className = "android.app.TabActivity")
    public static class TabActivityShadow extends ActivityGroupShadow {}
}
