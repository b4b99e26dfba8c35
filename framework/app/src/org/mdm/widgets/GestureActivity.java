package org.mdm.widgets;

import android.graphics.Color;
import android.view.MotionEvent;
import android.view.ScaleGestureDetector;
import android.view.View;
import android.widget.TextView;

/** A field that two fingers zoom, and a button that says something to a screen reader. */
public class GestureActivity extends Page {
    private float scale = 1;
    private int fingers;

    @Override
    protected void fill() {
        TextView told = add("Zoomed", R.id.zoomed, new TextView(this));
        View pad = new View(this);
        pad.setBackgroundColor(Color.LTGRAY);
        pad.setContentDescription("Pad");
        ScaleGestureDetector detector =
                new ScaleGestureDetector(
                        this,
                        new ScaleGestureDetector.SimpleOnScaleGestureListener() {
                            @Override
                            public boolean onScale(ScaleGestureDetector of) {
                                scale *= of.getScaleFactor();
                                return true;
                            }
                        });
        pad.setOnTouchListener(
                (view, event) -> {
                    fingers = Math.max(fingers, event.getPointerCount());
                    detector.onTouchEvent(event);
                    if (event.getActionMasked() == MotionEvent.ACTION_UP) {
                        told.setText(Math.round(scale * 100) + "% by " + fingers + " fingers");
                    }
                    return true;
                });
        add(R.id.pad, pad, 900);
        button(R.id.announce, "Announce", view -> view.announceForAccessibility("Sync is done"));
    }
}
