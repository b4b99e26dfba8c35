//! The login screen.

use super::{Login, PACKAGE, ProcessState};
use crate::app::widget::{Appearance, Key, Layout, Size, Widget};

pub fn view(session: &ProcessState) -> Widget {
    let busy = matches!(session.login, Login::Busy { .. });
    let mut form = Widget::new("android.widget.LinearLayout")
        .id(PACKAGE, "login_form")
        .appearance(Appearance::Page)
        .size(Size::Fill, Size::Fill)
        .layout(Layout::Column, 24, 16)
        .child(Widget::new("android.view.View").size(Size::Fill, Size::Dp(40)))
        .child(
            Widget::new("android.widget.TextView")
                .id(PACKAGE, "title")
                .text("Sign in to Workbench")
                .appearance(Appearance::Heading)
                .size(Size::Fill, Size::Dp(48)),
        )
        .child(field("email", "Email", &session.email, false))
        .child(field("password", "Password", &session.password, true))
        .child(
            Widget::new("android.widget.Switch")
                .id(PACKAGE, "remember_me")
                .text("Remember me")
                .appearance(Appearance::Switch)
                .size(Size::Fill, Size::Dp(48))
                .checked(session.remember)
                .on_tap(Key::of("remember_me")),
        )
        .child(
            Widget::new("android.widget.Button")
                .id(PACKAGE, "log_in")
                .text("Log in")
                .appearance(Appearance::Button)
                .size(Size::Fill, Size::Dp(48))
                .on_tap(Key::of("log_in"))
                .enabled(!busy),
        );
    if busy {
        form = form.child(
            Widget::new("android.widget.ProgressBar")
                .id(PACKAGE, "progress")
                .appearance(Appearance::Spinner)
                .size(Size::Fill, Size::Dp(48)),
        );
    }
    if session.login == Login::Failed {
        form = form.child(
            Widget::new("android.widget.TextView")
                .id(PACKAGE, "error")
                .text("Could not sign in. Try again later.")
                .appearance(Appearance::Error)
                .size(Size::Fill, Size::Dp(32)),
        );
    }
    form.child(Widget::new("android.widget.Space").size(Size::Fill, Size::Fill)).child(
        Widget::new("android.widget.Button")
            .id(PACKAGE, "open_settings")
            .text("Settings")
            .appearance(Appearance::TextButton)
            .size(Size::Fill, Size::Dp(48))
            .on_tap(Key::of("open_settings")),
    )
}

fn field(name: &'static str, hint: &str, value: &str, password: bool) -> Widget {
    let mut field = Widget::new("android.widget.EditText")
        .id(PACKAGE, name)
        .text(value)
        .appearance(Appearance::Field)
        .size(Size::Fill, Size::Dp(56))
        .on_tap(Key::of(name));
    field.hint = hint.to_owned();
    field.flags.password = password;
    field.flags.long_clickable = true;
    field
}
