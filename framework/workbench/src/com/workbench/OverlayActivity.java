package com.workbench;

import android.view.View;
import android.widget.Button;
import android.widget.FrameLayout;
import android.widget.TextView;

/** A button below a view that takes its taps, and one that is disabled. */
public class OverlayActivity extends Page {
    /** The layer over the page. Accessibility lists layers of one size in their order, and siblings by their places. */
    private FrameLayout above;
    private TextView paid;
    private int payments;

    @Override
    protected String title() {
        return "Overlay";
    }

    @Override
    protected void fill() {
        FrameLayout below = new FrameLayout(this);
        FrameLayout.LayoutParams place = new FrameLayout.LayoutParams(dp(200), dp(48));
        place.setMargins(dp(24), dp(40), 0, 0);
        below.addView(named(R.id.pay, button("Pay now", view -> pay())), place);
        above = new FrameLayout(this);
        above.addView(cover(), dp(260), dp(120));
        FrameLayout stack = add(new FrameLayout(this), dp(160));
        stack.addView(below, FILL, FILL);
        stack.addView(above, FILL, FILL);
        paid = add(named(R.id.paid, label("Paid 0 times")));
        add(named(R.id.lift, button("Remove overlay", view -> above.removeAllViews())));
        Button disabled = add(named(R.id.disabled, button("Not now", view -> pay())));
        disabled.setEnabled(false);
    }

    private View cover() {
        FrameLayout made = named(R.id.cover, new FrameLayout(this));
        made.addView(label("We use cookies"));
        made.setBackgroundColor(0xffeeeeee);
        made.setOnClickListener(view -> {});
        return made;
    }

    private void pay() {
        payments++;
        paid.setText("Paid " + payments + " times");
    }
}
