package org.mdm.widgets;

import android.content.Context;
import android.view.View;
import android.view.ViewGroup;
import android.widget.TextView;
import android.widget.ViewAnimator;
import java.lang.reflect.Method;
import java.util.Iterator;
import org.json.JSONArray;
import org.json.JSONException;
import org.json.JSONObject;

/** Makes views from the table: their class, their setters, their children; what takes more is in StateRecipes. */
final class StateViews {
    private final Context context;

    StateViews(Context context) {
        this.context = context;
    }

    View build(JSONObject state) throws JSONException {
        View view =
                state.has("recipe")
                        ? new StateRecipes(context, this).make(state.getString("recipe"), state)
                        : make(state);
        if (state.has("id")) {
            view.setId(id(state.getString("id")));
        }
        set(view, state.optJSONObject("set"));
        JSONArray children = state.optJSONArray("children");
        for (int i = 0; children != null && i < children.length(); i++) {
            JSONObject child = children.getJSONObject(i);
            ((ViewGroup) view).addView(build(child), width(child, context), height(child, context));
        }
        if (state.has("show")) {
            ((ViewAnimator) view).setDisplayedChild(state.getInt("show"));
        }
        listeners(view, state);
        return view;
    }

    /** Makes a view by the constructor that every view has; `style` names an attribute of the theme. */
    View make(JSONObject state) throws JSONException {
        String name = state.optString("class", state.optString("widget", "TextView"));
        String full = name.contains(".") ? name : "android.widget." + name;
        try {
            Class<?> kind = Class.forName(full);
            if (!state.has("style")) {
                return (View) kind.getConstructor(Context.class).newInstance(context);
            }
            int style = context.getResources().getIdentifier(state.getString("style"), "attr", "android");
            return (View)
                    kind.getConstructor(Context.class, android.util.AttributeSet.class, int.class)
                            .newInstance(context, null, style);
        } catch (ReflectiveOperationException wrong) {
            throw new IllegalStateException(full, wrong);
        }
    }

    int id(String name) {
        String[] parts = name.split(":");
        String owner = parts.length == 2 ? parts[0] : context.getPackageName();
        int found = context.getResources().getIdentifier(parts[parts.length - 1], "id", owner);
        if (found == 0) {
            throw new IllegalStateException("res/values/state_ids.xml has no " + name);
        }
        return found;
    }

    private static void listeners(View view, JSONObject state) {
        if (state.optBoolean("onClick")) {
            view.setOnClickListener(any -> {});
        }
        if (state.optBoolean("onLongClick")) {
            view.setOnLongClickListener(any -> true);
        }
    }

    /** Does what needs a view with a size. */
    static void afterLayout(View view, JSONObject state) {
        if (state.optBoolean("focus")) {
            view.requestFocus();
        }
        JSONArray scroll = state.optJSONArray("scroll");
        float density = view.getResources().getDisplayMetrics().density;
        if (scroll != null) {
            view.post(
                    () -> view.scrollTo(Math.round(scroll.optInt(0) * density), Math.round(scroll.optInt(1) * density)));
        }
    }

    static int width(JSONObject state, Context context) {
        return length(state, "width", ViewGroup.LayoutParams.MATCH_PARENT, context);
    }

    static int height(JSONObject state, Context context) {
        return length(state, "height", ViewGroup.LayoutParams.WRAP_CONTENT, context);
    }

    private static int length(JSONObject state, String name, int otherwise, Context context) {
        int dp = state.optInt(name, 0);
        return dp == 0 ? otherwise : Math.round(dp * context.getResources().getDisplayMetrics().density);
    }

    private static void set(View view, JSONObject properties) throws JSONException {
        if (properties == null) {
            return;
        }
        for (Iterator<String> names = properties.keys(); names.hasNext(); ) {
            String name = names.next();
            Object value = properties.get(name);
            Method setter = setter(view, "set" + Character.toUpperCase(name.charAt(0)) + name.substring(1), value);
            try {
                setter.invoke(view, fitted(value, setter.getParameterTypes()[0]));
            } catch (ReflectiveOperationException wrong) {
                throw new IllegalStateException(view.getClass() + " " + name, wrong);
            }
        }
    }

    private static Method setter(View view, String name, Object value) {
        Class<?>[] fitting =
                value instanceof String
                        ? new Class<?>[] {CharSequence.class, String.class}
                        : value instanceof Boolean
                                ? new Class<?>[] {boolean.class}
                                : value instanceof Double
                                        ? new Class<?>[] {float.class}
                                        : new Class<?>[] {int.class, long.class, float.class};
        for (Class<?> kind : fitting) {
            try {
                return view.getClass().getMethod(name, kind);
            } catch (NoSuchMethodException other) {
                continue;
            }
        }
        throw new IllegalStateException(view.getClass() + " has no " + name + " for " + value);
    }

    private static Object fitted(Object value, Class<?> kind) {
        if (kind == float.class) {
            return ((Number) value).floatValue();
        }
        return kind == long.class ? (Object) ((Number) value).longValue() : value;
    }

    TextView text(String words) {
        TextView view = new TextView(context);
        view.setText(words);
        return view;
    }
}
