package org.mdm.material;

import android.os.Bundle;
import android.view.View;
import android.widget.TextView;
import androidx.appcompat.app.AppCompatActivity;
import androidx.fragment.app.Fragment;
import androidx.viewpager2.adapter.FragmentStateAdapter;
import androidx.viewpager2.widget.ViewPager2;
import com.google.android.material.tabs.TabLayout;
import com.google.android.material.tabs.TabLayoutMediator;

/** Tabs above pages that are also swiped. */
public class TabsActivity extends AppCompatActivity {
    private static final String[] NAMES = {"Overview", "Reviews", "Photos"};

    @Override
    protected void onCreate(Bundle saved) {
        super.onCreate(saved);
        setContentView(R.layout.tabs);
        ViewPager2 pages = findViewById(R.id.pages);
        pages.setAdapter(
                new FragmentStateAdapter(this) {
                    @Override
                    public Fragment createFragment(int position) {
                        return PageFragment.of(NAMES[position]);
                    }

                    @Override
                    public int getItemCount() {
                        return NAMES.length;
                    }
                });
        TabLayout tabs = findViewById(R.id.tabs);
        new TabLayoutMediator(tabs, pages, (tab, position) -> tab.setText(NAMES[position])).attach();
    }

    /** One page: a text. */
    public static class PageFragment extends Fragment {
        public PageFragment() {
            super(R.layout.page);
        }

        static PageFragment of(String name) {
            PageFragment page = new PageFragment();
            Bundle arguments = new Bundle();
            arguments.putString("name", name);
            page.setArguments(arguments);
            return page;
        }

        @Override
        public void onViewCreated(View view, Bundle saved) {
            ((TextView) view).setText("This is " + requireArguments().getString("name"));
        }
    }
}
