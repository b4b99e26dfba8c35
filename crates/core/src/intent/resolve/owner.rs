//! Finds the element that takes the tap meant for another element.

use crate::intent::actionable::inner_indexes;
use crate::intent::resolve::Reason;
use crate::meaning::semantics;
use crate::screen::geometry::Rect;
use crate::screen::reading::ScreenReading;
use crate::screen::snapshot::Platform;

/// Levels up the tree; a label deeper inside a row belongs to something else.
const ANCESTORS_MAX: usize = 20;
/// Elements after the target, in document order, that are searched for one that lies over it.
const IN_FRONT_MAX: usize = 64;

/// Returns the element that takes the tap, with the reason if it is not the element itself. `None` when the tree does
/// not say that anything there reacts to taps.
pub fn owner(reading: &ScreenReading, index: u32) -> Option<(u32, Option<Reason>)> {
    if let Some(target) = adjustable(reading, index) {
        return Some((target, (target != index).then_some(Reason::AdjustableNode)));
    }
    if takes_taps(reading, index) {
        return Some((index, None));
    }
    let above = ancestor(reading, index);
    if let Some(inside) = sole_inside(reading, index, above.is_some()) {
        return Some((inside, Some(Reason::ControlInside)));
    }
    above
        .map(|above| (above, Some(Reason::ClickableParent)))
        .or_else(|| in_front(reading, index).map(|front| (front, Some(Reason::ControlInFront))))
}

fn takes_taps(reading: &ScreenReading, index: u32) -> bool {
    let element = reading.element(index);
    let disabled_control = element.role.is_control() && element.state.enabled == Some(false);
    element.is_tappable() || element.affordances.adjustable || disabled_control
}

/// The control's own node, if it is adjusted rather than tapped; never an ancestor (AC-07).
fn adjustable(reading: &ScreenReading, index: u32) -> Option<u32> {
    let control = semantics::control(&reading.snapshot, index as usize)?;
    control.kind.adjustable().then_some(control.target)
}

/// The nearest tappable ancestor. A disabled one counts too: Compose and React Native report disabled buttons as not
/// clickable.
fn ancestor(reading: &ScreenReading, index: u32) -> Option<u32> {
    let mut at = index;
    for _ in 0..ANCESTORS_MAX {
        let parent = reading.element(at).parent.filter(|parent| *parent < at)?;
        let element = reading.element(parent);
        // iOS reports whole pages as disabled although their buttons work.
        let counts = element.role.is_control() || reading.snapshot.platform == Platform::Android;
        let off = element.state.enabled == Some(false) && counts;
        if element.is_tappable() || (off && !is_ground(reading, parent, index)) {
            return Some(parent);
        }
        if element.affordances.scrollable {
            return None;
        }
        at = parent;
    }
    None
}

/// True if `around` is a tappable background: nearly as large as the screen, there to close a keyboard. Two texts on it
/// are two places.
pub(super) fn is_ground(reading: &ScreenReading, around: u32, index: u32) -> bool {
    let (Some(around), Some(rect)) = (visible(reading, around), visible(reading, index)) else {
        return false;
    };
    let screen = reading.snapshot.size.rect();
    let screen = if screen.is_empty() { visible(reading, 0).unwrap_or(around) } else { screen };
    area(around) * 10 >= area(screen) * 4 && area(rect) * 2 < area(around)
}

/// The only control inside a wrapper.
fn sole_inside(reading: &ScreenReading, index: u32, has_ancestor: bool) -> Option<u32> {
    let inner = inner_indexes(reading, index);
    let &[only] = &inner[..] else { return None };
    if !reading.element(only).is_tappable() {
        return None;
    }
    let (rect, inside) = (visible(reading, index)?, visible(reading, only)?);
    (!has_ancestor || inside.contains(rect.center())).then_some(only)
}

/// A tappable sibling over the element: some apps draw the content and the tap area as separate elements.
fn in_front(reading: &ScreenReading, index: u32) -> Option<u32> {
    let rect = visible(reading, index)?;
    let after = reading.range(index).end..reading.nodes.len() as u32;
    let near = |other: &u32| reading.element(*other).is_tappable() && !is_ground(reading, *other, index);
    after.take(IN_FRONT_MAX).filter(near).find(|other| {
        let over = visible(reading, *other);
        over.is_some_and(|over| over.intersection(rect) == Some(rect))
    })
}

fn visible(reading: &ScreenReading, index: u32) -> Option<Rect> {
    reading.nodes.get(index as usize)?.visible
}

/// Hostile trees have bounds so large that ten times their area does not fit into 64 bits.
pub(super) fn area(rect: Rect) -> i128 {
    i128::from(rect.width()) * i128::from(rect.height())
}

/// True if each fills at least 80 % of the other.
pub(super) fn same_place(reading: &ScreenReading, a: u32, b: u32) -> bool {
    let (Some(a), Some(b)) = (visible(reading, a), visible(reading, b)) else { return false };
    let common = a.intersection(b).map_or(0, area);
    common * 10 >= area(a) * 8 && common * 10 >= area(b) * 8
}
