package mdm.helper;

import android.content.ClipData;
import android.graphics.Bitmap;
import android.graphics.Rect;
import android.os.Bundle;
import android.util.LongArray;
import android.view.InputEvent;
import android.view.KeyEvent;
import android.view.accessibility.AccessibilityNodeInfo;
import java.lang.reflect.Field;
import java.util.ArrayList;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;

/** A screen made by hand from Android's own nodes. Its clock stands still unless it is moved. */
final class ModelPhone implements Automation {
    static final int WINDOW = 5;

    final List<ScreenWindow> windows = new ArrayList<>();
    final List<String> performed = new ArrayList<>();
    private final Map<AccessibilityNodeInfo, List<AccessibilityNodeInfo>> children = new IdentityHashMap<>();
    int sdk = 34;
    long clockMs = 1_000;
    long childMs;
    boolean isBusy;
    boolean isHeld;
    boolean isGone;
    /** Whether nodes take what they are told. */
    boolean isWilling = true;
    AccessibilityNodeInfo focused;
    EventListener listener;
    ClipData clip;

    ScreenWindow window(int id, int type, int layer, int flags, String title, int parentId, AccessibilityNodeInfo root) {
        ScreenWindow window =
                new ScreenWindow(id, type, layer, flags, title, new Rect(0, 0, 1080, 2400), parentId, root);
        windows.add(window);
        return window;
    }

    /** A node that is visible, with these children. */
    AccessibilityNodeInfo node(String className, String text, AccessibilityNodeInfo... below) {
        AccessibilityNodeInfo node = new AccessibilityNodeInfo();
        node.setClassName(className);
        node.setText(text);
        node.setVisibleToUser(true);
        node.setEnabled(true);
        setChildren(node, below);
        return node;
    }

    /** The ids are never asked for; only their number is. */
    void setChildren(AccessibilityNodeInfo node, AccessibilityNodeInfo... below) {
        List<AccessibilityNodeInfo> list = new ArrayList<>(java.util.Arrays.asList(below));
        children.put(node, list);
        try {
            Field ids = AccessibilityNodeInfo.class.getDeclaredField("mChildNodeIds");
            ids.setAccessible(true);
            ids.set(node, LongArray.wrap(new long[below.length]));
        } catch (ReflectiveOperationException e) {
            throw new AssertionError(e);
        }
    }

    @Override
    public int sdk() {
        return sdk;
    }

    @Override
    public long uptimeMillis() {
        return clockMs;
    }

    @Override
    public void sleepUntil(long uptimeMillis) {
        clockMs = Math.max(clockMs, uptimeMillis);
    }

    @Override
    public Screen screen() {
        return new Screen(1080, 2400, 0);
    }

    @Override
    public String frontActivity() {
        return "org.example/org.example.MainActivity";
    }

    @Override
    public void take() throws Refusal {
        if (isBusy) {
            throw new Refusal(Refusal.AUTOMATION_BUSY, "UiAutomation cannot be had now");
        }
        isHeld = true;
    }

    @Override
    public void giveBack() {
        isHeld = false;
    }

    @Override
    public boolean isHeld() {
        return isHeld;
    }

    @Override
    public void forgetCachedNodes() {}

    @Override
    public List<ScreenWindow> windows() {
        return windows;
    }

    @Override
    public AccessibilityNodeInfo root(ScreenWindow window) {
        return (AccessibilityNodeInfo) window.handle;
    }

    @Override
    public AccessibilityNodeInfo child(AccessibilityNodeInfo node, int index) {
        clockMs += childMs;
        return children.get(node).get(index);
    }

    @Override
    public boolean refresh(AccessibilityNodeInfo node) {
        return !isGone;
    }

    @Override
    public boolean perform(AccessibilityNodeInfo node, int action, Bundle arguments) {
        performed.add(action + describe(arguments));
        if (isWilling && action == AccessibilityNodeInfo.ACTION_SET_TEXT) {
            node.setText(arguments.getCharSequence(AccessibilityNodeInfo.ACTION_ARGUMENT_SET_TEXT_CHARSEQUENCE));
        }
        if (isWilling && action == AccessibilityNodeInfo.ACTION_PASTE) {
            node.setText(clip.getItemAt(0).getText());
        }
        if (isWilling && action == AccessibilityNodeInfo.ACTION_FOCUS) {
            node.setFocused(true);
        }
        return isWilling;
    }

    private static String describe(Bundle arguments) {
        StringBuilder text = new StringBuilder();
        if (arguments != null) {
            for (String key : new java.util.TreeSet<>(arguments.keySet())) {
                text.append(" ").append(arguments.get(key));
            }
        }
        return text.toString();
    }

    @Override
    public AccessibilityNodeInfo inputFocus() {
        return focused;
    }

    @Override
    public void listen(EventListener listener) {
        this.listener = listener;
    }

    @Override
    public boolean inject(InputEvent event, boolean wait) {
        throw new UnsupportedOperationException("input needs native code");
    }

    @Override
    public Bitmap picture() {
        return null;
    }

    @Override
    public ClipData clip() {
        return clip;
    }

    @Override
    public void setClip(ClipData clip) {
        this.clip = clip;
    }

    @Override
    public KeyEvent[] keysFor(String text) {
        return null;
    }
}
