//! Recognises a name with its switch, check box or radio button.

use crate::meaning::label;
use crate::screen::element::{Element, Role};
use crate::screen::snapshot::Snapshot;

use super::{Control, ControlKind, Reason, end_of};

/// A larger row is a part of the screen.
const ROW_ELEMENTS_MAX: usize = 24;

pub(crate) fn is_toggle(role: Role) -> bool {
    matches!(role, Role::Switch | Role::Checkbox | Role::Radio)
}

/// Recognises the smallest element that holds a name, exactly one toggle, and no other control.
pub(super) fn row(snapshot: &Snapshot, index: usize) -> Option<Control> {
    let element = &snapshot.elements[index];
    // An element with its own checked state is not a row around a toggle.
    if element.state.checked.is_some() {
        return None;
    }
    let toggle = only_toggle(snapshot, index)?;
    let name = if element.is_tappable() {
        label::own_words(element).map(|_| index).or_else(|| text_outside(snapshot, index, toggle))?
    } else {
        let sibling = label::sibling(snapshot, toggle)?.index as usize;
        let branch = branch_of(snapshot, index, toggle)?;
        let holds = |at: usize| (at..end_of(snapshot, at)).contains(&sibling);
        Some(sibling).filter(|_| holds(index) && !holds(branch))?
    };
    let target = tap_target(snapshot, index, toggle);
    let mut control = Control::new(ControlKind::ToggleRow, Reason::NameBesideToggle, target);
    control.parts.label = Some(name as u32);
    control.parts.toggle = Some(toggle as u32);
    Some(control)
}

/// Returns the only toggle inside, if there is no other control inside.
fn only_toggle(snapshot: &Snapshot, index: usize) -> Option<usize> {
    let end = end_of(snapshot, index);
    if end <= index + 1 || end - index > ROW_ELEMENTS_MAX {
        return None;
    }
    let inner = snapshot.elements.get(index + 1..end)?;
    let at = inner.iter().position(|element| is_toggle(element.role))?;
    let toggle = index + 1 + at;
    let of_toggle = toggle..end_of(snapshot, toggle);
    let wraps_toggle = |at: usize, element: &Element| {
        index + 1 + at <= toggle && toggle < element.end as usize && label::own_words(element).is_none()
    };
    let alone = inner.iter().enumerate().all(|(other, element)| {
        of_toggle.contains(&(index + 1 + other))
            || !(element.is_tappable() || element.role.is_control() || element.affordances.scrollable)
            || wraps_toggle(other, element)
    });
    // SwiftUI puts the switch that handles the tap inside one that is as wide as the row.
    let nested = |toggle: usize| {
        let inner = Some(toggle + 1).filter(|&inner| inner < end_of(snapshot, toggle))?;
        is_toggle(snapshot.elements[inner].role).then_some(inner)
    };
    alone.then(|| nested(toggle).unwrap_or(toggle))
}

/// Finds the first text in the row that is outside the toggle.
fn text_outside(snapshot: &Snapshot, index: usize, toggle: usize) -> Option<usize> {
    let of_toggle = toggle..end_of(snapshot, toggle);
    let mut outside = (index + 1..end_of(snapshot, index)).filter(|inner| !of_toggle.contains(inner));
    outside.find(|&inner| label::own_words(&snapshot.elements[inner]).is_some())
}

/// Returns the child of `row` that holds the toggle.
fn branch_of(snapshot: &Snapshot, row: usize, toggle: usize) -> Option<usize> {
    let mut current = toggle;
    loop {
        let parent = snapshot.elements[current].parent? as usize;
        if parent == row {
            return Some(current);
        }
        current = Some(parent).filter(|&parent| parent > row && parent < current)?;
    }
}

/// Returns the innermost tappable element from the toggle up to the row. If both are tappable, the row often opens a
/// page of its own.
fn tap_target(snapshot: &Snapshot, row: usize, toggle: usize) -> usize {
    let mut current = toggle;
    while current >= row {
        let element = &snapshot.elements[current];
        if element.is_tappable() {
            return current;
        }
        match element.parent {
            Some(parent) if (parent as usize) < current => current = parent as usize,
            _ => break,
        }
    }
    toggle
}
