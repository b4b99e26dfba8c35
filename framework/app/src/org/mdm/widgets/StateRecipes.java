package org.mdm.widgets;

import android.content.Context;
import android.graphics.Color;
import android.graphics.drawable.ColorDrawable;
import android.text.SpannableString;
import android.text.method.LinkMovementMethod;
import android.text.method.PasswordTransformationMethod;
import android.text.style.URLSpan;
import android.view.LayoutInflater;
import android.view.Menu;
import android.view.View;
import android.view.ViewStub;
import android.widget.AbsListView;
import android.widget.ActionMenuView;
import android.widget.AdapterView;
import android.widget.AdapterViewAnimator;
import android.widget.ArrayAdapter;
import android.widget.AutoCompleteTextView;
import android.widget.CheckedTextView;
import android.widget.Chronometer;
import android.widget.DatePicker;
import android.widget.EditText;
import android.widget.ExpandableListView;
import android.widget.FrameLayout;
import android.widget.Gallery;
import android.widget.ImageView;
import android.widget.LinearLayout;
import android.widget.ListView;
import android.widget.NumberPicker;
import android.widget.RadioButton;
import android.widget.RadioGroup;
import android.widget.SearchView;
import android.widget.SimpleAdapter;
import android.widget.SimpleExpandableListAdapter;
import android.widget.SlidingDrawer;
import android.widget.Spinner;
import android.widget.TabHost;
import android.widget.TabWidget;
import android.widget.TextSwitcher;
import android.widget.TextView;
import android.widget.TimePicker;
import android.widget.Toolbar;
import android.widget.TwoLineListItem;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.json.JSONException;
import org.json.JSONObject;

/** Widgets that a class name and setters do not make. */
final class StateRecipes {
    private static final String[] PLANETS = {"Mercury", "Venus", "Earth"};

    private final Context context;
    private final StateViews views;

    StateRecipes(Context context, StateViews views) {
        this.context = context;
        this.views = views;
    }

    View make(String recipe, JSONObject state) throws JSONException {
        switch (recipe) {
            case "spinner":
                return spinner(state);
            case "list":
                return list(state);
            case "grid":
            case "gallery":
            case "stack":
                return adapterView(state);
            case "groups":
                return groups(state);
            case "radios":
                return radios(state);
            case "tabs":
                return tabs(state.optInt("at"));
            case "drawer":
                return drawer(state.optBoolean("open"));
            case "toolbar":
                return toolbar(state);
            case "actions":
                return actions();
            case "switcher":
                return switcher();
            case "picture":
                return picture(state);
            case "link":
                return link();
            case "dots":
                return dots(state);
            case "readonly":
                return readOnly(state);
            case "checkmark":
                return checkMark(state);
            case "words":
                return words(state);
            case "search":
                return search(state);
            case "planets":
                return planets(state);
            case "stub":
                return stub(state);
            case "two_lines":
                return twoLines();
            case "date":
                return date(state);
            case "time":
                return time(state);
            case "chronometer":
                return chronometer(state);
            default:
                throw new IllegalStateException(recipe);
        }
    }

