package org.example.hello;

import android.app.Activity;
import android.os.Bundle;
import android.widget.TextView;

/** Shows the text that it is started with. */
public final class GreetingActivity extends Activity {
    @Override
    protected void onCreate(Bundle saved) {
        super.onCreate(saved);
        setContentView(R.layout.main);
        String text = getIntent().getStringExtra("text");
        if (text != null) {
            ((TextView) findViewById(R.id.greeting)).setText(text);
        }
    }
}
