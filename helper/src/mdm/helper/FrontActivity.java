package mdm.helper;

import android.content.ComponentName;
import java.util.List;

/** Asks the activity manager which activity is in front. */
final class FrontActivity {
    private FrontActivity() {}

    /** As `package/class`; empty if no version's way works. */
    static String read() {
        ComponentName found = null;
        for (int way = 0; found == null && way < 3; way++) {
            try {
                found = component(task(way));
            } catch (ReflectiveOperationException | RuntimeException e) {
                found = null;
            }
        }
        return found == null ? "" : found.getPackageName() + "/" + found.getClassName();
    }

    /** From API 31, of API 29 and 30, and before. */
    private static Object task(int way) throws ReflectiveOperationException {
        switch (way) {
            case 0:
                return Hidden.call(manager(), "getFocusedRootTaskInfo");
            case 1:
                return Hidden.call(manager(), "getFocusedStackInfo");
            default:
                List<?> tasks = (List<?>) Hidden.call(manager(), "getTasks", 1);
                return tasks == null || tasks.isEmpty() ? null : tasks.get(0);
        }
    }

    private static Object manager() throws ReflectiveOperationException {
        try {
            return Class.forName("android.app.ActivityTaskManager").getMethod("getService").invoke(null);
        } catch (ClassNotFoundException e) {
            return olderManager();
        }
    }

    /** Before API 29; the second before API 26. */
    private static Object olderManager() throws ReflectiveOperationException {
        try {
            return Class.forName("android.app.ActivityManager").getMethod("getService").invoke(null);
        } catch (NoSuchMethodException e) {
            return Class.forName("android.app.ActivityManagerNative").getMethod("getDefault").invoke(null);
        }
    }

    private static ComponentName component(Object task) throws ReflectiveOperationException {
        return task == null ? null : (ComponentName) task.getClass().getField("topActivity").get(task);
    }
}
