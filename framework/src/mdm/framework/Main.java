package mdm.framework;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.PrintStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.stream.Stream;
import org.robolectric.internal.AndroidSandbox;

/**
 * Starts the phone. Runs outside of the sandbox in which Android's classes live: it takes the process's own stdin and
 * stdout for the protocol, builds the sandbox, and runs {@link PhoneLoop} on the sandbox's main thread until stdin ends.
 */
public final class Main {
    private Main() {}

    public static void main(String[] args) {
        InputStream in = System.in;
        OutputStream out = System.out;
        // Whatever Android or an app prints must not get between the answers.
        System.setOut(new PrintStream(System.err, true));
        try {
            Options options = Options.parse(args);
            AndroidSandbox sandbox = SandboxFactory.build(options.sdk);
            sandbox.runOnMainThread(
                    () -> {
                        Class<?> inside = sandbox.bootstrappedClass(PhoneLoop.class);
                        inside.getMethod("run", Object.class, String[].class, InputStream.class, OutputStream.class)
                                .invoke(null, sandbox, args, in, out);
                        return null;
                    });
            deleteTemporaryFiles();
            Runtime.getRuntime().halt(0);
        } catch (Throwable failure) {
            failure.printStackTrace();
            deleteTemporaryFiles();
            // Threads of the app may still run; they must not keep the process.
            Runtime.getRuntime().halt(1);
        }
    }

    /** Deletes the folder that was made for this process alone; nobody else is left who would. */
    private static void deleteTemporaryFiles() {
        String folder = System.getProperty("mdm.temporary");
        if (folder == null) {
            return;
        }
        try (Stream<Path> files = Files.walk(Path.of(folder))) {
            files.sorted(Comparator.reverseOrder()).forEach(file -> file.toFile().delete());
        } catch (IOException absent) {
            System.err.println("the temporary files stay: " + absent);
        }
    }
}
