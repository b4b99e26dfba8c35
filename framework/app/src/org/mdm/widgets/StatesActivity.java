package org.mdm.widgets;

import android.app.Activity;
import android.content.res.Configuration;
import android.os.Bundle;
import android.view.KeyEvent;
import android.view.View;
import android.widget.FrameLayout;
import android.widget.TextView;
import java.util.ArrayList;
import java.util.List;
import org.json.JSONArray;
import org.json.JSONException;
import org.json.JSONObject;

/**
 * Shows the states of res/raw/states.json, as many at a time as the screen has room for. F1 shows the next page, F2 the
 * first one. The view `page` says how far it is and which states are shown.
 */
public class StatesActivity extends Activity {
    private static final int SLOT_WIDTH_DP = 196;
    private static final int SLOT_HEIGHT_DP = 84;
    private static final int NOTE_HEIGHT_DP = 20;
    private static final int GAP_PX = 4;
    /** Status bar and gesture bar. */
    private static final int BARS_DP = 56;

    /** The first state of the page, which survives a rotation. */
    private static int first;

    private JSONArray states;
    private StateWindows windows;
    private FrameLayout root;
    private int next;

    @Override
    protected void onCreate(Bundle saved) {
        super.onCreate(saved);
        if (saved == null) {
            first = 0;
        }
        try {
            states = StateTable.read(this);
            show();
        } catch (JSONException wrong) {
            throw new IllegalStateException(wrong);
        }
    }

    @Override
    public boolean dispatchKeyEvent(KeyEvent event) {
        boolean turns = event.getKeyCode() == KeyEvent.KEYCODE_F1 || event.getKeyCode() == KeyEvent.KEYCODE_F2;
        if (!turns || event.getAction() != KeyEvent.ACTION_DOWN) {
            return turns || super.dispatchKeyEvent(event);
        }
        first = event.getKeyCode() == KeyEvent.KEYCODE_F1 && next < states.length() ? next : 0;
        try {
            show();
        } catch (JSONException wrong) {
            throw new IllegalStateException(wrong);
        }
        return true;
    }

    private void show() throws JSONException {
        root = new FrameLayout(this);
        root.setFitsSystemWindows(true);
        // Takes the first focus, so that no state has it by chance.
        root.setFocusableInTouchMode(true);
        root.requestFocus();
        setContentView(root);
        Configuration screen = getResources().getConfiguration();
        Shelf shelf = new Shelf(screen.screenWidthDp, screen.screenHeightDp - BARS_DP - NOTE_HEIGHT_DP);
        List<String> shown = new ArrayList<>();
        StringBuilder window = new StringBuilder();
        int at = first;
        for (; at < states.length(); at++) {
            JSONObject state = states.getJSONObject(at);
            boolean isWindow = state.has("window");
            JSONArray size = state.optJSONArray("size");
            int width = size == null ? SLOT_WIDTH_DP : size.getInt(0);
            int height = size == null ? SLOT_HEIGHT_DP : size.getInt(1);
            if (!shown.isEmpty() && (isWindow || window.length() > 0 || !shelf.hasRoom(width, height))) {
                break;
            }
            shelf.take(width, height);
            shown.add(state.getString("id"));
            slot(state, shelf, width, height);
            window.append(isWindow ? state.getString("window") : "");
        }
        next = at;
        note(shown);
        if (window.length() > 0) {
            windows = new StateWindows(this, states.getJSONObject(first));
            root.post(windows::open);
        }
    }

    private void slot(JSONObject state, Shelf shelf, int width, int height) throws JSONException {
        FrameLayout slot = new FrameLayout(this);
        View view = new StateViews(this).build(state);
        slot.setId(R.id.slot);
        slot.addView(view, new FrameLayout.LayoutParams(StateViews.width(state, this), StateViews.height(state, this)));
        // The gap keeps rows apart: accessibility would sort slots that touch by their sides.
        FrameLayout.LayoutParams place = new FrameLayout.LayoutParams(px(width), px(height) - GAP_PX);
        place.topMargin = px(NOTE_HEIGHT_DP + shelf.top);
        place.setMarginStart(px(shelf.left));
        root.addView(slot, place);
        StateViews.afterLayout(view, state);
    }

    private void note(List<String> shown) {
        TextView note = new TextView(this);
        note.setId(R.id.page);
        note.setTextSize(4);
        note.setText((next < states.length() ? "more" : "end") + " " + String.join(" ", shown));
        root.addView(note, new FrameLayout.LayoutParams(FrameLayout.LayoutParams.MATCH_PARENT, px(NOTE_HEIGHT_DP)));
    }

    int px(int dp) {
        return Math.round(dp * getResources().getDisplayMetrics().density);
    }

    @Override
    public void onCreateContextMenu(
            android.view.ContextMenu menu, View view, android.view.ContextMenu.ContextMenuInfo info) {
        menu.setHeaderTitle("Choose");
        menu.add("Copy");
        menu.add("Share");
    }

    /** Puts rectangles beside one another, row by row. */
    private static final class Shelf {
        private final int width;
        private final int height;
        private int left;
        private int top;
        private int right;
        private int bottom;

        Shelf(int width, int height) {
            this.width = width;
            this.height = height;
        }

        boolean hasRoom(int wide, int high) {
            boolean beside = right + wide <= width && top + high <= height;
            return beside || bottom + high <= height;
        }

        void take(int wide, int high) {
            if (right > 0 && right + wide > width) {
                right = 0;
                top = bottom;
            }
            left = right;
            right += wide;
            bottom = Math.max(bottom, top + high);
        }
    }
}
