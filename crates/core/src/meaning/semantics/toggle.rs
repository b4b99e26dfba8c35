//! A name with the switch, check box or radio button that belongs to it.

use crate::meaning::label;
use crate::screen::element::{Element, Role};
use crate::screen::snapshot::Snapshot;

use super::{Control, ControlKind, Reason, end_of};

/// A row with more elements is a part of the screen.
const ROW_ELEMENTS_MAX: usize = 24;

pub(crate) fn is_toggle(role: Role) -> bool {
    matches!(role, Role::Switch | Role::Checkbox | Role::Radio)
}

/// The smallest element that holds a name and exactly one toggle, and nothing else that is operated.
pub(super) fn row(snapshot: &Snapshot, index: usize) -> Option<Control> {
    let element = &snapshot.elements[index];
    // What can be checked itself needs no part for it.
    if element.state.checked.is_some() {
        return None;
    }
    let toggle = only_toggle(snapshot, index)?;
    let named = if element.is_tappable() {
        label::own_words(element).map(|_| index).or_else(|| name(snapshot, index, toggle))?
    } else {
        // The smallest element that holds both is the row.
        let beside = label::sibling(snapshot, toggle)?.index as usize;
        let branch = branch_of(snapshot, index, toggle)?;
        let holds = |at: usize| (at..end_of(snapshot, at)).contains(&beside);
        Some(beside).filter(|_| holds(index) && !holds(branch))?
    };
    let target = operated(snapshot, index, toggle);
    let mut control = Control::new(ControlKind::ToggleRow, Reason::NameBesideToggle, target);
    control.parts.label = Some(named as u32);
    control.parts.toggle = Some(toggle as u32);
    Some(control)
}

/// The one switch, check box or radio button inside, where nothing else inside is operated.
pub(crate) fn only_toggle(snapshot: &Snapshot, index: usize) -> Option<usize> {
    let end = end_of(snapshot, index);
    if end <= index + 1 || end - index > ROW_ELEMENTS_MAX {
        return None;
    }
    let inner = snapshot.elements.get(index + 1..end)?;
    let at = inner.iter().position(|element| is_toggle(element.role))?;
    let toggle = index + 1 + at;
    let of_toggle = toggle..end_of(snapshot, toggle);
    let wraps_toggle = |at: usize, element: &Element| {
        index + 1 + at <= toggle && toggle < element.end as usize && own_nothing(element)
    };
    let alone = inner.iter().enumerate().all(|(other, element)| {
        of_toggle.contains(&(index + 1 + other))
            || !(element.is_tappable() || element.role.is_control() || element.affordances.scrollable)
            || wraps_toggle(other, element)
    });
    // SwiftUI puts the switch that takes the tap into one that is as wide as the row.
    let nested = |toggle: usize| {
        let inner = Some(toggle + 1).filter(|&inner| inner < end_of(snapshot, toggle))?;
        is_toggle(snapshot.elements[inner].role).then_some(inner)
    };
    alone.then(|| nested(toggle).unwrap_or(toggle))
}

fn own_nothing(element: &Element) -> bool {
    label::own_words(element).is_none()
}

/// The first text beside the toggle.
fn name(snapshot: &Snapshot, index: usize, toggle: usize) -> Option<usize> {
    let of_toggle = toggle..end_of(snapshot, toggle);
    let mut beside = (index + 1..end_of(snapshot, index)).filter(|inner| !of_toggle.contains(inner));
    beside.find(|&inner| label::own_words(&snapshot.elements[inner]).is_some())
}

/// The child of `row` that holds the toggle.
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

/// The toggle, a tappable wrapper around it, else the row: a row that can be tapped often opens a page of its own
/// when its switch can be tapped too.
fn operated(snapshot: &Snapshot, row: usize, toggle: usize) -> usize {
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
