package org.mdm.widgets;

import android.app.AlertDialog;
import android.app.DatePickerDialog;
import android.app.Dialog;
import android.app.ProgressDialog;
import android.app.TimePickerDialog;
import android.view.Menu;
import android.view.View;
import android.widget.ArrayAdapter;
import android.widget.AutoCompleteTextView;
import android.widget.EditText;
import android.widget.ListPopupWindow;
import android.widget.PopupMenu;
import android.widget.PopupWindow;
import android.widget.Spinner;
import android.widget.TextView;
import android.widget.Toolbar;
import org.json.JSONException;
import org.json.JSONObject;

/** Dialogs, menus and popups: they open over the page that has one anchor. Back closes them. */
final class StateWindows {
    private static final String[] COLOURS = {"Red", "Green", "Blue"};

    private final StatesActivity activity;
    private final JSONObject state;
    private final View anchor;

    StateWindows(StatesActivity activity, JSONObject state) throws JSONException {
        this.activity = activity;
        this.state = state;
        this.anchor = activity.findViewById(new StateViews(activity).id(state.getString("id")));
    }

    void open() {
        String kind = state.optString("window");
        if (kind.startsWith("alert")) {
            alert(kind);
            return;
        }
        switch (kind) {
            case "progress":
                progress(ProgressDialog.STYLE_SPINNER);
                break;
            case "progress_bar":
                progress(ProgressDialog.STYLE_HORIZONTAL);
                break;
            case "date":
                new DatePickerDialog(activity, (p, y, m, d) -> {}, 2026, 2, 14).show();
                break;
            case "time":
                new TimePickerDialog(activity, (p, h, m) -> {}, 9, 41, true).show();
                break;
            case "dialog":
                dialog();
                break;
            case "menu":
                menu();
                break;
            case "popup":
                popup();
                break;
            case "list_popup":
                listPopup();
                break;
            case "options":
                ((Toolbar) anchor).showOverflowMenu();
                break;
            case "context":
                activity.registerForContextMenu(anchor);
                anchor.showContextMenu();
                break;
            case "suggestions":
                anchor.requestFocus();
                ((AutoCompleteTextView) anchor).setText("ap");
                break;
            case "spinner":
                ((Spinner) anchor).performClick();
                break;
            default:
                throw new IllegalStateException(kind);
        }
    }

    private void alert(String kind) {
        AlertDialog.Builder builder = new AlertDialog.Builder(activity);
        if (!state.optBoolean("untitled")) {
            builder.setTitle("Question");
        }
        int buttons = state.optInt("buttons", 2);
        if (buttons > 0) {
            builder.setPositiveButton("Yes", null);
        }
        if (buttons > 1) {
            builder.setNegativeButton("No", null);
        }
        if (buttons > 2) {
            builder.setNeutralButton("Later", null);
        }
        switch (kind) {
            case "alert_items":
                builder.setItems(COLOURS, null);
                break;
            case "alert_single":
                builder.setSingleChoiceItems(COLOURS, 1, null);
                break;
            case "alert_multi":
                builder.setMultiChoiceItems(COLOURS, new boolean[] {true, false, false}, null);
                break;
            case "alert_edit":
                builder.setView(new EditText(activity));
                break;
            default:
                builder.setMessage("Delete the file?");
        }
        builder.show();
    }

    @SuppressWarnings("deprecation")
    private void progress(int style) {
        ProgressDialog dialog = new ProgressDialog(activity);
        dialog.setTitle("Upload");
        dialog.setMessage("Please wait");
        dialog.setProgressStyle(style);
        dialog.show();
        dialog.setProgress(40);
    }

    private void dialog() {
        Dialog dialog = new Dialog(activity);
        dialog.setTitle("Custom");
        TextView words = new TextView(activity);
        words.setText("Inside");
        dialog.setContentView(words);
        dialog.show();
    }

    private void menu() {
        PopupMenu popup = new PopupMenu(activity, anchor);
        Menu menu = popup.getMenu();
        menu.add("Copy");
        menu.add("Paste").setEnabled(false);
        menu.add("Wrap").setCheckable(true).setChecked(true);
        menu.addSubMenu("More").add("Deep");
        popup.show();
    }

    private void popup() {
        TextView words = new TextView(activity);
        words.setText("In a popup");
        PopupWindow popup = new PopupWindow(words, 600, 200, true);
        popup.setBackgroundDrawable(activity.getDrawable(android.R.drawable.dialog_holo_light_frame));
        popup.showAsDropDown(anchor);
    }

    private void listPopup() {
        ListPopupWindow popup = new ListPopupWindow(activity);
        popup.setAdapter(new ArrayAdapter<>(activity, android.R.layout.simple_list_item_1, COLOURS));
        popup.setAnchorView(anchor);
        popup.setModal(true);
        popup.setWidth(activity.px(200));
        popup.show();
    }
}
