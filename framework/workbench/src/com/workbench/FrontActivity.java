package com.workbench;

import android.content.Intent;
import android.view.View;

/** A door that is opened some time after one rings. */
public class FrontActivity extends Page {
    private static final long WAY_MS = 1800;

    @Override
    protected String title() {
        return null;
    }

    @Override
    protected void fill() {
        add(heading("Front door"));
        add(named(R.id.ring, button("Ring", this::ring)));
    }

    private void ring(View button) {
        button.setEnabled(false);
        later(WAY_MS, this::open);
    }

    private void open() {
        startActivity(new Intent(this, HallActivity.class));
        finish();
    }
}