    private ArrayAdapter<String> rows(int layout, int count) {
        List<String> rows = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            rows.add("Row " + (i + 1));
        }
        return new ArrayAdapter<>(context, layout, rows);
    }

    private Spinner spinner(JSONObject state) {
        Spinner spinner = new Spinner(context, state.optInt("mode", Spinner.MODE_DROPDOWN));
        String[] names = state.optBoolean("empty") ? new String[0] : PLANETS;
        ArrayAdapter<String> adapter = new ArrayAdapter<>(context, android.R.layout.simple_spinner_item, names);
        adapter.setDropDownViewResource(android.R.layout.simple_spinner_dropdown_item);
        spinner.setAdapter(adapter);
        spinner.setPrompt("Planet");
        spinner.setSelection(state.optInt("at"));
        return spinner;
    }

    private View list(JSONObject state) {
        ListView list = new ListView(context);
        int choice = state.optInt("choice");
        int[] layouts = {
            android.R.layout.simple_list_item_1,
            android.R.layout.simple_list_item_single_choice,
            android.R.layout.simple_list_item_multiple_choice,
            android.R.layout.simple_list_item_activated_1,
        };
        if (state.optBoolean("header")) {
            list.addHeaderView(views.text("Header"), null, false);
            list.addFooterView(views.text("Footer"), null, false);
        }
        list.setChoiceMode(choice == 3 ? ListView.CHOICE_MODE_SINGLE : choice);
        list.setAdapter(state.optBoolean("lines") ? lines() : rows(layouts[choice], state.optInt("count", 3)));
        if (choice > 0) {
            list.setItemChecked(1, true);
        }
        if (state.has("top")) {
            list.setSelectionFromTop(state.optInt("top"), 0);
        }
        if (!state.optBoolean("silent")) {
            list.setOnItemClickListener((parent, view, position, id) -> {});
        }
        return list;
    }

    private SimpleAdapter lines() {
        List<Map<String, String>> rows =
                List.of(Map.of("a", "Lake", "b", "12 km"), Map.of("a", "Hill", "b", "8 km"));
        int[] to = {android.R.id.text1, android.R.id.text2};
        return new SimpleAdapter(context, rows, android.R.layout.simple_list_item_2, new String[] {"a", "b"}, to);
    }

    @SuppressWarnings("unchecked")
    private View adapterView(JSONObject state) throws JSONException {
        View view = views.make(state);
        int layout = state.optInt("choice") == 0
                ? android.R.layout.simple_list_item_1
                : android.R.layout.simple_list_item_activated_1;
        ArrayAdapter<String> rows = rows(layout, state.optInt("count", 4));
        ((AdapterView<ArrayAdapter<String>>) view).setAdapter(rows);
        if (view instanceof AbsListView && state.optInt("choice") > 0) {
            ((AbsListView) view).setChoiceMode(state.optInt("choice"));
            ((AbsListView) view).setItemChecked(1, true);
        }
        if (view instanceof AdapterViewAnimator) {
            ((AdapterViewAnimator) view).setDisplayedChild(state.optInt("at"));
        }
        if (view instanceof Gallery) {
            ((Gallery) view).setSelection(state.optInt("at"));
        }
        return view;
    }

    private View groups(JSONObject state) {
        ExpandableListView view = new ExpandableListView(context);
        String[] from = {"name"};
        int[] to = {android.R.id.text1};
        List<Map<String, String>> names = List.of(Map.of("name", "Fruit"), Map.of("name", "Tools"));
        List<List<Map<String, String>>> inside =
                List.of(List.of(Map.of("name", "Pear")), List.of(Map.of("name", "Saw")));
        int group = android.R.layout.simple_expandable_list_item_1;
        int child = android.R.layout.simple_list_item_1;
        view.setAdapter(
                new SimpleExpandableListAdapter(context, names, group, from, to, inside, child, from, to));
        if (state.optBoolean("open")) {
            view.expandGroup(0);
        }
        return view;
    }

    private View radios(JSONObject state) {
        RadioGroup group = new RadioGroup(context);
        int[] ids = {android.R.id.button1, android.R.id.button2};
        for (int i = 0; i < ids.length; i++) {
            RadioButton button = new RadioButton(context);
            button.setId(ids[i]);
            button.setText("Choice " + (i + 1));
            group.addView(button);
        }
        if (state.has("at")) {
            group.check(ids[state.optInt("at")]);
        }
        return group;
    }

    private TabHost tabs(int at) {
        TabHost host = new TabHost(context, null);
        LinearLayout column = new LinearLayout(context);
        column.setOrientation(LinearLayout.VERTICAL);
        TabWidget widget = new TabWidget(context);
        widget.setId(android.R.id.tabs);
        FrameLayout content = new FrameLayout(context);
        content.setId(android.R.id.tabcontent);
        column.addView(widget);
        column.addView(content);
        host.addView(column);
        host.setup();
        host.addTab(host.newTabSpec("one").setIndicator("One").setContent(tag -> views.text("Content one")));
        host.addTab(host.newTabSpec("two").setIndicator("Two").setContent(tag -> views.text("Content two")));
        host.setCurrentTab(at);
        return host;
    }

    @SuppressWarnings("deprecation")
    private View drawer(boolean open) {
        View whole = inflated(R.layout.drawer);
        if (open) {
            ((SlidingDrawer) whole).open();
        }
        return whole;
    }

    private View toolbar(JSONObject state) {
        Toolbar toolbar = new Toolbar(context);
        toolbar.setTitle("Toolbar");
        if (state.has("subtitle")) {
            toolbar.setSubtitle(state.optString("subtitle"));
        }
        if (state.optBoolean("up")) {
            toolbar.setNavigationIcon(android.R.drawable.ic_menu_revert);
            toolbar.setNavigationContentDescription("Up");
            toolbar.setNavigationOnClickListener(view -> {});
        }
        if (state.optBoolean("menu")) {
            fill(toolbar.getMenu());
        }
        return toolbar;
    }

    private static void fill(Menu menu) {
        menu.add("Save").setShowAsAction(2);
        menu.add("Search").setIcon(android.R.drawable.ic_menu_search).setShowAsAction(2);
        menu.add("Later").setShowAsAction(0);
    }

    private View actions() {
        ActionMenuView view = new ActionMenuView(context);
        fill(view.getMenu());
        return view;
    }

    private View switcher() {
        TextSwitcher switcher = new TextSwitcher(context);
        switcher.setFactory(() -> views.text(""));
        switcher.setCurrentText("Shown");
        return switcher;
    }

    private View picture(JSONObject state) throws JSONException {
        ImageView view = (ImageView) views.make(state);
        view.setImageDrawable(new ColorDrawable(Color.GRAY));
        view.setMinimumWidth(96);
        view.setMinimumHeight(96);
        return view;
    }

    private View link() {
        TextView view = new TextView(context);
        SpannableString words = new SpannableString("Read the terms");
        words.setSpan(new URLSpan("https://example.org"), 5, 14, 0);
        view.setText(words);
        view.setMovementMethod(LinkMovementMethod.getInstance());
        return view;
    }

    private View dots(JSONObject state) throws JSONException {
        TextView view = (TextView) views.make(state);
        view.setTransformationMethod(PasswordTransformationMethod.getInstance());
        return view;
    }

    private View readOnly(JSONObject state) {
        EditText field = new EditText(context);
        if (state.optBoolean("unfocusable")) {
            field.setFocusable(false);
        } else {
            field.setKeyListener(null);
        }
        return field;
    }

    private View checkMark(JSONObject state) {
        CheckedTextView view = new CheckedTextView(context);
        view.setCheckMarkDrawable(android.R.drawable.checkbox_on_background);
        return view;
    }

    private View words(JSONObject state) throws JSONException {
        AutoCompleteTextView field = (AutoCompleteTextView) views.make(state);
        String[] words = {"apple", "apricot", "banana"};
        field.setAdapter(new ArrayAdapter<>(context, android.R.layout.simple_dropdown_item_1line, words));
        field.setThreshold(1);
        return field;
    }

    private View search(JSONObject state) {
        SearchView search = new SearchView(context);
        search.setIconifiedByDefault(state.optBoolean("iconified"));
        search.setQueryHint("Find");
        search.setSubmitButtonEnabled(state.optBoolean("submit"));
        if (state.has("query")) {
            search.setQuery(state.optString("query"), false);
        }
        search.clearFocus();
        return search;
    }

    private View planets(JSONObject state) {
        NumberPicker picker = new NumberPicker(context);
        picker.setMaxValue(2);
        picker.setDisplayedValues(PLANETS);
        picker.setValue(state.optInt("at"));
        return picker;
    }

    private View stub(JSONObject state) {
        FrameLayout frame = new FrameLayout(context);
        ViewStub stub = new ViewStub(context, android.R.layout.simple_list_item_1);
        frame.addView(stub);
        if (state.optBoolean("open")) {
            ((TextView) stub.inflate()).setText("Inflated");
        }
        return frame;
    }

    @SuppressWarnings("deprecation")
    private View twoLines() {
        TwoLineListItem item =
                (TwoLineListItem) LayoutInflater.from(context).inflate(android.R.layout.simple_list_item_2, null);
        item.getText1().setText("Lake");
        item.getText2().setText("12 km");
        return item;
    }

    private View date(JSONObject state) {
        boolean wheels = state.optString("layout").equals("date_spinner");
        DatePicker picker = wheels ? (DatePicker) inflated(R.layout.date_spinner) : new DatePicker(context);
        picker.updateDate(2026, 2, 14);
        return picker;
    }

    private View time(JSONObject state) {
        boolean wheels = state.optString("layout").equals("time_spinner");
        TimePicker picker = wheels ? (TimePicker) inflated(R.layout.time_spinner) : new TimePicker(context);
        picker.setIs24HourView(state.optBoolean("h24"));
        picker.setHour(9);
        picker.setMinute(41);
        return picker;
    }

    private View inflated(int layout) {
        return LayoutInflater.from(context).inflate(layout, null);
    }

    private View chronometer(JSONObject state) {
        Chronometer view = new Chronometer(context);
        if (state.has("format")) {
            view.setFormat(state.optString("format"));
        }
        view.setBase(android.os.SystemClock.elapsedRealtime() - state.optInt("ago"));
        return view;
    }
}
