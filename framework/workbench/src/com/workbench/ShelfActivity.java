package com.workbench;

import android.widget.LinearLayout;
import android.widget.TextView;

/** A card that takes taps, with a button in its middle. */
public class ShelfActivity extends Page {
    private TextView count;
    private int opened;
    private int liked;

    @Override
    protected String title() {
        return null;
    }

    @Override
    protected void fill() {
        LinearLayout card = add(named(R.id.card, column(24)));
        card.setContentDescription("Teapot");
        card.setOnClickListener(view -> count(1, 0));
        card.addView(label("Blue teapot"));
        card.addView(named(R.id.like, button("Like", view -> count(0, 1))), FILL, WRAP);
        card.addView(label("In stock"));
        count = add(named(R.id.count, label("")));
        count(0, 0);
    }

    private void count(int opens, int likes) {
        opened += opens;
        liked += likes;
        count.setText("Opened " + opened + ", liked " + liked);
    }
}
