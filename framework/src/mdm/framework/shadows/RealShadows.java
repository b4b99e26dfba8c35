package mdm.framework.shadows;

import org.robolectric.annotation.Implements;
import org.robolectric.shadows.ShadowAdapterView;
import org.robolectric.shadows.ShadowViewGroup;

/** Shadows without a method: with them Android's own code of these classes runs. */
final class RealShadows {
    private RealShadows() {}

    @Implements(className = "android.widget.AbsListView")
    public static class RealAbsListView extends ShadowAdapterView<android.widget.Adapter> {}

    @Implements(className = "android.widget.ListView")
    public static class RealListView extends RealAbsListView {}

    @Implements(className = "android.widget.ScrollView")
    public static class RealScrollView extends ShadowViewGroup {}

    @Implements(className = "android.widget.TabHost")
    public static class RealTabHost extends ShadowViewGroup {}

    @Implements(className = "android.widget.TabHost$TabSpec")
    public static class RealTabSpec {}

    @Implements(className = "android.animation.ValueAnimator")
    public static class RealValueAnimator {}

    @Implements(className = "android.widget.ViewAnimator")
    public static class RealViewAnimator extends ShadowViewGroup {}

    @Implements(className = "android.view.ViewConfiguration")
    public static class RealViewConfiguration {}
}
