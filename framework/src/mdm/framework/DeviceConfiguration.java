package mdm.framework;

import android.content.res.Configuration;
import android.content.res.Resources;
import android.os.LocaleList;
import java.util.Locale;
import org.robolectric.RuntimeEnvironment;
import org.robolectric.shadow.api.Shadow;
import org.robolectric.shadows.ShadowDisplay;

/** Size, density, rotation, language, night mode and font size: what a change of these does to the app. */
final class DeviceConfiguration {
    private final Phone phone;
    private int rotation;

    DeviceConfiguration(Phone phone) {
        this.phone = phone;
    }

    int rotation() {
        return rotation;
    }

    /** Reads width, height (as turned), density, rotation, night, font scale in thousandths, and language tag. */
    void apply(WireReader request) {
        int width = request.i32();
        int height = request.i32();
        int density = request.i32();
        int turns = request.i32();
        boolean night = request.flag();
        float fontScale = request.i32() / 1000f;
        Locale locale = Locale.forLanguageTag(request.text());
        rotation = turns;
        ShadowDisplay display = Shadow.extract(ShadowDisplay.getDefaultDisplay());
        display.setRotation(turns);
        RuntimeEnvironment.setFontScale(fontScale);
        RuntimeEnvironment.setQualifiers(Qualifiers.of(width, height, density, locale, night));
        exactSize(display, width, height);
        // As ActivityThread does for the process: dates and numbers are written in this language.
        LocaleList.setDefault(new LocaleList(locale));
        Configuration changed = new Configuration(Resources.getSystem().getConfiguration());
        phone.application.onConfigurationChanged(changed);
        phone.stack.configurationChanged(changed);
    }

    /** Sets the size of a new phone. */
    static void first(Options options) {
        ShadowDisplay display = Shadow.extract(ShadowDisplay.getDefaultDisplay());
        exactSize(display, options.width, options.height);
    }

    /** Sets the size in pixels, which the qualifiers in dp cannot say. */
    private static void exactSize(ShadowDisplay display, int width, int height) {
        display.setWidth(width);
        display.setHeight(height);
        display.setRealWidth(width);
        display.setRealHeight(height);
    }
}
