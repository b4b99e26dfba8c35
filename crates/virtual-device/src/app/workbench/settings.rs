//! The settings screen, with preference rows: the row and not the switch takes the tap.

use super::{PACKAGE, Saved};
use crate::app::widget::{Appearance, Key, Layout, Size, Widget};

pub fn view(saved: &Saved) -> Widget {
    Widget::new("android.widget.LinearLayout")
        .appearance(Appearance::Page)
        .size(Size::Fill, Size::Fill)
        .layout(Layout::Column, 24, 8)
        .child(Widget::new("android.view.View").size(Size::Fill, Size::Dp(40)))
        .child(
            Widget::new("android.widget.TextView")
                .id(PACKAGE, "title")
                .text("Settings")
                .appearance(Appearance::Heading)
                .size(Size::Fill, Size::Dp(48)),
        )
        .child(switch_row("staging", "Use staging server", saved.staging))
        .child(switch_row("dark", "Dark mode", saved.dark))
        .child(
            Widget::new("android.widget.TextView")
                .id(PACKAGE, "volume_label")
                .text("Volume")
                .appearance(Appearance::Body)
                .size(Size::Fill, Size::Dp(32)),
        )
        .child(volume(saved.volume))
}

fn switch_row(name: &'static str, label: &str, on: bool) -> Widget {
    Widget::new("android.widget.LinearLayout")
        .id(PACKAGE, &format!("row_{name}"))
        .appearance(Appearance::Row)
        .size(Size::Fill, Size::Dp(64))
        .layout(Layout::Row, 8, 8)
        .on_tap(Key::of(name))
        .child(
            Widget::new("android.widget.TextView")
                .id("android", "title")
                .text(label)
                .appearance(Appearance::Body)
                .size(Size::Fill, Size::Dp(40)),
        )
        .child(
            Widget::new("android.widget.Switch")
                .id("android", "switch_widget")
                .appearance(Appearance::Switch)
                .size(Size::Dp(64), Size::Dp(48))
                .checked(on),
        )
}

fn volume(value: f32) -> Widget {
    let mut bar = Widget::new("android.widget.SeekBar")
        .id(PACKAGE, "volume")
        .text(format!("{value:.1}"))
        .description("Volume")
        .appearance(Appearance::Slider(value / 100.0))
        .size(Size::Fill, Size::Dp(48));
    bar.key = Some(Key::of("volume"));
    bar.flags.focusable = true;
    bar
}
