package mdm.helper;

import android.graphics.Bitmap;
import java.io.ByteArrayOutputStream;

/** Takes a picture, makes it smaller and compresses it. */
final class Pictures {
    private static final int JPEG = 1;
    private static final int PNG = 2;
    private static final int QUALITY_MAX = 100;

    private Pictures() {}

    static Bytes take(Automation automation, int widthMax, int heightMax, int quality) throws Refusal {
        if (quality > QUALITY_MAX) {
            throw new Refusal(Refusal.BAD_REQUEST, "quality " + quality + "; it is 0 to " + QUALITY_MAX);
        }
        Bitmap screen = automation.picture();
        if (screen == null) {
            throw new Refusal(Refusal.PROTECTED, "the system gave no picture; a window on the screen is secure");
        }
        int width = screen.getWidth();
        int height = screen.getHeight();
        Bitmap scaled = scale(inMemory(screen), widthMax, heightMax);
        ByteArrayOutputStream packed = new ByteArrayOutputStream();
        boolean isJpeg = quality > 0;
        boolean isPacked = scaled.compress(isJpeg ? Bitmap.CompressFormat.JPEG : Bitmap.CompressFormat.PNG,
                isJpeg ? quality : QUALITY_MAX, packed);
        scaled.recycle();
        if (!isPacked) {
            throw new Refusal(Refusal.INTERNAL, "the picture could not be compressed");
        }
        byte[] bytes = packed.toByteArray();
        return new Bytes().u16(width).u16(height).u8(isJpeg ? JPEG : PNG).u32(bytes.length).raw(bytes, 0, bytes.length);
    }

    /** A bitmap in the memory of the graphics processor can be neither scaled nor compressed quickly. */
    private static Bitmap inMemory(Bitmap bitmap) {
        if (bitmap.getConfig() == Bitmap.Config.ARGB_8888) {
            return bitmap;
        }
        Bitmap copy = bitmap.copy(Bitmap.Config.ARGB_8888, false);
        if (copy == null) {
            return bitmap;
        }
        bitmap.recycle();
        return copy;
    }

    /** Halves as often as it can and then goes to the size: one filtered step over more than half skips pixels. */
    private static Bitmap scale(Bitmap bitmap, int widthMax, int heightMax) {
        int[] size = fit(bitmap.getWidth(), bitmap.getHeight(), widthMax, heightMax);
        Bitmap now = bitmap;
        while (now.getWidth() >= size[0] * 2 && now.getHeight() >= size[1] * 2) {
            now = step(now, now.getWidth() / 2, now.getHeight() / 2);
        }
        return step(now, size[0], size[1]);
    }

    private static Bitmap step(Bitmap bitmap, int width, int height) {
        Bitmap scaled = Bitmap.createScaledBitmap(bitmap, width, height, true);
        if (scaled != bitmap) {
            bitmap.recycle();
        }
        return scaled;
    }

    /** The largest size of the same shape within the limits; 0 is no limit. It is never enlarged. */
    static int[] fit(int width, int height, int widthMax, int heightMax) {
        double scale = 1;
        scale = widthMax == 0 ? scale : Math.min(scale, (double) widthMax / width);
        scale = heightMax == 0 ? scale : Math.min(scale, (double) heightMax / height);
        return new int[] {
            Math.max(1, (int) Math.round(width * scale)), Math.max(1, (int) Math.round(height * scale)),
        };
    }
}
