package mdm.framework;

import android.accessibilityservice.IAccessibilityServiceConnection;
import android.graphics.Region;
import android.os.Bundle;
import android.os.Process;
import android.view.AccessibilityInteractionController;
import android.view.MagnificationSpec;
import android.view.accessibility.AccessibilityInteractionClient;
import android.view.accessibility.AccessibilityNodeInfo;
import android.view.accessibility.IAccessibilityInteractionConnectionCallback;
import java.lang.reflect.Proxy;
import org.robolectric.util.ReflectionHelpers;

/**
 * Reads nodes as over binder: Android's own client of accessibility asks this connection, which asks the window's own
 * controller. On a phone the accessibility service stands between the two and adds nothing to a node.
 */
final class NodeConnection {
    private static final int CONNECTION_ID = 1;
    /** Those of UiAutomation, which counts as a tool and so sees views that filter touches while obscured. */
    private static final int FLAGS =
            AccessibilityNodeInfo.FLAG_SERVICE_REQUESTS_INCLUDE_NOT_IMPORTANT_VIEWS
                    | AccessibilityNodeInfo.FLAG_SERVICE_IS_ACCESSIBILITY_TOOL
                    | AccessibilityNodeInfo.FLAG_SERVICE_REQUESTS_REPORT_VIEW_IDS;
    private static final String[] NO_PACKAGES = {};

    /** The system keeps windows, and tells apps what covers them, only while some program asks for windows. */
    private boolean knowsWindows = true;
    private final ScreenWindows windows;

    NodeConnection(ScreenWindows windows) {
        this.windows = windows;
        Object proxy =
                Proxy.newProxyInstance(
                        IAccessibilityServiceConnection.class.getClassLoader(),
                        new Class<?>[] {IAccessibilityServiceConnection.class},
                        (self, method, args) -> {
                            switch (method.getName()) {
                                case "findAccessibilityNodeInfoByAccessibilityId":
                                    return find(args);
                                case "findFocus":
                                    return findFocus(args);
                                case "performAccessibilityAction":
                                    return perform(args);
                                default:
                                    return ReflectionHelpers.defaultValueForType(method.getReturnType().getName());
                            }
                        });
        // Without a cache: each reading is of now.
        AccessibilityInteractionClient.addConnection(
                CONNECTION_ID, (IAccessibilityServiceConnection) proxy, false);
    }

    AccessibilityNodeInfo root(ScreenWindows.Window window) {
        return AccessibilityInteractionClient.getInstance()
                .findAccessibilityNodeInfoByAccessibilityId(
                        CONNECTION_ID,
                        window.accessibilityId(),
                        AccessibilityNodeInfo.ROOT_NODE_ID,
                        false,
                        0,
                        null);
    }

    /** Returns the node with the input focus; null when no view of the window has it. */
    AccessibilityNodeInfo inputFocus(ScreenWindows.Window window) {
        return AccessibilityInteractionClient.getInstance()
                .findFocus(
                        CONNECTION_ID,
                        window.accessibilityId(),
                        AccessibilityNodeInfo.ROOT_NODE_ID,
                        AccessibilityNodeInfo.FOCUS_INPUT);
    }

    private AccessibilityInteractionController controller(int windowId) {
        for (ScreenWindows.Window window : windows.visible()) {
            if (window.accessibilityId() == windowId) {
                return window.root.getAccessibilityInteractionController();
            }
        }
        return null;
    }

    /** Decides whether nodes below another window or the keyboard count as hidden: they do for who asked for windows. */
    void setKnowsWindows(boolean knows) {
        knowsWindows = knows;
    }

    /** Returns the part of a window that nothing lies on, as the accessibility service computes it; null for all. */
    private Region uncovered(int windowId) {
        if (!knowsWindows) {
            return null;
        }
        Region region = null;
        boolean isCovered = false;
        for (ScreenWindows.Window window : windows.visible()) {
            if (window.accessibilityId() == windowId) {
                region = new Region(window.frame());
            } else if (region != null) {
                isCovered |= region.op(window.frame(), Region.Op.DIFFERENCE) && !region.isEmpty();
            }
        }
        if (region != null && Keyboard.isShown()) {
            isCovered |= region.op(Keyboard.frame(Screen.frame()), Region.Op.DIFFERENCE);
        }
        return isCovered ? region : null;
    }

    /** The arguments: window, node, interaction, callback, flags, thread, extras. */
    private String[] find(Object[] args) {
        AccessibilityInteractionController controller = controller((int) args[0]);
        if (controller == null) {
            return null;
        }
        controller.findAccessibilityNodeInfoByAccessibilityIdClientThread(
                (long) args[1],
                uncovered((int) args[0]),
                (int) args[2],
                (IAccessibilityInteractionConnectionCallback) args[3],
                (int) args[4] | FLAGS,
                Process.myPid(),
                (long) args[5],
                new MagnificationSpec(),
                null,
                (Bundle) args[6]);
        return NO_PACKAGES;
    }

    /** The arguments: window, node, kind of focus, interaction, callback, thread. */
    private String[] findFocus(Object[] args) {
        AccessibilityInteractionController controller = controller((int) args[0]);
        if (controller == null) {
            return null;
        }
        controller.findFocusClientThread(
                (long) args[1],
                (int) args[2],
                uncovered((int) args[0]),
                (int) args[3],
                (IAccessibilityInteractionConnectionCallback) args[4],
                FLAGS,
                Process.myPid(),
                (long) args[5],
                new MagnificationSpec(),
                null);
        return NO_PACKAGES;
    }

    /** The arguments: window, node, action, its arguments, interaction, callback, thread. */
    private boolean perform(Object[] args) {
        AccessibilityInteractionController controller = controller((int) args[0]);
        if (controller == null) {
            return false;
        }
        controller.performAccessibilityActionClientThread(
                (long) args[1],
                (int) args[2],
                (Bundle) args[3],
                (int) args[4],
                (IAccessibilityInteractionConnectionCallback) args[5],
                FLAGS,
                Process.myPid(),
                (long) args[6]);
        return true;
    }
}
