package com.workbench;

import android.view.View;
import android.view.ViewGroup;
import android.widget.ArrayAdapter;
import android.widget.HorizontalScrollView;
import android.widget.LinearLayout;
import android.widget.ListView;
import android.widget.TextView;

/** A list inside of a page that scrolls as well, with cards that scroll sideways. */
public class LongListActivity extends Page {
    private static final int ROWS = 500;
    private static final int CARDS = 12;

    private TextView picked;

    @Override
    protected String title() {
        return "Long list";
    }

    @Override
    protected void fill() {
        picked = add(named(R.id.picked, label("Picked: ")));
        LinearLayout cards = row();
        for (int number = 1; number <= CARDS; number++) {
            cards.addView(card("Card " + number), dp(160), dp(88));
        }
        HorizontalScrollView carousel = add(named(R.id.carousel, new HorizontalScrollView(this)), dp(96));
        carousel.addView(cards);
        ListView rows = add(named(R.id.rows, new ListView(this)), dp(640));
        rows.setNestedScrollingEnabled(true);
        rows.setAdapter(new Rows());
        add(named(R.id.footer, button("Below the list", view -> {})));
        add(label("End of the page"));
    }

    private void pick(String what) {
        picked.setText("Picked: " + what);
    }

    private View card(String name) {
        LinearLayout card = column(8);
        card.addView(heading(name));
        card.addView(label("swipe sideways"));
        card.setOnClickListener(view -> pick(name));
        return card;
    }

    private final class Rows extends ArrayAdapter<String> {
        Rows() {
            super(LongListActivity.this, 0);
            for (int number = 1; number <= ROWS; number++) {
                add("Row " + number);
            }
        }

        @Override
        public View getView(int position, View old, ViewGroup list) {
            View row = old == null ? newRow() : old;
            row.<TextView>findViewById(R.id.row_title).setText(getItem(position));
            row.<TextView>findViewById(R.id.row_summary).setText(position * 7 % 13 + " items");
            row.setOnClickListener(view -> pick(getItem(position)));
            return row;
        }

        private View newRow() {
            LinearLayout row = row(named(R.id.row_title, label("")), named(R.id.row_summary, label("")));
            row.setMinimumHeight(dp(64));
            return row;
        }
    }
}
