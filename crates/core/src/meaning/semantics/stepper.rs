//! Recognises a value with a button that lowers it and one that raises it.

use crate::meaning::{label, value};
use crate::screen::element::{Element, Role};
use crate::screen::snapshot::Snapshot;

use super::{Control, ControlKind, Reason, end_of, id_contains_word};

#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Step {
    Down,
    Up,
}

/// A larger subtree is a part of the screen, not a stepper.
const ELEMENTS_MAX: usize = 16;
/// Elements before and after the stepper that are searched for a value on another layer.
const LAYER_ELEMENTS_MAX: usize = 16;

/// Builds a stepper from a node with the class of a stepper or number picker. Its buttons are among its descendants.
pub(super) fn by_class(snapshot: &Snapshot, index: usize) -> Control {
    let mut control = Control::new(ControlKind::Stepper, Reason::Class, index);
    let end = end_of(snapshot, index).min(index + ELEMENTS_MAX);
    for inner in index + 1..end {
        let element = &snapshot.elements[inner];
        match step(element, true) {
            Some(Step::Down) => control.parts.decrease = control.parts.decrease.or(Some(inner as u32)),
            Some(Step::Up) => control.parts.increase = control.parts.increase.or(Some(inner as u32)),
            None if element.role == Role::TextField => control.parts.value = Some(inner as u32),
            None => {}
        }
    }
    control.parts.label = label::sibling(snapshot, index).map(|text| text.index);
    control
}

/// Recognises minus, value and plus inside a container, in any wrapping.
pub(super) fn by_structure(snapshot: &Snapshot, index: usize) -> Option<Control> {
    let end = end_of(snapshot, index);
    if end - index > ELEMENTS_MAX {
        return None;
    }
    let (mut down, mut up, mut value, mut others) = (None, None, None, 0);
    for inner in index + 1..end {
        let element = &snapshot.elements[inner];
        if element.is_tappable()
            && let Some(step) = step(element, false).or_else(|| step_of_child(snapshot, inner))
        {
            let slot = if step == Step::Down { &mut down } else { &mut up };
            if slot.is_some() {
                return None;
            }
            *slot = Some(inner);
        } else if shows_value(element) && value.is_none() {
            value = Some(inner);
        } else if element.is_tappable() || label::own_words(element).is_some() {
            others += 1;
        }
    }
    let (down, up) = (down?, up?);
    let value = value.or_else(|| value_on_other_layer(snapshot, index, down, up));
    // Allowed besides the value: the words inside the two buttons, and a name or a tappable middle.
    if others > 3 || (value.is_none() && others > 1) {
        return None;
    }
    let mut control = Control::new(ControlKind::Stepper, Reason::MinusValuePlus, index);
    control.parts.decrease = Some(down as u32);
    control.parts.increase = Some(up as u32);
    control.parts.value = value.map(|value| value as u32);
    control.parts.label = name(snapshot, index, down, up, value);
    Some(control)
}

fn shows_value(element: &Element) -> bool {
    let text = match element.role {
        Role::TextField => element.text.as_deref().filter(|_| !element.password),
        _ => label::own_words(element),
    };
    text.is_some_and(|text| value::read(text).is_some())
}

/// Finds the value in apps that draw the control on one layer and put empty tappable views over it.
fn value_on_other_layer(snapshot: &Snapshot, index: usize, down: usize, up: usize) -> Option<usize> {
    let (a, b) = (snapshot.elements[down].bounds, snapshot.elements[up].bounds);
    let area = snapshot.elements[index].bounds;
    let (left, right) = (a.right.min(b.right), a.left.max(b.left));
    let end = end_of(snapshot, index);
    let near = (index.saturating_sub(LAYER_ELEMENTS_MAX)..index)
        .chain(end..end.saturating_add(LAYER_ELEMENTS_MAX).min(snapshot.elements.len()));
    let mut between = near.filter(|&other| {
        let element = &snapshot.elements[other];
        let center = element.bounds.center();
        area.contains(center) && center.x >= left && center.x < right && shows_value(element)
    });
    let only = between.next()?;
    between.next().is_none().then_some(only)
}

/// Finds the stepper's name: a text inside that is neither the value nor on a button, else a sibling text.
fn name(snapshot: &Snapshot, index: usize, down: usize, up: usize, value: Option<usize>) -> Option<u32> {
    let end = end_of(snapshot, index);
    let on_button =
        |inner: usize| [down, up].iter().any(|&button| (button..end_of(snapshot, button)).contains(&inner));
    let inside = (index + 1..end).find(|&inner| {
        let element = &snapshot.elements[inner];
        Some(inner) != value
            && !on_button(inner)
            && !element.is_tappable()
            && label::own_words(element).is_some_and(|words| value::read(words).is_none())
    });
    inside.map(|inner| inner as u32).or_else(|| label::any_sibling(snapshot, index).map(|text| text.index))
}

/// Reads the direction from the text of the only child.
fn step_of_child(snapshot: &Snapshot, index: usize) -> Option<Step> {
    let inner = snapshot.elements.get(index + 1).filter(|_| end_of(snapshot, index) == index + 2)?;
    label::own_words(&snapshot.elements[index]).is_none().then(|| step(inner, false)).flatten()
}

/// Reads the direction of a button. Words such as "Add" and "Remove" count only `inside` a node with a stepper class,
/// because elsewhere they can mean anything.
fn step(element: &Element, inside: bool) -> Option<Step> {
    if let Some(words) = label::own_words(element) {
        let first = words.split(|c: char| c.is_whitespace() || c == ',').next().unwrap_or(words);
        let is = |list: &[&str]| list.iter().any(|word| first.eq_ignore_ascii_case(word));
        if is(&DOWN_WORDS) || (inside && is(&["remove", "previous", "less"])) {
            return Some(Step::Down);
        }
        if is(&UP_WORDS) || (inside && is(&["add", "next", "more"])) {
            return Some(Step::Up);
        }
    }
    if element.role != Role::Button && !element.is_tappable() {
        return None;
    }
    if id_contains_word(element, &DOWN_IDS) {
        return Some(Step::Down);
    }
    id_contains_word(element, &UP_IDS).then_some(Step::Up)
}

const DOWN_WORDS: [&str; 8] = ["-", "−", "–", "—", "minus", "decrease", "decrement", "reduce"];
const UP_WORDS: [&str; 5] = ["+", "＋", "plus", "increase", "increment"];
const DOWN_IDS: [&str; 6] = ["minus", "decrease", "decrement", "dec", "subtract", "reduce"];
const UP_IDS: [&str; 4] = ["plus", "increase", "increment", "inc"];
