//! The home screen: one icon per app that can be launched.

use super::geometry::Screen;
use super::widget::{Key, Layout, Look, Size, Widget};
use super::{App, Context, Effect, workbench};

pub const PACKAGE: &str = "com.android.launcher3";
pub const ACTIVITY: &str = ".uioverrides.QuickstepLauncher";

pub struct Launcher;

impl App for Launcher {
    fn package(&self) -> &'static str {
        PACKAGE
    }

    fn entry(&self) -> &'static str {
        ACTIVITY
    }

    fn activities(&self) -> &'static [&'static str] {
        &[ACTIVITY]
    }

    fn view(&self, _activity: &str, _screen: &Screen) -> Widget {
        let icon = Widget::new("android.widget.TextView")
            .text(workbench::LABEL)
            .description(workbench::LABEL)
            .look(Look::Icon)
            .size(Size::Dp(96), Size::Dp(112))
            .on_tap(Key::of("icon:workbench"));
        let mut icon = icon;
        icon.flags.long_clickable = true;
        Widget::new("android.widget.FrameLayout")
            .id(PACKAGE, "launcher")
            .look(Look::Page)
            .size(Size::Fill, Size::Fill)
            .layout(Layout::Column, 24, 0)
            .child(Widget::new("android.view.View").size(Size::Fill, Size::Dp(96)))
            .child(
                Widget::new("android.view.ViewGroup")
                    .id(PACKAGE, "workspace")
                    .layout(Layout::Row, 0, 0)
                    .child(icon),
            )
    }

    fn tap(&mut self, key: Key, context: &mut Context) {
        if key.name == "icon:workbench" {
            context.push(Effect::Launch(workbench::PACKAGE));
        }
    }

    fn restart(&mut self) {}

    fn clear_data(&mut self) {}
}
