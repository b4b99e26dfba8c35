package com.workbench;

import android.app.Activity;
import android.os.Bundle;
import android.os.Handler;
import android.os.Looper;
import android.os.SystemClock;
import android.view.View;
import android.view.ViewGroup;
import android.view.ViewGroup.LayoutParams;
import android.widget.Button;
import android.widget.LinearLayout;
import android.widget.ScrollView;
import android.widget.TextView;
import android.widget.Toolbar;

/** A page of Workbench: a bar with the title and a button to go up, and below it a column of views. */
public abstract class Page extends Activity {
    static final int FILL = LayoutParams.MATCH_PARENT;
    static final int WRAP = LayoutParams.WRAP_CONTENT;

    private final Handler handler = new Handler(Looper.getMainLooper());
    private final Runnable ticker = this::tick;
    private LinearLayout column;
    private long createdAt;

    /** Returns the words in the bar, or null for a page that has no bar. */
    protected abstract String title();

    protected abstract void fill();

    /** Returns false for a page that fits every screen and whose last view stands at the lower edge. */
    protected boolean scrolls() {
        return true;
    }

    /** Returns how often the page changes by itself, in milliseconds; 0 for never. */
    protected long framePeriod() {
        return 0;
    }

    /** Changes the page, at that many milliseconds since it was opened. */
    protected void frame(long shownMs) {}

    @Override
    protected void onCreate(Bundle saved) {
        super.onCreate(saved);
        createdAt = SystemClock.uptimeMillis();
        column = column(16);
        fill();
        LinearLayout page = column(0);
        if (title() != null) {
            page.addView(bar());
        }
        page.addView(scrolls() ? scrolling(column) : column, new LinearLayout.LayoutParams(FILL, FILL));
        setContentView(page);
    }

    @Override
    protected void onResume() {
        super.onResume();
        if (framePeriod() > 0) {
            handler.postDelayed(ticker, framePeriod());
        }
    }

    @Override
    protected void onPause() {
        handler.removeCallbacks(ticker);
        super.onPause();
    }

    private void tick() {
        handler.postDelayed(ticker, framePeriod());
        frame(SystemClock.uptimeMillis() - createdAt);
    }

    private Toolbar bar() {
        Toolbar bar = new Toolbar(this);
        bar.setId(R.id.toolbar);
        bar.setTitle(title());
        bar.setNavigationIcon(android.R.drawable.ic_menu_revert);
        bar.setNavigationContentDescription("Navigate up");
        bar.setNavigationOnClickListener(view -> finish());
        bar.setLayoutParams(new LinearLayout.LayoutParams(FILL, dp(56)));
        return bar;
    }

    private ScrollView scrolling(View inside) {
        ScrollView scroll = new ScrollView(this);
        scroll.addView(inside);
        return scroll;
    }

    protected int dp(int dp) {
        return Math.round(dp * getResources().getDisplayMetrics().density);
    }

    protected void later(long ms, Runnable what) {
        handler.postDelayed(what, ms);
    }

    protected LinearLayout column(int paddingDp) {
        LinearLayout made = new LinearLayout(this);
        made.setOrientation(LinearLayout.VERTICAL);
        made.setPadding(dp(paddingDp), dp(paddingDp), dp(paddingDp), dp(paddingDp));
        return made;
    }

    protected LinearLayout row(View... cells) {
        LinearLayout made = new LinearLayout(this);
        for (View cell : cells) {
            made.addView(cell, new LinearLayout.LayoutParams(0, WRAP, 1));
        }
        return made;
    }

    /** Adds a view to the column, with room below it. */
    protected <T extends View> T add(T view) {
        return add(view, WRAP);
    }

    protected <T extends View> T add(T view, int height) {
        LinearLayout.LayoutParams place = new LinearLayout.LayoutParams(FILL, height);
        place.bottomMargin = dp(12);
        column.addView(view, place);
        return view;
    }

    /** Takes everything after the first views away. */
    protected void keepOnly(int views) {
        column.removeViews(views, column.getChildCount() - views);
    }

    protected <T extends View> T named(int id, T view) {
        view.setId(id);
        return view;
    }

    protected TextView label(String text) {
        TextView label = new TextView(this);
        label.setText(text);
        label.setTextSize(16);
        label.setMinHeight(dp(32));
        return label;
    }

    protected TextView heading(String text) {
        TextView heading = label(text);
        heading.setTextSize(22);
        return heading;
    }

    protected Button button(String text, View.OnClickListener listener) {
        Button button = new Button(this);
        button.setText(text);
        button.setAllCaps(false);
        button.setOnClickListener(listener);
        return button;
    }

    protected static void place(ViewGroup into, View view, int width, int height) {
        into.addView(view, new LayoutParams(width, height));
    }
}
