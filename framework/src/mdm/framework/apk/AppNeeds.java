package mdm.framework.apk;

import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.zip.ZipFile;

/** Says by name what an app needs and this phone cannot have. */
public final class AppNeeds {
    /** The manifest of an app has this entry when code of Play services was built into it. */
    public static final String PLAY_SERVICES = "com.google.android.gms.version";

    private static final int NAMES_MAX = 200;

    private AppNeeds() {}

    /** Returns a sentence for each need: native code in the APK, and libraries that its manifest names. */
    public static List<String> of(Path apk, boolean playServices, Collection<String> libraries) throws IOException {
        List<String> needs = new ArrayList<>();
        for (String library : nativeLibraries(apk)) {
            needs.add("the app has native code, which does not run here: " + library);
        }
        if (playServices) {
            needs.add("the app uses Google Play services, which are not here: com.google.android.gms");
        }
        for (String library : libraries) {
            needs.add("the app needs a library that is not here: " + library);
        }
        return needs;
    }

    /** Returns the names of the libraries, each once however many processors it was built for. */
    private static Set<String> nativeLibraries(Path apk) throws IOException {
        Set<String> names = new TreeSet<>();
        try (ZipFile zip = new ZipFile(apk.toFile())) {
            zip.stream()
                    .map(entry -> entry.getName())
                    .filter(name -> name.startsWith("lib/") && name.endsWith(".so"))
                    .limit(NAMES_MAX)
                    .forEach(name -> names.add(name.substring(name.lastIndexOf('/') + 1)));
        }
        return names;
    }
}
