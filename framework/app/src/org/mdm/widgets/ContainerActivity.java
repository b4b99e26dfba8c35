package org.mdm.widgets;

import android.widget.Button;
import android.widget.FrameLayout;
import android.widget.HorizontalScrollView;
import android.widget.ImageButton;
import android.widget.ImageView;
import android.widget.LinearLayout;
import android.widget.TabHost;
import android.widget.TabWidget;
import android.widget.TextView;
import android.widget.Toolbar;
import android.widget.ViewFlipper;

/** Tabs, flippers, sideways scrolling, pictures and a toolbar. */
public class ContainerActivity extends Page {
    @Override
    protected void fill() {
        Toolbar toolbar = add(R.id.toolbar, new Toolbar(this));
        toolbar.setTitle("Toolbar");
        toolbar.getMenu().add("Refresh");
        add(R.id.tabs, tabs());
        ViewFlipper flipper = add(R.id.flipper, new ViewFlipper(this));
        flipper.addView(text("First card"));
        flipper.addView(text("Second card"));
        button(R.id.flip, "Flip", view -> flipper.showNext());
        HorizontalScrollView sideways = new HorizontalScrollView(this);
        LinearLayout row = new LinearLayout(this);
        for (int i = 0; i < 12; i++) {
            Button chip = new Button(this);
            chip.setText("Chip " + i);
            row.addView(chip);
        }
        sideways.addView(row);
        add(R.id.horizontal, sideways);
        ImageView image = add(R.id.image, new ImageView(this));
        image.setImageResource(android.R.drawable.ic_dialog_info);
        image.setContentDescription("Information");
        ImageButton button = add(R.id.image_button, new ImageButton(this));
        button.setImageResource(android.R.drawable.ic_delete);
        add(R.id.long_text, text("A long text. ".repeat(60)));
    }

    private TextView text(String words) {
        TextView view = new TextView(this);
        view.setText(words);
        return view;
    }

    private TabHost tabs() {
        TabHost host = new TabHost(this, null);
        LinearLayout column = new LinearLayout(this);
        column.setOrientation(LinearLayout.VERTICAL);
        TabWidget widget = new TabWidget(this);
        widget.setId(android.R.id.tabs);
        FrameLayout content = new FrameLayout(this);
        content.setId(android.R.id.tabcontent);
        column.addView(widget);
        column.addView(content);
        host.addView(column);
        host.setup();
        host.addTab(host.newTabSpec("one").setIndicator("One").setContent(tag -> text("Content one")));
        host.addTab(host.newTabSpec("two").setIndicator("Two").setContent(tag -> text("Content two")));
        return host;
    }
}
