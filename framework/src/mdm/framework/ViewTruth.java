package mdm.framework;

import android.content.res.Resources;
import android.graphics.Point;
import android.graphics.Rect;
import android.view.View;
import android.view.ViewGroup;
import android.view.ViewParent;
import android.widget.AbsListView;
import android.widget.AdapterView;
import android.widget.CalendarView;
import android.widget.Checkable;
import android.widget.DatePicker;
import android.widget.ExpandableListView;
import android.widget.HorizontalScrollView;
import android.widget.ListAdapter;
import android.widget.NumberPicker;
import android.widget.ProgressBar;
import android.widget.RatingBar;
import android.widget.ScrollView;
import android.widget.TabHost;
import android.widget.TextView;
import android.widget.TimePicker;
import android.widget.ViewAnimator;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.WeakHashMap;
import java.util.function.Supplier;

/** Reads the views themselves, for tests and judges; nothing here goes through accessibility. */
final class ViewTruth {
    static final int VIEWS_MAX = 20_000;

    private static final Map<View, Long> NUMBERS = new WeakHashMap<>();
    private static long lastNumber;

    private final WireWriter out;
    private int views;

    private ViewTruth(WireWriter out) {
        this.out = out;
    }

    /** Returns a number that stands for this object as long as it lives. */
    static synchronized long number(View view) {
        return view == null ? 0 : NUMBERS.computeIfAbsent(view, any -> ++lastNumber);
    }

    /** Writes which window has the focus, and every view of every visible window, each before its children. */
    static void write(ScreenWindows windows, WireWriter answer) {
        WireWriter body = new WireWriter();
        ScreenWindows.Window focused = windows.focusedWindow();
        answer.u32(focused == null ? 0 : focused.accessibilityId());
        ViewTruth truth = new ViewTruth(body);
        for (ScreenWindows.Window window : windows.visible()) {
            truth.view(window.view(), window);
        }
        answer.u32(truth.views);
        answer.raw(body);
    }

    private void view(View view, ScreenWindows.Window window) {
        if (view.getVisibility() != View.VISIBLE || views >= VIEWS_MAX) {
            return;
        }
        views++;
        Object parent = view.getParent();
        out.i64(number(view)).i64(parent instanceof View ? number((View) parent) : 0);
        out.u32(window.accessibilityId()).text(view.getClass().getName()).text(idName(view)).text(text(view));
        out.text(view.getContentDescription());
        out.u8(view instanceof Checkable ? (((Checkable) view).isChecked() ? 2 : 1) : 0);
        out.flag(view.isSelected()).flag(view.isEnabled()).flag(view.isFocused());
        out.flag(view.isClickable()).flag(view.hasOnClickListeners()).flag(view.isLongClickable());
        Rect bounds = visibleBounds(view, window);
        out.u32(bounds.left).u32(bounds.top).u32(bounds.right).u32(bounds.bottom);
        out.u32(view.getScrollX()).u32(view.getScrollY());
        List<String> facts = facts(view);
        out.u32(facts.size() / 2);
        for (String fact : facts) {
            out.text(fact);
        }
        if (view instanceof ViewGroup) {
            ViewGroup group = (ViewGroup) view;
            for (int i = 0; i < group.getChildCount(); i++) {
                view(group.getChildAt(i), window);
            }
        }
    }

    /** Returns what of the view can be seen, on the screen; empty when nothing is. */
    private static Rect visibleBounds(View view, ScreenWindows.Window window) {
        Rect visible = new Rect();
        if (!view.getGlobalVisibleRect(visible, new Point())) {
            return new Rect();
        }
        // React Native's scroll views cut off what they draw, and not what is inside them.
        for (ViewParent around = view.getParent(); around instanceof View; around = around.getParent()) {
            Rect outer = new Rect();
            boolean cuts = around instanceof ScrollView || around instanceof HorizontalScrollView;
            if (cuts && !(((View) around).getGlobalVisibleRect(outer) && visible.intersect(outer))) {
                return new Rect();
            }
        }
        Rect frame = window.frame();
        visible.offset(frame.left, frame.top);
        return visible.intersect(Screen.frame()) ? visible : new Rect();
    }

    static String idName(View view) {
        if (view.getId() == View.NO_ID) {
            return "";
        }
        try {
            return view.getResources().getResourceName(view.getId());
        } catch (Resources.NotFoundException made) {
            return "";
        }
    }

    static CharSequence text(View view) {
        return view instanceof TextView ? ((TextView) view).getText() : "";
    }

