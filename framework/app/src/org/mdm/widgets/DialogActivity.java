package org.mdm.widgets;

import android.app.AlertDialog;
import android.app.DatePickerDialog;
import android.app.TimePickerDialog;
import android.view.ContextMenu;
import android.view.Menu;
import android.view.MenuItem;
import android.view.View;
import android.widget.EditText;
import android.widget.PopupMenu;
import android.widget.PopupWindow;
import android.widget.TextView;
import android.widget.Toast;

/** Dialogs, menus, popups, a toast and a crash. */
public class DialogActivity extends Page {
    private static final String[] COLOURS = {"Red", "Green", "Blue"};

    private TextView result;

    @Override
    protected void fill() {
        result = add("Result", R.id.result, new TextView(this));
        button(R.id.alert, "Alert", view -> alert().setMessage("Delete the file?").show());
        button(R.id.alert_items, "Items", view -> alert().setItems(COLOURS, (d, at) -> say(COLOURS[at])).show());
        button(
                R.id.alert_single,
                "Single choice",
                view -> alert().setSingleChoiceItems(COLOURS, 1, (d, at) -> say(COLOURS[at])).show());
        button(
                R.id.alert_multi,
                "Many choices",
                view -> alert().setMultiChoiceItems(COLOURS, new boolean[] {true, false, false}, null).show());
        button(R.id.alert_edit, "Question", view -> alert().setView(new EditText(this)).show());
        button(
                R.id.date_dialog,
                "Date",
                view -> new DatePickerDialog(this, (p, y, m, d) -> say(y + "-" + (m + 1) + "-" + d), 2026, 2, 14).show());
        button(
                R.id.time_dialog,
                "Time",
                view -> new TimePickerDialog(this, (p, h, m) -> say(h + ":" + m), 9, 41, true).show());
        button(R.id.popup_menu, "Popup menu", this::popupMenu);
        button(R.id.popup_window, "Popup window", this::popupWindow);
        button(R.id.toast, "Toast", view -> Toast.makeText(this, "Saved", Toast.LENGTH_SHORT).show());
        button(
                R.id.crash,
                "Crash",
                view -> {
                    throw new IllegalStateException("asked to crash");
                });
        registerForContextMenu(result);
    }

    private AlertDialog.Builder alert() {
        return new AlertDialog.Builder(this)
                .setTitle("Question")
                .setPositiveButton("Yes", (dialog, which) -> say("yes"))
                .setNegativeButton("No", (dialog, which) -> say("no"));
    }

    private void say(String text) {
        result.setText(text);
    }

    private void popupMenu(View anchor) {
        PopupMenu menu = new PopupMenu(this, anchor);
        menu.getMenu().add("Copy");
        menu.getMenu().add("Paste");
        menu.setOnMenuItemClickListener(
                item -> {
                    say(item.getTitle().toString());
                    return true;
                });
        menu.show();
    }

    private void popupWindow(View anchor) {
        TextView text = new TextView(this);
        text.setText("In a popup");
        PopupWindow popup = new PopupWindow(text, 600, 200, true);
        popup.setBackgroundDrawable(getDrawable(android.R.drawable.dialog_holo_light_frame));
        popup.showAsDropDown(anchor);
    }

    @Override
    public boolean onCreateOptionsMenu(Menu menu) {
        menu.add("Settings");
        menu.add("Help");
        return true;
    }

    @Override
    public boolean onOptionsItemSelected(MenuItem item) {
        say(item.getTitle().toString());
        return true;
    }

    @Override
    public void onCreateContextMenu(ContextMenu menu, View view, ContextMenu.ContextMenuInfo info) {
        menu.add("Context");
    }
}
