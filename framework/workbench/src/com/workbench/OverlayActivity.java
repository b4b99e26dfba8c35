package com.workbench;

import android.view.View;
import android.widget.Button;
import android.widget.FrameLayout;
import android.widget.TextView;

/** A button below a view that takes its taps, and one that is disabled. */
public class OverlayActivity extends Page {
    private TextView paid;
    private int payments;

    @Override
    protected String title() {
        return "Overlay";
    }

    @Override
    protected void fill() {
        FrameLayout.LayoutParams place = new FrameLayout.LayoutParams(dp(200), dp(48));
        place.setMargins(dp(24), dp(40), 0, 0);
        FrameLayout stack = add(new FrameLayout(this), dp(160));
        stack.addView(named(R.id.pay, button("Pay now", view -> pay())), place);
        View cover = cover();
        stack.addView(cover, dp(260), dp(120));
        paid = add(named(R.id.paid, label("Paid 0 times")));
        add(named(R.id.lift, button("Remove overlay", view -> stack.removeView(cover))));
        Button disabled = add(named(R.id.disabled, button("Not now", view -> pay())));
        disabled.setEnabled(false);
    }

    private View cover() {
        FrameLayout made = named(R.id.cover, new FrameLayout(this));
        made.addView(label("We use cookies"));
        made.setBackgroundColor(0xffeeeeee);
        made.setOnClickListener(view -> {});
        // A button is raised by 2 dp, so without this it would be drawn, and be touched, above its cover.
        made.setElevation(dp(8));
        return made;
    }

    private void pay() {
        payments++;
        paid.setText("Paid " + payments + " times");
    }
}
