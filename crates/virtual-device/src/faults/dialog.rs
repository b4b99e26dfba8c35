//! The dialog that the system puts over any app.

use crate::app::geometry::{Rect, Screen};
use crate::app::widget::{Key, Layout, Look, Size, Widget};

pub const PACKAGE: &str = "android";
const TITLES: [(&str, &str); 3] = [
    ("Storage space running out", "Some system functions may not work"),
    ("System update available", "Restart to finish installing the update"),
    ("Battery low", "15% remaining"),
];

pub fn window(which: usize, screen: &Screen) -> Widget {
    let (title, message) = TITLES[which % TITLES.len()];
    let text = |look, id: &str, text: &str| {
        Widget::new("android.widget.TextView")
            .id(PACKAGE, id)
            .text(text)
            .look(look)
            .size(Size::Fill, Size::Dp(48))
    };
    let button = Widget::new("android.widget.Button")
        .id(PACKAGE, "button1")
        .text("OK")
        .look(Look::TextButton)
        .size(Size::Fill, Size::Dp(56))
        .on_tap(Key::of("system-dialog-ok"));
    let mut dialog = Widget::new("android.widget.FrameLayout")
        .id(PACKAGE, "parentPanel")
        .look(Look::Card)
        .size(Size::Dp(320), Size::Content)
        .layout(Layout::Column, 24, 8)
        .child(text(Look::Heading, "alertTitle", title))
        .child(text(Look::Body, "message", message))
        .child(button);
    let (width, height) = (screen.px(320).min(screen.width), dialog.content_px(screen));
    let (left, top) = ((screen.width - width) / 2, (screen.height - height) / 2);
    dialog.place(Rect::new(left, top, left + width, top + height), screen.rect(), screen);
    dialog
}
