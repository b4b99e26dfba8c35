//! Elements that are covered, move, look alike or need more than a tap.

use super::{Gallery, PACKAGE};
use crate::app::parts::{button, caption, column, framed, label, list, page, row, text_button};
use crate::app::widget::{Appearance, Key, Layout, Size, Widget};

const PIECES: [&str; 3] = ["Red", "Green", "Blue"];
const COPIES: u32 = 8;
/// The distance of the moving button in dp, and the time for one direction.
const WAY_DP: u64 = 200;
const WAY_MS: u64 = 2000;
const ZOOM_MIN: f32 = 0.25;
const ZOOM_MAX: f32 = 8.0;

pub fn view(gallery: &Gallery) -> Widget {
    let count =
        |name: &str, what: &str| label(format!("{what}: {:.0}", gallery.number(name))).id(PACKAGE, what);
    let mut press = button("Press and hold", Key::of("hold")).id(PACKAGE, "hold");
    press.flags.long_clickable = true;
    let mut twice = button("Tap twice", Key::of("twice")).id(PACKAGE, "twice");
    twice.flags.double_tap = true;
    let pieces = PIECES.iter().zip(0u32..).map(|(name, index)| {
        let mut piece = Widget::new("android.widget.TextView").id(PACKAGE, "piece").text(*name);
        piece = piece.appearance(Appearance::Body).size(Size::Fill, Size::Dp(48));
        piece.key = Some(Key { name: "piece", index });
        piece.flags.draggable = true;
        piece.flags.long_clickable = true;
        piece
    });
    let held = gallery.text("dropped");
    let mut basket =
        Widget::new("android.widget.FrameLayout").id(PACKAGE, "basket").appearance(Appearance::Card);
    basket.key = Some(Key::of("basket"));
    let basket = basket
        .size(Size::Fill, Size::Dp(96))
        .layout(Layout::Column, 12, 0)
        .child(label(if held.is_empty() { "Drop here" } else { held }).id(PACKAGE, "basket_text"));
    let rows = [
        press,
        count("taps", "taps"),
        count("long_presses", "long_presses"),
        twice,
        count("single_taps", "single_taps"),
        count("double_taps", "double_taps"),
        row(48, pieces),
        basket,
    ];
    page(PACKAGE, "Gestures", rows)
}

pub fn tap(gallery: &mut Gallery, key: Key) -> bool {
    match key.name {
        "hold" => gallery.count("taps"),
        "twice" => gallery.count("single_taps"),
        "covered" => gallery.count("covered"),
        "cover" => gallery.count("cover"),
        "lift" => {
            gallery.flags.insert("lifted", true);
        }
        "moving" => gallery.count("caught"),
        "copy" => gallery.set_text("copied", (key.index + 1).to_string()),
        _ => return false,
    }
    true
}

pub fn dropped(gallery: &mut Gallery, key: Key, onto: Key) {
    if let (("piece", "basket"), Some(name)) = ((key.name, onto.name), PIECES.get(key.index as usize)) {
        gallery.set_text("dropped", *name);
    }
}

/// Returns the photo's zoom, as a multiple of its own size.
fn zoom_of(gallery: &Gallery) -> f32 {
    gallery.numbers.get("photo_zoom").copied().unwrap_or(1.0)
}

pub fn zoom(gallery: &mut Gallery, factor: f32) {
    let zoom = (zoom_of(gallery) * factor).clamp(ZOOM_MIN, ZOOM_MAX);
    gallery.numbers.insert("photo_zoom", zoom);
}

/// A photo that takes only two fingers; one finger scrolls the page around it.
pub fn zoom_view(gallery: &Gallery) -> Widget {
    let mut photo = Widget::new("android.widget.ImageView")
        .id(PACKAGE, "photo")
        .description("Photo")
        .appearance(Appearance::Picture)
        .size(Size::Fill, Size::Dp(400));
    photo.key = Some(Key::of("photo"));
    photo.flags.zoomable = true;
    let zoom = label(format!("Zoom {:.1}×", zoom_of(gallery))).id(PACKAGE, "zoom");
    let taps = label(format!("taps: {:.0}", gallery.number("taps"))).id(PACKAGE, "taps");
    let like = button("Like", Key::of("hold")).id(PACKAGE, "like");
    page(PACKAGE, "Zoom", [zoom, photo, like, taps])
}

/// A button below a view that takes its taps; both are in the tree with their real bounds.
pub fn overlay(gallery: &Gallery) -> Widget {
    let under = button("Pay now", Key::of("covered")).id(PACKAGE, "pay").size(Size::Dp(200), Size::Dp(48));
    let mut stack = Widget::new("android.widget.FrameLayout")
        .size(Size::Fill, Size::Dp(160))
        .layout(Layout::Stack, 0, 0)
        .child(under.offset(24, 40));
    if !gallery.flag("lifted") {
        let cover =
            Widget::new("android.widget.FrameLayout").id(PACKAGE, "cover").appearance(Appearance::Cover);
        let cover = cover.size(Size::Dp(260), Size::Dp(120)).layout(Layout::Column, 8, 0);
        let inside = column(0, [caption("We use cookies")]);
        stack = stack.child(cover.on_tap(Key::of("cover")).child(inside));
    }
    let paid = label(format!("Paid {:.0} times", gallery.number("covered"))).id(PACKAGE, "paid");
    let lift =
        text_button("Remove overlay", Key::of("lift")).size(Size::Fill, Size::Dp(48)).id(PACKAGE, "lift");
    let disabled = button("Not now", Key::of("covered")).id(PACKAGE, "disabled").enabled(false);
    page(PACKAGE, "Overlay", [stack, paid, lift, disabled])
}

pub fn moving(gallery: &Gallery) -> Widget {
    let phase = gallery.shown_ms % (2 * WAY_MS);
    let along = if phase < WAY_MS { phase } else { 2 * WAY_MS - phase };
    let x = (along * WAY_DP / WAY_MS) as i32;
    let button =
        button("Catch me", Key::of("moving")).id(PACKAGE, "catch_me").size(Size::Dp(120), Size::Dp(48));
    let stack = Widget::new("android.widget.FrameLayout")
        .size(Size::Fill, Size::Dp(120))
        .layout(Layout::Stack, 0, 0)
        .child(button.offset(x, 24));
    let caught = label(format!("Caught {:.0} times", gallery.number("caught"))).id(PACKAGE, "caught");
    page(PACKAGE, "Moving button", [stack, caught])
}

/// Rows with the same text, which differ only by their place.
pub fn duplicates(gallery: &Gallery) -> Widget {
    let rows = (0..COPIES).map(|index| {
        let name = label("Untitled").id(PACKAGE, "name");
        let open = text_button("Open", Key { name: "copy", index }).id(PACKAGE, "open");
        let cells = [name, caption("Draft"), open];
        Widget::new("android.view.ViewGroup")
            .appearance(Appearance::Row)
            .size(Size::Fill, Size::Dp(72))
            .layout(Layout::Row, 8, 8)
            .children(cells)
    });
    let opened = label(format!("Opened: {}", gallery.text("copied"))).id(PACKAGE, "opened");
    let body = column(0, [opened, list(PACKAGE, "documents", rows)]).size(Size::Fill, Size::Fill);
    framed(PACKAGE, "Duplicates", body)
}
