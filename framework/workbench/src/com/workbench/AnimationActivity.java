package com.workbench;

import android.widget.ProgressBar;
import android.widget.TextView;

/** A page that never comes to rest, and that can be used all the same. */
public class AnimationActivity extends Page {
    private static final int STEPS = 50;

    private ProgressBar progress;
    private TextView used;
    private int count;

    @Override
    protected String title() {
        return "Animation";
    }

    @Override
    protected void fill() {
        add(new ProgressBar(this), dp(64));
        progress = new ProgressBar(this, null, android.R.attr.progressBarStyleHorizontal);
        add(named(R.id.progress, progress), dp(24));
        add(named(R.id.usable, button("Still usable", view -> use())));
        used = add(named(R.id.used, label("Used 0 times")));
    }

    @Override
    protected long framePeriod() {
        return 50;
    }

    @Override
    protected void frame(long shownMs) {
        progress.setProgress((int) (shownMs / framePeriod() % STEPS) * 100 / STEPS);
    }

    private void use() {
        count++;
        used.setText("Used " + count + " times");
    }
}
