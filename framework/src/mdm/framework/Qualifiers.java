package mdm.framework;

import java.util.Locale;

/** Describes the screen and the language in the words of Android's resource qualifiers. */
final class Qualifiers {
    private static final float DENSITY_BASE = 160f;

    private Qualifiers() {}

    static String initial(Options options) {
        return of(options.width, options.height, options.density, Locale.US, false);
    }

    /** The size is that of the turned screen, in pixels. */
    static String of(int width, int height, int density, Locale locale, boolean night) {
        StringBuilder words = new StringBuilder(locale.getLanguage());
        if (!locale.getCountry().isEmpty()) {
            words.append("-r").append(locale.getCountry());
        }
        // By the script of the language's own name: no class of Android is there before the first boot.
        byte direction = Character.getDirectionality(locale.getDisplayLanguage(locale).charAt(0));
        boolean rightToLeft =
                direction == Character.DIRECTIONALITY_RIGHT_TO_LEFT
                        || direction == Character.DIRECTIONALITY_RIGHT_TO_LEFT_ARABIC;
        words.append(rightToLeft ? "-ldrtl" : "-ldltr");
        int w = (int) (width * DENSITY_BASE / density);
        int h = (int) (height * DENSITY_BASE / density);
        words.append("-sw").append(Math.min(w, h)).append("dp-w").append(w).append("dp-h").append(h).append("dp");
        words.append(width > height ? "-land" : "-port").append(night ? "-night" : "-notnight");
        return words.append('-').append(density).append("dpi").toString();
    }
}
