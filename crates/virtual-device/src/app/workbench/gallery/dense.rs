//! Screens with as many nodes as busy apps have.

use super::{Gallery, PACKAGE};
use crate::app::parts::{caption, column, framed, label, list, row};
use crate::app::widget::{Appearance, Key, Layout, Size, Widget};

const WEEKS: u32 = 6;
const DAYS: [&str; 7] = ["M", "T", "W", "T", "F", "S", "S"];
/// The month begins on a Thursday.
const FIRST_DAY: u32 = 3;
const DAYS_IN_MONTH: u32 = 31;
const POSTS: u32 = 24;
const NAMES: [&str; 6] = ["Ada", "Grace", "Alan", "Edsger", "Barbara", "Donald"];

/// A month as a grid. Every number has the same id, and dots have no description.
pub fn calendar(gallery: &Gallery) -> Widget {
    let names = DAYS.map(caption);
    let weeks = (0..WEEKS).map(|week| {
        let days = (0..7).map(|day| day_cell(gallery, week * 7 + day));
        row(84, days)
    });
    let picked = gallery.number("day");
    let about =
        if picked > 0.0 { format!("{picked:.0} October: nothing planned") } else { "Pick a day".to_owned() };
    let grid = Widget::new("android.view.ViewGroup")
        .id(PACKAGE, "month")
        .layout(Layout::Column, 0, 4)
        .children(weeks);
    let mut body = column(8, [row(24, names), grid, label(about).id(PACKAGE, "day_about")]);
    body.padding_dp = 8;
    framed(PACKAGE, "October", body.size(Size::Fill, Size::Fill))
}

fn day_cell(gallery: &Gallery, cell: u32) -> Widget {
    let day = (cell + 1).checked_sub(FIRST_DAY).filter(|day| (1..=DAYS_IN_MONTH).contains(day));
    let Some(day) = day else {
        return Widget::new("android.widget.FrameLayout").size(Size::Fill, Size::Fill);
    };
    let number = label(day.to_string()).id(PACKAGE, "day_number");
    let dots = (0..day % 3).map(|_| {
        Widget::new("android.widget.ImageView").appearance(Appearance::Picture).size(Size::Dp(6), Size::Dp(6))
    });
    let mut dot_row = row(12, dots);
    dot_row.gap_dp = 2;
    let mut inside = column(2, [number, dot_row]);
    inside.flags.selected = gallery.number("day") as u32 == day;
    Widget::new("android.widget.FrameLayout")
        .size(Size::Fill, Size::Fill)
        .on_tap(Key { name: "day", index: day })
        .child(inside)
}

/// A feed of posts whose pictures and icons have no description.
pub fn feed(gallery: &Gallery) -> Widget {
    let posts = (0..POSTS).map(|post| {
        let name = NAMES[(post as usize) % NAMES.len()];
        let picture = |dp| {
            Widget::new("android.widget.ImageView")
                .appearance(Appearance::Picture)
                .size(Size::Dp(dp), Size::Dp(dp))
        };
        let icon = |key: &'static str, count: u32| {
            let inside = row(40, [picture(20), caption(count.to_string())]);
            Widget::new("android.view.ViewGroup")
                .size(Size::Fill, Size::Dp(40))
                .on_tap(Key { name: key, index: post })
                .child(inside)
        };
        let liked = gallery.number("liked") as u32 == post + 1;
        let head = row(48, [picture(40), column(0, [label(name), caption(format!("{} h", post + 1))])]);
        let actions = row(
            40,
            [icon("like_post", 3 + post + u32::from(liked)), icon("comment", post), icon("share", 1)],
        );
        Widget::new("android.view.ViewGroup")
            .id(PACKAGE, "post")
            .appearance(Appearance::Row)
            .layout(Layout::Column, 8, 4)
            .child(head)
            .child(label(format!("{name} wrote something \"worth\" reading 🔥")))
            .child(actions)
    });
    framed(PACKAGE, "Feed", list(PACKAGE, "posts", posts))
}

/// Handles a tap; returns false if the key is not of these screens.
pub fn tap(gallery: &mut Gallery, key: Key) -> bool {
    match key.name {
        "day" => drop(gallery.numbers.insert("day", key.index as f32)),
        "like_post" => drop(gallery.numbers.insert("liked", key.index as f32 + 1.0)),
        "comment" | "share" => {}
        _ => return false,
    }
    true
}
