//! Widgets that many screens share.

use super::alert::Alert;
use super::widget::{Appearance, Key, Layout, Size, Widget};

pub const SCROLL: Key = Key { name: "page", index: 0 };
pub const UP: &str = "navigate_up";

pub fn space(height_dp: i32) -> Widget {
    Widget::new("android.view.View").size(Size::Fill, Size::Dp(height_dp))
}

pub fn label(text: impl Into<String>) -> Widget {
    Widget::new("android.widget.TextView")
        .text(text)
        .appearance(Appearance::Body)
        .size(Size::Fill, Size::Dp(32))
}

pub fn caption(text: impl Into<String>) -> Widget {
    Widget::new("android.widget.TextView")
        .text(text)
        .appearance(Appearance::Caption)
        .size(Size::Fill, Size::Dp(24))
}

pub fn heading(text: impl Into<String>) -> Widget {
    Widget::new("android.widget.TextView")
        .text(text)
        .appearance(Appearance::Heading)
        .size(Size::Fill, Size::Dp(40))
}

pub fn button(text: impl Into<String>, key: Key) -> Widget {
    Widget::new("android.widget.Button")
        .text(text)
        .appearance(Appearance::Button)
        .size(Size::Fill, Size::Dp(48))
        .on_tap(key)
}

pub fn text_button(text: impl Into<String>, key: Key) -> Widget {
    let button = button(text, key).appearance(Appearance::TextButton);
    button.size(Size::Dp(112), Size::Dp(48))
}

pub fn field(hint: &str, value: &str, key: Key) -> Widget {
    let mut field = Widget::new("android.widget.EditText")
        .text(value)
        .appearance(Appearance::Field)
        .size(Size::Fill, Size::Dp(56))
        .on_tap(key);
    field.hint = hint.to_owned();
    field.flags.long_clickable = true;
    field
}

pub fn column(gap_dp: i32, children: impl IntoIterator<Item = Widget>) -> Widget {
    Widget::new("android.widget.LinearLayout").layout(Layout::Column, 0, gap_dp).children(children)
}

pub fn row(height_dp: i32, children: impl IntoIterator<Item = Widget>) -> Widget {
    Widget::new("android.widget.LinearLayout")
        .size(Size::Fill, Size::Dp(height_dp))
        .layout(Layout::Row, 0, 8)
        .children(children)
}

pub fn toolbar(package: &str, title: &str) -> Widget {
    Widget::new("android.view.ViewGroup")
        .id(package, "toolbar")
        .size(Size::Fill, Size::Dp(56))
        .layout(Layout::Row, 4, 8)
        .child(
            Widget::new("android.widget.ImageButton")
                .description("Navigate up")
                .appearance(Appearance::TextButton)
                .size(Size::Dp(48), Size::Dp(48))
                .on_tap(Key::of(UP)),
        )
        .child(heading(title))
}

/// A page with a toolbar, whose body scrolls when the screen is too small for it.
pub fn page(package: &str, title: &str, body: impl IntoIterator<Item = Widget>) -> Widget {
    let mut inside = column(12, body);
    inside.padding_dp = 16;
    let scroll = Widget::new("android.widget.ScrollView")
        .size(Size::Fill, Size::Fill)
        .layout(Layout::Column, 0, 0)
        .child(inside)
        .scrolls(SCROLL);
    framed(package, title, scroll)
}

/// A page whose body scrolls by itself.
pub fn framed(package: &str, title: &str, body: Widget) -> Widget {
    Widget::new("android.widget.LinearLayout")
        .appearance(Appearance::Page)
        .size(Size::Fill, Size::Fill)
        .layout(Layout::Column, 0, 0)
        .child(space(24))
        .child(app_bar(package, title))
        // The fragment that shows the body.
        .child(Widget::new("android.widget.FrameLayout").size(Size::Fill, Size::Fill).child(body))
}

/// A toolbar in the wrappers that make it collapse when there is something to scroll.
fn app_bar(package: &str, title: &str) -> Widget {
    let collapsing = Widget::new("android.widget.FrameLayout").child(toolbar(package, title));
    Widget::new("android.widget.LinearLayout").id(package, "app_bar").child(collapsing)
}

pub fn list(package: &str, id: &str, rows: impl IntoIterator<Item = Widget>) -> Widget {
    Widget::new("androidx.recyclerview.widget.RecyclerView")
        .id(package, id)
        .size(Size::Fill, Size::Fill)
        .layout(Layout::Column, 0, 0)
        .children(rows)
        .scrolls(Key::of("list"))
}

/// A row of a list, which takes the taps on the texts in it.
pub fn entry(title: &str, summary: &str, key: Key) -> Widget {
    let mut texts = column(0, [label(title).id("android", "title")]);
    if !summary.is_empty() {
        texts = texts.child(caption(summary).id("android", "summary"));
    }
    Widget::new("android.widget.LinearLayout")
        .appearance(Appearance::Row)
        .size(Size::Fill, Size::Dp(72))
        .layout(Layout::Row, 8, 8)
        .on_tap(key)
        .child(
            Widget::new("android.widget.ImageView")
                .appearance(Appearance::Picture)
                .size(Size::Dp(40), Size::Dp(40)),
        )
        .child(texts)
}

/// The system's alert dialog with its well-known ids: the last answer is the positive one.
pub fn alert(title: &str, message: &str, answers: &[(&str, Key)]) -> Widget {
    let answers = answers.iter().map(|(text, key)| ((*text).to_owned(), *key)).collect();
    let (title, message) = (title.to_owned(), message.to_owned());
    Alert { title, message, answers, ..Alert::default() }.widget()
}
