package com.workbench;

/** What is behind the door. */
public class HallActivity extends Page {
    @Override
    protected String title() {
        return null;
    }

    @Override
    protected void fill() {
        add(named(R.id.hall, heading("Come in")));
    }
}
