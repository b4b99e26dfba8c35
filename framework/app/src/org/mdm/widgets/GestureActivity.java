package org.mdm.widgets;

import android.graphics.Color;
import android.view.Gravity;
import android.view.MotionEvent;
import android.view.ScaleGestureDetector;
import android.view.View;
import android.widget.FrameLayout;
import android.widget.TextView;

/**
 * A card that is picked up by a long press and carried to a bin, a field that two fingers zoom, and a button that says
 * something to a screen reader.
 */
public class GestureActivity extends Page {
    private float scale = 1;
    private int fingers;
    private boolean isCarried;
    private float carriedX;

    @Override
    protected void fill() {
        carry();
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

    private void carry() {
        TextView told = add("Dropped", R.id.dropped, new TextView(this));
        FrameLayout table = new FrameLayout(this);
        TextView bin = place(table, R.id.bin, "Bin", Gravity.RIGHT);
        TextView card = place(table, R.id.card, "Card", Gravity.LEFT);
        card.setOnLongClickListener(
                view -> {
                    isCarried = true;
                    view.getParent().requestDisallowInterceptTouchEvent(true);
                    return true;
                });
        card.setOnTouchListener(
                (view, event) -> {
                    if (isCarried && event.getActionMasked() == MotionEvent.ACTION_MOVE) {
                        view.setX(view.getX() + event.getRawX() - carriedX);
                    }
                    if (isCarried && event.getActionMasked() == MotionEvent.ACTION_UP) {
                        isCarried = false;
                        told.setText(view.getX() + view.getWidth() / 2f > bin.getX() ? "in the bin" : "beside the bin");
                    }
                    carriedX = event.getRawX();
                    return false;
                });
        add(View.NO_ID, table, 300);
    }

    private TextView place(FrameLayout table, int id, String words, int side) {
        TextView view = new TextView(this);
        view.setId(id);
        view.setText(words);
        view.setGravity(Gravity.CENTER);
        table.addView(view, new FrameLayout.LayoutParams(300, FrameLayout.LayoutParams.MATCH_PARENT, side));
        return view;
    }
}
