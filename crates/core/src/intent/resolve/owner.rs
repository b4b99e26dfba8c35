//! Finds the element that takes the tap meant for another element.

use crate::intent::actionable::inner_indexes;
use crate::intent::resolve::Reason;
use crate::meaning::{role, semantics};
use crate::screen::element::Role;
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
    let above = ancestor(reading, index);
    if takes_taps(reading, index) {
        let target = passed_on(reading, index);
        return Some((target, (target != index).then_some(Reason::ClickableParent)));
    }
    if let Some(inside) = sole_inside(reading, index, above.is_some()) {
        return Some((inside, Some(Reason::ControlInside)));
    }
    above
        .map(|above| (passed_on(reading, above), Some(Reason::ClickableParent)))
        .or_else(|| in_front(reading, index).map(|front| (front, Some(Reason::ControlInFront))))
        .or_else(|| behind(reading, index).map(|behind| (behind, Some(Reason::ControlBehind))))
}

/// True if the tree says that the element only shows something: a text of the platform's own kind, with nothing that
/// reacts around it, in it or at its place. Entries of lists and web pages react without saying so, and so do elements
/// of other roles. iOS does not say what reacts: people do tap its plain texts.
pub fn is_static(reading: &ScreenReading, index: u32) -> bool {
    let element = reading.element(index);
    let can = element.affordances;
    let plain = matches!(role::in_context(&reading.snapshot, index as usize), Role::Text | Role::Heading)
        && !(can.clickable || can.long_clickable || can.focusable || can.checkable || can.scrollable)
        && element.state.selected != Some(true);
    plain
        && reading.snapshot.platform == Platform::Android
        && owner(reading, index).is_none()
        && !is_in_collection(reading, index)
}

fn is_in_collection(reading: &ScreenReading, index: u32) -> bool {
    let up = |index: &u32| reading.element(*index).parent.filter(|parent| parent < index);
    std::iter::successors(up(&index), up)
        .take(LEVELS_MAX)
        .any(|above| matches!(reading.element(above).role, Role::List | Role::WebView))
}

/// Levels up the tree that are searched for a list or a web page.
const LEVELS_MAX: usize = 64;
/// Elements before and after one that are searched for the nearest that reacts.
const NEIGHBOURS_MAX: usize = 200;

/// Returns the nearest visible tappable element. One on the same line is nearer than one above or below.
pub fn nearest_target(reading: &ScreenReading, index: u32) -> Option<u32> {
    let from = visible(reading, index)?;
    let near = index.saturating_sub(NEIGHBOURS_MAX as u32)..reading.nodes.len() as u32;
    let targets = near.take(2 * NEIGHBOURS_MAX).filter(|other| reading.element(*other).is_tappable());
    let gap = |a: (i32, i32), b: (i32, i32)| {
        (i64::from(b.0) - i64::from(a.1)).max(i64::from(a.0) - i64::from(b.1)).max(0)
    };
    let distance = |rect: Rect| {
        let across = gap((from.left, from.right), (rect.left, rect.right));
        across + 2 * gap((from.top, from.bottom), (rect.top, rect.bottom))
    };
    let placed = targets.filter_map(|other| Some((distance(visible(reading, other)?), other)));
    placed.min().map(|(_, nearest)| nearest)
}

/// Follows taps that a disabled control of iOS lets through to the row around it.
fn passed_on(reading: &ScreenReading, index: u32) -> u32 {
    ancestor(reading, index).filter(|above| passes_taps_on(reading, index, *above)).unwrap_or(index)
}

fn takes_taps(reading: &ScreenReading, index: u32) -> bool {
    let element = reading.element(index);
    let disabled_control = element.role.is_control() && element.state.enabled == Some(false);
    element.is_tappable() || element.affordances.adjustable || disabled_control
}

/// True if a tap on a disabled element goes to the enabled row around it. iOS does so; on Android a disabled button keeps
/// the tap.
fn passes_taps_on(reading: &ScreenReading, index: u32, above: u32) -> bool {
    let enabled = |index: u32| reading.element(index).state.enabled != Some(false);
    reading.snapshot.platform == Platform::Ios && !enabled(index) && enabled(above)
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
        // A list that takes long presses does not take the taps on its rows (F85).
        let long_only = element.affordances.scrollable && !element.affordances.clickable;
        if (element.is_tappable() && !long_only) || (off && !is_ground(reading, parent, index)) {
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

/// A tappable element below a text: the text lets the tap through. Its sibling, or its parent's: a background.
fn behind(reading: &ScreenReading, index: u32) -> Option<u32> {
    let rect = visible(reading, index)?;
    let first = index.saturating_sub(IN_FRONT_MAX as u32);
    let near = |other: &u32| {
        let element = reading.element(*other);
        let beside = !element.affordances.scrollable && !reading.range(*other).contains(&index);
        beside && element.is_tappable() && !is_ground(reading, *other, index)
    };
    (first..index).rev().filter(near).find(|other| {
        let around = visible(reading, *other);
        around.is_some_and(|around| around.intersection(rect) == Some(rect))
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
