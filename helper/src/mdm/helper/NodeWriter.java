package mdm.helper;

import android.graphics.Rect;
import android.os.Bundle;
import android.view.accessibility.AccessibilityNodeInfo;
import android.view.accessibility.AccessibilityNodeInfo.AccessibilityAction;
import android.view.accessibility.AccessibilityNodeInfo.CollectionInfo;
import android.view.accessibility.AccessibilityNodeInfo.CollectionItemInfo;
import android.view.accessibility.AccessibilityNodeInfo.RangeInfo;
import java.util.List;

/** Writes one node: what every node has, and then the extras that it has. */
final class NodeWriter {
    static final int ACTIONS_MAX = 200;

    private static final String ROLE = "AccessibilityNodeInfo.roleDescription";
    /** Where androidx keeps what the framework of an old phone has no field for. */
    private static final String COMPAT = "androidx.view.accessibility.AccessibilityNodeInfoCompat.";
    private static final int COMPAT_SCREEN_READER_FOCUSABLE = 1;
    private static final int COMPAT_HEADING = 1 << 1;
    private static final int COMPAT_SHOWING_HINT = 1 << 2;

    /** AccessibilityNodeInfo's number of a node that belongs to no view. */
    private static final long NO_SOURCE = (long) Integer.MAX_VALUE << 32 | Integer.MAX_VALUE;
    private static final int EXPANDED_UNDEFINED = 0;
    private static final int CHECKED_PARTIAL = 2;

    private final int sdk;
    private final StringTable strings;
    private final Rect rect = new Rect();

    NodeWriter(int sdk, StringTable strings) {
        this.sdk = sdk;
        this.strings = strings;
    }

    void write(Bytes out, ScreenTree.Node node) {
        AccessibilityNodeInfo info = node.info;
        info.getBoundsInScreen(rect);
        out.v(flags(info)).v(node.children);
        out.v(strings.number(info.getClassName())).v(strings.number(info.getPackageName()));
        out.v(strings.number(info.getViewIdResourceName()));
        out.v(strings.number(info.getText())).v(strings.number(info.getContentDescription()));
        TreeWriter.rect(out, rect).v(info.getDrawingOrder() & 0xffffffffL);
        Extras extras = new Extras();
        texts(extras, info);
        structure(extras, info);
        state(extras, info);
        out.v(extras.bits).append(extras.bytes);
    }

    /** Extras in the order of their bits, which is the order in which they must be added. */
    private final class Extras {
        final Bytes bytes = new Bytes();
        int bits;

        Bytes add(int bit) {
            bits |= 1 << bit;
            return bytes;
        }

        void text(int bit, CharSequence text) {
            if (text != null && text.length() > 0) {
                add(bit).v(strings.number(text));
            }
        }
    }

    private void texts(Extras extras, AccessibilityNodeInfo info) {
        Bundle more = info.getExtras();
        extras.text(0, sdk >= 26 ? info.getHintText() : compat(more, "HINT_TEXT_KEY"));
        extras.text(1, sdk >= 30 ? info.getStateDescription() : compat(more, "STATE_DESCRIPTION_KEY"));
        extras.text(2, more == null ? null : more.getCharSequence(ROLE));
        extras.text(3, info.getError());
        extras.text(4, sdk >= 28 ? info.getPaneTitle() : compat(more, "PANE_TITLE_KEY"));
        extras.text(5, sdk >= 28 ? info.getTooltipText() : compat(more, "TOOLTIP_TEXT_KEY"));
    }

