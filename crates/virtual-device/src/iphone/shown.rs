//! What clients of an iPhone could read at a moment, for the film.

use tokio::time::Instant;

use super::companion::{AxNode, AxTree};
use super::element::{ElementValue, Frame, UiElement};
use super::{Applications, SCALE};
use crate::app::geometry::{Rect, Screen};
use crate::config::Reader;
use crate::film::ShownNode;
use crate::surface::Surface;

/// Returns the elements of what is in front, as this reader tells them. Nothing for a surface that is not drawn from
/// widgets.
pub fn shown_nodes(surface: &dyn Surface, screen: &Screen, now: Instant, reader: Reader) -> Vec<ShownNode> {
    let Some(front) = Applications::on(surface, screen, now) else { return Vec::new() };
    let front = front.system.unwrap_or(front.app);
    let mut nodes = Vec::new();
    match reader {
        Reader::Companion => add_of_companion(&mut nodes, &AxTree::new(&front).root, 0),
        Reader::Uiautomator | Reader::WebDriverAgent => add(&mut nodes, &front, 0),
    }
    nodes
}

fn add(nodes: &mut Vec<ShownNode>, element: &UiElement, depth: u16) {
    nodes.push(node(element, &element.label, depth));
    for child in &element.children {
        add(nodes, child, depth.saturating_add(1));
    }
}

fn add_of_companion(nodes: &mut Vec<ShownNode>, ax: &AxNode<'_>, depth: u16) {
    let class = ax.role.role.strip_prefix("AX").unwrap_or(ax.role.role);
    // idb tells fractions of points, which clients round.
    let told = rounded(&ax.element.frame);
    nodes.push(ShownNode { class, told, ..node(ax.element, &ax.label, depth) });
    for child in &ax.children {
        add_of_companion(nodes, child, depth.saturating_add(1));
    }
}

fn node(element: &UiElement, label: &str, depth: u16) -> ShownNode {
    let (text, checked) = match &element.value {
        Some(ElementValue::Text(text)) => (text.clone(), None),
        Some(ElementValue::Fraction(at)) => (format!("{:.0}", at * 100.0), None),
        Some(ElementValue::On(on)) => (String::new(), Some(*on)),
        None => (String::new(), None),
    };
    ShownNode {
        depth,
        class: element.kind,
        resource_id: element.identifier.clone(),
        text,
        description: label.to_owned(),
        hint: element.placeholder.clone(),
        enabled: element.enabled,
        checkable: checked.is_some(),
        checked: checked.unwrap_or_default(),
        selected: element.selected,
        focused: element.focused,
        clickable: element.takes_taps || element.kind == "Slider",
        visible: element.unclipped.unwrap_or_else(|| pixels(&element.frame)).sides(),
        told: around(&element.frame),
        drawn_at: element.drawn_at,
        level: None,
        datum: element.datum.clone(),
    }
}

fn pixels(frame: &Frame) -> Rect {
    let px = |points: f64| (points * f64::from(SCALE)).round() as i32;
    Rect::new(px(frame.x), px(frame.y), px(frame.x + frame.width), px(frame.y + frame.height))
}

fn rounded(frame: &Frame) -> (i32, i32, i32, i32) {
    let edge = |points: f64| points.round() as i32;
    (edge(frame.x), edge(frame.y), edge(frame.x + frame.width), edge(frame.y + frame.height))
}

/// The whole points around a frame.
fn around(frame: &Frame) -> (i32, i32, i32, i32) {
    let (right, bottom) = (frame.x + frame.width, frame.y + frame.height);
    (frame.x.floor() as i32, frame.y.floor() as i32, right.ceil() as i32, bottom.ceil() as i32)
}
