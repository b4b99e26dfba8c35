package mdm.framework;

import java.io.InputStream;
import java.io.OutputStream;
import java.io.PrintStream;
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
            Runtime.getRuntime().halt(0);
        } catch (Throwable failure) {
            failure.printStackTrace();
            // Threads of the app may still run; they must not keep the process.
            Runtime.getRuntime().halt(1);
        }
    }
}
