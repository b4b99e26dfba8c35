package mdm.helper;

import android.net.LocalServerSocket;
import android.net.LocalSocket;
import android.os.Looper;
import java.io.File;
import java.io.IOException;
import java.io.InputStream;

/** Starts the helper, and sees that it ends. */
public final class Main {
    private static final String NAME = "mdm-helper " + Frames.VERSION;
    private static final int NONCE_BYTES = 16;
    private static final int LINE_BYTES_MAX = 100;
    private static final int CONNECTIONS_MAX = 10;
    private static final long GIVE_BACK_MS_MAX = 2_000;
    private static final int ROOT_UID = 0;
    private static final int SHELL_UID = 2000;

    private final Automation automation;
    private final IdleWatch watch = new IdleWatch(this::end);

    private Main(Automation automation) {
        this.automation = automation;
    }

    /** Arguments: the name of the abstract socket, and the jar that this runs from, which is deleted. */
    public static void main(String[] arguments) {
        try {
            if (arguments.length != 2) {
                throw new IOException("usage: Main SOCKET FILE");
            }
            Hidden.allowAll();
            Looper.prepareMainLooper();
            new Main(new ShellAutomation()).run(arguments[0], new File(arguments[1]));
        } catch (IOException | RuntimeException | LinkageError e) {
            System.out.println(NAME + " failed: " + Refusal.describe(e));
            System.out.flush();
            Runtime.getRuntime().halt(1);
        }
    }

    private void run(String socket, File jar) throws IOException {
        byte[] nonce = nonce(readLine(System.in));
        LocalServerSocket server = new LocalServerSocket(socket);
        delete(jar);
        System.out.println(NAME + " ready");
        System.out.flush();
        start(this::endWithInput, "mdm-helper-input");
        start(watch, "mdm-helper-idle");
        serve(server, nonce);
        end();
    }

    /** Until a client that knows the nonce has come and gone. */
    private void serve(LocalServerSocket server, byte[] nonce) throws IOException {
        boolean isServed = false;
        for (int count = 0; !isServed && count < CONNECTIONS_MAX; count++) {
            try (LocalSocket socket = server.accept()) {
                int uid = socket.getPeerCredentials().getUid();
                if (uid == ROOT_UID || uid == SHELL_UID) {
                    Session session =
                            new Session(automation, nonce, socket.getInputStream(), socket.getOutputStream());
                    watch.follow(session);
                    isServed = session.serve();
                }
            }
        }
    }

    /** The client holds our input open; it ends when the client, or the cable, has gone. */
    private void endWithInput() {
        try {
            byte[] ignored = new byte[256];
            int count = 0;
            while (count >= 0) {
                count = System.in.read(ignored);
            }
        } catch (IOException e) {
            // That is an end as well.
        }
        end();
    }

    /** Gives UiAutomation back, but waits for nobody who does not answer: the system takes it from a dead process. */
    private void end() {
        Thread giver = start(automation::giveBack, "mdm-helper-end");
        try {
            giver.join(GIVE_BACK_MS_MAX);
        } catch (InterruptedException e) {
            // The end is near anyway.
        }
        Runtime.getRuntime().halt(0);
    }

    private static Thread start(Runnable work, String name) {
        Thread thread = new Thread(work, name);
        thread.setDaemon(true);
        thread.start();
        return thread;
    }

    /** Old runtimes write a compiled copy beside the jar. */
    private static void delete(File jar) {
        jar.delete();
        String name = jar.getName().replaceAll("\\.jar$", "");
        File[] folders = new File(jar.getParentFile(), "oat").listFiles();
        for (File folder : folders == null ? new File[0] : folders) {
            for (String ending : new String[] {".odex", ".vdex", ".art"}) {
                new File(folder, name + ending).delete();
            }
        }
    }

    private static String readLine(InputStream in) throws IOException {
        StringBuilder line = new StringBuilder();
        for (int next = in.read(); next != '\n'; next = in.read()) {
            if (next < 0 || line.length() == LINE_BYTES_MAX) {
                throw new IOException("no line with a nonce on the input");
            }
            line.append((char) next);
        }
        return line.toString().trim();
    }

    static byte[] nonce(String line) throws IOException {
        if (!line.matches("[0-9a-fA-F]{" + NONCE_BYTES * 2 + "}")) {
            throw new IOException("a nonce has " + NONCE_BYTES * 2 + " hexadecimal digits");
        }
        byte[] nonce = new byte[NONCE_BYTES];
        for (int at = 0; at < NONCE_BYTES; at++) {
            nonce[at] = (byte) Integer.parseInt(line.substring(at * 2, at * 2 + 2), 16);
        }
        return nonce;
    }
}
