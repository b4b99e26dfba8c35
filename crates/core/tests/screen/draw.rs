//! Parses screens written as text: one element per line, indented by its depth.
//!
//! `button "Log in" #login tap @0,100,200,40 on disabled focused selected scrolls list hidden`

use mdm_core::screen::element::{Element, Role};
use mdm_core::screen::geometry::{Rect, Size};
use mdm_core::screen::snapshot::{Screen, Snapshot};

pub fn screen(lines: &str) -> Snapshot {
    let mut elements: Vec<Element> = Vec::new();
    for line in lines.lines().filter(|line| !line.trim().is_empty()) {
        let indent = line.len() - line.trim_start().len();
        elements.push(element(line.trim(), (indent / 2) as u16));
    }
    let shallowest = elements.iter().map(|e| e.depth).min().unwrap_or(0);
    for (row, element) in elements.iter_mut().enumerate() {
        element.depth -= shallowest;
        if element.bounds == Rect::default() {
            element.bounds = Rect::new(0, row as i32 * 40, 400, row as i32 * 40 + 40);
        }
    }
    mdm_core::screen::nesting::set_parents_and_ends(&mut elements);
    let size = Size { width: 400, height: 4000 };
    Snapshot { elements, size, ..Snapshot::default() }
}

pub fn screen_of(activity: &str, lines: &str) -> Snapshot {
    let named = Screen { app: "com.app".into(), name: Some(activity.into()) };
    Snapshot { screen: Some(named), ..screen(lines) }
}

fn element(line: &str, depth: u16) -> Element {
    let (before, rest) = line.split_once('"').unwrap_or((line, ""));
    let (text, after) = rest.split_once('"').map_or((None, ""), |(text, after)| (Some(text), after));
    let mut element = Element { depth, text: text.map(Into::into), ..Element::default() };
    element.state.enabled = Some(true);
    for word in before.split_whitespace().chain(after.split_whitespace()) {
        apply_word(&mut element, word);
    }
    element
}

fn apply_word(element: &mut Element, word: &str) {
    if let Some(id) = word.strip_prefix('#') {
        element.stable_id = Some(id.into());
    } else if let Some(numbers) = word.strip_prefix('@') {
        let n: Vec<i32> = numbers.split(',').map(|n| n.parse().expect("a number")).collect();
        element.bounds = Rect::new(n[0], n[1], n[0] + n[2], n[1] + n[3]);
    } else {
        flag(element, word);
    }
}

fn flag(element: &mut Element, word: &str) {
    match word {
        "tap" => element.affordances.clickable = true,
        "scrolls" => element.affordances.scrollable = true,
        "on" => element.state.checked = Some(true),
        "off" => element.state.checked = Some(false),
        "disabled" => element.state.enabled = Some(false),
        "focused" => element.state.focused = Some(true),
        "selected" => element.state.selected = Some(true),
        class => {
            element.class = class.into();
            element.role = match class {
                "button" => Role::Button,
                "text" => Role::Text,
                "field" => Role::TextField,
                "switch" => Role::Switch,
                "list" => Role::List,
                "box" => Role::Container,
                other => panic!("no such word: {other}"),
            };
        }
    }
}
