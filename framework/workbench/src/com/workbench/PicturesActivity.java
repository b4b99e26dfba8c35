package com.workbench;

import android.widget.TextView;

/** Pictures that need a while after each refresh. */
public class PicturesActivity extends Page {
    private static final long LOAD_MS = 400;

    private TextView pictures;

    @Override
    protected String title() {
        return null;
    }

    @Override
    protected void fill() {
        add(named(R.id.refresh, button("Refresh", view -> refresh())));
        pictures = add(named(R.id.pictures, label("Pictures: none")));
    }

    private void refresh() {
        pictures.setText("Pictures: loading");
        later(LOAD_MS, () -> pictures.setText("Pictures: ready"));
    }
}
