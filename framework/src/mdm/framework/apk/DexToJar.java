package mdm.framework.apk;

import com.googlecode.d2j.DexConstants;
import com.googlecode.d2j.dex.Dex2jar;
import com.googlecode.d2j.reader.BaseDexFileReader;
import com.googlecode.d2j.reader.MultiDexFileReader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;

/** Turns the code in a file for Android, such as an APK, into a jar, so that a JVM can run it. */
public final class DexToJar {
    private DexToJar() {}

    /** Takes the path of the file and the path of the jar. Android's classes must be on the class path. */
    public static void main(String[] args) throws Exception {
        if (args.length != 2) {
            throw new IllegalArgumentException("usage: DexToJar APK JAR");
        }
        Path jar = Path.of(args[1]);
        Path unfinished = Path.of(args[1] + "." + ProcessHandle.current().pid() + ".part");
        BaseDexFileReader reader = MultiDexFileReader.open(Files.readAllBytes(Path.of(args[0])));
        // Code of Android 7 or later becomes classes of a version that a JVM takes only with the types at each jump.
        boolean needsFrames = reader.getDexVersion() >= DexConstants.DEX_037;
        Dex2jar.from(reader).topoLogicalSort().computeFrames(needsFrames).to(unfinished);
        // Another process may convert the same file: the last one wins, and none sees half a jar.
        Files.move(unfinished, jar, StandardCopyOption.REPLACE_EXISTING, StandardCopyOption.ATOMIC_MOVE);
    }
}
