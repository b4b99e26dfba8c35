package mdm.framework;

import android.graphics.PixelFormat;
import android.icu.util.Calendar;
import android.text.format.DateFormat;
import android.text.method.PasswordTransformationMethod;
import android.text.method.TransformationMethod;
import android.view.View;
import android.widget.AbsSeekBar;
import android.widget.CheckedTextView;
import android.widget.CompoundButton;
import android.widget.NumberPicker;
import android.widget.RatingBar;
import android.widget.TextView;
import com.android.internal.policy.DecorView;
import java.text.NumberFormat;
import java.util.List;
import java.util.Locale;
import org.robolectric.util.ReflectionHelpers;

/** Says of a view what a person sees of it: whether it is drawn at all, what it hides, and words that are no text of a view. */
final class ViewDrawing {
    private static final int DAYS_MAX = 31;
    private static final String DATE = "dd MMMM yyyy";

    private ViewDrawing() {}

    static void put(View view, List<String> facts) {
        if (isTransparent(view)) {
            ViewTruth.put(facts, "transparent", true);
        }
        if (view.isOpaque() || hasOpaqueBackground(view)) {
            ViewTruth.put(facts, "opaque", true);
        }
        if (view instanceof DecorView && view.getParent() instanceof View) {
            ViewTruth.put(facts, "innerWindow", true);
        }
        if (view.getZ() != 0) {
            ViewTruth.put(facts, "z", view.getZ());
        }
        boolean tellsChecked = view instanceof CompoundButton || view instanceof CheckedTextView;
        // Material's chip is a button that need not be checkable.
        if (tellsChecked && !Boolean.FALSE.equals(ask(view, "isCheckable"))) {
            ViewTruth.put(facts, "tellsChecked", true);
        }
        if (isAdjustable(view)) {
            ViewTruth.put(facts, "adjustable", true);
        }
        if (view instanceof TextView) {
            text((TextView) view, facts);
        }
        if (view instanceof NumberPicker) {
            picker((NumberPicker) view, facts);
        }
        if (isDrawnByApp(view)) {
            custom(view, facts);
        }
        String name = view.getClass().getName();
        if (name.equals("android.widget.SimpleMonthView")) {
            month(view, facts);
        } else if (name.equals("android.widget.RadialTimePickerView")) {
            clock(view, facts);
        }
    }

    private static boolean isAdjustable(View view) {
        boolean isIndicator = view instanceof RatingBar && ((RatingBar) view).isIndicator();
        return (view instanceof AbsSeekBar && !isIndicator) || view instanceof NumberPicker;
    }

    private static boolean isTransparent(View view) {
        return view.getAlpha() <= 0 || view.getTransitionAlpha() <= 0;
    }

    private static boolean hasOpaqueBackground(View view) {
        return view.getBackground() != null && view.getBackground().getOpacity() == PixelFormat.OPAQUE;
    }

    /** A view that an app draws itself, and to which it gives the methods of a text or a button. */
    private static boolean isDrawnByApp(View view) {
        return !(view instanceof TextView) && !view.getClass().getName().startsWith("android.");
    }

    private static void custom(View view, List<String> facts) {
        Object text = ask(view, "getText");
        if (text instanceof CharSequence) {
            ViewTruth.put(facts, "drawn", text, "appDrawn", true);
        }
        if (ask(view, "getValueFrom") != null) {
            slider(ask(view, "getValue"), ask(view, "getValues"), facts);
        }
        // The hint that floats above what was typed. No dump tells it.
        if (ask(view, "getEditText") != null && ask(view, "getHint") != null) {
            ViewTruth.put(facts, "drawn", ask(view, "getHint"), "appDrawn", true);
        }
        Object checked = ask(view, "isChecked");
        if (checked instanceof Boolean) {
            ViewTruth.put(facts, "drawnChecked", checked);
        }
    }

    /** Material's sliders draw their thumbs; each tells a reader its value in Material's own words. */
    private static void slider(Object value, Object values, List<String> facts) {
        if (value instanceof Float) {
            thumb("Value", (Float) value, facts);
        } else if (values instanceof List && ((List<?>) values).size() == 2) {
            thumb("Range start", (Float) ((List<?>) values).get(0), facts);
            thumb("Range end", (Float) ((List<?>) values).get(1), facts);
        }
    }

