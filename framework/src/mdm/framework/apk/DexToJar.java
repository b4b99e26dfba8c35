package mdm.framework.apk;

import com.googlecode.d2j.dex.Dex2jar;
import com.googlecode.d2j.reader.BaseDexFileReader;
import com.googlecode.d2j.reader.MultiDexFileReader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;

/** Turns the code of an APK into a jar, so that a JVM can run it. */
public final class DexToJar {
    private DexToJar() {}

    /** Takes the path of the APK and the path of the jar. */
    public static void main(String[] args) throws Exception {
        if (args.length != 2) {
            throw new IllegalArgumentException("usage: DexToJar APK JAR");
        }
        Path jar = Path.of(args[1]);
        Path unfinished = Path.of(args[1] + "." + ProcessHandle.current().pid() + ".part");
        BaseDexFileReader reader = MultiDexFileReader.open(Files.readAllBytes(Path.of(args[0])));
        Dex2jar.from(reader).topoLogicalSort().to(unfinished);
        // Another process may convert the same file: the last one wins, and none sees half a jar.
        Files.move(unfinished, jar, StandardCopyOption.REPLACE_EXISTING, StandardCopyOption.ATOMIC_MOVE);
    }
}
