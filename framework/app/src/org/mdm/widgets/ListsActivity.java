package org.mdm.widgets;

import android.widget.ArrayAdapter;
import android.widget.ExpandableListView;
import android.widget.GridView;
import android.widget.ListView;
import android.widget.SimpleExpandableListAdapter;
import android.widget.TextView;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/** Lists, grids and groups. */
public class ListsActivity extends Page {
    private static final int HEIGHT = 600;

    @Override
    protected void fill() {
        TextView chosen = add("Chosen", R.id.chosen, new TextView(this));
        ListView list = add(R.id.list, new ListView(this), HEIGHT);
        list.setAdapter(rows("Row", 40, android.R.layout.simple_list_item_1));
        list.setOnItemClickListener((parent, view, position, id) -> chosen.setText("row " + position));
        ListView checks = add(R.id.empty_list, new ListView(this), HEIGHT);
        checks.setChoiceMode(ListView.CHOICE_MODE_MULTIPLE);
        checks.setAdapter(rows("Check", 6, android.R.layout.simple_list_item_multiple_choice));
        checks.setItemChecked(1, true);
        GridView grid = add(R.id.grid, new GridView(this), HEIGHT);
        grid.setNumColumns(3);
        grid.setAdapter(rows("Cell", 30, android.R.layout.simple_list_item_1));
        ExpandableListView groups = add(R.id.expandable, new ExpandableListView(this), HEIGHT);
        groups.setAdapter(groups());
    }

    private ArrayAdapter<String> rows(String name, int count, int layout) {
        List<String> rows = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            rows.add(name + " " + i);
        }
        return new ArrayAdapter<>(this, layout, rows);
    }

    private SimpleExpandableListAdapter groups() {
        String[] from = {"name"};
        int[] to = {android.R.id.text1};
        List<Map<String, String>> names = List.of(Map.of("name", "Fruit"), Map.of("name", "Tools"));
        List<List<Map<String, String>>> inside =
                List.of(
                        List.of(Map.of("name", "Pear"), Map.of("name", "Plum")),
                        List.of(Map.of("name", "Saw")));
        return new SimpleExpandableListAdapter(
                this,
                names,
                android.R.layout.simple_expandable_list_item_1,
                from,
                to,
                inside,
                android.R.layout.simple_list_item_1,
                from,
                to);
    }
}
