package com.workbench;

import android.view.View;
import android.widget.LinearLayout;
import android.widget.TextView;

/** Rows with the same words, which differ only by their place. */
public class DuplicatesActivity extends Page {
    private static final int COPIES = 8;

    @Override
    protected String title() {
        return "Duplicates";
    }

    @Override
    protected void fill() {
        TextView opened = add(named(R.id.opened, label("Opened: ")));
        LinearLayout documents = add(named(R.id.documents, column(0)));
        for (int number = 1; number <= COPIES; number++) {
            String words = "Opened: " + number;
            View open = named(R.id.open, button("Open", view -> opened.setText(words)));
            documents.addView(row(named(R.id.name, label("Untitled")), label("Draft"), open));
        }
    }
}
