//! The point at which an element can be tapped, or the reason why it cannot (AC-05, AC-06).

use crate::change::tracker::Observation;
use crate::identity::ElementId;
use crate::meaning::label::{may_act, own_words};
use crate::screen::element::Role;
use crate::screen::geometry::{Point, Rect};
use crate::screen::reading::ScreenReading;
use crate::screen::snapshot::Platform;

/// Tappable elements inside a target that are considered; a screen-wide element may contain thousands.
const INNER_TARGETS_MAX: usize = 64;
/// Elements over one target that are considered.
const COVERS_MAX: usize = 256;
/// Levels up the tree in the search for the common ancestor of two elements.
const LEVELS_MAX: usize = 1000;

/// The check that failed.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum NotActionable {
    /// It is in the tree, but no part of it is on the screen.
    OutOfSight,
    Disabled,
    /// Covered at every point; `by` is the element over its middle.
    Covered {
        by: u32,
    },
    /// It only shows something, and nothing at its place reacts to a tap (F4); `nearest` does.
    Static {
        nearest: Option<u32>,
    },
    /// The confidence is below the limit (AC-04).
    Doubtful {
        confidence: f64,
    },
}

/// Returns a point at which a tap reaches the element, according to the tree.
pub fn check(reading: &ScreenReading, index: u32) -> Result<Point, NotActionable> {
    check_within(reading, index, index)
}

/// Like [`check`], for a tap on `described`, which is inside or around the target.
pub fn check_within(reading: &ScreenReading, target: u32, described: u32) -> Result<Point, NotActionable> {
    find_place(reading, target, described).map(|place| place.point)
}

/// A point at which an element can be tapped.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TapPlace {
    pub point: Point,
    /// An element that may lie in front of it. The tree does not say: the order in which a tree lists elements is not
    /// the order in which they are drawn (F30).
    pub maybe_covered_by: Option<u32>,
}

/// Like [`check_within`], with what may lie in front.
pub fn find_place(reading: &ScreenReading, target: u32, described: u32) -> Result<TapPlace, NotActionable> {
    let rect = place(reading, target, described).ok_or(NotActionable::OutOfSight)?;
    if reading.element(target).state.enabled == Some(false) {
        return Err(NotActionable::Disabled);
    }
    let covers = covers(reading, target, described, rect);
    let inner = inner_rects(reading, target, described);
    let taken = |point: &Point| inner.iter().any(|rect| rect.contains(*point));
    let hit = |point: &Point, least: Sureness| {
        covers.iter().find(|cover| cover.sureness >= least && cover.rect.contains(*point))
    };
    let points = points(rect);
    let free = |least: Sureness| points.iter().find(|point| !taken(point) && hit(point, least).is_none());
    let between = || point_between(rect, &inner).filter(|point| hit(point, Sureness::Doubt).is_none());
    let best = free(Sureness::Possible).copied().or_else(|| free(Sureness::Doubt).copied()).or_else(between);
    let open = || free(Sureness::Certain).copied();
    // If inner controls fill the target, one of them takes the tap, as it would under a finger.
    let any = || points.iter().find(|point| hit(point, Sureness::Certain).is_none()).copied();
    match best.or_else(open).or_else(any) {
        Some(point) => {
            // No point is beside it, so that the target is seen through it, or not at all.
            let maybe = hit(&point, Sureness::Doubt).or_else(|| hit(&point, Sureness::Beside));
            Ok(TapPlace { point, maybe_covered_by: maybe.map(|cover| cover.index) })
        }
        None => {
            let by = hit(&rect.center(), Sureness::Certain).map_or(target, |cover| cover.index);
            Err(NotActionable::Covered { by })
        }
    }
}

/// Inner controls whose edges are tried for a free strip between them.
const STRIP_RECTS_MAX: usize = 16;

