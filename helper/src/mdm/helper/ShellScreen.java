package mdm.helper;

import android.graphics.Point;

/** Asks for the size of the default display. */
final class ShellScreen {
    private static final int DISPLAY = 0;

    private ShellScreen() {}

    static Screen read() throws Refusal {
        try {
            return fromDisplay();
        } catch (ReflectiveOperationException | RuntimeException e) {
            return fromWindowManager();
        }
    }

    private static Screen fromDisplay() throws ReflectiveOperationException {
        Object global = Class.forName("android.hardware.display.DisplayManagerGlobal").getMethod("getInstance")
                .invoke(null);
        Object info = Hidden.call(global, "getDisplayInfo", DISPLAY);
        return new Screen(field(info, "logicalWidth"), field(info, "logicalHeight"), field(info, "rotation"));
    }

    private static int field(Object info, String name) throws ReflectiveOperationException {
        return info.getClass().getField(name).getInt(info);
    }

    /** On some phones the first way wants an application, which this program is not. */
    private static Screen fromWindowManager() throws Refusal {
        try {
            Object manager = Hidden.service("window", "android.view.IWindowManager");
            Point size = new Point();
            Hidden.call(manager, "getBaseDisplaySize", DISPLAY, size);
            int rotation = (Integer) rotation(manager);
            boolean isTurned = rotation % 2 == 1;
            return new Screen(isTurned ? size.y : size.x, isTurned ? size.x : size.y, rotation);
        } catch (ReflectiveOperationException | RuntimeException e) {
            throw new Refusal(Refusal.UNSUPPORTED, "the size of the screen", Hidden.causeOf(e));
        }
    }

    private static Object rotation(Object manager) throws ReflectiveOperationException {
        try {
            return Hidden.call(manager, "getDefaultDisplayRotation");
        } catch (NoSuchMethodException e) {
            return Hidden.call(manager, "getRotation");
        }
    }
}
