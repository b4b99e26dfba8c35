package mdm.helper;

import android.view.accessibility.AccessibilityNodeInfo;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.util.Arrays;
import java.util.HashMap;
import java.util.Map;

/** Calls what is no part of the public SDK, or of a newer one than this is compiled against. */
final class Hidden {
    private static final Map<String, Method> GETTERS = new HashMap<>();

    private Hidden() {}

    /** Lifts the ban on hidden members for this process, where there is one; what it cannot lift, calls will tell. */
    static void allowAll() {
        try {
            Method find = Class.class.getDeclaredMethod("getDeclaredMethod", String.class, Class[].class);
            Class<?> runtimeClass = Class.forName("dalvik.system.VMRuntime");
            Method current = (Method) find.invoke(runtimeClass, "getRuntime", new Class<?>[0]);
            Class<?>[] types = {String[].class};
            Method exempt = (Method) find.invoke(runtimeClass, "setHiddenApiExemptions", types);
            Object prefixes = new String[] {"L"};
            exempt.invoke(current.invoke(null), prefixes);
        } catch (ReflectiveOperationException | RuntimeException e) {
            // Before Android 9 there is no ban, and a program of the shell is not subject to it.
        }
    }

    /** The framework's number of a node: the view, and which part of it. Null if it cannot be learnt. */
    static Long sourceOf(AccessibilityNodeInfo info) {
        Object value = get(info, "getSourceNodeId");
        return value instanceof Long ? (Long) value : null;
    }

    static int intOf(AccessibilityNodeInfo info, String getter, int otherwise) {
        Object value = get(info, getter);
        return value instanceof Integer ? (Integer) value : otherwise;
    }

    /** Looks a getter up once: a tree has thousands of nodes. */
    private static synchronized Object get(AccessibilityNodeInfo info, String getter) {
        try {
            if (!GETTERS.containsKey(getter)) {
                GETTERS.put(getter, null);
                GETTERS.put(getter, AccessibilityNodeInfo.class.getMethod(getter));
            }
            Method method = GETTERS.get(getter);
            return method == null ? null : method.invoke(info);
        } catch (ReflectiveOperationException | RuntimeException e) {
            return null;
        }
    }

    /** A service of the system behind its interface, such as `clipboard` and `android.content.IClipboard`. */
    static Object service(String name, String type) throws ReflectiveOperationException {
        Object binder = Class.forName("android.os.ServiceManager").getMethod("getService", String.class)
                .invoke(null, name);
        if (binder == null) {
            throw new NoSuchMethodException("this phone has no service " + name);
        }
        Class<?> binderType = Class.forName("android.os.IBinder");
        return Class.forName(type + "$Stub").getMethod("asInterface", binderType).invoke(null, binder);
    }

    /**
     * Calls a method whose parameters differ between versions. Each parameter gets the first given value of its type
     * that no earlier one got; the others get null, 0 or false. Of several methods with that name the shortest is
     * called that takes the given values.
     */
    static Object call(Object target, String name, Object... given) throws ReflectiveOperationException {
        Method best = null;
        for (Method method : target.getClass().getMethods()) {
            boolean isIt = method.getName().equals(name) && takes(method.getParameterTypes(), given);
            if (isIt && (best == null || method.getParameterTypes().length < best.getParameterTypes().length)) {
                best = method;
            }
        }
        if (best == null) {
            throw new NoSuchMethodException(target.getClass().getName() + "." + name);
        }
        best.setAccessible(true);
        return best.invoke(target, fill(best.getParameterTypes(), given));
    }

    private static boolean takes(Class<?>[] types, Object... given) {
        return Arrays.asList(fill(types, given)).containsAll(Arrays.asList(given));
    }

    static Object[] fill(Class<?>[] types, Object... given) {
        boolean[] isUsed = new boolean[given.length];
        Object[] values = new Object[types.length];
        for (int at = 0; at < types.length; at++) {
            values[at] = types[at] == int.class ? Integer.valueOf(0)
                    : types[at] == long.class ? Long.valueOf(0)
                    : types[at] == boolean.class ? Boolean.FALSE : null;
            for (int other = 0; other < given.length; other++) {
                if (!isUsed[other] && fits(types[at], given[other])) {
                    isUsed[other] = true;
                    values[at] = given[other];
                    break;
                }
            }
        }
        return values;
    }

    /** The exception of the method that was called, not that of the call. */
    static Throwable causeOf(Throwable thrown) {
        return thrown instanceof InvocationTargetException && thrown.getCause() != null ? thrown.getCause() : thrown;
    }

    private static boolean fits(Class<?> type, Object value) {
        return type == int.class ? value instanceof Integer : type.isInstance(value);
    }
}
