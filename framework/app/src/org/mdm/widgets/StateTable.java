package org.mdm.widgets;

import android.content.Context;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import org.json.JSONArray;
import org.json.JSONException;

/** The list of states, which the tests read too. */
final class StateTable {
    private StateTable() {}

    static JSONArray read(Context context) throws JSONException {
        try (InputStream in = context.getResources().openRawResource(R.raw.states)) {
            ByteArrayOutputStream bytes = new ByteArrayOutputStream();
            in.transferTo(bytes);
            return new JSONArray(bytes.toString(StandardCharsets.UTF_8));
        } catch (IOException broken) {
            throw new IllegalStateException(broken);
        }
    }
}
