//! Draws what is on the screen as UIKit and SwiftUI tell accessibility about it.
//!
//! The forms follow real trees: windows and the wrappers around a screen, alerts that hide the app below them, the
//! keyboard in a window of its own. `widgets` draws the app's content.

mod widgets;

use super::SCALE;
use super::element::{ElementValue, Frame, UiElement};
use crate::app::geometry::{Rect, Screen};
use crate::app::keyboard::KeyCap;
use crate::app::launcher;
use crate::app::widget::{Appearance, Style, Widget};
use crate::surface::Scene;
use widgets::Drawing;

/// The label of the home screen's application.
pub const SPRINGBOARD_LABEL: &str = " ";
const STATUS_BAR_POINTS: f64 = 54.0;
/// Where an app draws a message that goes away by itself: points over the lower edge, and its height.
const BANNER_POINTS: (f64, f64) = (120.0, 48.0);

/// Returns the app in front with its windows, without what the system lays over it.
pub fn application(scene: &Scene, screen: &Screen) -> UiElement {
    if scene.package == launcher::PACKAGE {
        return springboard(scene, screen);
    }
    let all = frame(&screen.rect());
    let mut application = UiElement::new("Application", all);
    application.label = scene.label.to_owned();
    let own_dialog = scene.dialog.as_ref().filter(|_| !scene.dialog_of_system);
    // A modal window hides everything below it from accessibility.
    let content = match own_dialog {
        Some(dialog) => vec![modal(dialog, scene, screen)],
        None => screen_content(scene, screen),
    };
    application.children.push(window(wrap("Other", all, 1, content), all));
    if let Some(board) = scene.keyboard {
        let keys = board.caps(screen).into_iter().map(|(cap, rect)| key(cap, frame(&rect))).collect();
        let area = frame(&screen.keyboard());
        let mut keyboard = UiElement::new("Keyboard", area);
        (keyboard.takes_taps, keyboard.drawn_at) = (true, u32::MAX);
        keyboard.children = wrap("Other", area, 2, keys);
        application.children.push(window(wrap("Other", all, 3, vec![keyboard]), all));
    }
    application
}

/// Returns the system's own application: the home screen, or what lies over the app in front.
pub fn system_application(scene: &Scene, screen: &Screen) -> UiElement {
    let Some(dialog) = scene.dialog.as_ref().filter(|_| scene.dialog_of_system) else {
        return springboard(scene, screen);
    };
    let all = frame(&screen.rect());
    let mut application = UiElement::new("Application", all);
    application.label = SPRINGBOARD_LABEL.to_owned();
    let content = match dialog.appearance {
        Appearance::Page => Drawing::new(dialog, scene, screen).content(dialog),
        _ => vec![modal(dialog, scene, screen)],
    };
    application.datum.clone_from(&dialog.datum);
    application.children.push(window(wrap("Other", all, 1, content), all));
    application
}

fn springboard(scene: &Scene, screen: &Screen) -> UiElement {
    let all = frame(&screen.rect());
    let mut application = UiElement::new("Application", all);
    application.label = SPRINGBOARD_LABEL.to_owned();
    let drawing = Drawing::new(&scene.window, scene, screen);
    let mut icons = UiElement::new("Other", all);
    icons.identifier = "Home screen icons".to_owned();
    let mut dock = None;
    scene.window.walk(&mut |w| match w.appearance {
        Appearance::Icon => icons.children.push(drawing.leaf("Icon", w)),
        _ if w.resource_id.ends_with(":id/hotseat") => dock = Some(w),
        _ => {}
    });
    let mut pages = UiElement::new("PageIndicator", frame(&screen.rect()));
    pages.value = Some(ElementValue::Text("page 1 of 1".to_owned()));
    pages.accessible = true;
    pages.traits = vec!["Adjustable"];
    let mut content = vec![icons];
    if let Some(hotseat) = dock {
        let mut search = drawing.leaf("Button", hotseat.children.first().unwrap_or(hotseat));
        search.label = "Search".to_owned();
        pages.frame = Frame { y: search.frame.y - 30.0, height: 24.0, ..search.frame };
        let mut area = UiElement::new("Other", frame(&hotseat.bounds));
        area.identifier = "Dock".to_owned();
        area.label = "Dock".to_owned();
        area.children.push(search);
        content.extend([pages, area]);
    }
    application.children.push(window(wrap("Other", all, 2, content), all));
    let bar = Frame { height: STATUS_BAR_POINTS, ..all };
    application.children.push(window(vec![UiElement::new("StatusBar", bar)], bar));
    application
}

/// Returns the screen of the app: the bar first, everything else below its own controller's views.
fn screen_content(scene: &Scene, screen: &Screen) -> Vec<UiElement> {
    let all = frame(&screen.rect());
    let drawing = Drawing::new(&scene.window, scene, screen);
    if drawing.style() == Style::Game {
        return vec![UiElement::new("Other", all)];
    }
    let drawn = drawing.content(&scene.window);
    let (bars, mut rest): (Vec<_>, Vec<_>) = drawn.into_iter().partition(|e| e.kind == "NavigationBar");
    if let Some(text) = &scene.toast {
        rest.push(banner(text, all));
    }
    let mut content = bars;
    content.extend(wrap("Other", all, drawing.wrappers(), rest));
    wrap("Other", all, 3, content)
}

