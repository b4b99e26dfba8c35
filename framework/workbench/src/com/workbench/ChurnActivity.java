package com.workbench;

import android.view.View;
import android.view.ViewGroup;
import android.widget.LinearLayout;
import android.widget.TextView;

/** A page that makes the same rows anew four times a second, each time in other wrappers. */
public class ChurnActivity extends Page {
    private static final int WRAPPERS = 3;

    private LinearLayout content;
    private TextView kept;
    private int count;

    @Override
    protected String title() {
        return "Recomposition";
    }

    @Override
    protected void fill() {
        content = add(column(0));
        compose(0);
        add(named(R.id.keep, button("Keep", view -> keep())));
        kept = add(named(R.id.kept, label("Kept 0")));
    }

    @Override
    protected long framePeriod() {
        return 250;
    }

    @Override
    protected void frame(long shownMs) {
        compose(shownMs / framePeriod());
    }

    private void compose(long number) {
        ViewGroup inside = content;
        content.removeAllViews();
        for (long i = 0; i < number % WRAPPERS; i++) {
            LinearLayout wrapper = column(0);
            inside.addView(wrapper);
            inside = wrapper;
        }
        for (String name : new String[] {"Alpha", "Beta", "Gamma"}) {
            View row = named(R.id.churn_row, label(name));
            inside.addView(row);
        }
    }

    private void keep() {
        count++;
        kept.setText("Kept " + count);
    }
}
