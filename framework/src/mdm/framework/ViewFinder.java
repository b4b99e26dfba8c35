package mdm.framework;

import android.graphics.Rect;
import android.view.View;
import android.view.ViewGroup;
import android.widget.TextView;
import java.util.List;

/** Finds the view that a finger lands on: the innermost one that takes a touch, or the innermost one at all. */
final class ViewFinder {
    private ViewFinder() {}

    /** Returns the innermost view that takes a touch there; the innermost one if none does. */
    static View at(ScreenWindows windows, int x, int y) {
        return find(windows, x, y, false);
    }

    /** Returns the smallest view there, also one that leaves touches to those around it. */
    static View innermost(ScreenWindows windows, int x, int y) {
        return find(windows, x, y, true);
    }

    private static View find(ScreenWindows windows, int x, int y, boolean any) {
        if (Keyboard.isShown() && Keyboard.frame(Screen.frame()).contains(x, y)) {
            return null;
        }
        List<ScreenWindows.Window> visible = windows.visible();
        for (int i = visible.size() - 1; i >= 0; i--) {
            Rect frame = visible.get(i).frame();
            if (frame.contains(x, y)) {
                return inside(visible.get(i).view(), x - frame.left, y - frame.top, any);
            }
            if (visible.get(i).isModal()) {
                return null;
            }
        }
        return null;
    }

    private static View inside(View view, int x, int y, boolean any) {
        View innermost = view;
        View taking = takes(view) ? view : null;
        while (innermost instanceof ViewGroup) {
            View next = childAt((ViewGroup) innermost, x, y);
            if (next == null) {
                break;
            }
            innermost = next;
            taking = takes(next) ? next : taking;
        }
        return taking != null && !any ? taking : innermost;
    }

    private static boolean takes(View view) {
        return view.isClickable() || view.isLongClickable();
    }

    private static View childAt(ViewGroup group, int x, int y) {
        Rect bounds = new Rect();
        for (int i = group.getChildCount() - 1; i >= 0; i--) {
            View child = group.getChildAt(i);
            if (child.getVisibility() == View.VISIBLE && child.getGlobalVisibleRect(bounds) && bounds.contains(x, y)) {
                return child;
            }
        }
        return null;
    }

    /** Writes number, class, id, label and whether the view is enabled; the number is 0 for none. */
    static void write(View view, WireWriter out) {
        out.i64(ViewTruth.number(view));
        if (view != null) {
            out.text(view.getClass().getName()).text(ViewTruth.idName(view)).text(label(view)).flag(view.isEnabled());
        }
    }

    private static String label(View view) {
        if (view instanceof TextView && ((TextView) view).length() > 0) {
            return ((TextView) view).getText().toString();
        }
        if (view.getContentDescription() != null) {
            return view.getContentDescription().toString();
        }
        if (view instanceof ViewGroup) {
            ViewGroup group = (ViewGroup) view;
            for (int i = 0; i < group.getChildCount(); i++) {
                String inside = label(group.getChildAt(i));
                if (!inside.isEmpty()) {
                    return inside;
                }
            }
        }
        return "";
    }
}
