//! Choices, a form and a long list.

use super::{Gallery, PACKAGE};
use crate::app::alert::popup;
use crate::app::parts::{
    SCROLL, button, caption, column, entry, field, framed, heading, label, list, page, row, text_button,
};
use crate::app::widget::{Appearance, Key, Layout, Size, Widget};

pub const FIELDS: [&str; 6] = ["form_name", "form_mail", "form_age", "note", "web_name", "search_text"];
const SIZES: [&str; 4] = ["Small", "Medium", "Large", "Huge"];
const THEMES: [&str; 3] = ["Follow system", "Light", "Dark"];
const TABS: [&str; 3] = ["General", "Sounds", "Privacy"];
const ROWS: u32 = 500;
const PICKER_MAX: f32 = 20.0;

pub fn view(gallery: &Gallery) -> Widget {
    let size = SIZES.get(gallery.number("size") as usize).copied().unwrap_or("");
    let drop_down = Widget::new("android.widget.Spinner")
        .id(PACKAGE, "size")
        .appearance(Appearance::DropDown)
        .size(Size::Fill, Size::Dp(48))
        .layout(Layout::Row, 8, 0)
        .on_tap(Key::of("size"))
        .child(label(size).id("android", "text1"));
    let body =
        [tabs(gallery), caption("Size"), drop_down, caption("Copies"), picker(gallery), caption("Theme")];
    let radios = THEMES.iter().zip(0u32..).map(|(name, index)| {
        Widget::new("android.widget.RadioButton")
            .id(PACKAGE, "theme")
            .text(*name)
            .appearance(Appearance::Radio)
            .size(Size::Fill, Size::Dp(40))
            .checked(gallery.number("theme") as u32 == index)
            .on_tap(Key { name: "theme", index })
    });
    let group = Widget::new("android.widget.RadioGroup").id(PACKAGE, "themes").children(radios);
    let check = Widget::new("android.widget.CheckBox")
        .id(PACKAGE, "newsletter")
        .text("Send me news")
        .appearance(Appearance::CheckBox)
        .size(Size::Fill, Size::Dp(48))
        .checked(gallery.flag("newsletter"))
        .on_tap(Key::of("newsletter"));
    let mut all: Vec<Widget> = body.into_iter().chain([group, check]).collect();
    all.extend(expandable(gallery));
    page(PACKAGE, "Controls", all)
}

fn tabs(gallery: &Gallery) -> Widget {
    let tabs = TABS.iter().zip(0u32..).map(|(name, index)| {
        let mut tab = Widget::new("android.widget.LinearLayout")
            .description(*name)
            .size(Size::Fill, Size::Dp(48))
            .layout(Layout::Row, 0, 0)
            .on_tap(Key { name: "tab", index })
            .child(
                Widget::new("android.widget.TextView")
                    .text(*name)
                    .appearance(Appearance::Tab)
                    .size(Size::Fill, Size::Dp(48)),
            );
        let on = gallery.number("tab") as u32 == index;
        tab.flags.selected = on;
        tab.children.iter_mut().for_each(|text| text.flags.selected = on);
        tab
    });
    Widget::new("android.widget.HorizontalScrollView")
        .id(PACKAGE, "tabs")
        .size(Size::Fill, Size::Dp(48))
        .child(row(48, tabs))
}

fn picker(gallery: &Gallery) -> Widget {
    let value = gallery.number("copies");
    let step = |name: &'static str, by: f32| text_button(format!("{:.0}", turned(value, by)), Key::of(name));
    let mut value_field = label(format!("{value:.0}")).id("android", "numberpicker_input");
    value_field.class = "android.widget.EditText";
    value_field.flags.focusable = true;
    let mut picker = Widget::new("android.widget.NumberPicker")
        .id(PACKAGE, "copies")
        .size(Size::Dp(112), Size::Content)
        .child(step("copies_less", -1.0))
        .child(value_field)
        .child(step("copies_more", 1.0));
    picker.flags.scrollable = true;
    picker
}

/// The wheel goes round, as a number picker does unless its app asks for something else.
fn turned(value: f32, by: f32) -> f32 {
    (value + by).rem_euclid(PICKER_MAX + 1.0)
}

fn expandable(gallery: &Gallery) -> Vec<Widget> {
    let open = gallery.flag("advanced");
    let mut rows =
        vec![entry("Advanced", if open { "" } else { "Cache, developer, reset" }, Key::of("advanced"))];
    if open {
        rows.push(label("Cache size: 12 MB").id(PACKAGE, "cache"));
        rows.push(label("Developer options are off").id(PACKAGE, "developer"));
    }
    rows
}

pub fn sizes() -> Widget {
    let rows = SIZES.iter().zip(0u32..).map(|(name, index)| {
        let mut row = Widget::new("android.widget.CheckedTextView")
            .id("android", "text1")
            .text(*name)
            .appearance(Appearance::Body)
            .size(Size::Fill, Size::Dp(48))
            .on_tap(Key { name: "pick_size", index });
        row.flags.checkable = true;
        row
    });
    let mut menu = popup(200, [Widget::new("android.widget.ListView").children(rows)]);
    menu.anchor = Some(Key::of("size"));
    menu
}

