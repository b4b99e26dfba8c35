//! Sliders, ratings, and what can be adjusted without being called one.

use crate::meaning::label;
use crate::meaning::value::{self, Unit};
use crate::screen::element::{Element, Role};
use crate::screen::snapshot::Snapshot;

use super::{Control, ControlKind, Reason};

pub(super) fn slider(snapshot: &Snapshot, index: usize) -> Control {
    let element = &snapshot.elements[index];
    let rating = element.class.ends_with("RatingBar") || element.class.ends_with("RatingIndicator");
    let kind = if rating { ControlKind::Rating } else { ControlKind::Slider };
    let mut control = Control::new(kind, Reason::Class, index);
    let beside = label::sibling(snapshot, index);
    control.parts.label = beside.map(|beside| beside.index);
    control.parts.value = beside
        .and_then(|beside| value_beside(snapshot, index, beside.index as usize))
        .or_else(|| value_beside(snapshot, index, index));
    control
}

/// The text that shows a slider's value in its own unit stands behind its `name`, or behind the slider itself.
fn value_beside(snapshot: &Snapshot, slider: usize, name: usize) -> Option<u32> {
    let parent = snapshot.elements[name].parent?;
    let line = snapshot.elements[name].bounds;
    let mut next = snapshot.elements[name].end as usize;
    for _ in 0..2 {
        let other = snapshot.elements.get(next).filter(|other| other.parent == Some(parent))?;
        let level = other.bounds.center().y;
        let same_line = level > line.top && level < line.bottom && other.bounds.left >= line.right;
        let shown = label::own_words(other).filter(|_| next != slider && !other.is_tappable());
        if same_line && shown.is_some_and(|words| value::read(words).is_some()) {
            return Some(next as u32);
        }
        next = (other.end as usize).max(next + 1);
    }
    None
}

/// The platform's word is enough.
pub(super) fn stated(element: &Element, index: usize) -> Option<Control> {
    let stated = element.affordances.adjustable;
    stated.then(|| Control::new(ControlKind::CustomAdjustable, Reason::PlatformAdjustable, index))
}

/// A slider drawn by the app itself: nothing names it, but it takes the focus, is wide, and reads as a value.
pub(super) fn bare(snapshot: &Snapshot, index: usize, element: &Element) -> Option<Control> {
    let can = element.affordances;
    let shape = element.role == Role::Unknown && can.focusable && !can.clickable && !can.checkable;
    if !shape || element.password || !is_wide(snapshot, element) {
        return None;
    }
    let words = element.text.as_deref().or(element.description.as_deref())?;
    let reading = value::read_description(words)?;
    let beside = label::sibling_of_value(snapshot, index);
    let sure = matches!(reading.unit, Unit::Percent | Unit::Of(_)) || beside.is_some();
    if !sure || speaks_like_its_siblings(snapshot, index, element) {
        return None;
    }
    let mut control = Control::new(ControlKind::CustomAdjustable, Reason::WideLeafWithValue, index);
    control.parts.label = beside.map(|beside| beside.index);
    Some(control)
}

fn is_wide(snapshot: &Snapshot, element: &Element) -> bool {
    let (width, height) = (i64::from(element.bounds.width()), i64::from(element.bounds.height()));
    let screen = if snapshot.size.width == 0 {
        snapshot.elements.first().map_or(0, |root| i64::from(root.bounds.width()))
    } else {
        i64::from(snapshot.size.width)
    };
    height > 0 && width >= height * 3 && width * 4 >= screen
}

/// In a Flutter tree every text is a focusable leaf of the same class, so a text that is a value says nothing.
fn speaks_like_its_siblings(snapshot: &Snapshot, index: usize, element: &Element) -> bool {
    let Some(parent) = element.parent else { return false };
    let like_it = |sibling: usize| {
        let other = &snapshot.elements[sibling];
        sibling != index
            && other.class == element.class
            && other.affordances == element.affordances
            && label::own_words(other).is_some_and(|words| value::read_description(words).is_none())
    };
    snapshot.children(parent as usize).take(SIBLINGS_MAX).any(like_it)
}

const SIBLINGS_MAX: usize = 64;
