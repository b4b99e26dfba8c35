package com.workbench;

import android.widget.Button;
import android.widget.FrameLayout;
import android.widget.TextView;

/** A button that goes to and fro. */
public class MovingActivity extends Page {
    private static final int WAY_DP = 200;
    private static final long WAY_MS = 2000;

    private Button button;
    private TextView caught;
    private int count;

    @Override
    protected String title() {
        return "Moving button";
    }

    @Override
    protected void fill() {
        FrameLayout stack = add(new FrameLayout(this), dp(120));
        button = named(R.id.catch_me, button("Catch me", view -> caught()));
        FrameLayout.LayoutParams place = new FrameLayout.LayoutParams(dp(120), dp(48));
        place.topMargin = dp(24);
        stack.addView(button, place);
        caught = add(named(R.id.caught, label("Caught 0 times")));
    }

    @Override
    protected long framePeriod() {
        return 50;
    }

    @Override
    protected void frame(long shownMs) {
        long phase = shownMs % (2 * WAY_MS);
        long along = phase < WAY_MS ? phase : 2 * WAY_MS - phase;
        button.setTranslationX(dp((int) (along * WAY_DP / WAY_MS)));
    }

    private void caught() {
        count++;
        caught.setText("Caught " + count + " times");
    }
}
