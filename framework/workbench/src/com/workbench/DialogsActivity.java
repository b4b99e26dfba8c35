package com.workbench;

import android.app.AlertDialog;
import android.view.View;
import android.widget.PopupMenu;
import android.widget.TextView;
import android.widget.Toast;

/** Dialogs, a menu and a toast. */
public class DialogsActivity extends Page {
    private TextView result;

    @Override
    protected String title() {
        return "Dialogs";
    }

    @Override
    protected void fill() {
        add(named(R.id.open_dialog, button("Discard draft", view -> openDialog())));
        add(named(R.id.open_menu, button("More options", this::openMenu)));
        add(named(R.id.show_toast, button("Save", view -> save())));
        add(named(R.id.ask_camera, button("Take a photo", view -> {})));
        add(named(R.id.notify, button("Remind me", view -> {})));
        result = add(named(R.id.dialog_result, label("")));
        add(label("Nothing here is real"));
    }

    private void openDialog() {
        new AlertDialog.Builder(this)
                .setTitle("Discard draft?")
                .setMessage("Your text will be lost.")
                .setNegativeButton("Keep", (dialog, which) -> result.setText("dialog_keep"))
                .setPositiveButton("Discard", (dialog, which) -> result.setText("dialog_discard"))
                .show();
    }

    private void openMenu(View anchor) {
        PopupMenu menu = new PopupMenu(this, anchor);
        for (String words : new String[] {"Share", "Rename", "Delete"}) {
            menu.getMenu().add(words);
        }
        menu.setOnMenuItemClickListener(
                item -> {
                    result.setText("menu_" + item.getTitle().toString().toLowerCase());
                    return true;
                });
        menu.show();
    }

    private void save() {
        Toast.makeText(this, "Draft saved", Toast.LENGTH_SHORT).show();
    }
}