/// Handles a tap; returns false if the key is not of these screens.
pub fn tap(gallery: &mut Gallery, key: Key) -> bool {
    match key.name {
        "size" => gallery.dialog = Some("size"),
        "pick_size" => {
            gallery.numbers.insert("size", key.index as f32);
            gallery.dialog = None;
        }
        name @ ("theme" | "tab") => {
            gallery.numbers.insert(name, key.index as f32);
        }
        "copies_less" | "copies_more" => {
            let by = if key.name == "copies_more" { 1.0 } else { -1.0 };
            let value = turned(gallery.number("copies"), by);
            gallery.numbers.insert("copies", value);
        }
        name @ ("newsletter" | "advanced" | "terms") => {
            let value = !gallery.flag(name);
            gallery.flags.insert(name, value);
        }
        "list_row" => gallery.set_text("picked", format!("Row {}", key.index + 1)),
        "carousel" => gallery.set_text("picked", format!("Card {}", key.index + 1)),
        "submit" => {
            gallery.flags.insert("form_sent", true);
            let done = mistakes(gallery).iter().all(Option::is_none) && gallery.flag("terms");
            gallery
                .set_text("form_result", if done { "Thank you" } else { "Please correct the marked fields" });
        }
        _ => return false,
    }
    true
}

fn mistakes(gallery: &Gallery) -> [Option<&'static str>; 3] {
    let name = gallery.text("form_name").trim().is_empty().then_some("Name is required");
    let mail = gallery.text("form_mail");
    let mail_ok = mail.split_once('@').is_some_and(|(user, host)| !user.is_empty() && host.contains('.'));
    let age = gallery.text("form_age").parse::<u32>();
    let age_ok = age.is_ok_and(|age| (18..=120).contains(&age));
    [name, (!mail_ok).then_some("Not a valid e-mail address"), (!age_ok).then_some("Between 18 and 120")]
}

pub fn form(gallery: &Gallery) -> Widget {
    let sent = gallery.flag("form_sent");
    let mut body = Vec::new();
    let fields = [("form_name", "Name"), ("form_mail", "E-mail"), ("form_age", "Age")];
    for ((name, hint), mistake) in fields.into_iter().zip(mistakes(gallery)) {
        body.push(field(hint, gallery.text(name), Key::of(name)).id(PACKAGE, name));
        if let Some(mistake) = mistake.filter(|_| sent) {
            let line = label(mistake).appearance(Appearance::Error).size(Size::Fill, Size::Dp(24));
            body.push(line.id(PACKAGE, "textinput_error"));
        }
    }
    let terms = Widget::new("android.widget.CheckBox").id(PACKAGE, "terms").text("I accept the terms");
    let terms =
        terms.appearance(Appearance::CheckBox).size(Size::Fill, Size::Dp(48)).checked(gallery.flag("terms"));
    body.push(terms.on_tap(Key::of("terms")));
    body.push(button("Submit", Key::of("submit")).id(PACKAGE, "submit"));
    body.push(label(gallery.text("form_result")).id(PACKAGE, "form_result"));
    page(PACKAGE, "Form", body)
}

/// A list inside of a page that scrolls as well, with cards that scroll sideways.
pub fn long_list(gallery: &Gallery) -> Widget {
    let cards = (0..12).map(|index| {
        let card = column(0, [heading(format!("Card {}", index + 1)), caption("swipe sideways")]);
        card.appearance(Appearance::Card)
            .size(Size::Dp(160), Size::Dp(88))
            .on_tap(Key { name: "carousel", index })
    });
    let carousel = Widget::new("androidx.recyclerview.widget.RecyclerView")
        .id(PACKAGE, "carousel")
        .size(Size::Fill, Size::Dp(96))
        .layout(Layout::Row, 4, 8)
        .children(cards)
        .scrolls(Key::of("cards"));
    let rows = (0..ROWS).map(|index| {
        let name = label(format!("Row {}", index + 1)).id(PACKAGE, "row_title");
        let cells = [name, caption(format!("{} items", index * 7 % 13)).id(PACKAGE, "row_summary")];
        let row =
            Widget::new("android.view.ViewGroup").appearance(Appearance::Row).size(Size::Fill, Size::Dp(64));
        row.layout(Layout::Row, 8, 8).children(cells).on_tap(Key { name: "list_row", index })
    });
    let rows = list(PACKAGE, "rows", rows).size(Size::Fill, Size::Dp(640));
    let picked = label(format!("Picked: {}", gallery.text("picked"))).id(PACKAGE, "picked");
    let footer = button("Below the list", Key::of("footer")).id(PACKAGE, "footer");
    let mut inside = column(8, [picked, carousel, rows, footer, caption("End of the page")]);
    inside.padding_dp = 8;
    let scroll =
        Widget::new("androidx.core.widget.NestedScrollView").size(Size::Fill, Size::Fill).child(inside);
    framed(PACKAGE, "Long list", scroll.scrolls(SCROLL))
}