    private static void structure(Extras extras, AccessibilityNodeInfo info) {
        RangeInfo range = info.getRangeInfo();
        if (range != null) {
            extras.add(6).v(range.getType() & 0xffffffffL);
            extras.bytes.f32(range.getMin()).f32(range.getMax()).f32(range.getCurrent());
        }
        CollectionInfo collection = info.getCollectionInfo();
        if (collection != null) {
            extras.add(7).z(collection.getRowCount()).z(collection.getColumnCount());
            extras.bytes.v(collection.getSelectionMode() & 0xffffffffL).v(collection.isHierarchical() ? 1 : 0);
        }
        CollectionItemInfo item = info.getCollectionItemInfo();
        if (item != null) {
            extras.add(8).z(item.getRowIndex()).z(item.getRowSpan());
            extras.bytes.z(item.getColumnIndex()).z(item.getColumnSpan());
            extras.bytes.v(item.isHeading() ? 1 : 0).v(item.isSelected() ? 1 : 0);
        }
    }

    private void state(Extras extras, AccessibilityNodeInfo info) {
        if (info.getLiveRegion() != 0) {
            extras.add(9).v(info.getLiveRegion() & 0xffffffffL);
        }
        if (info.getInputType() != 0) {
            extras.add(10).v(info.getInputType() & 0xffffffffL);
        }
        if (info.getTextSelectionStart() >= 0 || info.getTextSelectionEnd() >= 0) {
            extras.add(11).z(info.getTextSelectionStart()).z(info.getTextSelectionEnd());
        }
        actions(extras, info.getActionList());
        Long source = Hidden.sourceOf(info);
        if (source != null && source != NO_SOURCE) {
            extras.add(13).v(source >>> 32).v(source & 0xffffffffL);
        }
        extras.text(14, sdk >= 34 ? info.getContainerTitle() : compat(info.getExtras(), "CONTAINER_TITLE_KEY"));
        int expanded = sdk >= 36 ? Hidden.intOf(info, "getExpandedState", EXPANDED_UNDEFINED) : EXPANDED_UNDEFINED;
        if (expanded != EXPANDED_UNDEFINED) {
            extras.add(15).v(expanded & 0xffffffffL);
        }
    }

    private void actions(Extras extras, List<AccessibilityAction> actions) {
        if (actions == null || actions.isEmpty()) {
            return;
        }
        int count = Math.min(actions.size(), ACTIONS_MAX);
        extras.add(12).v(count);
        for (AccessibilityAction action : actions.subList(0, count)) {
            extras.bytes.v(action.getId() & 0xffffffffL).v(strings.number(action.getLabel()));
        }
    }

    private int flags(AccessibilityNodeInfo info) {
        int compat = compatFlags(info.getExtras());
        boolean[] bits = {
            info.isCheckable(), info.isChecked(), info.isClickable(), info.isEnabled(), info.isFocusable(),
            info.isFocused(), info.isScrollable(), info.isLongClickable(), info.isPassword(), info.isSelected(),
            info.isEditable(),
            sdk >= 28 ? info.isHeading() : (compat & COMPAT_HEADING) != 0,
            sdk >= 26 ? info.isShowingHintText() : (compat & COMPAT_SHOWING_HINT) != 0,
            info.isDismissable(), info.isMultiLine(), info.isContextClickable(), info.isAccessibilityFocused(),
            sdk >= 28 ? info.isScreenReaderFocusable() : (compat & COMPAT_SCREEN_READER_FOCUSABLE) != 0,
            info.isImportantForAccessibility(), sdk >= 29 && info.isTextEntryKey(), info.isContentInvalid(),
            info.canOpenPopup(), sdk >= 36 && Hidden.intOf(info, "getChecked", 0) == CHECKED_PARTIAL,
        };
        int flags = 0;
        for (int bit = 0; bit < bits.length; bit++) {
            flags |= bits[bit] ? 1 << bit : 0;
        }
        return flags;
    }

    private int compatFlags(Bundle extras) {
        return sdk >= 29 || extras == null ? 0 : extras.getInt(COMPAT + "BOOLEAN_PROPERTY_KEY", 0);
    }

    private static CharSequence compat(Bundle extras, String key) {
        return extras == null ? null : extras.getCharSequence(COMPAT + key);
    }
}