/// Finds a point of `rect` outside all of `inner`: the middle of the largest free cell of the grid that their edges
/// make. Without it, a thin free edge around a large inner control would not be found.
fn point_between(rect: Rect, inner: &[Rect]) -> Option<Point> {
    if inner.len() > STRIP_RECTS_MAX {
        return None;
    }
    let edges = |low: i32, high: i32, of: fn(&Rect) -> [i32; 2]| {
        let mut all: Vec<i32> = inner.iter().flat_map(of).filter(|at| *at > low && *at < high).collect();
        all.extend([low, high]);
        all.sort_unstable();
        all.dedup();
        all
    };
    let across = edges(rect.left, rect.right, |rect| [rect.left, rect.right]);
    let down = edges(rect.top, rect.bottom, |rect| [rect.top, rect.bottom]);
    let cells =
        across.windows(2).flat_map(|x| down.windows(2).map(move |y| Rect::new(x[0], y[0], x[1], y[1])));
    let free = cells.filter(|cell| !inner.iter().any(|rect| rect.contains(cell.center())));
    free.max_by_key(|cell| cell.width().min(cell.height())).map(Rect::center)
}

/// The middle of the visible part, or another point when an inner control would take the tap (AC-06). `None` when no
/// part is visible.
pub fn tap_point(reading: &ScreenReading, index: usize) -> Option<Point> {
    let rect = reading.nodes.get(index)?.visible?;
    let inner = inner_targets(reading, index);
    let free = |point: &Point| !inner.iter().any(|rect| rect.contains(*point));
    let point = points(rect).into_iter().find(free).or_else(|| point_between(rect, &inner));
    Some(point.unwrap_or_else(|| rect.center()))
}

/// True if the element has different bounds in the two captures, or is missing in one of them.
pub fn is_moving(before: &Observation, now: &Observation, id: ElementId) -> bool {
    let rect = |seen: &Observation| seen.index_of(id).map(|index| seen.reading.element(index as u32).bounds);
    match (rect(before), rect(now)) {
        (Some(before), Some(now)) => before != now,
        _ => true,
    }
}

/// The visible parts of the outermost tappable or scrollable elements inside.
pub(crate) fn inner_targets(reading: &ScreenReading, index: usize) -> Vec<Rect> {
    let inside = inner_indexes(reading, index as u32);
    inside.into_iter().filter_map(|inner| reading.nodes[inner as usize].visible).collect()
}

pub(crate) fn inner_indexes(reading: &ScreenReading, index: u32) -> Vec<u32> {
    let range = reading.range(index);
    let mut found = Vec::new();
    let mut next = index + 1;
    while next < range.end && found.len() < INNER_TARGETS_MAX {
        let element = reading.element(next);
        if element.is_tappable() || element.affordances.scrollable {
            if reading.nodes[next as usize].visible.is_some() {
                found.push(next);
            }
            next = element.end.max(next + 1);
        } else {
            next += 1;
        }
    }
    found
}

/// Controls inside the target that would take a tap meant for the target or its described part.
fn inner_rects(reading: &ScreenReading, target: u32, described: u32) -> Vec<Rect> {
    let inside = inner_indexes(reading, target);
    let others = inside.into_iter().filter(|inner| !reading.range(*inner).contains(&described));
    others.filter_map(|inner| reading.nodes[inner as usize].visible).collect()
}

/// Where to tap: on the described part when it lies on the target, else anywhere on the target.
fn place(reading: &ScreenReading, target: u32, described: u32) -> Option<Rect> {
    let visible = |index: u32| reading.nodes.get(index as usize)?.visible;
    let whole = visible(target)?;
    let part = visible(described)?;
    Some(part.intersection(whole).unwrap_or(whole))
}

/// How sure it is that an element lies in front of another.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Sureness {
    /// It overlaps and comes later: a point beside it is better.
    Possible,
    /// Also, it takes taps itself. On iOS nothing else tells what lies in front.
    Beside,
    /// It comes later and lies wholly within or around: a sheet, or a page that is drawn below.
    Doubt,
    /// The platform says so: another window, an alert, a keyboard, or the drawing order.
    Certain,
}

struct Cover {
    index: u32,
    rect: Rect,
    sureness: Sureness,
}

