package org.mdm.widgets;

import android.widget.CheckBox;
import android.widget.CheckedTextView;
import android.widget.CompoundButton;
import android.widget.RadioButton;
import android.widget.RadioGroup;
import android.widget.Switch;
import android.widget.ToggleButton;

/** Everything that is on or off. */
public class ToggleActivity extends Page {
    @Override
    protected void fill() {
        compound(R.id.box, new CheckBox(this), "Box", false);
        compound(R.id.box_on, new CheckBox(this), "Box on", true);
        compound(R.id.box_disabled, new CheckBox(this), "Box disabled", true).setEnabled(false);
        compound(R.id.switch_off, new Switch(this), "Switch off", false);
        compound(R.id.switch_on, new Switch(this), "Switch on", true);
        add(R.id.toggle, new ToggleButton(this));
        RadioGroup group = add("Radio", R.id.radio_group, new RadioGroup(this));
        int[] ids = {R.id.radio_a, R.id.radio_b, R.id.radio_c};
        for (int i = 0; i < ids.length; i++) {
            RadioButton button = new RadioButton(this);
            button.setId(ids[i]);
            button.setText("Choice " + (char) ('A' + i));
            group.addView(button);
        }
        group.check(R.id.radio_b);
        CheckedTextView checked = add("Checked text", R.id.checked_text, new CheckedTextView(this));
        checked.setText("Checked text view");
        checked.setCheckMarkDrawable(android.R.drawable.checkbox_on_background);
        checked.setOnClickListener(view -> checked.toggle());
    }

    private CompoundButton compound(int id, CompoundButton button, String text, boolean on) {
        button.setText(text);
        button.setChecked(on);
        return add(id, button);
    }
}
