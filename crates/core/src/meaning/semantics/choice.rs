//! Recognises groups with one chosen option: segments, tabs, radio buttons.

use std::sync::Arc;

use crate::meaning::label;
use crate::screen::element::{Element, Role};
use crate::screen::geometry::Rect;
use crate::screen::snapshot::Snapshot;

use super::{Control, ControlKind, OPTIONS_MAX, Reason, end_of, is_selected};

/// A larger radio group is a list.
const GROUP_ELEMENTS_MAX: usize = 128;

pub(super) fn by_class(snapshot: &Snapshot, index: usize) -> Control {
    let mut control = Control::new(ControlKind::SegmentedControl, Reason::Class, index);
    control.parts.options = snapshot.children(index).take(OPTIONS_MAX).map(|child| child as u32).collect();
    control
}

/// Recognises children of one class in a row (or in a narrow column), one of them selected. Other children may only be
/// decoration.
pub(super) fn options_in_row(snapshot: &Snapshot, index: usize) -> Option<Control> {
    let parent = &snapshot.elements[index];
    if parent.role == Role::List {
        return None;
    }
    let mut options: Vec<u32> = Vec::new();
    let mut class: Option<&Arc<str>> = None;
    for child in snapshot.children(index) {
        let element = &snapshot.elements[child];
        let selected = is_selected(snapshot, child);
        if !(element.is_tappable() || selected) {
            let is_decoration = label::own_words(element).is_none() && element.end as usize == child + 1;
            if is_decoration {
                continue;
            }
            return None;
        }
        if class.is_some_and(|class| *class != element.class) || element.affordances.checkable {
            return None;
        }
        class = Some(&element.class);
        options.push(child as u32);
    }
    if options.len() < 2 {
        return None;
    }
    let bounds = |option: &u32| snapshot.elements[*option as usize].bounds;
    let in_row = options.windows(2).all(|pair| follows(bounds(&pair[0]), bounds(&pair[1])));
    if !in_row && !is_rail(snapshot, parent, &options) {
        return None;
    }
    let tabs =
        !in_row || spans_screen(snapshot, parent) || options.iter().any(|option| is_tab(snapshot, *option));
    let kind = if tabs { ControlKind::TabRow } else { ControlKind::SegmentedControl };
    let mut control = Control::new(kind, Reason::OneOfSeveralSelected, index);
    control.parts.options = options;
    Some(control)
}

/// True if `a` and `b` are neighbours on one line, in either writing direction, with at most a small gap.
fn follows(a: Rect, b: Rect) -> bool {
    let height = a.height().max(b.height());
    let level = a.top.abs_diff(b.top).max(a.bottom.abs_diff(b.bottom));
    let gap = (b.left.saturating_sub(a.right)).max(a.left.saturating_sub(b.right));
    height > 0 && level <= height.unsigned_abs() / 2 && gap >= -height / 4 && gap <= height
}

/// True for a navigation rail: a narrow column of destinations at the side of the screen.
fn is_rail(snapshot: &Snapshot, parent: &Element, options: &[u32]) -> bool {
    let bounds = |option: u32| snapshot.elements[option as usize].bounds;
    let column = options.windows(2).all(|pair| {
        let (a, b) = (bounds(pair[0]), bounds(pair[1]));
        a.left == b.left && a.right == b.right && b.top >= a.bottom
    });
    let narrow = i64::from(parent.bounds.width()) * 4 <= i64::from(screen_width(snapshot));
    column && narrow && options.len() >= 3
}

fn spans_screen(snapshot: &Snapshot, parent: &Element) -> bool {
    let screen = i64::from(screen_width(snapshot));
    screen > 0 && i64::from(parent.bounds.width()) * 10 >= screen * 9
}

fn screen_width(snapshot: &Snapshot) -> i32 {
    let screen = snapshot.size.rect().width();
    if screen > 0 { screen } else { snapshot.elements.first().map_or(0, |root| root.bounds.width()) }
}

fn is_tab(snapshot: &Snapshot, option: u32) -> bool {
    let element = &snapshot.elements[option as usize];
    element.role == Role::Tab || super::id_contains_word(element, &["tab"])
}

/// Recognises radio buttons in one group, each a direct child or in a row of its own.
pub(super) fn radio_group(snapshot: &Snapshot, index: usize) -> Option<Control> {
    let end = end_of(snapshot, index);
    if end - index > GROUP_ELEMENTS_MAX {
        return None;
    }
    let inner = snapshot.elements.get(index + 1..end)?;
    let radios = inner.iter().enumerate().filter(|(_, element)| element.role == Role::Radio);
    let options: Vec<u32> = radios.map(|(at, _)| (index + 1 + at) as u32).collect();
    let checked = options.iter().filter(|&&option| {
        let state = snapshot.elements[option as usize].state;
        state.checked.or(state.selected) == Some(true)
    });
    if options.len() < 2 || options.len() > OPTIONS_MAX || checked.count() > 1 {
        return None;
    }
    // Unless the class is a radio group, it may hold no other controls.
    let holds_option =
        |at: usize| options.iter().any(|&option| (at..end_of(snapshot, at)).contains(&(option as usize)));
    let foreign = |at: usize, element: &Element| {
        (element.is_tappable() || element.role.is_control()) && !holds_option(index + 1 + at)
    };
    let is_group_class = snapshot.elements[index].class.ends_with("RadioGroup");
    if !is_group_class && inner.iter().enumerate().any(|(at, element)| foreign(at, element)) {
        return None;
    }
    let mut control = Control::new(ControlKind::RadioGroup, Reason::RadiosInOneGroup, index);
    control.parts.options = options;
    Some(control)
}