    private static void thumb(String name, float value, List<String> facts) {
        String number = String.format(Locale.ROOT, "%.0f", value);
        ViewTruth.put(facts, "value", number, "spoken", name + ", " + number);
    }

    /** Calls a public method without arguments; null if there is none. */
    private static Object ask(View view, String method) {
        try {
            return view.getClass().getMethod(method).invoke(view);
        } catch (ReflectiveOperationException missing) {
            return null;
        }
    }

    /** Capital letters, and the dots of a password. */
    private static void text(TextView view, List<String> facts) {
        TransformationMethod method = view.getTransformationMethod();
        CharSequence shown = method == null ? view.getText() : method.getTransformation(view.getText(), view);
        if (!String.valueOf(shown).contentEquals(view.getText())) {
            ViewTruth.put(facts, "shown", shown);
        }
        if (method instanceof PasswordTransformationMethod) {
            ViewTruth.put(facts, "password", true);
        }
    }

    /** The wheel draws the neighbours of the value; the value itself is the text of the field inside it. */
    private static void picker(NumberPicker picker, List<String> facts) {
        int count = picker.getMaxValue() - picker.getMinValue() + 1;
        for (int step = -1; step <= 1; step += 2) {
            int value = picker.getValue() + step;
            if (value < picker.getMinValue() || value > picker.getMaxValue()) {
                if (!picker.getWrapSelectorWheel()) {
                    continue;
                }
                value = picker.getMinValue() + Math.floorMod(value - picker.getMinValue(), count);
            }
            ViewTruth.put(facts, "drawn", pickerWord(picker, value));
        }
    }

    private static String pickerWord(NumberPicker picker, int value) {
        String[] words = picker.getDisplayedValues();
        int at = value - picker.getMinValue();
        if (words != null && at >= 0 && at < words.length) {
            return words[at];
        }
        NumberPicker.Formatter formatter = ReflectionHelpers.getField(picker, "mFormatter");
        return formatter != null ? formatter.format(value) : String.format(Locale.getDefault(), "%d", value);
    }

    /** The days as they are drawn, and of each the date that it tells a reader. */
    private static void month(View view, List<String> facts) {
        NumberFormat digits = ReflectionHelpers.getField(view, "mDayFormatter");
        Calendar calendar = (Calendar) ReflectionHelpers.<Calendar>getField(view, "mCalendar").clone();
        ViewTruth.put(facts, "month", (calendar.get(Calendar.MONTH) + 1) + "/" + calendar.get(Calendar.YEAR));
        int days = Math.min(ReflectionHelpers.<Integer>getField(view, "mDaysInMonth"), DAYS_MAX);
        for (int day = 1; day <= days; day++) {
            calendar.set(Calendar.DAY_OF_MONTH, day);
            ViewTruth.put(facts, "drawn", digits.format(day));
            ViewTruth.put(facts, "spoken", DateFormat.format(DATE, calendar.getTimeInMillis()));
        }
        int chosen = ReflectionHelpers.getField(view, "mActivatedDay");
        ViewTruth.put(facts, "chosen", digits.format(chosen));
    }

    private static void clock(View view, List<String> facts) {
        boolean hours = ReflectionHelpers.<Boolean>getField(view, "mShowHours");
        boolean both = hours && ReflectionHelpers.<Boolean>getField(view, "mIs24HourMode");
        words(view, hours ? "mOuterTextHours" : "mMinutesText", facts);
        if (both) {
            words(view, "mInnerTextHours", facts);
        }
        int chosen = ReflectionHelpers.callInstanceMethod(view, hours ? "getCurrentHour" : "getCurrentMinute");
        ViewTruth.put(facts, "chosen", hours && !both && chosen % 12 == 0 ? 12 : hours && !both ? chosen % 12 : chosen);
    }

    private static void words(View view, String field, List<String> facts) {
        for (String word : ReflectionHelpers.<String[]>getField(view, field)) {
            // Accessibility has the number, in plain digits, for the words 00 and 05 and for those of every language.
            ViewTruth.put(facts, "drawn", Integer.parseInt(word));
        }
    }
}
