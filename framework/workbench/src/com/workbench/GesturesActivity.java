package com.workbench;

import android.graphics.Rect;
import android.view.GestureDetector;
import android.view.MotionEvent;
import android.view.View;
import android.widget.Button;
import android.widget.FrameLayout;
import android.widget.TextView;

/** Controls that need more than a tap. */
public class GesturesActivity extends Page {
    private FrameLayout basket;
    private TextView basketText;
    private View dragged;

    @Override
    protected String title() {
        return "Gestures";
    }

    @Override
    protected void fill() {
        Button hold = add(named(R.id.hold, button("Press and hold", null)));
        Runnable tapped = counter(R.id.taps, "taps");
        Runnable held = counter(R.id.long_presses, "long_presses");
        hold.setOnClickListener(view -> tapped.run());
        hold.setOnLongClickListener(
                view -> {
                    held.run();
                    return true;
                });
        Button twice = add(named(R.id.twice, button("Tap twice", null)));
        Runnable once = counter(R.id.single_taps, "single_taps");
        Runnable again = counter(R.id.double_taps, "double_taps");
        GestureDetector detector = detector(once, again);
        twice.setOnTouchListener((view, event) -> detector.onTouchEvent(event) && false);
        add(row(piece("Red"), piece("Green"), piece("Blue")), dp(48));
        basket = add(named(R.id.basket, new FrameLayout(this)), dp(96));
        basketText = named(R.id.basket_text, label("Drop here"));
        basket.addView(basketText);
    }

    /** Shows a count, and returns what makes it one more. */
    private Runnable counter(int id, String what) {
        TextView shown = add(named(id, label(what + ": 0")));
        int[] count = {0};
        return () -> shown.setText(what + ": " + ++count[0]);
    }

    private GestureDetector detector(Runnable once, Runnable twice) {
        return new GestureDetector(
                this,
                new GestureDetector.SimpleOnGestureListener() {
                    @Override
                    public boolean onSingleTapConfirmed(MotionEvent event) {
                        once.run();
                        return true;
                    }

                    @Override
                    public boolean onDoubleTap(MotionEvent event) {
                        twice.run();
                        return true;
                    }
                });
    }

    /** A text that follows the finger after a long press. The app does that itself, without the system's drag and drop. */
    private TextView piece(String name) {
        TextView piece = named(R.id.piece, label(name));
        piece.setOnLongClickListener(
                view -> {
                    dragged = view;
                    view.getParent().requestDisallowInterceptTouchEvent(true);
                    return true;
                });
        piece.setOnTouchListener(
                (view, event) -> {
                    drop(view, event);
                    return false;
                });
        return piece;
    }

    private void drop(View view, MotionEvent event) {
        boolean lifted = event.getActionMasked() == MotionEvent.ACTION_UP;
        if (lifted && dragged == view && isOverBasket(event)) {
            basketText.setText(((TextView) view).getText());
        }
        if (lifted || event.getActionMasked() == MotionEvent.ACTION_CANCEL) {
            dragged = null;
        }
    }

    private boolean isOverBasket(MotionEvent event) {
        Rect place = new Rect();
        return basket.getGlobalVisibleRect(place) && place.contains((int) event.getRawX(), (int) event.getRawY());
    }
}
