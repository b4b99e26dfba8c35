package mdm.helper;

import android.content.ClipData;
import android.graphics.Bitmap;
import android.os.Bundle;
import android.view.InputEvent;
import android.view.KeyCharacterMap;
import android.view.KeyEvent;
import android.view.accessibility.AccessibilityEvent;
import android.view.accessibility.AccessibilityNodeInfo;
import java.util.List;

/**
 * What the helper needs of the system: on a phone `ShellAutomation`, in tests and on the framework phone something else.
 * All calls but `giveBack` come from the thread that runs `Session.serve`, and those of its clock also from the one that
 * sends events; events may be told on any thread.
 */
public interface Automation {
    /** Is told of accessibility events. The event belongs to the caller again when this returns. */
    interface EventListener {
        void onEvent(AccessibilityEvent event);
    }

    int sdk();

    /** The clock of events and of touches. */
    long uptimeMillis();

    /** Waits until the clock shows that time. */
    void sleepUntil(long uptimeMillis) throws InterruptedException;

    Screen screen() throws Refusal;

    /** The activity in front as `package/class`; empty if it cannot be learnt. */
    String frontActivity();

    /** Takes UiAutomation if it is not held yet; `AUTOMATION_BUSY` if another program holds it. */
    void take() throws Refusal;

    /** Gives UiAutomation back; nothing happens if it is not held. Nodes given before are of no use any more. */
    void giveBack();

    boolean isHeld();

    /** Forgets cached nodes, so that the next tree is that of the screen. */
    void forgetCachedNodes();

    /** All windows, in any order; `AUTOMATION_BUSY` if UiAutomation was taken away. */
    List<ScreenWindow> windows() throws Refusal;

    /** The root of a window of the last `windows`; null if it cannot be read. */
    AccessibilityNodeInfo root(ScreenWindow window);

    /** The child at that place; null if it cannot be read. */
    default AccessibilityNodeInfo child(AccessibilityNodeInfo node, int index) {
        return node.getChild(index);
    }

    /** Reads the node anew into the same object; false if it is not on the screen any more. */
    default boolean refresh(AccessibilityNodeInfo node) {
        return node.refresh();
    }

    default boolean perform(AccessibilityNodeInfo node, int action, Bundle arguments) {
        return node.performAction(action, arguments);
    }

    /** The node with the input focus, null if there is none. */
    AccessibilityNodeInfo inputFocus() throws Refusal;

    /** Where events go while UiAutomation is held; null: nowhere. It outlives `giveBack`. */
    void listen(EventListener listener);

    /** Sends an event; false if the system did not take it. If told to wait, the app has handled it on return. */
    boolean inject(InputEvent event, boolean wait) throws Refusal;

    /** A picture of the screen; null if the system gives none, which it does when a window is secure. */
    Bitmap picture() throws Refusal;

    /** What the clipboard holds; null if that is nothing. */
    ClipData clip() throws Refusal;

    /** Null empties the clipboard. */
    void setClip(ClipData clip) throws Refusal;

    /** The keys that type this text; null if some character is on no key. */
    default KeyEvent[] keysFor(String text) {
        return KeyCharacterMap.load(KeyCharacterMap.VIRTUAL_KEYBOARD).getEvents(text.toCharArray());
    }
}
