package com.workbench;

import android.util.Log;
import android.view.Gravity;
import android.widget.LinearLayout;
import android.widget.SeekBar;
import android.widget.Switch;

/** Settings with preference rows: the row and not the switch takes the tap. */
public class SettingsActivity extends Page {
    @Override
    protected String title() {
        return null;
    }

    @Override
    protected void fill() {
        add(named(R.id.title, heading("Settings")));
        add(switchRow(R.id.row_staging, "staging", "Use staging server", true), dp(64));
        add(switchRow(R.id.row_dark, "dark", "Dark mode", false), dp(64));
        add(named(R.id.volume_label, label("Volume")));
        SeekBar volume = add(named(R.id.volume, new SeekBar(this)), dp(48));
        volume.setContentDescription("Volume");
        volume.setMax(100);
        volume.setProgress(38);
    }

    private LinearLayout switchRow(int id, String name, String words, boolean on) {
        Switch control = named(android.R.id.switch_widget, new Switch(this));
        control.setChecked(on);
        control.setClickable(false);
        control.setFocusable(false);
        LinearLayout row = named(id, row(named(android.R.id.title, label(words))));
        row.setGravity(Gravity.CENTER_VERTICAL);
        row.addView(control);
        row.setOnClickListener(
                view -> {
                    control.toggle();
                    Log.i("Settings", name + " = " + control.isChecked());
                });
        return row;
    }
}
