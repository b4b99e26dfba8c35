package mdm.framework;

import android.graphics.Bitmap;
import android.graphics.Canvas;
import android.graphics.Color;
import android.graphics.Paint;
import android.graphics.Point;
import android.graphics.Rect;
import android.view.View;
import android.view.WindowManager.LayoutParams;
import org.robolectric.shadows.ShadowDisplay;
import org.robolectric.util.ReflectionHelpers;
import org.robolectric.util.ReflectionHelpers.ClassParameter;

/** The display: its size, and a picture of all windows. */
final class Screen {
    private Screen() {}

    static Rect frame() {
        Point size = new Point();
        ShadowDisplay.getDefaultDisplay().getRealSize(size);
        return new Rect(0, 0, size.x, size.y);
    }

    /** Draws every window at its place, with the dimming below dialogs and a plain field for the keyboard. */
    static Bitmap picture(ScreenWindows windows) {
        Rect frame = frame();
        Bitmap screen = Bitmap.createBitmap(frame.width(), frame.height(), Bitmap.Config.ARGB_8888);
        draw(windows, frame, screen);
        return screen;
    }

    /** Draws the same on a picture of this size. */
    static void draw(ScreenWindows windows, Rect frame, Bitmap screen) {
        Canvas canvas = new Canvas(screen);
        canvas.drawColor(Color.BLACK);
        Paint paint = new Paint();
        for (ScreenWindows.Window window : windows.visible()) {
            View view = window.view();
            if (view.getWidth() <= 0 || view.getHeight() <= 0) {
                continue;
            }
            if (window.has(LayoutParams.FLAG_DIM_BEHIND)) {
                canvas.drawColor(Color.argb(Math.round(255 * window.attributes.dimAmount), 0, 0, 0));
            }
            Bitmap picture = Bitmap.createBitmap(view.getWidth(), view.getHeight(), Bitmap.Config.ARGB_8888);
            render(view, picture);
            Rect place = window.frame();
            paint.setAlpha(Math.round(255 * window.attributes.alpha));
            canvas.drawBitmap(picture, place.left, place.top, paint);
            picture.recycle();
        }
        if (Keyboard.isShown()) {
            paint.setColor(Color.rgb(0x37, 0x3c, 0x41));
            canvas.drawRect(Keyboard.frame(frame), paint);
        }
    }

    private static void render(View view, Bitmap out) {
        try {
            Class<?> renderer =
                    Class.forName("org.robolectric.shadows.HardwareRenderingScreenshot");
            ReflectionHelpers.callStaticMethod(
                    renderer,
                    "takeScreenshot",
                    ClassParameter.from(View.class, view),
                    ClassParameter.from(Bitmap.class, out));
        } catch (ClassNotFoundException absent) {
            view.draw(new Canvas(out));
        }
    }
}
