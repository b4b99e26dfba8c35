package org.mdm.widgets;

import android.view.View;
import android.widget.AdapterView;
import android.widget.ArrayAdapter;
import android.widget.Spinner;
import android.widget.TextView;

/** Spinners of both kinds. */
public class ChoiceActivity extends Page {
    private TextView chosen;

    @Override
    protected void fill() {
        chosen = new TextView(this);
        spinner("Drop-down", R.id.spinner_dropdown, Spinner.MODE_DROPDOWN);
        spinner("Dialog", R.id.spinner_dialog, Spinner.MODE_DIALOG);
        add("Chosen", R.id.chosen, chosen);
    }

    private void spinner(String label, int id, int mode) {
        Spinner spinner = new Spinner(this, mode);
        String[] names = {"Mercury", "Venus", "Earth", "Mars"};
        ArrayAdapter<String> adapter = new ArrayAdapter<>(this, android.R.layout.simple_spinner_item, names);
        adapter.setDropDownViewResource(android.R.layout.simple_spinner_dropdown_item);
        spinner.setAdapter(adapter);
        spinner.setPrompt("Planet");
        spinner.setOnItemSelectedListener(
                new AdapterView.OnItemSelectedListener() {
                    @Override
                    public void onItemSelected(AdapterView<?> parent, View view, int position, long row) {
                        chosen.setText(names[position]);
                    }

                    @Override
                    public void onNothingSelected(AdapterView<?> parent) {}
                });
        add(label, id, spinner);
    }
}
