package com.workbench;

import android.text.InputType;
import android.util.Log;
import android.content.Intent;
import android.view.View;
import android.view.inputmethod.InputMethodManager;
import android.widget.Button;
import android.widget.EditText;
import android.widget.LinearLayout;
import android.widget.ProgressBar;
import android.widget.Space;
import android.widget.Switch;
import android.widget.TextView;

/** The login. Its server is the one for tests, which knows nobody: no login succeeds. */
public class LoginActivity extends Page {
    private static final String TAG = "LoginActivity";
    private static final String URL = "https://staging.workbench.example/login";
    private static final long LOGIN_MS = 600;

    private EditText email;
    private EditText password;
    private Button logIn;
    private ProgressBar progress;
    private TextView error;

    @Override
    protected String title() {
        return null;
    }

    @Override
    protected boolean scrolls() {
        return false;
    }

    @Override
    protected void fill() {
        View title = add(named(R.id.title, heading("Sign in to Workbench")));
        // Without this the first field would have the focus from the beginning.
        title.setFocusableInTouchMode(true);
        email = add(named(R.id.email, field("Email", InputType.TYPE_TEXT_VARIATION_EMAIL_ADDRESS)));
        password = add(named(R.id.password, field("Password", InputType.TYPE_TEXT_VARIATION_PASSWORD)));
        Switch remember = add(named(R.id.remember_me, new Switch(this)), dp(48));
        remember.setText("Remember me");
        logIn = add(named(R.id.log_in, button("Log in", view -> signIn())));
        progress = add(named(R.id.progress, new ProgressBar(this)), dp(48));
        progress.setVisibility(View.GONE);
        error = add(named(R.id.error, label("Could not sign in. Try again later.")));
        error.setVisibility(View.GONE);
        Space space = add(new Space(this), 0);
        ((LinearLayout.LayoutParams) space.getLayoutParams()).weight = 1;
        add(named(R.id.open_settings, button("Settings", view -> openSettings())));
    }

    private EditText field(String hint, int kind) {
        EditText field = new EditText(this);
        field.setHint(hint);
        field.setInputType(InputType.TYPE_CLASS_TEXT | kind);
        return field;
    }

    private void openSettings() {
        startActivity(new Intent(this, SettingsActivity.class));
    }

    private void signIn() {
        if (email.length() == 0 || password.length() == 0) {
            Log.w(TAG, "email and password are required");
            show(false, true);
            return;
        }
        getSystemService(InputMethodManager.class).hideSoftInputFromWindow(email.getWindowToken(), 0);
        Log.d(TAG, "sign in requested");
        Log.d("OkHttp", "--> POST " + URL);
        show(true, false);
        later(LOGIN_MS, this::refused);
    }

    private void refused() {
        Log.d("OkHttp", "<-- 401 " + URL + " (587ms)");
        Log.e("AuthRepo", "POST " + URL + " -> 401 (server: staging, user: " + email.getText() + ")");
        Log.w(TAG, "sign in failed, showing a general message");
        show(false, true);
    }

    private void show(boolean busy, boolean failed) {
        logIn.setEnabled(!busy);
        progress.setVisibility(busy ? View.VISIBLE : View.GONE);
        error.setVisibility(failed ? View.VISIBLE : View.GONE);
    }
}
