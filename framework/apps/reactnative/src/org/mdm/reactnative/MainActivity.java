package org.mdm.reactnative;

import android.os.Bundle;
import android.view.MotionEvent;
import android.view.View;
import android.view.ViewGroup;
import androidx.appcompat.app.AppCompatActivity;
import com.facebook.react.bridge.JavaOnlyMap;
import com.facebook.react.internal.featureflags.ReactNativeFeatureFlags;
import com.facebook.react.internal.featureflags.ReactNativeFeatureFlagsLocalAccessor;
import com.facebook.react.touch.JSResponderHandler;
import com.facebook.react.uimanager.DisplayMetricsHolder;
import com.facebook.react.uimanager.ReactStylesDiffMap;
import com.facebook.react.uimanager.ThemedReactContext;
import com.facebook.react.uimanager.ViewManager;
import com.facebook.react.views.scroll.ReactScrollViewManager;
import com.facebook.react.views.switchview.ReactSwitchManager;
import com.facebook.react.views.text.ReactTextView;
import com.facebook.react.views.text.ReactTextViewManager;
import com.facebook.react.views.textinput.ReactEditText;
import com.facebook.react.views.textinput.ReactTextInputManager;
import com.facebook.react.views.view.ReactViewManager;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.function.Supplier;

/**
 * React Native's own views, made by its view managers from the properties that JavaScript would send. What needs native
 * code is done by hand: nothing runs JavaScript, so listeners stand here, and nothing computes a layout (Yoga), so places do.
 */
public class MainActivity extends AppCompatActivity {
    private static final int WIDTH = 1000;
    private static final int LINE = 130;
    private static final int ROWS = 60;

    private final List<String> deleted = new ArrayList<>();
    private ThemedReactContext react;
    private int lastTag;
    private int orders;

    @Override
    protected void onCreate(Bundle saved) {
        super.onCreate(saved);
        ReactNativeFeatureFlags.INSTANCE.setAccessorProvider$ReactAndroid_release(
                ReactNativeFeatureFlagsLocalAccessor::new);
        DisplayMetricsHolder.initDisplayMetrics(this);
        react = new ThemedReactContext(new ContextWithoutScript(this), this, null, -1);
        ViewGroup root = new Root(react);
        setContentView(root);
        root.setFitsSystemWindows(true);
        fill(root);
        Supplier<Map<String, String>> state =
                () -> Map.of("orders", String.valueOf(orders), "deleted", String.join(", ", deleted));
        root.setTag(state);
    }

    private void fill(ViewGroup root) {
        put(root, text("Orders", "accessibilityRole", "header"), 100, LINE);
        ReactTextView count = text("None yet");
        put(root, count, 230, LINE);
        ViewGroup add =
                make(
                        new ReactViewManager(),
                        "accessible", true, "accessibilityLabel", "New order", "accessibilityRole", "button");
        whenTouched(add, () -> count.setText("Count " + ++orders));
        put(add, text("Add"), 0, LINE);
        put(root, add, 360, LINE);
        put(root, field(), 490, LINE);
        put(root, make(new ReactSwitchManager(), "accessibilityLabel", "Express", "on", true), 620, LINE);
        ViewGroup list = make(new ReactScrollViewManager());
        put(root, list, 760, 1400);
        ViewGroup rows = make(new ReactViewManager(), "collapsable", false);
        put(list, rows, 0, ROWS * LINE);
        for (int i = 1; i <= ROWS; i++) {
            row(rows, "Row " + i, (i - 1) * LINE);
        }
    }

    private void row(ViewGroup rows, String name, int top) {
        ViewGroup row = make(new ReactViewManager());
        put(rows, row, top, LINE);
        put(row, text(name), 0, LINE, 0, WIDTH / 2);
        ViewGroup delete = make(new ReactViewManager(), "accessible", true, "accessibilityRole", "button");
        put(delete, text("Delete"), 0, LINE, 0, WIDTH / 2);
        put(row, delete, 0, LINE, WIDTH / 2, WIDTH / 2);
        whenTouched(
                delete,
                () -> {
                    deleted.add(name);
                    rows.removeView(row);
                });
    }

    private ReactTextView text(String words, Object... properties) {
        ReactTextView text = make(new ReactTextViewManager(), properties);
        text.setText(words);
        return text;
    }

    private ReactEditText field() {
        ReactEditText field = make(new ReactTextInputManager(), "placeholder", "Name", "fontSize", 16.0);
        // JavaScript gives a touched field the focus.
        whenTouched(field, field::requestFocusFromJS);
        return field;
    }

    /** Does what JavaScript does for a press: these views send their touches there and have no listeners for clicks. */
    private static void whenTouched(View view, Runnable action) {
        view.setOnTouchListener(
                (any, event) -> {
                    if (event.getAction() == MotionEvent.ACTION_UP) {
                        view.post(action);
                    }
                    return false;
                });
    }

    @SuppressWarnings("unchecked")
    private <T extends View> T make(ViewManager<?, ?> manager, Object... properties) {
        ReactStylesDiffMap given = new ReactStylesDiffMap(JavaOnlyMap.of(properties));
        return (T) manager.createView(++lastTag, react, given, null, new JSResponderHandler());
    }

    private static void put(ViewGroup parent, View view, int top, int height) {
        put(parent, view, top, height, 0, WIDTH);
    }

    private static void put(ViewGroup parent, View view, int top, int height, int left, int width) {
        parent.addView(view);
        view.measure(
                View.MeasureSpec.makeMeasureSpec(width, View.MeasureSpec.EXACTLY),
                View.MeasureSpec.makeMeasureSpec(height, View.MeasureSpec.EXACTLY));
        view.layout(left, top, left + width, top + height);
    }
}
