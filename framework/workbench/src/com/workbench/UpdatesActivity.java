package com.workbench;

import android.view.View;
import android.widget.ProgressBar;
import android.widget.TextView;

/** Content that comes late, and a text that changes in its place. */
public class UpdatesActivity extends Page {
    private static final long LATE_MS = 1500;
    private static final long IN_PLACE_MS = 400;
    /** The two buttons, the price and the spinner. */
    private static final int FIXED_VIEWS = 4;

    private TextView priceText;
    private ProgressBar loading;
    private int price = 10;

    @Override
    protected String title() {
        return "Updates";
    }

    @Override
    protected void fill() {
        add(named(R.id.late, button("Load later", view -> loadLater())));
        add(named(R.id.in_place, button("Change in place", view -> later(IN_PLACE_MS, this::raise))));
        priceText = add(named(R.id.price, label("Price: 10")));
        loading = add(named(R.id.loading, new ProgressBar(this)), dp(48));
        loading.setVisibility(View.GONE);
    }

    private void loadLater() {
        keepOnly(FIXED_VIEWS);
        loading.setVisibility(View.VISIBLE);
        later(LATE_MS, this::loaded);
    }

    private void loaded() {
        loading.setVisibility(View.GONE);
        for (String name : new String[] {"First", "Second", "Third"}) {
            add(named(R.id.late_row, label(name)));
        }
    }

    private void raise() {
        price++;
        priceText.setText("Price: " + price);
    }
}
