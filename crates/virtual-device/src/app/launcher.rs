//! The home screen: one icon per app that can be launched.

use super::geometry::Screen;
use super::widget::{Appearance, Key, Layout, Size, Widget};
use super::{App, Context, Effect, settings, shop, workbench};

pub const PACKAGE: &str = "com.android.launcher3";
pub const ACTIVITY: &str = ".uioverrides.QuickstepLauncher";

/// Labels and packages of the apps that can be launched.
const OWN: [(&str, &str); 3] = [
    (workbench::LABEL, workbench::PACKAGE),
    (shop::LABEL, shop::PACKAGE),
    (settings::LABEL, settings::PACKAGE),
];
const ICON: &str = "icon";
const ICONS_A_ROW: usize = 3;

pub struct Launcher {
    icons: Vec<(&'static str, &'static str)>,
}

impl Launcher {
    /// Adds labels and packages of apps from files.
    pub fn new(users: impl Iterator<Item = (&'static str, &'static str)>) -> Launcher {
        Launcher { icons: OWN.into_iter().chain(users).collect() }
    }
}

impl App for Launcher {
    fn package(&self) -> &'static str {
        PACKAGE
    }

    fn label(&self) -> &'static str {
        "Launcher"
    }

    fn entry(&self) -> &'static str {
        ACTIVITY
    }

    fn activities(&self) -> &[&'static str] {
        &[ACTIVITY]
    }

    fn view(&self, _activity: &str, _screen: &Screen) -> Widget {
        let icons: Vec<Widget> =
            self.icons.iter().zip(0u32..).map(|((label, _), index)| icon(index, label)).collect();
        let search = Widget::new("android.widget.TextView")
            .id(PACKAGE, "search_box")
            .description("Search")
            .appearance(Appearance::DropDown)
            .size(Size::Fill, Size::Dp(48))
            .on_tap(Key::of("search"));
        let cells = icons.chunks(ICONS_A_ROW).map(|row| {
            Widget::new("android.view.ViewGroup").layout(Layout::Row, 0, 0).children(row.iter().cloned())
        });
        let page = Widget::new("android.view.ViewGroup").size(Size::Fill, Size::Fill).children(cells);
        let workspace = Widget::new("android.view.ViewGroup")
            .id(PACKAGE, "workspace")
            .size(Size::Fill, Size::Fill)
            .child(page);
        let hotseat =
            Widget::new("android.view.ViewGroup").id(PACKAGE, "hotseat").size(Size::Fill, Size::Dp(72));
        let dots =
            Widget::new("android.view.View").id(PACKAGE, "page_indicator").description("Home screen 1 of 1");
        let layer = Widget::new("android.widget.FrameLayout")
            .id(PACKAGE, "drag_layer")
            .size(Size::Fill, Size::Fill)
            .layout(Layout::Column, 24, 0)
            .child(Widget::new("android.view.View").size(Size::Fill, Size::Dp(96)))
            .child(workspace)
            .child(dots.size(Size::Fill, Size::Dp(24)))
            .child(hotseat.child(search));
        Widget::new("android.widget.FrameLayout")
            .id(PACKAGE, "launcher")
            .appearance(Appearance::Page)
            .size(Size::Fill, Size::Fill)
            .child(layer)
    }

    fn tap(&mut self, key: Key, context: &mut Context) {
        let launched = self.icons.get(key.index as usize).filter(|_| key.name == ICON);
        context.effects.extend(launched.map(|(_, package)| Effect::Launch(package)));
    }

    fn restart(&mut self) {}

    fn clear_data(&mut self) {}
}

fn icon(index: u32, label: &str) -> Widget {
    let mut icon = Widget::new("android.widget.TextView")
        .text(label)
        .description(label)
        .appearance(Appearance::Icon)
        .size(Size::Dp(96), Size::Dp(112))
        .on_tap(Key { name: ICON, index });
    icon.flags.long_clickable = true;
    icon
}