/// Elements that overlap `rect` and would take the tap.
fn covers(reading: &ScreenReading, target: u32, described: u32, rect: Rect) -> Vec<Cover> {
    let ancestors = ancestors(reading, target);
    let own_range = reading.range(target);
    let part = reading.range(described);
    // A known drawing order puts an earlier element in front. Trees of iOS do not tell the order at all.
    let is_ios = reading.snapshot.platform == Platform::Ios;
    let first = if is_ios || reading.element(target).drawing_order.is_some() { 0 } else { own_range.end };
    let mut covers = Vec::new();
    for index in (first..reading.nodes.len() as u32)
        .filter(|index| !part.contains(index) && !own_range.contains(index))
    {
        let Some(over) = reading.nodes[index as usize].visible else { continue };
        if over.intersection(rect).is_none() || reading.range(index).contains(&target) {
            continue;
        }
        if covers.len() == COVERS_MAX {
            break;
        }
        let (beside, branch, own) = part_at(reading, &ancestors, target, index);
        if !takes_taps(reading, index, branch.filter(|_| beside.is_none())) {
            continue;
        }
        let order =
            branch.and_then(|branch| drawn_in_front(reading, branch, own)).filter(|_| beside.is_some());
        let sureness = match order {
            Some(false) => continue,
            Some(true) if reading.element(index).is_tappable() => Sureness::Certain,
            None if index < own_range.end && is_ios && is_control_beside(reading, index, rect) => {
                Sureness::Possible
            }
            None if index < own_range.end => continue,
            _ => sureness(reading, &ancestors, index, over, (beside, branch, own)),
        };
        covers.push(Cover { index, rect: over, sureness });
    }
    covers
}

/// True if the platform says that `over` is drawn after `own`, its sibling; `None` if it does not say. Views are counted
/// from one and Compose's nodes from zero; nodes of Flutter and of web pages all have zero.
fn drawn_in_front(reading: &ScreenReading, over: u32, own: u32) -> Option<bool> {
    let order = |index: u32| reading.element(index).drawing_order;
    let (over, own) = (order(over)?, order(own)?);
    (over != own).then_some(over > own)
}

fn sureness(
    reading: &ScreenReading,
    ancestors: &[u32],
    index: u32,
    over: Rect,
    (beside, branch, own): (Option<u32>, Option<u32>, u32),
) -> Sureness {
    let theirs = branch.and_then(|at| seen_at(reading, at));
    let within = match (theirs, seen_at(reading, own)) {
        (Some(theirs), Some(ours)) => holds(ours, theirs) || holds(over, ours),
        _ => false,
    };
    // The texts of a web page flow around each other, so their bounding boxes overlap.
    let page = beside.is_some_and(|at| is_on_page(reading, ancestors, at));
    let element = reading.element(index);
    // iOS tells some controls twice: whichever takes the tap, it is the same.
    let target = reading.element(*ancestors.first().unwrap_or(&index));
    let is_ios = reading.snapshot.platform == Platform::Ios;
    let is_double = is_ios && element.bounds == target.bounds && own_words(element) == own_words(target);
    match (element.role, beside) {
        (Role::Dialog | Role::Key, _) if !page => Sureness::Certain,
        (_, None) if within => Sureness::Certain,
        // An element that only scrolls is often the page below a bar.
        _ if page
            || is_double
            || !may_act(&reading.snapshot, index as usize)
            || scrolls_below(reading, index, branch) =>
        {
            Sureness::Possible
        }
        (_, Some(_)) if within => Sureness::Doubt,
        (_, Some(_)) if is_ios => Sureness::Beside,
        _ => Sureness::Possible,
    }
}

/// True for a control that leaves a part of `rect` free: one around all of it is the page or the dimmed part behind.
fn is_control_beside(reading: &ScreenReading, index: u32, rect: Rect) -> bool {
    reading.element(index).is_tappable() && seen_at(reading, index).is_some_and(|over| !holds(over, rect))
}

/// On iOS, true for what scrolls in a container of its own: rows go below the bars, which are listed before them.
fn scrolls_below(reading: &ScreenReading, index: u32, branch: Option<u32>) -> bool {
    let up = |at: &u32| reading.element(*at).parent.filter(|parent| parent < at && Some(*at) != branch);
    let mut around = std::iter::successors(Some(index), up).take(LEVELS_MAX).skip(1);
    let is_row = reading.element(index).role == Role::Row;
    let scrolls = is_row || around.any(|at| reading.element(at).affordances.scrollable);
    reading.snapshot.platform == Platform::Ios && scrolls
}

