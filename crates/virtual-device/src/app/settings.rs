//! The system's settings.

use super::geometry::Screen;
use super::parts::{UP, caption, column, entry, framed, label, list, page, row};
use super::widget::{Appearance, Key, Layout, Size, Widget};
use super::{App, Context, Effect, Values};

pub const PACKAGE: &str = "com.android.settings";
pub const LABEL: &str = "Settings";
pub const MAIN: &str = ".Settings";
const NETWORK: &str = ".Settings$NetworkDashboardActivity";
const DISPLAY: &str = ".Settings$DisplaySettingsActivity";
const APPS: &str = ".Settings$ManageApplicationsActivity";

const ENTRIES: [(&str, &str); 12] = [
    ("Network & internet", "Mobile, Wi-Fi, hotspot"),
    ("Connected devices", "Bluetooth, pairing"),
    ("Apps", "Assistant, recent apps, default apps"),
    ("Notifications", "Notification history, conversations"),
    ("Battery", "87%"),
    ("Storage", "41% used - 75.5 GB free"),
    ("Sound & vibration", "Volume, haptics, Do Not Disturb"),
    ("Display", "Dark theme, font size, brightness"),
    ("Accessibility", "Display, interaction, audio"),
    ("Security & privacy", "App security, device lock, permissions"),
    ("System", "Languages, gestures, time, backup"),
    ("About phone", "Virtual Phone"),
];

const INSTALLED: [(&str, &str); 4] =
    [("Settings", "18.2 MB"), ("Shop", "24.1 MB"), ("Workbench", "9.6 MB"), ("Launcher", "31.0 MB")];

/// Steps of the font size slider.
const FONT_STEPS: f32 = 3.0;

#[derive(Debug, Clone)]
pub struct Settings {
    wifi: bool,
    dark: bool,
    /// 0 to 3.
    font_step: f32,
}

impl Default for Settings {
    fn default() -> Settings {
        Settings { wifi: true, dark: false, font_step: 1.0 }
    }
}

impl App for Settings {
    fn package(&self) -> &'static str {
        PACKAGE
    }

    fn label(&self) -> &'static str {
        LABEL
    }

    fn entry(&self) -> &'static str {
        MAIN
    }

    fn activities(&self) -> &[&'static str] {
        &[MAIN, NETWORK, DISPLAY, APPS]
    }

    fn view(&self, activity: &str, _screen: &Screen) -> Widget {
        match activity {
            NETWORK => page(PACKAGE, "Network & internet", [switch("wifi", "Wi-Fi", self.wifi)]),
            DISPLAY => page(
                PACKAGE,
                "Display",
                [
                    switch("dark_ui", "Dark theme", self.dark),
                    label("Font size").id("android", "title"),
                    caption("Make the text on screen smaller or larger").id("android", "summary"),
                    self.font_size(),
                ],
            ),
            APPS => {
                let rows = INSTALLED.iter().zip(0u32..);
                let rows = rows.map(|((name, size), index)| entry(name, size, Key { name: "app", index }));
                framed(PACKAGE, "All apps", list(PACKAGE, "recycler_view", rows))
            }
            _ => {
                let rows = ENTRIES.iter().zip(0u32..);
                let rows =
                    rows.map(|((title, summary), index)| entry(title, summary, Key { name: "entry", index }));
                let body = column(0, [search(), list(PACKAGE, "recycler_view", rows)]);
                framed(PACKAGE, "Settings", body.id(PACKAGE, "main_content").size(Size::Fill, Size::Fill))
            }
        }
    }

    fn tap(&mut self, key: Key, context: &mut Context) {
        match (key.name, key.index) {
            (UP, _) => context.push(Effect::Finish),
            ("wifi", _) => {
                self.wifi = !self.wifi;
                context.log(
                    'D',
                    "WifiService",
                    format!("setWifiEnabled package={PACKAGE} enable={}", self.wifi),
                );
            }
            ("dark_ui", _) => self.dark = !self.dark,
            ("entry", 0) => context.push(Effect::Start(NETWORK)),
            ("entry", 2) => context.push(Effect::Start(APPS)),
            ("entry", 7) => context.push(Effect::Start(DISPLAY)),
            _ => {}
        }
    }

    fn slide(&mut self, key: Key, fraction: f32, _context: &mut Context) {
        if key.name == "font_size" {
            self.font_step = (fraction.clamp(0.0, 1.0) * FONT_STEPS).round();
        }
    }

    fn restart(&mut self) {}

    fn clear_data(&mut self) {
        *self = Settings::default();
    }

    fn dark(&self) -> bool {
        self.dark
    }

    fn values(&self) -> Values {
        Values {
            switches: [("wifi".to_owned(), self.wifi), ("dark_ui".to_owned(), self.dark)].into(),
            sliders: [("font_size".to_owned(), self.font_step)].into(),
            ..Values::default()
        }
    }
}

impl Settings {
    fn font_size(&self) -> Widget {
        let mut bar = Widget::new("android.widget.SeekBar")
            .id("android", "seekbar")
            .description("Font size")
            .appearance(Appearance::Slider(self.font_step / FONT_STEPS))
            .size(Size::Fill, Size::Dp(48));
        bar.key = Some(Key::of("font_size"));
        bar.range = Some((0.0, FONT_STEPS));
        bar.flags.focusable = true;
        row(48, [bar])
    }
}

fn search() -> Widget {
    row(48, [label("Search settings").id(PACKAGE, "search_action_bar_title")])
        .id(PACKAGE, "search_action_bar")
        .on_tap(Key::of("search"))
}

fn switch(name: &'static str, title: &str, on: bool) -> Widget {
    let switch = Widget::new("android.widget.Switch")
        .id("android", "switch_widget")
        .appearance(Appearance::Switch)
        .size(Size::Dp(64), Size::Dp(48))
        .checked(on);
    let texts = [
        label(title).id("android", "title"),
        caption(if on { "On" } else { "Off" }).id("android", "summary"),
    ];
    Widget::new("android.widget.LinearLayout")
        .appearance(Appearance::Row)
        .size(Size::Fill, Size::Dp(72))
        .layout(Layout::Row, 8, 8)
        .on_tap(Key::of(name))
        .child(column(0, texts))
        .child(
            Widget::new("android.widget.LinearLayout")
                .id("android", "widget_frame")
                .size(Size::Dp(64), Size::Dp(48))
                .child(switch),
        )
}
