package mdm.framework.shadows;

import android.graphics.Rect;
import android.os.SystemClock;
import android.view.View;
import android.view.ViewTreeObserver;
import android.widget.Scroller;
import com.android.internal.view.RootViewSurfaceTaker;
import mdm.framework.Journal;
import org.robolectric.annotation.Implementation;
import org.robolectric.annotation.Implements;
import org.robolectric.shadows.ShadowViewRootImpl;
import org.robolectric.util.ReflectionHelpers;
import org.robolectric.util.ReflectionHelpers.ClassParameter;

/**
 * Draws each frame up to the display lists. There is no surface, and with that Android's own {@code draw} would return
 * at once; but without drawing nothing that scrolls by itself would move, because views compute their scrolling there.
 */
@Implements(className = "android.view.ViewRootImpl", isInAndroidSdk = false)
public class ViewRootImplShadow extends ShadowViewRootImpl {
    @Implementation(maxSdk = 34)
    protected boolean draw(boolean fullRedrawNeeded, boolean forceDraw) {
        return drawFrame();
    }

    @Implementation(minSdk = 35)
    protected boolean draw(
            boolean fullRedrawNeeded, android.window.SurfaceSyncGroup activeSyncGroup, boolean syncBuffer) {
        return drawFrame();
    }

    /**
     * As API level 35 answers by itself; level 34 asks the window manager, whose stand-in says no. Fingers are used here,
     * and then a window that opens gives the focus to no view by itself.
     */
    @Implementation(maxSdk = 34)
    protected boolean isInTouchMode() {
        Object attachInfo = ReflectionHelpers.getField(realObject, "mAttachInfo");
        return ReflectionHelpers.<Boolean>getField(attachInfo, "mInTouchMode");
    }

    private boolean drawFrame() {
        View view = realObject.getView();
        Object attachInfo = ReflectionHelpers.getField(realObject, "mAttachInfo");
        Object renderer = ReflectionHelpers.getField(attachInfo, "mThreadedRenderer");
        if (view == null || renderer == null) {
            return false;
        }
        ReflectionHelpers.callInstanceMethod(
                realObject,
                "scrollToRectOrFocus",
                ClassParameter.from(Rect.class, null),
                ClassParameter.from(boolean.class, false));
        ViewTreeObserver observer = ReflectionHelpers.getField(attachInfo, "mTreeObserver");
        if (ReflectionHelpers.<Boolean>getField(attachInfo, "mViewScrollChanged")) {
            ReflectionHelpers.setField(attachInfo, "mViewScrollChanged", false);
            ReflectionHelpers.callInstanceMethod(observer, "dispatchOnScrollChanged");
        }
        boolean panning = pan(view);
        ReflectionHelpers.setField(attachInfo, "mDrawingTime", SystemClock.uptimeMillis());
        observer.dispatchOnDraw();
        Rect dirty = ReflectionHelpers.getField(realObject, "mDirty");
        if (!dirty.isEmpty() || panning || ReflectionHelpers.<Boolean>getField(realObject, "mIsAnimating")) {
            dirty.setEmpty();
            ReflectionHelpers.setField(realObject, "mIsAnimating", false);
            ReflectionHelpers.callInstanceMethod(
                    renderer, "updateViewTreeDisplayList", ClassParameter.from(View.class, view));
            Journal.drawn();
        }
        if (panning) {
            ReflectionHelpers.callInstanceMethod(realObject, "scheduleTraversals");
        }
        return false;
    }

    /** Moves the whole window so that the focused field stays above the keyboard; true while that is under way. */
    private boolean pan(View view) {
        Scroller scroller = ReflectionHelpers.getField(realObject, "mScroller");
        boolean animating = scroller != null && scroller.computeScrollOffset();
        int scrollY =
                animating ? scroller.getCurrY() : ReflectionHelpers.<Integer>getField(realObject, "mScrollY");
        int before = ReflectionHelpers.<Integer>getField(realObject, "mCurScrollY");
        if (scrollY != before) {
            ReflectionHelpers.setField(realObject, "mCurScrollY", scrollY);
            if (view instanceof RootViewSurfaceTaker) {
                ((RootViewSurfaceTaker) view).onRootViewScrollYChanged(scrollY);
            }
        }
        return animating;
    }
}