/// iOS has no toasts: the app shows a label for a while.
fn banner(text: &str, all: Frame) -> UiElement {
    let (over, height) = BANNER_POINTS;
    let place = Frame { x: 24.0, y: all.height - over, width: all.width - 48.0, height };
    let mut label = UiElement::new("StaticText", place);
    label.label = text.to_owned();
    label.accessible = true;
    label.traits = vec!["StaticText"];
    label
}

/// Draws a dialog as an alert, and a menu as a sheet.
fn modal(dialog: &Widget, scene: &Scene, screen: &Screen) -> UiElement {
    let drawing = Drawing::new(dialog, scene, screen);
    let area = frame(&dialog.bounds);
    let (mut texts, mut answers) = (Vec::new(), Vec::new());
    let kind = if dialog.appearance == Appearance::Menu { "Sheet" } else { "Alert" };
    sort_dialog(dialog, kind, &drawing, &mut texts, &mut answers);
    let mut modal = UiElement::new(kind, area);
    modal.datum.clone_from(&dialog.datum);
    if kind == "Alert" {
        let title = texts.iter().find(|e| e.kind == "StaticText").map(|e| e.label.clone());
        modal.label = title.unwrap_or_default();
    }
    let buttons = answers.into_iter().map(|button| {
        let mut holder = UiElement::new("Other", button.frame);
        holder.children.push(button);
        holder
    });
    let mut parts = Vec::new();
    let buttons: Vec<UiElement> = buttons.collect();
    for (elements, wrappers) in [(texts, 1), (buttons, 2)] {
        if let Some(around) = surrounding(&elements) {
            let mut scroll = UiElement::new("ScrollView", around);
            scroll.children = wrap("Other", around, wrappers, elements);
            parts.push(scroll);
        }
    }
    modal.children = wrap("Other", area, 3, parts);
    modal
}

/// Sorts the controls of a dialog: what answers it, and everything else.
fn sort_dialog(
    widget: &Widget,
    kind: &str,
    drawing: &Drawing,
    texts: &mut Vec<UiElement>,
    answers: &mut Vec<UiElement>,
) {
    let looks = matches!(widget.appearance, Appearance::Button | Appearance::TextButton | Appearance::Body);
    if widget.flags.clickable && (looks || kind == "Sheet") {
        answers.push(drawing.leaf("Button", widget));
    } else if widget.children.is_empty() || widget.flags.clickable {
        texts.extend(drawing.elements(widget));
    } else {
        for child in &widget.children {
            sort_dialog(child, kind, drawing, texts, answers);
        }
    }
}

fn surrounding(elements: &[UiElement]) -> Option<Frame> {
    let first = elements.first()?.frame;
    Some(elements.iter().fold(first, |around, e| {
        let (x, y) = (around.x.min(e.frame.x), around.y.min(e.frame.y));
        let right = (around.x + around.width).max(e.frame.x + e.frame.width);
        let bottom = (around.y + around.height).max(e.frame.y + e.frame.height);
        Frame { x, y, width: right - x, height: bottom - y }
    }))
}

fn key(cap: KeyCap, place: Frame) -> UiElement {
    let (kind, name, label) = match cap {
        KeyCap::Char(c) => ("Key", c.to_string(), c.to_string()),
        KeyCap::Space => ("Key", "space".to_owned(), "space".to_owned()),
        KeyCap::Delete => ("Key", "delete".to_owned(), "delete".to_owned()),
        KeyCap::Numbers => ("Key", "more".to_owned(), "numbers".to_owned()),
        KeyCap::Letters => ("Key", "more".to_owned(), "letters".to_owned()),
        KeyCap::Shift => ("Button", "shift".to_owned(), "shift".to_owned()),
        KeyCap::Enter => ("Button", "Return".to_owned(), "return".to_owned()),
    };
    let mut key = UiElement::new(kind, place);
    (key.takes_taps, key.drawn_at) = (true, u32::MAX);
    key.identifier = name;
    key.label = label;
    key.accessible = true;
    key.traits = if kind == "Key" { vec!["KeyboardKey"] } else { vec!["Button", "KeyboardKey"] };
    key
}

fn window(children: Vec<UiElement>, place: Frame) -> UiElement {
    let mut window = UiElement::new("Window", place);
    window.children = children;
    window
}

/// Puts elements into this many containers, one in the other.
fn wrap(kind: &'static str, place: Frame, times: usize, mut children: Vec<UiElement>) -> Vec<UiElement> {
    for _ in 0..times {
        let mut outer = UiElement::new(kind, place);
        outer.children = children;
        children = vec![outer];
    }
    children
}

fn frame(rect: &Rect) -> Frame {
    let points = |px: i32| f64::from(px) / f64::from(SCALE);
    Frame {
        x: points(rect.left),
        y: points(rect.top),
        width: points(rect.width()),
        height: points(rect.height()),
    }
}

#[cfg(test)]
mod tests;
