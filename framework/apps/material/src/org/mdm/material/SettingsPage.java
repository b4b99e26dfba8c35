package org.mdm.material;

import androidx.fragment.app.Fragment;

/** Switches, boxes, sliders and chips: their own states are all that there is. */
public class SettingsPage extends Fragment {
    public SettingsPage() {
        super(R.layout.settings);
    }
}
