//! The list after login, and its dialog.

use super::{PACKAGE, ProcessState, Saved};
use crate::app::widget::{Appearance, Key, Layout, Size, Widget};

pub fn view(saved: &Saved, session: &ProcessState) -> Widget {
    let rows = saved.rows.iter().map(|(number, name)| row(*number, name));
    let mut list = Widget::new("androidx.recyclerview.widget.RecyclerView")
        .id(PACKAGE, "list")
        .size(Size::Fill, Size::Fill)
        .layout(Layout::Column, 0, 0)
        .children(rows);
    list.key = Some(Key::of("list"));
    list.flags.scrollable = true;
    list.flags.focusable = true;
    Widget::new("android.widget.LinearLayout")
        .appearance(Appearance::Page)
        .size(Size::Fill, Size::Fill)
        .layout(Layout::Column, 0, 0)
        .child(Widget::new("android.view.View").size(Size::Fill, Size::Dp(40)))
        .child(bar(session))
        .child(list)
}

fn bar(session: &ProcessState) -> Widget {
    Widget::new("android.view.ViewGroup")
        .id(PACKAGE, "toolbar")
        .size(Size::Fill, Size::Dp(72))
        .layout(Layout::Row, 12, 8)
        .child(
            Widget::new("android.widget.TextView")
                .id(PACKAGE, "welcome")
                .text(format!("Welcome, {}", session.user))
                .appearance(Appearance::Heading)
                .size(Size::Fill, Size::Dp(48)),
        )
        .child(
            Widget::new("android.widget.Button")
                .id(PACKAGE, "open_gallery")
                .text("Gallery")
                .appearance(Appearance::TextButton)
                .size(Size::Dp(88), Size::Dp(48))
                .on_tap(Key::of("open_gallery")),
        )
        .child(
            Widget::new("android.widget.Button")
                .id(PACKAGE, "sign_out")
                .text("Sign out")
                .appearance(Appearance::TextButton)
                .size(Size::Dp(112), Size::Dp(48))
                .on_tap(Key::of("sign_out")),
        )
}

fn row(number: u32, name: &str) -> Widget {
    Widget::new("android.view.ViewGroup")
        .stands_for(&format!("item {number}"))
        .appearance(Appearance::Row)
        .size(Size::Fill, Size::Dp(72))
        .layout(Layout::Row, 12, 8)
        .child(
            Widget::new("android.widget.TextView")
                .id(PACKAGE, "name")
                .text(name)
                .appearance(Appearance::Body)
                .size(Size::Fill, Size::Dp(48)),
        )
        .child(
            Widget::new("android.widget.Button")
                .id(PACKAGE, "delete")
                .text("Delete")
                .appearance(Appearance::TextButton)
                .size(Size::Dp(104), Size::Dp(48))
                .on_tap(Key { name: "delete", index: number }),
        )
}

/// The view ids are those of the system's alert dialog: button2 is the negative, button1 the positive answer.
pub fn confirm_dialog(name: &str) -> Widget {
    let button = |id: &str, text: &str, key: &'static str| {
        Widget::new("android.widget.Button")
            .id("android", id)
            .text(text)
            .appearance(Appearance::TextButton)
            .size(Size::Dp(104), Size::Dp(48))
            .on_tap(Key::of(key))
    };
    Widget::new("android.widget.FrameLayout")
        .appearance(Appearance::Card)
        .size(Size::Dp(320), Size::Content)
        .layout(Layout::Column, 20, 12)
        .child(
            Widget::new("android.widget.TextView")
                .id(PACKAGE, "alertTitle")
                .text(format!("Delete {name}?"))
                .appearance(Appearance::Heading)
                .size(Size::Fill, Size::Dp(40)),
        )
        .child(
            Widget::new("android.widget.TextView")
                .id("android", "message")
                .text("This cannot be undone.")
                .appearance(Appearance::Body)
                .size(Size::Fill, Size::Dp(32)),
        )
        .child(
            Widget::new("android.widget.LinearLayout")
                .id(PACKAGE, "buttonPanel")
                .size(Size::Fill, Size::Dp(56))
                .layout(Layout::Row, 0, 8)
                .child(Widget::new("android.widget.Space").size(Size::Fill, Size::Dp(48)))
                .child(button("button2", "Cancel", "dialog_cancel"))
                .child(button("button1", "Delete", "dialog_delete")),
        )
}
