package com.workbench;

import android.graphics.drawable.ColorDrawable;
import android.view.MotionEvent;
import android.view.ScaleGestureDetector;
import android.view.View;
import android.widget.ImageView;
import android.widget.TextView;
import java.util.Locale;

/** A photo that takes only two fingers; one finger scrolls the page around it. */
public class ZoomActivity extends Page {
    private static final float ZOOM_MIN = 0.25f;
    private static final float ZOOM_MAX = 8;

    private TextView shown;
    private ImageView photo;
    private float zoom = 1;
    private int count;

    @Override
    protected String title() {
        return "Zoom";
    }

    @Override
    protected void fill() {
        shown = add(named(R.id.zoom, label("")));
        photo = named(R.id.photo, new ImageView(this));
        photo.setContentDescription("Photo");
        photo.setImageDrawable(new ColorDrawable(0xff88aacc));
        ScaleGestureDetector detector = new ScaleGestureDetector(this, new Scaling());
        photo.setOnTouchListener((view, event) -> touched(view, event, detector));
        add(photo, dp(400));
        View like = add(named(R.id.like, button("Like", null)));
        TextView taps = add(named(R.id.taps, label("taps: 0")));
        like.setOnClickListener(view -> taps.setText("taps: " + ++count));
        zoomBy(1);
    }

    private boolean touched(View view, MotionEvent event, ScaleGestureDetector detector) {
        if (event.getPointerCount() > 1) {
            view.getParent().requestDisallowInterceptTouchEvent(true);
        }
        return detector.onTouchEvent(event);
    }

    private final class Scaling extends ScaleGestureDetector.SimpleOnScaleGestureListener {
        @Override
        public boolean onScale(ScaleGestureDetector detector) {
            zoomBy(detector.getScaleFactor());
            return true;
        }
    }

    private void zoomBy(float factor) {
        zoom = Math.max(ZOOM_MIN, Math.min(ZOOM_MAX, zoom * factor));
        photo.setTag(zoom);
        shown.setText(String.format(Locale.ROOT, "Zoom %.1f×", zoom));
    }
}
