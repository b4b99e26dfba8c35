package mdm.framework;

import java.lang.reflect.Method;
import java.nio.charset.StandardCharsets;
import java.util.Properties;
import mdm.framework.shadows.Shadows;
import org.robolectric.android.AndroidSdkShadowMatcher;
import org.robolectric.annotation.ResourcesMode;
import org.robolectric.annotation.SQLiteMode;
import org.robolectric.interceptors.AndroidInterceptors;
import org.robolectric.internal.AndroidSandbox;
import org.robolectric.internal.SandboxManager;
import org.robolectric.internal.bytecode.ClassHandler;
import org.robolectric.internal.bytecode.ClassHandlerBuilder;
import org.robolectric.internal.bytecode.InstrumentationConfiguration;
import org.robolectric.internal.bytecode.Interceptors;
import org.robolectric.internal.bytecode.MethodRef;
import org.robolectric.internal.bytecode.ShadowMap;
import org.robolectric.internal.bytecode.ShadowProviders;
import org.robolectric.pluginapi.Sdk;
import org.robolectric.pluginapi.SdkProvider;
import org.robolectric.util.inject.Injector;

/**
 * Builds the sandbox: a class loader with Android's own classes of one version, and a main thread. Robolectric's
 * replacements for what is native or in the system server stay, but for those that {@link Shadows} takes back.
 */
final class SandboxFactory {
    private static final String VIEW_SHADOW = "org.robolectric.shadows.ShadowView";

    private SandboxFactory() {}

    static AndroidSandbox build(int sdkLevel) {
        Injector injector = new Injector.Builder().bind(Properties.class, System.getProperties()).build();
        Sdk sdk = find(injector.getInstance(SdkProvider.class), sdkLevel);
        Interceptors interceptors = new Interceptors(AndroidInterceptors.all());
        AndroidSandbox sandbox =
                injector.getInstance(SandboxManager.SandboxBuilder.class)
                        .build(
                                instrumentation(interceptors),
                                sdk,
                                sdk,
                                ResourcesMode.Mode.BINARY,
                                SQLiteMode.Mode.NATIVE);
        ShadowMap.Builder shadows =
                injector.getInstance(ShadowProviders.class).getBaseShadowMap().newBuilder();
        shadows.addShadowClasses(Shadows.ALL);
        ShadowMap map = shadows.build();
        sandbox.replaceShadowMap(map);
        ClassHandler handler =
                injector.getInstance(ClassHandlerBuilder.class)
                        .build(map, new WithoutFrames(sdkLevel), interceptors);
        sandbox.configure(handler, interceptors);
        return sandbox;
    }

    /** Takes Robolectric's replacement for the visible part of a window away: it leaves out the bars and the keyboard. */
    private static final class WithoutFrames extends AndroidSdkShadowMatcher {
        WithoutFrames(int sdkLevel) {
            super(sdkLevel);
        }

        @Override
        public boolean matches(Method method) {
            boolean isFrame =
                    method.getName().equals("getWindowVisibleDisplayFrame")
                            || method.getName().equals("getWindowDisplayFrame");
            return !(isFrame && method.getDeclaringClass().getName().equals(VIEW_SHADOW)) && super.matches(method);
        }
    }

    private static Sdk find(SdkProvider provider, int level) {
        for (Sdk sdk : provider.getSdks()) {
            if (sdk.getApiLevel() == level) {
                return sdk;
            }
        }
        throw new IllegalArgumentException("this Robolectric has no Android of API level " + level);
    }

    /** Says which classes belong to the host, and which are Android's and get hooks in each method. */
    private static InstrumentationConfiguration instrumentation(Interceptors interceptors) {
        InstrumentationConfiguration.Builder builder = new InstrumentationConfiguration.Builder();
        for (MethodRef method : interceptors.getAllMethodRefs()) {
            builder.addInterceptedMethod(method);
        }
        builder.doNotAcquireClass("org.robolectric.shadow.api.ShadowPicker");
        for (String host :
                new String[] {
                    "org.bouncycastle.", "org.conscrypt.", "org.objectweb.asm", "org.robolectric.manifest.",
                    "org.robolectric.res.", "org.w3c.", "org.xml."
                }) {
            builder.doNotAcquirePackage(host);
        }
        builder.addClassNameTranslation("java.nio.charset.Charsets", StandardCharsets.class.getName())
                .addClassNameTranslation(
                        "java.net.ExtendedResponseCache", "org.robolectric.fakes.RoboExtendedResponseCache")
                .addClassNameTranslation(
                        "java.net.ResponseSource", "org.robolectric.fakes.RoboResponseSource")
                .addClassNameTranslation("java.lang.UnsafeByteSequence", Object.class.getName())
                .addClassNameTranslation("java.util.jar.StrictJarFile", Object.class.getName())
                .addClassNameTranslation("sun.misc.Cleaner", "java.lang.ref.Cleaner$Cleanable");
        builder.doNotInstrumentPackage("android.support.")
                .doNotInstrumentPackage("android.arch")
                .doNotInstrumentPackage("android.R");
        // With hooks this class does not load.
        builder.doNotInstrumentClass("android.app.RecoverableSecurityException");
        for (String android :
                new String[] {
                    "dalvik.", "libcore.", "android.", "com.android.internal.", "org.apache.http.",
                    "org.ccil.cowan.tagsoup.", "org.kxml2."
                }) {
            builder.addInstrumentedPackage(android);
        }
        return builder.build();
    }
}
