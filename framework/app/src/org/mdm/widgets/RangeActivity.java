package org.mdm.widgets;

import android.widget.ProgressBar;
import android.widget.RatingBar;
import android.widget.SeekBar;
import android.widget.TextView;

/** Sliders, ratings and progress. */
public class RangeActivity extends Page {
    @Override
    protected void fill() {
        TextView adjusted = add("Last change", R.id.adjusted, new TextView(this));
        SeekBar seek = add("Volume", R.id.seek, new SeekBar(this));
        seek.setOnSeekBarChangeListener(
                new SeekBar.OnSeekBarChangeListener() {
                    @Override
                    public void onProgressChanged(SeekBar bar, int progress, boolean byUser) {
                        adjusted.setText("volume " + progress);
                    }

                    @Override
                    public void onStartTrackingTouch(SeekBar bar) {}

                    @Override
                    public void onStopTrackingTouch(SeekBar bar) {}
                });
        add("Half", R.id.seek_half, new SeekBar(this)).setProgress(50);
        SeekBar disabled = add("Disabled", R.id.seek_disabled, new SeekBar(this));
        disabled.setProgress(20);
        disabled.setEnabled(false);
        RatingBar rating = new RatingBar(this);
        rating.setNumStars(5);
        rating.setRating(2.5f);
        rating.setOnRatingBarChangeListener((bar, value, byUser) -> adjusted.setText("rating " + value));
        add("Rating", R.id.rating, rating);
        RatingBar small = new RatingBar(this, null, android.R.attr.ratingBarStyleSmall);
        small.setRating(4);
        add("Rating that only shows", R.id.rating_small, small);
        add("Progress", R.id.bar, new ProgressBar(this, null, android.R.attr.progressBarStyleHorizontal));
        ProgressBar half = new ProgressBar(this, null, android.R.attr.progressBarStyleHorizontal);
        half.setProgress(50);
        half.setSecondaryProgress(75);
        add("Half done", R.id.bar_half, half);
        add("Busy", R.id.bar_spin, new ProgressBar(this));
    }
}