    /** Returns names and values by turns. */
    private static List<String> facts(View view) {
        List<String> facts = new ArrayList<>();
        ViewDrawing.put(view, facts);
        if (view.getTag() instanceof String || view.getTag() instanceof Number) {
            put(facts, "tag", view.getTag());
        }
        if (view.getTag() instanceof Supplier) {
            appState((Supplier<?>) view.getTag(), facts);
        }
        if (view instanceof ProgressBar) {
            ProgressBar bar = (ProgressBar) view;
            put(facts, "min", bar.getMin(), "max", bar.getMax(), "progress", bar.getProgress());
            put(facts, "secondaryProgress", bar.getSecondaryProgress(), "indeterminate", bar.isIndeterminate());
        }
        if (view instanceof RatingBar) {
            put(facts, "rating", ((RatingBar) view).getRating(), "stars", ((RatingBar) view).getNumStars());
        }
        if (view instanceof NumberPicker) {
            NumberPicker picker = (NumberPicker) view;
            put(facts, "min", picker.getMinValue(), "max", picker.getMaxValue(), "value", picker.getValue());
        }
        if (view instanceof DatePicker) {
            DatePicker picker = (DatePicker) view;
            put(facts, "date", picker.getYear() + "-" + (picker.getMonth() + 1) + "-" + picker.getDayOfMonth());
        }
        if (view instanceof TimePicker) {
            put(facts, "time", ((TimePicker) view).getHour() + ":" + ((TimePicker) view).getMinute());
        }
        if (view instanceof CalendarView) {
            put(facts, "dateMs", ((CalendarView) view).getDate());
        }
        if (view instanceof AdapterView) {
            AdapterView<?> list = (AdapterView<?>) view;
            put(facts, "count", list.getCount(), "selectedPosition", list.getSelectedItemPosition());
            put(facts, "firstPosition", list.getFirstVisiblePosition(), "lastPosition", list.getLastVisiblePosition());
        }
        if (view.getParent() instanceof AdapterView) {
            item((AdapterView<?>) view.getParent(), view, facts);
        }
        if (view instanceof AbsListView) {
            put(facts, "checkedCount", ((AbsListView) view).getCheckedItemCount());
            lastItem((AbsListView) view, facts);
        }
        if (view instanceof ExpandableListView) {
            put(facts, "groups", ((ExpandableListView) view).getExpandableListAdapter() == null
                    ? 0 : ((ExpandableListView) view).getExpandableListAdapter().getGroupCount());
        }
        if (view instanceof TabHost) {
            put(facts, "tab", ((TabHost) view).getCurrentTab());
        }
        if (view instanceof ViewAnimator) {
            put(facts, "displayedChild", ((ViewAnimator) view).getDisplayedChild());
        }
        if (view instanceof TextView) {
            TextView text = (TextView) view;
            if (text.getHint() != null) {
                put(facts, "hint", text.getHint());
            }
            if (text.getError() != null) {
                put(facts, "error", text.getError());
            }
            if (text.getInputType() != 0) {
                put(facts, "inputType", text.getInputType(), "selectionStart", text.getSelectionStart());
                put(facts, "selectionEnd", text.getSelectionEnd());
            }
        }
        return facts;
    }

    /** An app of ours leaves what it knows of itself at a view: names and values. */
    private static void appState(Supplier<?> tag, List<String> facts) {
        if (tag.get() instanceof Map) {
            ((Map<?, ?>) tag.get()).forEach((name, value) -> put(facts, "app." + name, value));
        }
    }

    /** A row of a list: its position, and whether the adapter lets it be clicked. */
    private static void item(AdapterView<?> list, View row, List<String> facts) {
        int position = list.getPositionForView(row);
        if (position == AdapterView.INVALID_POSITION || !(list.getAdapter() instanceof ListAdapter)) {
            return;
        }
        ListAdapter adapter = (ListAdapter) list.getAdapter();
        boolean reacts = position < adapter.getCount() && adapter.isEnabled(position);
        put(facts, "position", position, "reacts", reacts && list.getOnItemClickListener() != null);
    }

    /** Adds the last row of a list as its adapter has it, if that is a text. */
    private static void lastItem(AbsListView list, List<String> facts) {
        Object last = list.getCount() > 0 ? list.getItemAtPosition(list.getCount() - 1) : null;
        if (last instanceof CharSequence) {
            put(facts, "lastItem", last);
        }
    }

    static void put(List<String> facts, Object... namesAndValues) {
        for (Object each : namesAndValues) {
            facts.add(String.valueOf(each));
        }
    }
}
