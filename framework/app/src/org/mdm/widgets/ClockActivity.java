package org.mdm.widgets;

import android.os.SystemClock;
import android.widget.Chronometer;
import android.widget.TextClock;

/** What moves by itself. */
public class ClockActivity extends Page {
    @Override
    protected void fill() {
        add("Clock", R.id.clock, new TextClock(this));
        Chronometer chronometer = add("Chronometer", R.id.chronometer, new Chronometer(this));
        button(
                R.id.chronometer_start,
                "Start",
                view -> {
                    chronometer.setBase(SystemClock.elapsedRealtime());
                    chronometer.start();
                });
    }
}
