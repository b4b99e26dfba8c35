//! Recognises sliders, ratings and other adjustable elements.

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
    let name = label::sibling(snapshot, index);
    control.parts.label = name.map(|name| name.index);
    control.parts.value = name
        .and_then(|name| value_after(snapshot, index, name.index as usize))
        .or_else(|| value_after(snapshot, index, index));
    control
}

/// Finds the text that shows a slider's value. It follows `before`, which is the name or the slider, on the same line.
fn value_after(snapshot: &Snapshot, slider: usize, before: usize) -> Option<u32> {
    let parent = snapshot.elements[before].parent?;
    let line = snapshot.elements[before].bounds;
    let mut next = snapshot.elements[before].end as usize;
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

/// Recognises an element that the platform reports as adjustable.
pub(super) fn reported(element: &Element, index: usize) -> Option<Control> {
    let reported = element.affordances.adjustable;
    reported.then(|| Control::new(ControlKind::CustomAdjustable, Reason::PlatformAdjustable, index))
}

/// Recognises a slider drawn by the app itself: it has no role, but is focusable and wide, and its text is a value.
pub(super) fn unnamed_slider(snapshot: &Snapshot, index: usize, element: &Element) -> Option<Control> {
    let can = element.affordances;
    let shape = element.role == Role::Unknown && can.focusable && !can.clickable && !can.checkable;
    if !shape || element.password || !is_wide(snapshot, element) {
        return None;
    }
    let words = element.text.as_deref().or(element.description.as_deref())?;
    let reading = value::read_description(words)?;
    let name = label::any_sibling(snapshot, index);
    let sure = matches!(reading.unit, Unit::Percent | Unit::Of(_)) || name.is_some();
    if !sure || has_similar_text_sibling(snapshot, index, element) {
        return None;
    }
    let mut control = Control::new(ControlKind::CustomAdjustable, Reason::WideLeafWithValue, index);
    control.parts.label = name.map(|name| name.index);
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

/// True if a sibling with the same class and affordances is a plain text. In a Flutter tree every text is such a leaf,
/// so a text that is a value is no evidence of a slider.
fn has_similar_text_sibling(snapshot: &Snapshot, index: usize, element: &Element) -> bool {
    let Some(parent) = element.parent else { return false };
    let is_similar = |sibling: usize| {
        let other = &snapshot.elements[sibling];
        sibling != index
            && other.class == element.class
            && other.affordances == element.affordances
            && label::own_words(other).is_some_and(|words| value::read_description(words).is_none())
    };
    snapshot.children(parent as usize).take(SIBLINGS_MAX).any(is_similar)
}

/// Siblings that are compared with a part of a rating.
const SIBLINGS_MAX: usize = 64;
