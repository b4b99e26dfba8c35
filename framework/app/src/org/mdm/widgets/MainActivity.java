package org.mdm.widgets;

import android.app.ListActivity;
import android.os.Bundle;

/** Lists the pages of the app. */
public class MainActivity extends ListActivity {
    @Override
    protected void onCreate(Bundle saved) {
        super.onCreate(saved);
    }
}
