package org.mdm.widgets;

import android.app.Activity;
import android.os.Bundle;
import android.view.View;
import android.view.ViewGroup;
import android.widget.ArrayAdapter;
import android.widget.Button;
import android.widget.LinearLayout;
import android.widget.ListView;
import android.widget.TextView;
import java.util.ArrayList;
import java.util.List;

/** A list in which many rows look alike, each with a button that deletes it. The first line says which one went. */
public class TwinsActivity extends Activity {
    private static final String[] NAMES = {"Kowalski", "Nowak", "Kowalski", "Kowalski", "Mazur"};
    private static final int PEOPLE = 60;

    private final List<Integer> people = new ArrayList<>();
    private TextView deleted;

    @Override
    protected void onCreate(Bundle saved) {
        super.onCreate(saved);
        for (int person = 0; person < PEOPLE; person++) {
            people.add(person);
        }
        LinearLayout column = new LinearLayout(this);
        column.setOrientation(LinearLayout.VERTICAL);
        column.setFitsSystemWindows(true);
        deleted = new TextView(this);
        deleted.setId(R.id.deleted);
        deleted.setText("nobody");
        column.addView(deleted);
        ListView list = new ListView(this);
        list.setId(R.id.people);
        list.setAdapter(new People());
        column.addView(list, new LinearLayout.LayoutParams(LinearLayout.LayoutParams.MATCH_PARENT, 0, 1));
        setContentView(column);
    }

    private final class People extends ArrayAdapter<Integer> {
        People() {
            super(TwinsActivity.this, 0, people);
        }

        @Override
        public View getView(int position, View old, ViewGroup parent) {
            int person = people.get(position);
            LinearLayout row = old == null ? row() : (LinearLayout) old;
            ((TextView) row.getChildAt(0)).setText(NAMES[person % NAMES.length]);
            Button delete = (Button) row.getChildAt(1);
            // What stands for the person on the view itself, for tests: accessibility does not tell it.
            delete.setTag("person " + person);
            delete.setOnClickListener(
                    view -> {
                        remove(person);
                        deleted.setText("person " + person);
                    });
            return row;
        }

        private LinearLayout row() {
            LinearLayout row = new LinearLayout(TwinsActivity.this);
            TextView name = new TextView(TwinsActivity.this);
            row.addView(name, new LinearLayout.LayoutParams(0, LinearLayout.LayoutParams.WRAP_CONTENT, 1));
            Button delete = new Button(TwinsActivity.this);
            delete.setText("Delete");
            delete.setAllCaps(false);
            delete.setFocusable(false);
            row.addView(delete);
            return row;
        }
    }
}
