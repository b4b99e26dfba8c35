//! The system's own windows.

use super::geometry::Screen;
use super::parts::{alert, caption, column, heading, label, row, text_button};
use super::ui::Notification;
use super::widget::{Appearance, Key, Layout, Size, Style, Widget, Window};
use crate::config::Platform;

pub const CLOSE: &str = "aerr_close";
const ALLOW: &str = "permission_allow_foreground_only_button";
const ALLOW_ONCE: &str = "permission_allow_one_time_button";
/// The width of an alert of iOS.
const ALERT_DP: i32 = 270;
pub const DENY: &str = "permission_deny_button";
pub const CLEAR_ALL: &str = "dismiss_text";
pub const NOTICE: &str = "notice";

const PERMISSION_PACKAGE: &str = "com.google.android.permissioncontroller";
/// Package and activity that ask for a permission.
pub const GRANT: (&str, &str) =
    (PERMISSION_PACKAGE, "com.android.permissioncontroller.permission.ui.GrantPermissionsActivity");
const PERMISSION_IDS: &str = "com.android.permissioncontroller";
const SYSTEMUI: &str = "com.android.systemui";

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SystemWindow {
    Permission {
        package: &'static str,
        name: &'static str,
        question: &'static str,
        /// The app's own name.
        label: &'static str,
    },
    Crashed {
        package: &'static str,
        label: &'static str,
    },
    NotResponding {
        package: &'static str,
        label: &'static str,
    },
    /// A message of the system, such as a low battery.
    Alert {
        title: &'static str,
        message: &'static str,
    },
    Shade,
    Locked,
}

impl SystemWindow {
    /// Returns the app whose end closes the window.
    pub fn package(&self) -> Option<&'static str> {
        match self {
            SystemWindow::Permission { package, .. } | SystemWindow::NotResponding { package, .. } => {
                Some(package)
            }
            SystemWindow::Crashed { .. }
            | SystemWindow::Alert { .. }
            | SystemWindow::Shade
            | SystemWindow::Locked => None,
        }
    }
}

pub fn view(window: &SystemWindow, notices: &[Notification], platform: Platform, screen: &Screen) -> Widget {
    let (mut widget, package) = match window {
        SystemWindow::Permission { name, question, label, .. } if platform == Platform::Ios => {
            (ios_permission(name, question, label), "android")
        }
        SystemWindow::Permission { question, .. } => (permission(question), PERMISSION_PACKAGE),
        SystemWindow::Crashed { label, .. } => {
            let entries = [("App info", "aerr_app_info"), ("Close app", CLOSE)];
            (error(&format!("{label} keeps stopping"), entries), "android")
        }
        SystemWindow::NotResponding { label, .. } => {
            let entries = [("Close app", CLOSE), ("Wait", "aerr_wait")];
            (error(&format!("{label} isn't responding"), entries), "android")
        }
        SystemWindow::Alert { title, message } => {
            (alert(title, message, &[("OK", Key::of("ok"))]), "android")
        }
        SystemWindow::Shade => (shade(notices), SYSTEMUI),
        SystemWindow::Locked => (lock_screen(), SYSTEMUI),
    };
    widget.window = Some(Window { package, rotation: screen.rotation, style: Style::View });
    widget
}

fn card(width: Size) -> Widget {
    Widget::new("android.widget.FrameLayout").appearance(Appearance::Card).size(width, Size::Content).layout(
        Layout::Column,
        16,
        8,
    )
}

