package org.mdm.widgets;

import android.app.ListActivity;
import android.content.Intent;
import android.os.Bundle;
import android.view.View;
import android.widget.ArrayAdapter;
import android.widget.ListView;

/** Lists the pages of the app. */
public class MainActivity extends ListActivity {
    private static final Class<?>[] PAGES = {
        TextActivity.class,
        ToggleActivity.class,
        RangeActivity.class,
        ChoiceActivity.class,
        PickerActivity.class,
        ListsActivity.class,
        ContainerActivity.class,
        DialogActivity.class,
        ClockActivity.class,
    };

    @Override
    protected void onCreate(Bundle saved) {
        super.onCreate(saved);
        String[] names = new String[PAGES.length];
        for (int i = 0; i < names.length; i++) {
            names[i] = PAGES[i].getSimpleName().replace("Activity", "");
        }
        setListAdapter(new ArrayAdapter<>(this, android.R.layout.simple_list_item_1, names));
    }

    @Override
    protected void onListItemClick(ListView list, View view, int position, long id) {
        startActivity(new Intent(this, PAGES[position]));
    }
}
