package mdm.framework;

import android.app.ActivityThread;
import android.app.Application;
import android.content.pm.PackageParser;
import android.util.Log;
import java.io.BufferedOutputStream;
import java.io.DataInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import mdm.framework.apk.AppNeeds;
import org.robolectric.RuntimeEnvironment;
import org.robolectric.internal.AndroidSandbox;
import org.robolectric.manifest.AndroidManifest;
import org.robolectric.shadows.ShadowChoreographer;
import org.robolectric.shadows.ShadowPackageParser;
import org.robolectric.shadows.ShadowView;

/** Boots the phone on the main thread and answers requests there, one after another, until the stream ends. */
public final class PhoneLoop {
    private PhoneLoop() {}

    public static void run(Object sandbox, String[] args, InputStream in, OutputStream out) throws Exception {
        Thread.currentThread().setContextClassLoader(PhoneLoop.class.getClassLoader());
        Options options = Options.parse(args);
        DataInputStream requests = new DataInputStream(in);
        OutputStream answers = new BufferedOutputStream(out, 1 << 16);
        Phone phone;
        try {
            phone = boot((AndroidSandbox) sandbox, options);
        } catch (Throwable failure) {
            new WireWriter().u8(1).text(innermost(failure).toString()).send(answers);
            throw failure;
        }
        Requests handler = new Requests(phone);
        WireWriter hello = new WireWriter().u8(0).u32(Requests.VERSION);
        List<String> needs = needs(options);
        for (String need : needs) {
            Journal.log(Log.WARN, "FrameworkPhone", need);
        }
        phone.writeState(hello);
        hello.u32(needs.size());
        for (String need : needs) {
            hello.text(need);
        }
        hello.send(answers);
        for (WireReader request = WireReader.next(requests); request != null; request = WireReader.next(requests)) {
            handler.answer(request).send(answers);
        }
    }

    private static Throwable innermost(Throwable failure) {
        Throwable inner = failure;
        while (inner.getCause() != null) {
            inner = inner.getCause();
        }
        return inner;
    }

    /** What the app needs and this phone has not. */
    private static List<String> needs(Options options) throws IOException {
        Path apk = Path.of(options.apk);
        PackageParser.Package parsed = ShadowPackageParser.callParsePackage(apk);
        boolean playServices = parsed.mAppMetaData != null && parsed.mAppMetaData.containsKey(AppNeeds.PLAY_SERVICES);
        List<String> libraries = new ArrayList<>();
        if (parsed.usesLibraries != null) {
            libraries.addAll(parsed.usesLibraries);
            // Android's old HTTP classes are here.
            libraries.remove("org.apache.http.legacy");
        }
        return AppNeeds.of(apk, playServices, libraries);
    }

    private static Phone boot(AndroidSandbox sandbox, Options options) {
        Path apk = Path.of(options.apk);
        sandbox.getTestEnvironment()
                .setUpApplicationState(
                        "phone",
                        new FixedConfiguration(options.sdk, Qualifiers.initial(options)),
                        new AndroidManifest(null, null, null, null, "", apk));
        // Robolectric reads the level that the app is made for only from a manifest in plain text.
        PackageParser.Package parsed = ShadowPackageParser.callParsePackage(apk);
        Application application = RuntimeEnvironment.getApplication();
        application.getApplicationInfo().targetSdkVersion = parsed.applicationInfo.targetSdkVersion;
        ShadowView.setUseRealViewAnimations(true);
        ShadowChoreographer.setPaused(true);
        ShadowChoreographer.setFrameDelay(PhoneClock.FRAME);
        DeviceConfiguration.first(options);
        SystemBars.install();
        Phone phone = new Phone(application);
        ActivityThread thread = (ActivityThread) RuntimeEnvironment.getActivityThread();
        PhoneInstrumentation instrumentation = new PhoneInstrumentation(phone.stack);
        instrumentation.takeOver(thread);
        PhoneClock.startNow(options.wallAtBoot);
        Journal.clear();
        phone.stack.requestByName(null);
        phone.clock.runDue();
        return phone;
    }
}
