package org.mdm.material;

import android.os.Bundle;
import android.view.View;
import android.widget.TextView;
import androidx.appcompat.app.AppCompatActivity;
import com.google.android.material.bottomsheet.BottomSheetDialog;
import com.google.android.material.dialog.MaterialAlertDialogBuilder;
import com.google.android.material.snackbar.Snackbar;

/** A dialog, a sheet from below, and a snackbar. */
public class WindowsActivity extends AppCompatActivity {
    private static final String[] SIZES = {"Small", "Large"};

    private TextView told;

    @Override
    protected void onCreate(Bundle saved) {
        super.onCreate(saved);
        setContentView(R.layout.windows);
        told = findViewById(R.id.told);
        findViewById(R.id.show_dialog).setOnClickListener(button -> dialog());
        findViewById(R.id.show_sheet).setOnClickListener(button -> sheet());
        findViewById(R.id.show_snackbar).setOnClickListener(this::snackbar);
    }

    private void dialog() {
        new MaterialAlertDialogBuilder(this)
                .setTitle("Which size?")
                .setSingleChoiceItems(SIZES, 0, (dialog, which) -> told.setText(SIZES[which]))
                .setPositiveButton("OK", (dialog, which) -> told.setText("Size chosen"))
                .setNegativeButton("Cancel", null)
                .show();
    }

    private void sheet() {
        BottomSheetDialog sheet = new BottomSheetDialog(this);
        sheet.setContentView(R.layout.sheet);
        sheet.findViewById(R.id.copy_link)
                .setOnClickListener(
                        button -> {
                            told.setText("Link copied");
                            sheet.dismiss();
                        });
        sheet.show();
    }

    private void snackbar(View button) {
        Snackbar.make(findViewById(R.id.root), "Message sent", Snackbar.LENGTH_INDEFINITE)
                .setAction("Undo", any -> told.setText("Taken back"))
                .show();
    }
}
