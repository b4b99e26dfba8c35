//! Screens that change by themselves, and the same card in several frameworks.

use tokio::time::Instant;

use super::{Gallery, PACKAGE};
use crate::app::parts::{button, caption, column, field, heading, label, page, row, space, toolbar};
use crate::app::widget::{Appearance, Key, Layout, Size, Widget};

const LATE_MS: u64 = 1500;
const IN_PLACE_MS: u64 = 400;

fn progress(part: f32) -> Widget {
    let mut bar = Widget::new("android.widget.ProgressBar")
        .id(PACKAGE, "progress")
        .text(format!("{:.1}", part * 100.0));
    bar.appearance = Appearance::Slider(part);
    bar.size(Size::Fill, Size::Dp(24))
}

pub fn animation(gallery: &Gallery) -> Widget {
    let part = (gallery.ticks % 50) as f32 / 50.0;
    let spinner = Widget::new("android.widget.ProgressBar")
        .appearance(Appearance::Spinner)
        .size(Size::Fill, Size::Dp(64));
    let stop = button("Still usable", Key::of("usable")).id(PACKAGE, "usable");
    let used = label(format!("Used {:.0} times", gallery.number("usable"))).id(PACKAGE, "used");
    page(PACKAGE, "Animation", [spinner, progress(part), stop, used])
}

pub fn clock(gallery: &Gallery) -> Widget {
    let seconds = gallery.shown_ms / 1000;
    let time = format!("{:02}:{:02}", seconds / 60, seconds % 60);
    page(PACKAGE, "Clock", [heading(time).id(PACKAGE, "time"), caption("since you came here")])
}

/// A screen that wraps the same content in other nodes with each frame, as a careless composition does.
pub fn churn(gallery: &Gallery) -> Widget {
    let rows = ["Alpha", "Beta", "Gamma"].map(|name| label(name).id(PACKAGE, "churn_row"));
    let mut content = column(4, rows);
    for _ in 0..gallery.ticks % 3 {
        content = column(0, [content]);
    }
    let keep = button("Keep", Key::of("kept")).id(PACKAGE, "keep");
    page(PACKAGE, "Recomposition", [content, keep, label(format!("Kept {:.0}", gallery.number("kept")))])
}

pub fn view(gallery: &Gallery) -> Widget {
    let price = if gallery.text("price").is_empty() { "Price: 10" } else { gallery.text("price") };
    let mut body = vec![
        button("Load later", Key::of("late")).id(PACKAGE, "late"),
        button("Change in place", Key::of("in_place")).id(PACKAGE, "in_place"),
        label(price).id(PACKAGE, "price"),
    ];
    if gallery.flag("loading") {
        let spinner =
            Widget::new("android.widget.ProgressBar").id(PACKAGE, "loading").appearance(Appearance::Spinner);
        body.push(spinner.size(Size::Fill, Size::Dp(48)));
    }
    if gallery.flag("loaded") {
        body.extend(["First", "Second", "Third"].map(|name| label(name).id(PACKAGE, "late_row")));
    }
    page(PACKAGE, "Updates", body)
}

pub fn tap(gallery: &mut Gallery, key: Key, now: Instant) -> bool {
    match key.name {
        "usable" | "kept" | "buy" | "like" => gallery.count(key.name),
        "late" => {
            gallery.flags.insert("loading", true);
            gallery.flags.insert("loaded", false);
            gallery.after(now, LATE_MS, "late");
        }
        "in_place" => gallery.after(now, IN_PLACE_MS, "in_place"),
        "web_send" => {
            let name = gallery.text("web_name").to_owned();
            gallery.set_text("web_answer", format!("Thank you, {name}"));
        }
        "web_check" => {
            let value = !gallery.flag("web_check");
            gallery.flags.insert("web_check", value);
        }
        _ => return false,
    }
    true
}

pub fn due(gallery: &mut Gallery, name: &'static str) {
    match name {
        "late" => {
            gallery.flags.insert("loading", false);
            gallery.flags.insert("loaded", true);
        }
        "in_place" => {
            gallery.count("price_changes");
            let price = 10.0 + gallery.number("price_changes");
            gallery.set_text("price", format!("Price: {price:.0}"));
        }
        _ => {}
    }
}

/// A toolbar of the app over a web page.
pub fn web(gallery: &Gallery) -> Widget {
    let check = Widget::new("android.widget.CheckBox")
        .id(PACKAGE, "agree")
        .text("I agree")
        .appearance(Appearance::CheckBox);
    let check =
        check.size(Size::Fill, Size::Dp(40)).checked(gallery.flag("web_check")).on_tap(Key::of("web_check"));
    let questions = ["How do I return something?", "Where is my order?", "How do I pay?"];
    let links = questions.map(|text| column(0, [label(text)]).on_tap(Key::of("link")));
    let mut document = column(
        12,
        [heading("Help centre"), label("We are glad to help."), column(8, links).id(PACKAGE, "faq")]
            .into_iter()
            .chain([
                field("Your name", gallery.text("web_name"), Key::of("web_name")).id(PACKAGE, "name"),
                check,
                button("Send", Key::of("web_send")).id(PACKAGE, "send"),
                label(gallery.text("web_answer")).id(PACKAGE, "answer"),
            ]),
    )
    .size(Size::Fill, Size::Fill);
    document.padding_dp = 16;
    Widget::new("android.widget.LinearLayout")
        .appearance(Appearance::Page)
        .size(Size::Fill, Size::Fill)
        .child(space(24))
        .child(toolbar(PACKAGE, "Web page"))
        .child(document)
}

pub fn card(gallery: &Gallery) -> Widget {
    let like =
        Widget::new("android.widget.ImageButton").description("Like").appearance(Appearance::TextButton);
    let like = like.id(PACKAGE, "like").size(Size::Dp(48), Size::Dp(48)).on_tap(Key::of("like"));
    let picture = Widget::new("android.widget.ImageView")
        .appearance(Appearance::Picture)
        .size(Size::Dp(96), Size::Dp(96));
    let rows = ["Small", "Large"].map(|size| {
        Widget::new("android.view.ViewGroup")
            .id(PACKAGE, "variant")
            .appearance(Appearance::Row)
            .size(Size::Fill, Size::Dp(64))
            .layout(Layout::Row, 8, 8)
            .on_tap(Key::of("variant"))
            .child(column(0, [label(size), caption("In stock")]))
    });
    let top = row(104, [picture, column(0, [heading("Teapot"), caption("€24.00")]), like]);
    let bought = format!("Bought {:.0}, liked {:.0}", gallery.number("buy"), gallery.number("like"));
    let body = [top].into_iter().chain(rows).chain([
        field("Note", gallery.text("note"), Key::of("note")).id(PACKAGE, "note"),
        button("Buy", Key::of("buy")).id(PACKAGE, "buy"),
        label(bought).id(PACKAGE, "bought"),
    ]);
    page(PACKAGE, "Teapot", body)
}
