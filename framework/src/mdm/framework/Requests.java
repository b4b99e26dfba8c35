package mdm.framework;

import android.graphics.Bitmap;
import android.graphics.Rect;
import android.view.KeyEvent;
import android.view.MotionEvent;
import android.view.View;
import android.view.inputmethod.InputConnection;
import android.widget.TextView;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;

/** Answers requests; {@code docs/framework-phone.md} has the format. Each first moves the clock to its own time. */
final class Requests {
    static final int VERSION = 5;

    private static final int ADVANCE = 1;
    private static final int GESTURE = 2;
    private static final int MOTION = 3;
    private static final int KEY = 4;
    private static final int TEXT = 5;
    private static final int DUMP = 6;
    private static final int PICTURE = 7;
    private static final int LAUNCH = 8;
    private static final int KILL = 9;
    private static final int CONFIGURE = 10;
    private static final int ACCESSIBILITY = 11;
    private static final int TRUTH = 12;
    private static final int COMMIT = 13;
    private static final int SELECT_ALL = 14;
    private static final int HELPER = 15;
    private static final int RESTART = 16;

    private final Phone phone;
    private final DeviceConfiguration configuration;
    private final HelperHost helpers;
    /** The connection of the helper that the request in hand is about. */
    private int helper;
    /** The last picture: from API level 35 on the memory of one that is recycled is never given back. */
    private Bitmap picture;

    Requests(Phone phone) {
        this.phone = phone;
        configuration = new DeviceConfiguration(phone);
        helpers = new HelperHost(phone, configuration::rotation);
        phone.clock.setAlarm(helpers);
    }

    WireWriter answer(WireReader request) {
        WireWriter result = new WireWriter();
        int status = 0;
        try {
            int kind = request.u8();
            if (!phone.clock.advanceTo(request.i64())) {
                Journal.log(5, "FrameworkPhone", "the clock jumped: only the last minute was played");
            }
            handle(kind, request, result);
            phone.clock.runDue();
            finish(kind, result);
        } catch (Throwable failure) {
            failure.printStackTrace();
            status = 1;
            result = new WireWriter().text(failure.toString());
        }
        WireWriter answer = new WireWriter().u8(status);
        phone.writeState(answer);
        return answer.raw(result);
    }

    private void handle(int kind, WireReader request, WireWriter result) throws IOException {
        switch (kind) {
            case ADVANCE:
            case DUMP:
            case PICTURE:
            case TRUTH:
                break;
            case GESTURE:
                gesture(request, result);
                break;
            case MOTION:
                motion(request.u8(), points(request, request.u8()));
                break;
            case KEY:
                key(request.i32(), request.flag(), request.i32());
                break;
            case TEXT:
                result.flag(phone.keys.type(request.text()));
                break;
            case LAUNCH:
                String activity = request.text();
                result.flag(phone.stack.requestByName(activity.isEmpty() ? null : activity));
                break;
            case KILL:
                phone.stack.die();
                break;
            case CONFIGURE:
                configuration.apply(request);
                break;
            case ACCESSIBILITY:
                phone.setAccessibilityEnabled(request.flag());
                break;
            case COMMIT:
                result.flag(commit(request.text()));
                break;
            case SELECT_ALL:
                selectAll();
                break;
            case HELPER:
                helper = helpers.handle(request);
                break;
            case RESTART:
                helpers.endAll();
                phone.restart();
                break;
            default:
                throw new IllegalArgumentException("no request has the number " + kind);
        }
    }

    /** Adds what is read after everything that is due has run. */
    private void finish(int kind, WireWriter result) throws IOException {
        if (kind == DUMP) {
            String tree = phone.dump(configuration.rotation());
            result.flag(tree != null).bytes(tree == null ? new byte[0] : tree.getBytes(StandardCharsets.UTF_8));
        } else if (kind == PICTURE) {
            picture(result);
        } else if (kind == TRUTH) {
            ViewTruth.write(phone.windows, result);
        } else if (kind == HELPER) {
            helpers.write(helper, result);
        }
    }

    private void gesture(WireReader request, WireWriter result) throws IOException {
        int fingers = request.u8();
        long holdMs = request.i64();
        long ms = request.i64();
        float[] from = points(request, fingers);
        float[] to = points(request, fingers);
        View hit = ViewFinder.at(phone.windows, (int) from[0], (int) from[1]);
        phone.noteTouch((int) from[0], (int) from[1]);
        phone.touch.gesture(from, to, holdMs, ms);
        ViewFinder.write(hit, result);
    }

    /** Reads x and y of each finger. */
    private static float[] points(WireReader request, int fingers) throws IOException {
        if (fingers < 1 || fingers > TouchInput.FINGERS_MAX) {
            throw new IllegalArgumentException(fingers + " fingers");
        }
        float[] points = new float[2 * fingers];
        for (int i = 0; i < points.length; i++) {
            points[i] = request.i32();
        }
        return points;
    }

    private void motion(int action, float[] points) {
        if (action == MotionEvent.ACTION_DOWN) {
            phone.noteTouch((int) points[0], (int) points[1]);
        }
        phone.touch.part(action, points);
    }

    private void key(int code, boolean isLong, int meta) {
        if (code == KeyEvent.KEYCODE_HOME) {
            phone.stack.requestHome();
        } else {
            phone.keys.press(code, isLong, meta);
        }
    }

    private boolean commit(String text) {
        InputConnection connection = Keyboard.connect(phone.windows);
        return connection != null && connection.commitText(text, 1);
    }

    private void selectAll() {
        View editor = Keyboard.focusedEditor(phone.windows);
        if (editor instanceof TextView) {
            ((TextView) editor).onTextContextMenuItem(android.R.id.selectAll);
        }
    }

    private void picture(WireWriter result) {
        Rect frame = Screen.frame();
        if (picture == null || picture.getWidth() != frame.width() || picture.getHeight() != frame.height()) {
            picture = Bitmap.createBitmap(frame.width(), frame.height(), Bitmap.Config.ARGB_8888);
        }
        Screen.draw(phone.windows, frame, picture);
        ByteBuffer pixels = ByteBuffer.allocate(picture.getByteCount());
        picture.copyPixelsToBuffer(pixels);
        result.u32(picture.getWidth()).u32(picture.getHeight()).bytes(pixels.array());
    }
}
