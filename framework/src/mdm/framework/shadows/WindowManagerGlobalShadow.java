package mdm.framework.shadows;

import android.view.IWindowSession;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import mdm.framework.WindowPlacement;
import org.robolectric.annotation.Implementation;
import org.robolectric.annotation.Implements;
import org.robolectric.shadows.ShadowWindowManagerGlobal;

/** Adds to Robolectric's window manager what it leaves out: the keyboard's inset and the place of child windows. */
@Implements(className = "android.view.WindowManagerGlobal", isInAndroidSdk = false)
public class WindowManagerGlobalShadow extends ShadowWindowManagerGlobal {
    private static IWindowSession session;

    @Implementation
    protected static synchronized IWindowSession getWindowSession() {
        if (session == null) {
            IWindowSession inner = ShadowWindowManagerGlobal.getWindowSession();
            session =
                    (IWindowSession)
                            Proxy.newProxyInstance(
                                    IWindowSession.class.getClassLoader(),
                                    new Class<?>[] {IWindowSession.class},
                                    (proxy, method, args) -> {
                                        Object[] given = WindowPlacement.before(method.getName(), args);
                                        Object result;
                                        try {
                                            result = method.invoke(inner, given);
                                        } catch (InvocationTargetException thrown) {
                                            throw thrown.getCause();
                                        }
                                        WindowPlacement.after(method.getName(), args);
                                        return result;
                                    });
        }
        return session;
    }

    @Implementation
    protected static synchronized IWindowSession peekWindowSession() {
        return session;
    }
}
