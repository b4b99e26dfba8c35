package mdm.helper;

import android.graphics.Rect;
import android.view.accessibility.AccessibilityNodeInfo;
import android.view.accessibility.AccessibilityNodeInfo.AccessibilityAction;
import android.view.accessibility.AccessibilityNodeInfo.CollectionInfo;
import android.view.accessibility.AccessibilityNodeInfo.CollectionItemInfo;
import android.view.accessibility.AccessibilityNodeInfo.RangeInfo;

/** Screens that several tests use. */
final class Screens {
    private Screens() {}

    /** Two windows; between them their nodes have every extra that API 34 has, and every flag. */
    static ModelPhone full() {
        ModelPhone phone = new ModelPhone();
        AccessibilityNodeInfo root = phone.node("android.widget.FrameLayout", null, field(phone), slider(phone),
                list(phone));
        root.setBoundsInScreen(new Rect(0, 0, 1080, 2400));
        root.setPaneTitle("Settings");
        root.setSourceNodeId(AccessibilityNodeInfo.makeNodeId(1, -1), ModelPhone.WINDOW);
        // A dialog in front whose root tells nothing, with a parent window.
        AccessibilityNodeInfo dialog = phone.node("android.widget.TextView", "caf\u00e9 \ud83d\ude00 \"quoted\"\nline");
        dialog.setBoundsInScreen(new Rect(-40, 900, 1120, 1500));
        flagsOfSecond(dialog);
        phone.window(9, 1, 3, ScreenWindow.ACTIVE | ScreenWindow.FOCUSED, "Delete?", ModelPhone.WINDOW, dialog);
        phone.window(ModelPhone.WINDOW, 1, 0, ScreenWindow.ACCESSIBILITY_FOCUSED | ScreenWindow.PICTURE_IN_PICTURE,
                null, ScreenWindow.NO_PARENT, root);
        return phone;
    }

    private static AccessibilityNodeInfo field(ModelPhone phone) {
        AccessibilityNodeInfo field = phone.node("android.widget.EditText", "ann@");
        field.setPackageName("org.example");
        field.setViewIdResourceName("org.example:id/mail");
        field.setContentDescription("Mail address");
        field.setBoundsInScreen(new Rect(40, 200, 1040, 320));
        field.setHintText("you@example.org");
        field.setError("No address");
        field.setTooltipText("Where we write to");
        field.setInputType(33);
        field.setTextSelection(4, 4);
        field.setLiveRegion(1);
        field.setContainerTitle("Contact");
        field.setEditable(true);
        field.setFocusable(true);
        field.setFocused(true);
        field.setClickable(true);
        field.setLongClickable(true);
        field.setContentInvalid(true);
        field.addAction(AccessibilityAction.ACTION_SET_TEXT);
        field.addAction(AccessibilityAction.ACTION_SET_SELECTION);
        field.addAction(new AccessibilityAction(0x7f0a0001, "Suggest one"));
        field.setSourceNodeId(AccessibilityNodeInfo.makeNodeId(17, 2), ModelPhone.WINDOW);
        return field;
    }

    private static AccessibilityNodeInfo slider(ModelPhone phone) {
        AccessibilityNodeInfo slider = phone.node("android.widget.SeekBar", null);
        slider.setBoundsInScreen(new Rect(40, 400, 1040, 480));
        slider.setRangeInfo(new RangeInfo(RangeInfo.RANGE_TYPE_FLOAT, -1.5f, 10, 2.25f));
        slider.setStateDescription("20 percent");
        slider.getExtras().putCharSequence("AccessibilityNodeInfo.roleDescription", "Volume slider");
        slider.addAction(AccessibilityAction.ACTION_SET_PROGRESS);
        slider.setDrawingOrder(2);
        slider.setImportantForAccessibility(true);
        return slider;
    }

    private static AccessibilityNodeInfo list(ModelPhone phone) {
        AccessibilityNodeInfo row = phone.node("android.widget.CheckBox", "Row 7");
        row.setBoundsInScreen(new Rect(0, 600, 1080, 760));
        row.setCollectionItemInfo(new CollectionItemInfo(7, 1, 0, 2, true, true));
        row.setCheckable(true);
        row.setChecked(true);
        AccessibilityNodeInfo hidden = phone.node("android.widget.TextView", "not on the screen");
        hidden.setVisibleToUser(false);
        AccessibilityNodeInfo list = phone.node("android.widget.ListView", null, hidden, row);
        list.setCollectionInfo(new CollectionInfo(100, 2, true, CollectionInfo.SELECTION_MODE_MULTIPLE));
        list.setBoundsInScreen(new Rect(0, 500, 1080, 2400));
        list.setScrollable(true);
        return list;
    }

    private static void flagsOfSecond(AccessibilityNodeInfo node) {
        node.setPassword(true);
        node.setSelected(true);
        node.setHeading(true);
        node.setShowingHintText(true);
        node.setDismissable(true);
        node.setMultiLine(true);
        node.setContextClickable(true);
        node.setAccessibilityFocused(true);
        node.setScreenReaderFocusable(true);
        node.setTextEntryKey(true);
        node.setCanOpenPopup(true);
    }
}