fn error(title: &str, entries: [(&str, &'static str); 2]) -> Widget {
    let buttons = entries
        .map(|(text, id)| text_button(text, Key::of(id)).id("android", id).size(Size::Fill, Size::Dp(48)));
    let panel = Widget::new("android.widget.LinearLayout").id("android", "parentPanel");
    let title = Widget::new("android.widget.LinearLayout")
        .id("android", "topPanel")
        .child(heading(title).id("android", "alertTitle"));
    let custom = Widget::new("android.widget.FrameLayout")
        .id("android", "customPanel")
        .child(Widget::new("android.widget.ScrollView").child(column(4, buttons)));
    card(Size::Dp(320)).child(panel.child(title).child(custom))
}

fn permission(question: &str) -> Widget {
    let answers = [("While using the app", ALLOW), ("Only this time", ALLOW_ONCE), ("Don't allow", DENY)];
    let buttons = answers.map(|(text, id)| {
        text_button(text, Key::of(id)).id(PERMISSION_IDS, id).size(Size::Fill, Size::Dp(56))
    });
    let icon = Widget::new("android.widget.ImageView")
        .id(PERMISSION_IDS, "permission_icon")
        .appearance(Appearance::Picture)
        .size(Size::Dp(32), Size::Dp(32));
    let content = column(12, [icon, label(question).id(PERMISSION_IDS, "permission_message")]);
    let dialog = Widget::new("android.widget.LinearLayout")
        .id(PERMISSION_IDS, "grant_dialog")
        .layout(Layout::Column, 0, 12)
        .child(content.id(PERMISSION_IDS, "content_container"))
        .children(buttons);
    card(Size::Dp(340)).child(Widget::new("android.widget.ScrollView").child(dialog))
}

/// Asks as iOS does: the system words the title, the app gives the reason, and only the place can be told once.
fn ios_permission(name: &str, question: &str, app: &str) -> Widget {
    let subject = name.rsplit('.').next().unwrap_or(name);
    let title = match subject {
        "CAMERA" => format!("“{app}” Would Like to Access the Camera"),
        "RECORD_AUDIO" => format!("“{app}” Would Like to Access the Microphone"),
        "READ_CONTACTS" | "WRITE_CONTACTS" => format!("“{app}” Would Like to Access Your Contacts"),
        "POST_NOTIFICATIONS" => format!("“{app}” Would Like to Send You Notifications"),
        _ if subject.contains("LOCATION") => format!("Allow “{app}” to use your location?"),
        _ => String::new(),
    };
    let (title, message) = if title.is_empty() { (question, "") } else { (title.as_str(), question) };
    let (deny, allow) = (("Don’t Allow", Key::of(DENY)), Key::of(ALLOW));
    if subject.contains("LOCATION") {
        let answers = [("Allow Once", Key::of(ALLOW_ONCE)), ("Allow While Using App", allow), deny];
        return stacked_alert(title, message, &answers);
    }
    stacked_alert(title, message, &[deny, ("OK", allow)])
}

/// An alert of iOS whose answers lie below each other.
fn stacked_alert(title: &str, message: &str, answers: &[(&str, Key)]) -> Widget {
    let buttons = answers.iter().map(|(text, key)| text_button(*text, *key).size(Size::Fill, Size::Dp(44)));
    let mut texts = vec![heading(title)];
    if !message.is_empty() {
        texts.push(label(message));
    }
    card(Size::Dp(ALERT_DP)).children(texts).child(column(0, buttons))
}

fn lock_screen() -> Widget {
    Widget::new("android.widget.FrameLayout")
        .appearance(Appearance::Page)
        .size(Size::Fill, Size::Fill)
        .layout(Layout::Column, 16, 16)
        .child(super::parts::space(96))
        .child(heading("9:41"))
        .child(super::parts::space(480))
        .child(label("Swipe up to unlock"))
}

fn shade(notices: &[Notification]) -> Widget {
    let tile = |text: &str| {
        let tile =
            Widget::new("android.widget.Switch").description(text).text(text).appearance(Appearance::Tab);
        tile.size(Size::Fill, Size::Dp(56)).on_tap(Key::of("tile")).checked(text == "Wi-Fi")
    };
    let tiles = [tile("Wi-Fi"), tile("Bluetooth"), tile("Flashlight")];
    let rows = notices.iter().zip(0u32..).map(|(notice, index)| {
        let texts = [
            label(notice.title.clone()).id("android", "title"),
            caption(notice.text.clone()).id("android", "text"),
        ];
        let mut row = Widget::new("android.widget.FrameLayout")
            .id(SYSTEMUI, "expandableNotificationRow")
            .appearance(Appearance::Card)
            .layout(Layout::Column, 12, 0)
            .on_tap(Key { name: NOTICE, index })
            .child(column(0, texts));
        row.flags.long_clickable = true;
        row
    });
    let mut stack = Widget::new("android.widget.ScrollView")
        .id(SYSTEMUI, "notification_stack_scroller")
        .layout(Layout::Column, 0, 8)
        .children(rows);
    stack = if notices.is_empty() {
        stack.child(label("No notifications").id(SYSTEMUI, "no_notifications"))
    } else {
        stack.child(text_button("Clear all", Key::of(CLEAR_ALL)).id(SYSTEMUI, CLEAR_ALL))
    };
    Widget::new("android.widget.FrameLayout")
        .id(SYSTEMUI, "notification_panel")
        .appearance(Appearance::Page)
        .size(Size::Fill, Size::Fill)
        .layout(Layout::Column, 16, 16)
        .child(super::parts::space(32))
        .child(row(56, tiles).id(SYSTEMUI, "quick_qs_panel"))
        .child(stack)
}