fn is_on_page(reading: &ScreenReading, ancestors: &[u32], common: u32) -> bool {
    let above = ancestors.iter().filter(|ancestor| **ancestor <= common);
    above.into_iter().any(|ancestor| reading.element(*ancestor).role == Role::WebView)
}

fn seen_at(reading: &ScreenReading, index: u32) -> Option<Rect> {
    reading.nodes[index as usize].visible
}

fn holds(outer: Rect, inner: Rect) -> bool {
    outer.intersection(inner) == Some(inner)
}

/// From the element itself up to its root.
fn ancestors(reading: &ScreenReading, index: u32) -> Vec<u32> {
    let up = |index: &u32| reading.element(*index).parent.filter(|parent| parent < index);
    std::iter::successors(Some(index), up).take(LEVELS_MAX).collect()
}

/// The common ancestor of the target and another element, the child of it that leads to the other, and the child that
/// leads to the target. Without a common ancestor they are in different windows.
fn part_at(
    reading: &ScreenReading,
    ancestors: &[u32],
    target: u32,
    other: u32,
) -> (Option<u32>, Option<u32>, u32) {
    let mut branch = other;
    for _ in 0..LEVELS_MAX {
        let parent = reading.element(branch).parent.filter(|parent| *parent < branch);
        let Some(parent) = parent else {
            return (None, Some(branch), ancestors.last().copied().unwrap_or(target));
        };
        if let Some(at) = ancestors.iter().position(|ancestor| *ancestor == parent) {
            let own = at.checked_sub(1).map_or(target, |below| ancestors[below]);
            return (Some(parent), Some(branch), own);
        }
        branch = parent;
    }
    (None, None, target)
}

/// True if a tap on the element does not reach what is below. Containers that are not tappable let it through; a window
/// lets it through only where it is empty, a dialog never.
fn takes_taps(reading: &ScreenReading, index: u32, window: Option<u32>) -> bool {
    let element = reading.element(index);
    let takes = may_act(&reading.snapshot, index as usize)
        || element.affordances.scrollable
        || element.role == Role::Dialog;
    let shows = || {
        let whole_screen = holds_screen(reading, index);
        window.is_some() && !whole_screen && (window == Some(index) || own_words(element).is_some())
    };
    takes || shows()
}

fn holds_screen(reading: &ScreenReading, index: u32) -> bool {
    let screen = reading.snapshot.size.rect();
    let root = reading.nodes.first().and_then(|node| node.visible);
    let screen = if screen.is_empty() { root } else { Some(screen) };
    match (screen, seen_at(reading, index)) {
        (Some(screen), Some(rect)) => holds(rect, screen),
        _ => true,
    }
}

/// Points to try in order: the middle, the edges, the corners, and then points between them.
fn points(rect: Rect) -> Vec<Point> {
    /// In eighths of the width and the height.
    const ORDER: [(i32, i32); 25] = [
        (4, 4),
        (1, 4),
        (7, 4),
        (4, 1),
        (4, 7),
        (1, 1),
        (7, 1),
        (1, 7),
        (7, 7),
        (2, 4),
        (6, 4),
        (4, 2),
        (4, 6),
        (2, 2),
        (6, 2),
        (2, 6),
        (6, 6),
        (1, 2),
        (7, 2),
        (1, 6),
        (7, 6),
        (2, 1),
        (6, 1),
        (2, 7),
        (6, 7),
    ];
    let along = |start: i32, end: i32, eighths: i32| {
        let length = i64::from(end) - i64::from(start);
        let at = match eighths {
            4 => i64::from(start) + length.div_euclid(2),
            near if near < 4 => i64::from(start) + length * i64::from(near) / 8,
            far => i64::from(end) - length * i64::from(8 - far) / 8 - 1,
        };
        at.clamp(i64::from(i32::MIN), i64::from(i32::MAX)) as i32
    };
    let at =
        |(x, y): (i32, i32)| Point { x: along(rect.left, rect.right, x), y: along(rect.top, rect.bottom, y) };
    ORDER.into_iter().map(at).collect()
}

#[cfg(test)]
mod tests;
