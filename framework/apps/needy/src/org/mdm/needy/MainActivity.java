package org.mdm.needy;

import android.app.Activity;
import android.os.Bundle;
import android.widget.Button;

/** Starts, and uses native code when its button is pressed. */
public class MainActivity extends Activity {
    @Override
    protected void onCreate(Bundle saved) {
        super.onCreate(saved);
        Button scan = new Button(this);
        scan.setText("Scan");
        scan.setOnClickListener(button -> System.loadLibrary("needy"));
        setContentView(scan);
    }
}
