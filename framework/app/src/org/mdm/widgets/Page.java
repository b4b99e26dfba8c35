package org.mdm.widgets;

import android.app.Activity;
import android.os.Bundle;
import android.view.View;
import android.widget.Button;
import android.widget.LinearLayout;
import android.widget.ScrollView;
import android.widget.TextView;

/** A page that shows widgets one below another, each with its name above it. */
public abstract class Page extends Activity {
    private LinearLayout column;

    @Override
    protected void onCreate(Bundle saved) {
        super.onCreate(saved);
        setTitle(getClass().getSimpleName().replace("Activity", ""));
        column = new LinearLayout(this);
        column.setOrientation(LinearLayout.VERTICAL);
        fill();
        ScrollView scroll = new ScrollView(this);
        scroll.setId(R.id.scroll);
        scroll.addView(column);
        setContentView(scroll);
    }

    protected abstract void fill();

    protected <T extends View> T add(String label, int id, T view) {
        TextView title = new TextView(this);
        title.setText(label);
        column.addView(title);
        return add(id, view);
    }

    protected <T extends View> T add(int id, T view) {
        view.setId(id);
        column.addView(view);
        return view;
    }

    protected <T extends View> T add(int id, T view, int height) {
        view.setId(id);
        column.addView(view, new LinearLayout.LayoutParams(LinearLayout.LayoutParams.MATCH_PARENT, height));
        return view;
    }

    protected Button button(int id, String text, View.OnClickListener listener) {
        Button button = new Button(this);
        button.setText(text);
        button.setAllCaps(false);
        button.setOnClickListener(listener);
        return add(id, button);
    }
}
