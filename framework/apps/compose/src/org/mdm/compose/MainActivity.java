package org.mdm.compose;

import android.os.Bundle;
import androidx.activity.ComponentActivity;

/** The only activity. It is in Java: Kotlin's compiler does not extend Android's class as Robolectric prepared it. */
public class MainActivity extends ComponentActivity {
    @Override
    protected void onCreate(Bundle saved) {
        super.onCreate(saved);
        AppKt.show(this);
    }
}
