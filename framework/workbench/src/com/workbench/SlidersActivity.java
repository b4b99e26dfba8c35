package com.workbench;

import android.view.Gravity;
import android.view.View;
import android.widget.FrameLayout;
import android.widget.LinearLayout;
import android.widget.SeekBar;
import android.widget.TextView;
import java.util.function.IntConsumer;

/** Sliders, from easy to hard. */
public class SlidersActivity extends Page {
    private static final int QUARTER = 25;

    @Override
    protected String title() {
        return "Sliders";
    }

    @Override
    protected void fill() {
        slider("Brightness", named(R.id.brightness, bar(100, 40)));
        SeekBar quality = slider("Quality", named(R.id.quality, bar(100, 50)));
        onChange(quality, progress -> quality.setProgress(Math.round(progress / (float) QUARTER) * QUARTER));
        // The app makes the square of the position a frequency up to 20,000; the bar itself has a thousand steps.
        slider("Frequency", named(R.id.frequency, bar(1000, 221)));
        SeekBar balance = slider("Balance (right to left)", named(R.id.balance, bar(100, 30)));
        balance.setLayoutDirection(View.LAYOUT_DIRECTION_RTL);
        opacity();
        zoom();
        slider("Warmth", named(R.id.warmth, bar(100, 60)));
        slider("Locked", named(R.id.locked, bar(100, 10))).setEnabled(false);
        level();
    }

    private SeekBar bar(int max, int progress) {
        SeekBar bar = new SeekBar(this);
        bar.setMax(max);
        bar.setProgress(progress);
        return bar;
    }

    private SeekBar slider(String words, SeekBar bar) {
        add(label(words));
        return add(bar, dp(48));
    }

    private void onChange(SeekBar bar, IntConsumer listener) {
        bar.setOnSeekBarChangeListener(
                new SeekBar.OnSeekBarChangeListener() {
                    @Override
                    public void onProgressChanged(SeekBar changed, int progress, boolean byUser) {
                        listener.accept(progress);
                    }

                    @Override
                    public void onStartTrackingTouch(SeekBar touched) {}

                    @Override
                    public void onStopTrackingTouch(SeekBar touched) {}
                });
    }

    /** A bar that tells its value in its description. */
    private void opacity() {
        SeekBar bar = slider("Opacity", bar(100, 75));
        IntConsumer tell = progress -> bar.setContentDescription("Opacity " + progress + " percent");
        tell.accept(75);
        onChange(bar, tell);
    }

    /** A bar with its value in a text beside it. */
    private void zoom() {
        SeekBar bar = named(R.id.zoom, bar(100, 20));
        TextView value = named(R.id.zoom_value, label("2.0x"));
        onChange(bar, progress -> value.setText(progress / 10 + "." + progress % 10 + "x"));
        LinearLayout row = row(bar);
        row.setGravity(Gravity.CENTER_VERTICAL);
        row.addView(value, dp(56), WRAP);
        add(label("Zoom"));
        add(row, dp(48));
    }

    /** A bar that stands upright, which Android has only as a turned one. */
    private void level() {
        SeekBar bar = named(R.id.level, bar(100, 20));
        bar.setRotation(270);
        FrameLayout around = new FrameLayout(this);
        around.addView(bar, new FrameLayout.LayoutParams(dp(200), dp(48), Gravity.CENTER));
        add(label("Level"));
        add(around, dp(200));
    }
}
