package mdm.framework.shadows;

/**
 * The shadows that replace Robolectric's own: those that make up for a missing system server and draw, log or count for
 * us, and empty ones where Robolectric stands in for code of Android that runs here by itself.
 */
public final class Shadows {
    public static final Class<?>[] ALL = {
        AccessibilityManagerShadow.class,
        ActivityShadow.class,
        ActivityShadow.ActivityGroupShadow.class,
        ActivityShadow.TabActivityShadow.class,
        InputMethodManagerShadow.class,
        LogShadow.class,
        NativeAllocationShadow.class,
        PackageMonitorShadow.class,
        RealShadows.RealAbsListView.class,
        RealShadows.RealListView.class,
        RealShadows.RealScrollView.class,
        RealShadows.RealTabHost.class,
        RealShadows.RealTabSpec.class,
        RealShadows.RealValueAnimator.class,
        RealShadows.RealViewAnimator.class,
        RealShadows.RealViewConfiguration.class,
        SdkSandboxShadow.class,
        SearchManagerShadow.class,
        ToastShadow.class,
        ViewRootImplShadow.class,
        WindowManagerGlobalShadow.class,
    };

    private Shadows() {}
}
