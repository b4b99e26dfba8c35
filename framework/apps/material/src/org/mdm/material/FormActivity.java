package org.mdm.material;

import android.os.Bundle;
import android.widget.TextView;
import androidx.appcompat.app.AppCompatActivity;
import com.google.android.material.textfield.TextInputLayout;

/** Text fields whose hints float, one that can be wrong, a password and a choice. */
public class FormActivity extends AppCompatActivity {
    @Override
    protected void onCreate(Bundle saved) {
        super.onCreate(saved);
        setContentView(R.layout.form);
        TextView mail = findViewById(R.id.mail);
        TextInputLayout box = findViewById(R.id.mail_box);
        TextView told = findViewById(R.id.told);
        findViewById(R.id.save)
                .setOnClickListener(
                        button -> {
                            boolean isMail = mail.getText().toString().contains("@");
                            box.setError(isMail ? null : "No @ in it");
                            told.setText(isMail ? "Saved" : "Not saved");
                        });
    }
}
