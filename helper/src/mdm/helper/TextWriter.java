package mdm.helper;

import android.content.ClipData;
import android.os.Bundle;
import android.view.KeyEvent;
import android.view.accessibility.AccessibilityNodeInfo;
import android.view.accessibility.AccessibilityNodeInfo.AccessibilityAction;

/** Writes into a text field, in the way that can carry the text. It is decided before anything is changed. */
final class TextWriter {
    static final int REPLACE = 0;
    static final int INSERT = 1;
    static final int INSERT_AND_ACT = 2;

    static final int WAY_SET = 1;
    static final int WAY_PASTED = 3;
    static final int WAY_KEYS = 4;

    static final int CHARS_MAX = 100_000;

    /** android.R.id.accessibilityActionImeEnter, of API 30. */
    private static final int ACTION_IME_ENTER = 0x01020054;

    private final Automation automation;
    private final KeySender keys;

    TextWriter(Automation automation, KeySender keys) {
        this.automation = automation;
        this.keys = keys;
    }

    /** The way that was used. */
    int write(AccessibilityNodeInfo field, int mode, String text) throws Refusal, InterruptedException {
        if (!field.isEditable() && !has(field, AccessibilityNodeInfo.ACTION_SET_TEXT)) {
            throw new Refusal(Refusal.REFUSED, "the node is no text field");
        }
        if (!field.isEnabled()) {
            throw new Refusal(Refusal.REFUSED, "the field is disabled");
        }
        int way = mode == REPLACE ? replace(field, text) : insert(field, text);
        if (mode == INSERT_AND_ACT) {
            performEditorAction(field);
        }
        return way;
    }

    private int replace(AccessibilityNodeInfo field, String text) throws Refusal {
        if (has(field, AccessibilityNodeInfo.ACTION_SET_TEXT)) {
            return set(field, text);
        }
        if (!has(field, AccessibilityNodeInfo.ACTION_SET_SELECTION) || text.isEmpty()) {
            throw new Refusal(Refusal.REFUSED, "the field does not let its text be set");
        }
        return carry(field, text, true);
    }

    private int insert(AccessibilityNodeInfo field, String text) throws Refusal {
        if (text.isEmpty()) {
            return WAY_SET;
        }
        String old = knownText(field);
        int start = Math.min(field.getTextSelectionStart(), field.getTextSelectionEnd());
        int end = Math.max(field.getTextSelectionStart(), field.getTextSelectionEnd());
        if (old != null && old.isEmpty()) {
            start = 0;
            end = 0;
        }
        boolean isKnown = old != null && start >= 0 && end <= old.length();
        if (!isKnown || !has(field, AccessibilityNodeInfo.ACTION_SET_TEXT)) {
            return carry(field, text, false);
        }
        set(field, old.substring(0, start) + text + old.substring(end));
        select(field, start + text.length(), start + text.length());
        return WAY_SET;
    }

    /**
     * What the field holds, null if that cannot be known: accessibility is told the dots of a password, and before
     * API 26 the hint of an empty field as its text, with the cursor before it.
     */
    private String knownText(AccessibilityNodeInfo field) {
        String text = field.getText() == null ? "" : field.getText().toString();
        if (text.isEmpty() || (automation.sdk() >= 26 && field.isShowingHintText())) {
            return "";
        }
        boolean mayBeHint = automation.sdk() < 26 && field.getTextSelectionEnd() <= 0;
        return field.isPassword() || mayBeHint ? null : text;
    }

    private int set(AccessibilityNodeInfo field, String text) throws Refusal {
        Bundle arguments = new Bundle();
        arguments.putCharSequence(AccessibilityNodeInfo.ACTION_ARGUMENT_SET_TEXT_CHARSEQUENCE, text);
        if (!automation.perform(field, AccessibilityNodeInfo.ACTION_SET_TEXT, arguments)) {
            throw new Refusal(Refusal.REFUSED, "the field did not take the text");
        }
        return WAY_SET;
    }

    /** A field that changes what it is given may not have that place; then the cursor stays where the field put it. */
    private void select(AccessibilityNodeInfo field, int start, int end) {
        Bundle arguments = new Bundle();
        arguments.putInt(AccessibilityNodeInfo.ACTION_ARGUMENT_SELECTION_START_INT, start);
        arguments.putInt(AccessibilityNodeInfo.ACTION_ARGUMENT_SELECTION_END_INT, end);
        automation.perform(field, AccessibilityNodeInfo.ACTION_SET_SELECTION, arguments);
    }

    /** Pastes or types, into the field with the input focus. */
    private int carry(AccessibilityNodeInfo field, String text, boolean isWhole) throws Refusal {
        KeyEvent[] typed = automation.keysFor(text);
        Clipping clipping = Clipping.of(automation);
        if (typed == null && clipping == null) {
            throw new Refusal(Refusal.REFUSED, "the text is on no keyboard, and the clipboard cannot be used");
        }
        focus(field);
        if (isWhole) {
            select(field, 0, field.getText() == null ? 0 : field.getText().length());
        }
        if (clipping != null && clipping.paste(field, text)) {
            return WAY_PASTED;
        }
        if (typed == null) {
            throw new Refusal(Refusal.REFUSED, "the field did not take a paste, and the text is on no keyboard");
        }
        keys.type(typed);
        return WAY_KEYS;
    }

    private void focus(AccessibilityNodeInfo field) throws Refusal {
        if (field.isFocused()) {
            return;
        }
        automation.perform(field, AccessibilityNodeInfo.ACTION_FOCUS, null);
        if (!automation.refresh(field) || !field.isFocused()) {
            throw new Refusal(Refusal.REFUSED, "the field did not take the input focus");
        }
    }

    private void performEditorAction(AccessibilityNodeInfo field) throws Refusal, InterruptedException {
        if (has(field, ACTION_IME_ENTER) && automation.perform(field, ACTION_IME_ENTER, null)) {
            return;
        }
        focus(field);
        keys.press(new KeySender.Press(KeyEvent.KEYCODE_ENTER, 0, 0));
    }

    static boolean has(AccessibilityNodeInfo node, int action) {
        for (AccessibilityAction other : node.getActionList()) {
            if (other.getId() == action) {
                return true;
            }
        }
        return false;
    }

    /** The clipboard lent for a paste, and what it held before. */
    private static final class Clipping {
        private final Automation automation;
        private final ClipData before;

        private Clipping(Automation automation, ClipData before) {
            this.automation = automation;
            this.before = before;
        }

        /** Null if the clipboard cannot be read, or holds what cannot be put back, such as a picture. */
        static Clipping of(Automation automation) {
            try {
                ClipData before = automation.clip();
                for (int at = 0; before != null && at < before.getItemCount(); at++) {
                    if (before.getItemAt(at).getUri() != null || before.getItemAt(at).getIntent() != null) {
                        return null;
                    }
                }
                return new Clipping(automation, before);
            } catch (Refusal | RuntimeException e) {
                return null;
            }
        }

        /** False if the field did not take it; it is unchanged then. */
        boolean paste(AccessibilityNodeInfo field, String text) throws Refusal {
            automation.setClip(ClipData.newPlainText(null, text));
            try {
                return automation.perform(field, AccessibilityNodeInfo.ACTION_PASTE, null);
            } finally {
                automation.setClip(before);
            }
        }
    }
}
