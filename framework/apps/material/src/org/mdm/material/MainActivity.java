package org.mdm.material;

import android.content.Intent;
import android.os.Bundle;
import android.view.View;
import android.widget.TextView;
import androidx.appcompat.app.AppCompatActivity;
import androidx.fragment.app.Fragment;
import com.google.android.material.appbar.MaterialToolbar;
import com.google.android.material.bottomnavigation.BottomNavigationView;

/** Three pages, chosen at the lower edge, below a toolbar with a menu. */
public class MainActivity extends AppCompatActivity {
    @Override
    protected void onCreate(Bundle saved) {
        super.onCreate(saved);
        setContentView(R.layout.main);
        TextView told = findViewById(R.id.told);
        MaterialToolbar toolbar = findViewById(R.id.toolbar);
        toolbar.setOnMenuItemClickListener(
                item -> {
                    if (item.isCheckable()) {
                        item.setChecked(!item.isChecked());
                    }
                    told.setText(item.getTitle() + (item.isChecked() ? " on" : ""));
                    return true;
                });
        BottomNavigationView navigation = findViewById(R.id.navigation);
        navigation.setOnItemSelectedListener(item -> show(item.getItemId()));
        if (saved == null) {
            show(R.id.home);
        }
    }

    private boolean show(int destination) {
        Fragment page = new HomePage();
        if (destination == R.id.items) {
            page = new ItemsPage();
        } else if (destination == R.id.settings) {
            page = new SettingsPage();
        }
        getSupportFragmentManager().beginTransaction().replace(R.id.content, page).commit();
        return true;
    }

    /** Buttons that open the other activities. */
    public static class HomePage extends Fragment {
        public HomePage() {
            super(R.layout.home);
        }

        @Override
        public void onViewCreated(View view, Bundle saved) {
            opens(view, R.id.open_form, FormActivity.class);
            opens(view, R.id.open_tabs, TabsActivity.class);
            opens(view, R.id.open_windows, WindowsActivity.class);
            TextView told = requireActivity().findViewById(R.id.told);
            view.findViewById(R.id.card).setOnClickListener(card -> told.setText("Offer opened"));
        }

        private void opens(View view, int button, Class<?> activity) {
            view.findViewById(button).setOnClickListener(any -> startActivity(new Intent(getContext(), activity)));
        }
    }
}
