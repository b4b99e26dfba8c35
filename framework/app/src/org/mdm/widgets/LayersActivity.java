package org.mdm.widgets;

import android.graphics.Color;
import android.view.View;
import android.widget.Button;
import android.widget.FrameLayout;
import android.widget.TextView;

/** Views over one another: the order in which they are drawn is not the one in which they were added. */
public class LayersActivity extends Page {
    private static final int HEIGHT = 400;
    private static final float RAISED = 40;

    @Override
    protected void fill() {
        TextView pressed = add("Pressed", R.id.pressed, new TextView(this));
        FrameLayout raised = add(R.id.raised, new FrameLayout(this), HEIGHT);
        Button over = layer(raised, "Over", view -> pressed.setText("over"));
        over.setTranslationZ(RAISED);
        pane(raised, "Pane below", view -> pressed.setText("pane below"));
        FrameLayout covered = add(R.id.covered, new FrameLayout(this), HEIGHT);
        layer(covered, "Under", view -> pressed.setText("under"));
        pane(covered, "Pane above", view -> pressed.setText("pane above")).setTranslationZ(RAISED);
    }

    private Button layer(FrameLayout parent, String text, View.OnClickListener listener) {
        Button button = new Button(this);
        button.setText(text);
        button.setAllCaps(false);
        button.setOnClickListener(listener);
        parent.addView(button, new FrameLayout.LayoutParams(HEIGHT, HEIGHT / 2));
        return button;
    }

    private View pane(FrameLayout parent, String description, View.OnClickListener listener) {
        View pane = new View(this);
        pane.setContentDescription(description);
        pane.setBackgroundColor(Color.LTGRAY);
        pane.setOnClickListener(listener);
        parent.addView(pane);
        return pane;
    }
}
