package org.mdm.material;

import android.os.Bundle;
import android.view.LayoutInflater;
import android.view.View;
import android.view.ViewGroup;
import android.widget.TextView;
import androidx.fragment.app.Fragment;
import androidx.recyclerview.widget.LinearLayoutManager;
import androidx.recyclerview.widget.RecyclerView;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.function.Supplier;

/** A list of 200 rows that look alike but for their names; each has a button that deletes it. */
public class ItemsPage extends Fragment {
    private static final int COUNT = 200;

    private final List<String> items = new ArrayList<>();
    private final List<String> deleted = new ArrayList<>();

    public ItemsPage() {
        super(R.layout.items);
        for (int i = 1; i <= COUNT; i++) {
            items.add("Item " + i);
        }
    }

    @Override
    public void onViewCreated(View view, Bundle saved) {
        RecyclerView rows = view.findViewById(R.id.rows);
        rows.setLayoutManager(new LinearLayoutManager(getContext()));
        rows.setAdapter(new Rows());
        // The test reads from it what was deleted.
        Supplier<Map<String, String>> state =
                () -> Map.of("deleted", String.join(", ", deleted), "count", String.valueOf(items.size()));
        rows.setTag(state);
    }

    private static final class Row extends RecyclerView.ViewHolder {
        final TextView name;

        Row(View view) {
            super(view);
            name = view.findViewById(R.id.name);
        }
    }

    private final class Rows extends RecyclerView.Adapter<Row> {
        @Override
        public Row onCreateViewHolder(ViewGroup parent, int type) {
            Row row = new Row(LayoutInflater.from(parent.getContext()).inflate(R.layout.row, parent, false));
            row.itemView.findViewById(R.id.delete).setOnClickListener(button -> delete(row));
            return row;
        }

        @Override
        public void onBindViewHolder(Row row, int position) {
            row.name.setText(items.get(position));
        }

        @Override
        public int getItemCount() {
            return items.size();
        }

        private void delete(Row row) {
            int position = row.getBindingAdapterPosition();
            if (position != RecyclerView.NO_POSITION) {
                deleted.add(items.remove(position));
                notifyItemRemoved(position);
            }
        }
    }
}
