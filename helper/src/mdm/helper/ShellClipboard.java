package mdm.helper;

import android.content.ClipData;

/** The clipboard service, called as the shell's own package. Its methods have other parameters in each version. */
final class ShellClipboard {
    private static final String PACKAGE = "com.android.shell";

    ClipData get() throws Refusal {
        try {
            return (ClipData) Hidden.call(service(), "getPrimaryClip", PACKAGE);
        } catch (ReflectiveOperationException | RuntimeException e) {
            throw refusal(e);
        }
    }

    void set(ClipData clip) throws Refusal {
        try {
            if (clip != null) {
                Hidden.call(service(), "setPrimaryClip", clip, PACKAGE);
            } else {
                clear();
            }
        } catch (ReflectiveOperationException | RuntimeException e) {
            throw refusal(e);
        }
    }

    /** Before API 28 a clipboard could not be emptied. */
    private static void clear() throws ReflectiveOperationException {
        try {
            Hidden.call(service(), "clearPrimaryClip", PACKAGE);
        } catch (NoSuchMethodException e) {
            Hidden.call(service(), "setPrimaryClip", ClipData.newPlainText(null, ""), PACKAGE);
        }
    }

    private static Object service() throws ReflectiveOperationException {
        return Hidden.service("clipboard", "android.content.IClipboard");
    }

    private static Refusal refusal(Throwable thrown) {
        Throwable cause = Hidden.causeOf(thrown);
        int code = cause instanceof ReflectiveOperationException ? Refusal.UNSUPPORTED : Refusal.REFUSED;
        return new Refusal(code, "the clipboard", cause);
    }
}
