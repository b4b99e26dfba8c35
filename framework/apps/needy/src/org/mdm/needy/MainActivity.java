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
        // A jump, which a JVM checks in code of Android 7 or later.
        scan.setText(saved == null ? "Scan" : "Scan again");
        scan.setOnClickListener(button -> System.loadLibrary("needy"));
        setContentView(scan);
    }
}
