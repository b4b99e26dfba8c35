package org.mdm.widgets;

import android.text.Editable;
import android.text.InputType;
import android.text.TextWatcher;
import android.widget.ArrayAdapter;
import android.widget.AutoCompleteTextView;
import android.widget.EditText;
import android.widget.SearchView;
import android.widget.TextView;

/** Fields of every kind. */
public class TextActivity extends Page {
    @Override
    protected void fill() {
        EditText name = add("Name", R.id.name, new EditText(this));
        name.setText("Ada");
        name.setSingleLine();
        EditText empty = add("Empty", R.id.empty, new EditText(this));
        empty.setHint("Say something");
        empty.setSingleLine();
        typed("Password", R.id.password, InputType.TYPE_CLASS_TEXT | InputType.TYPE_TEXT_VARIATION_PASSWORD);
        typed("Number", R.id.number, InputType.TYPE_CLASS_NUMBER);
        typed("Email", R.id.email, InputType.TYPE_CLASS_TEXT | InputType.TYPE_TEXT_VARIATION_EMAIL_ADDRESS);
        EditText lines = add("Lines", R.id.multiline, new EditText(this));
        lines.setText("one\ntwo");
        EditText error = add("Error", R.id.error_field, new EditText(this));
        error.setError("Not a name");
        EditText disabled = add("Disabled", R.id.disabled_field, new EditText(this));
        disabled.setText("fixed");
        disabled.setEnabled(false);
        AutoCompleteTextView suggest = add("Suggestions", R.id.suggest, new AutoCompleteTextView(this));
        String[] words = {"apple", "apricot", "banana"};
        suggest.setAdapter(new ArrayAdapter<>(this, android.R.layout.simple_dropdown_item_1line, words));
        suggest.setThreshold(1);
        SearchView search = add("Search", R.id.search, new SearchView(this));
        search.setIconifiedByDefault(false);
        search.setQueryHint("Find");
        TextView echo = add("Echo", R.id.echo, new TextView(this));
        empty.addTextChangedListener(
                new TextWatcher() {
                    @Override
                    public void beforeTextChanged(CharSequence text, int start, int count, int after) {}

                    @Override
                    public void onTextChanged(CharSequence text, int start, int before, int count) {}

                    @Override
                    public void afterTextChanged(Editable text) {
                        echo.setText(text);
                    }
                });
    }

    private void typed(String label, int id, int type) {
        add(label, id, new EditText(this)).setInputType(type);
    }
}
