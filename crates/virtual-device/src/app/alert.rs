//! Dialogs, popups and menus with the views that Android's own framework puts around their content.

use super::parts::{column, heading, label, row, text_button};
use super::widget::{Appearance, Key, Layout, Size, Widget};

const WIDTH_DP: i32 = 320;

/// The system's alert with its well-known ids.
#[derive(Default)]
pub struct Alert {
    pub title: String,
    pub message: String,
    /// Rows of a list.
    pub list: Vec<Widget>,
    /// Views of the app's own.
    pub custom: Vec<Widget>,
    /// Buttons: the last one is the positive one.
    pub answers: Vec<(String, Key)>,
}

impl Alert {
    pub fn widget(self) -> Widget {
        let ids: &[&str] = match self.answers.len() {
            1 => &["button1"],
            2 => &["button2", "button1"],
            _ => &["button3", "button2", "button1"],
        };
        let buttons = self.answers.iter().zip(ids);
        let buttons: Vec<Widget> =
            buttons.map(|((text, key), id)| text_button(text, *key).id("android", id)).collect();
        let mut panel = column(12, []).id("android", "parentPanel");
        if !self.title.is_empty() {
            panel = panel.child(title(&self.title, self.custom.is_empty()));
        }
        if !self.message.is_empty() {
            panel = panel.child(message(&self.message, self.title.is_empty(), buttons.is_empty()));
        }
        if !self.list.is_empty() {
            let rows = Widget::new("android.widget.ListView").id("android", "select_dialog_listview");
            panel = panel.child(frame("contentPanel").child(rows.children(self.list)));
        }
        if !self.custom.is_empty() {
            panel = panel.child(frame("customPanel").child(frame("custom").children(self.custom)));
        }
        if !buttons.is_empty() {
            let mut bar = Widget::new("android.widget.ScrollView").id("android", "buttonPanel");
            bar.flags.focusable = true;
            let bar = bar.child(row(56, buttons));
            match panel.find_mut(&is_picker).and_then(|picker| room_for_buttons(picker)) {
                Some(room) => room.children.push(bar),
                None => panel.children.push(bar),
            }
        }
        let content = frame("content").layout(Layout::Column, 20, 0).child(panel);
        Widget::new("android.widget.FrameLayout")
            .appearance(Appearance::Card)
            .size(Size::Dp(WIDTH_DP), Size::Content)
            .child(Widget::new("android.widget.FrameLayout").child(content))
    }
}

fn is_picker(widget: &Widget) -> bool {
    matches!(widget.class, "android.widget.DatePicker" | "android.widget.TimePicker")
}

/// Returns the part of a picker of dates or times that takes the buttons of its dialog: the last line, if it has one.
fn room_for_buttons(picker: &mut Widget) -> Option<&mut Widget> {
    const LINE: &str = "android.widget.LinearLayout";
    let mut at = picker.children.first_mut()?.children.last_mut().filter(|last| last.class == LINE)?;
    while at.children.last().is_some_and(|last| last.class == LINE) {
        at = at.children.last_mut()?;
    }
    Some(at)
}

/// What a popup shows, in the views that hold its shadow and its edge.
pub fn popup(width_dp: i32, content: impl IntoIterator<Item = Widget>) -> Widget {
    Widget::new("android.widget.FrameLayout")
        .appearance(Appearance::Menu)
        .size(Size::Dp(width_dp), Size::Content)
        .child(Widget::new("android.widget.FrameLayout").children(content))
}

/// A dialog of the app's own content, with the title above it.
pub fn bare_dialog(title: &str, content: impl IntoIterator<Item = Widget>) -> Widget {
    let around = Widget::new("android.widget.FrameLayout").child(frame("content").children(content));
    let hidden = Widget::new("android.view.View").size(Size::Fill, Size::Dp(0));
    Widget::new("android.widget.FrameLayout")
        .appearance(Appearance::Card)
        .size(Size::Dp(WIDTH_DP), Size::Content)
        .child(column(0, [heading(title).id("android", "title"), hidden, around]))
}

fn frame(id: &str) -> Widget {
    Widget::new("android.widget.FrameLayout").id("android", id)
}

fn spacer(id: &str) -> Widget {
    Widget::new("android.view.View").id("android", id).size(Size::Fill, Size::Dp(8))
}

fn title(text: &str, has_divider: bool) -> Widget {
    let words = row(40, [heading(text).id("android", "alertTitle")]).id("android", "title_template");
    let divider = has_divider.then(|| spacer("titleDividerNoCustom"));
    column(0, [words]).children(divider).id("android", "topPanel")
}

fn message(text: &str, without_title: bool, without_buttons: bool) -> Widget {
    let above = without_title.then(|| spacer("textSpacerNoTitle"));
    let below = without_buttons.then(|| spacer("textSpacerNoButtons"));
    let words = column(0, above).child(label(text).id("android", "message")).children(below);
    let scroll = Widget::new("android.widget.ScrollView").id("android", "scrollView").child(words);
    frame("contentPanel").child(scroll)
}
