package mdm.framework;

import android.view.View;
import android.view.ViewGroup;
import android.widget.Checkable;
import android.widget.ProgressBar;
import java.util.Objects;

/** Notes when what views show last changed: words, states and places. Drawing the same again, as a ripple does, is no change. */
final class ScreenContent {
    private long drawsSeen = -1;
    private int last;

    /** Looks at the views if anything was drawn, or if another window has the focus. */
    void look(ScreenWindows windows, boolean focusMoved) {
        long draws = Journal.draws();
        if (draws == drawsSeen && !focusMoved) {
            return;
        }
        drawsSeen = draws;
        int now = 0;
        for (ScreenWindows.Window window : windows.visible()) {
            now = 31 * now + hash(window.view());
        }
        if (now != last) {
            last = now;
            Journal.contentChanged();
        }
    }

    private static int hash(View view) {
        int[] place = new int[2];
        view.getLocationInWindow(place);
        int hash = Objects.hash(
                view.getClass(), view.getId(), String.valueOf(ViewTruth.text(view)), view.getContentDescription(),
                view.isEnabled(), view.isSelected(), state(view), place[0], place[1], view.getWidth(), view.getHeight());
        if (view instanceof ViewGroup) {
            ViewGroup group = (ViewGroup) view;
            for (int i = 0; i < group.getChildCount(); i++) {
                View child = group.getChildAt(i);
                hash = 31 * hash + (child.getVisibility() == View.VISIBLE ? hash(child) : 0);
            }
        }
        return hash;
    }

    private static int state(View view) {
        if (view instanceof Checkable) {
            return ((Checkable) view).isChecked() ? 2 : 1;
        }
        return view instanceof ProgressBar ? ((ProgressBar) view).getProgress() : 0;
    }
}
