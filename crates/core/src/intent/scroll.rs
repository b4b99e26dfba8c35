//! Scrolling, without a device: which container to scroll and how far, how far it moved, and whether a target is fully
//! visible (AC-10).
//!
//! Android does not say in which direction a container scrolls, leaves out invisible elements, and clips the bounds of
//! half visible ones. All three are inferred here from the visible elements.

mod finger;
mod moved;
mod search;
mod sight;
#[cfg(test)]
mod tests;

use crate::change::tracker::Observation;
use crate::failure::{Cause, Failure};
use crate::intent::resolve;
use crate::intent::selector::Selector;
use crate::meaning::label;
use crate::screen::element::Role;
use crate::screen::geometry::Rect;
use crate::screen::reading::ScreenReading;

pub use finger::{Stroke, StrokeOptions, stroke};
pub use moved::{Measured, Movement, again, measure, movement};
pub use search::{AfterStroke, InSight, ScrollSearch, ScrollStep, ScrollTo, Scrolled};
pub use sight::{Sight, away, sight, uncover};

/// Levels up the tree that are searched for a scroll container.
const LEVELS_MAX: usize = 64;
/// Nested containers with a single child that are entered in the search for rows.
const WRAPPERS_MAX: usize = 6;
/// Rows of one container that are considered.
const ROWS_MAX: usize = 200;
/// Other scroll containers that an answer names.
const OTHERS_MAX: usize = 3;
/// A bar lies over an edge of a container: across most of its width, and along less than this part of its length.
const BAR_PERCENT_MAX: i64 = 40;
const BAR_ACROSS_PERCENT_MIN: i64 = 60;

/// The direction in which the wanted content lies; the finger moves the opposite way.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Direction {
    #[default]
    Down,
    Up,
    Left,
    Right,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Axis {
    Vertical,
    Horizontal,
}

impl Direction {
    pub fn name(self) -> &'static str {
        match self {
            Direction::Down => "down",
            Direction::Up => "up",
            Direction::Left => "left",
            Direction::Right => "right",
        }
    }

    pub fn axis(self) -> Axis {
        match self {
            Direction::Down | Direction::Up => Axis::Vertical,
            Direction::Left | Direction::Right => Axis::Horizontal,
        }
    }

    #[must_use]
    pub fn opposite(self) -> Direction {
        match self {
            Direction::Down => Direction::Up,
            Direction::Up => Direction::Down,
            Direction::Left => Direction::Right,
            Direction::Right => Direction::Left,
        }
    }

    /// True for down and right, towards greater coordinates.
    pub fn is_forward(self) -> bool {
        matches!(self, Direction::Down | Direction::Right)
    }
}

impl Axis {
    /// The start and end of a rectangle along this axis.
    pub fn span(self, rect: Rect) -> (i32, i32) {
        match self {
            Axis::Vertical => (rect.top, rect.bottom),
            Axis::Horizontal => (rect.left, rect.right),
        }
    }

    pub fn length(self, rect: Rect) -> i32 {
        let (start, end) = self.span(rect);
        end.saturating_sub(start)
    }

    pub fn across(self) -> Axis {
        match self {
            Axis::Vertical => Axis::Horizontal,
            Axis::Horizontal => Axis::Vertical,
        }
    }

    pub fn forward(self) -> Direction {
        match self {
            Axis::Vertical => Direction::Down,
            Axis::Horizontal => Direction::Right,
        }
    }

    fn with_span(self, rect: Rect, start: i32, end: i32) -> Rect {
        match self {
            Axis::Vertical => Rect { top: start, bottom: end, ..rect },
            Axis::Horizontal => Rect { left: start, right: end, ..rect },
        }
    }
}

/// The container to scroll, and others that could have been meant.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ContainerChoice {
    pub index: u32,
    pub others: Vec<u32>,
}

/// True if a swipe moves the content of this element.
pub fn is_scroller(reading: &ScreenReading, index: u32) -> bool {
    let element = reading.element(index);
    // Sliders and number pickers report themselves as scrollable too.
    element.affordances.scrollable && !matches!(element.role, Role::Slider | Role::Picker | Role::TextField)
}

/// The axis along which a container scrolls; `None` when it is unknown or may be both.
pub fn axis_of(reading: &ScreenReading, index: u32) -> Option<Axis> {
    let class = &*reading.element(index).class;
    let name = class.rsplit('.').next().unwrap_or(class);
    if name.contains("Horizontal") || name.contains("ViewPager") {
        return Some(Axis::Horizontal);
    }
    if class.starts_with("android") && (name.ends_with("ScrollView") || name.ends_with("ListView")) {
        return Some(Axis::Vertical);
    }
    let rows: Vec<Rect> = rows(reading, index).into_iter().filter_map(|row| seen_at(reading, row)).collect();
    let after = |axis: Axis| {
        let mut pairs = rows.windows(2);
        pairs.any(|pair| axis.span(pair[1]).0 >= axis.span(pair[0]).1)
    };
    match (after(Axis::Vertical), after(Axis::Horizontal)) {
        // The cells of a grid are beside and below each other, and a grid scrolls vertically.
        (true, _) => Some(Axis::Vertical),
        (false, true) => {
            let high = seen_at(reading, index).map_or(0, Rect::height);
            let row = rows.iter().map(|row| row.height()).max().unwrap_or(0);
            (i64::from(high) < i64::from(row) * 2).then_some(Axis::Horizontal)
        }
        (false, false) => None,
    }
}

/// The rows of a container: its children, or the children of its only child.
pub(crate) fn rows(reading: &ScreenReading, index: u32) -> Vec<u32> {
    let mut at = index as usize;
    for _ in 0..WRAPPERS_MAX {
        let children: Vec<u32> =
            reading.snapshot.children(at).take(ROWS_MAX).map(|child| child as u32).collect();
        match children[..] {
            [only] if !is_scroller(reading, only) => at = only as usize,
            _ => return children,
        }
    }
    Vec::new()
}

pub(crate) fn seen_at(reading: &ScreenReading, index: u32) -> Option<Rect> {
    reading.nodes.get(index as usize)?.visible
}

/// The visible scroll containers around an element, innermost first.
pub(crate) fn scrollers_around(reading: &ScreenReading, index: u32) -> Vec<u32> {
    let up = |at: &u32| reading.element(*at).parent.filter(|parent| parent < at);
    let around = std::iter::successors(up(&index), up).take(LEVELS_MAX);
    around.filter(|at| is_scroller(reading, *at) && seen_at(reading, *at).is_some()).collect()
}

/// True if a container around the element may take drags along this axis.
pub fn is_scrolled_along(reading: &ScreenReading, index: u32, axis: Axis) -> bool {
    let around = scrollers_around(reading, index);
    around.into_iter().any(|at| axis_of(reading, at).is_none_or(|own| own == axis))
}

/// Picks the container to scroll: the one in or around the element that `inside` selects, else the best on the screen.
pub fn pick(seen: &Observation, inside: Option<&Selector>, axis: Axis) -> Result<ContainerChoice, Failure> {
    let reading = &*seen.reading;
    let all = scrollers(reading, axis);
    let Some(inside) = inside else {
        let index = *all.first().ok_or_else(|| nothing_scrolls(seen, axis))?;
        let others = all.into_iter().skip(1).take(OTHERS_MAX).collect();
        return Ok(ContainerChoice { index, others });
    };
    let named = named(seen, inside)?;
    let within = |index: &&u32| reading.range(named).contains(index);
    let around = || scrollers_around(reading, named).into_iter().find(|index| all.contains(index));
    match all.iter().find(within).copied().or_else(around) {
        Some(index) => Ok(ContainerChoice { index, others: Vec::new() }),
        None => Err(Failure::new(
            Cause::DoesNotScroll,
            format!("{} does not scroll {}", resolve::describe(seen, named), both_ways(axis)),
        )),
    }
}

/// Picks what holds rows for reading, and the way in which they follow each other: what was named, else what scrolls down,
/// else a list that does not scroll because all of it is in sight.
pub fn pick_rows(seen: &Observation, inside: Option<&Selector>) -> Result<(u32, Axis), Failure> {
    if let Some(inside) = inside {
        let index = named(seen, inside)?;
        if is_scroller(&seen.reading, index) {
            return Ok((index, axis_of(&seen.reading, index).unwrap_or(Axis::Vertical)));
        }
    }
    let failure = match pick(seen, inside, Axis::Vertical) {
        Ok(choice) => return Ok((choice.index, Axis::Vertical)),
        Err(failure) if !matches!(failure.cause, Cause::NothingScrolls | Cause::DoesNotScroll) => {
            return Err(failure);
        }
        Err(failure) => failure,
    };
    if let Some(inside) = inside {
        return match pick(seen, Some(inside), Axis::Horizontal) {
            Ok(choice) => Ok((choice.index, Axis::Horizontal)),
            Err(_) => Ok((named(seen, inside)?, Axis::Vertical)),
        };
    }
    let reading = &*seen.reading;
    let lists = (0..reading.nodes.len() as u32).filter(|index| reading.element(*index).role == Role::List);
    let area = |index: &u32| {
        let rect = seen_at(reading, *index)?;
        Some(i64::from(rect.width()) * i64::from(rect.height()))
    };
    let largest = lists.filter(|index| area(index).is_some()).max_by_key(area).ok_or(failure)?;
    Ok((largest, axis_of(reading, largest).unwrap_or(Axis::Vertical)))
}

/// The visible containers that may scroll along the axis, best first: those that surely do before the others, then the
/// largest, then the innermost.
fn scrollers(reading: &ScreenReading, axis: Axis) -> Vec<u32> {
    let mut found: Vec<(bool, i64, u32)> = Vec::new();
    for index in (0..reading.nodes.len() as u32).filter(|index| is_scroller(reading, *index)) {
        let Some(rect) = seen_at(reading, index) else { continue };
        let own = axis_of(reading, index);
        if own.is_none_or(|own| own == axis) {
            found.push((own.is_some(), i64::from(rect.width()) * i64::from(rect.height()), index));
        }
    }
    found.sort_unstable();
    found.into_iter().rev().map(|(_, _, index)| index).collect()
}

/// The one element that `inside` selects. It need not take taps, so it is not resolved like an action's target.
fn named(seen: &Observation, inside: &Selector) -> Result<u32, Failure> {
    let mut found = inside.matches(seen);
    if let Some(at) = inside.index {
        found = found.get(at).copied().into_iter().collect();
    }
    // Nested matches are one place.
    let outer: Vec<u32> = found
        .iter()
        .filter(|at| !found.iter().any(|other| other != *at && seen.reading.range(*other).contains(at)))
        .copied()
        .collect();
    match (&outer[..], inside.id) {
        ([only], _) => Ok(*only),
        ([], Some(id)) => Err(resolve::stale(id)),
        ([], None) => Err(Failure::new(
            Cause::ContainerNotFound,
            format!("inside: nothing on the screen matches {}", inside.describe()),
        )),
        (several, _) => Err(Failure::new(
            Cause::AmbiguousContainer,
            format!("inside: {} elements match {}", several.len(), inside.describe()),
        )
        .with_candidates(several.iter().map(|index| resolve::describe(seen, *index)).collect())),
    }
}

fn both_ways(axis: Axis) -> &'static str {
    match axis {
        Axis::Vertical => "up and down",
        Axis::Horizontal => "sideways",
    }
}

/// With what scrolls along the other axis, where something does.
fn nothing_scrolls(seen: &Observation, axis: Axis) -> Failure {
    let other = match axis {
        Axis::Vertical => Axis::Horizontal,
        Axis::Horizontal => Axis::Vertical,
    };
    let others = scrollers(&seen.reading, other).into_iter().take(OTHERS_MAX);
    let message = format!("it is not on the screen, and nothing there scrolls {}", both_ways(axis));
    Failure::new(Cause::NothingScrolls, message)
        .with_candidates(others.map(|index| resolve::describe(seen, index)).collect())
}

/// The part of a container that no bar or sticky heading covers.
pub fn band(reading: &ScreenReading, container: u32, axis: Axis) -> Option<Rect> {
    let whole = seen_at(reading, container)?;
    let (mut start, mut end) = axis.span(whole);
    let (first, last) = (start, end);
    let ancestors = itself_and_around(reading, container);
    let rows = rows(reading, container);
    for index in 0..reading.nodes.len() as u32 {
        let inside = reading.range(container).contains(&index);
        let Some(rect) = seen_at(reading, index).and_then(|rect| rect.intersection(whole)) else { continue };
        if ancestors.contains(&index) || !is_bar(rect, whole, axis) {
            continue;
        }
        if inside && !is_stuck(reading, index, &rows, axis) || !inside && !shows_something(reading, index) {
            continue;
        }
        let (from, to) = axis.span(rect);
        if from <= first {
            start = start.max(to);
        } else if to >= last {
            end = end.min(from);
        }
    }
    // If less than half would be left, the whole container is used: the rest is too small.
    if i64::from(end - start) * 2 < i64::from(last - first) {
        return Some(whole);
    }
    Some(axis.with_span(whole, start, end))
}

fn itself_and_around(reading: &ScreenReading, index: u32) -> Vec<u32> {
    let up = |at: &u32| reading.element(*at).parent.filter(|parent| parent < at);
    std::iter::successors(Some(index), up).take(LEVELS_MAX).collect()
}

/// True if the element or a descendant is tappable or has text; an empty layer hides nothing.
fn shows_something(reading: &ScreenReading, index: u32) -> bool {
    let shows = |at: u32| {
        let element = reading.element(at);
        element.is_tappable() || label::own_words(element).is_some()
    };
    reading.range(index).any(shows)
}

fn is_bar(rect: Rect, whole: Rect, axis: Axis) -> bool {
    let percent = |part: i32, of: i32| i64::from(part) * 100 / i64::from(of.max(1));
    let (start, end) = axis.span(rect);
    let (first, last) = axis.span(whole);
    (start <= first || end >= last)
        && percent(end - start, last - first) <= BAR_PERCENT_MAX
        && percent(axis.across().length(rect), axis.across().length(whole)) >= BAR_ACROSS_PERCENT_MIN
}

/// True if the row is a sticky heading: another row overlaps it, which rows that only follow each other never do.
pub(crate) fn is_stuck(reading: &ScreenReading, index: u32, rows: &[u32], axis: Axis) -> bool {
    let Some(rect) = rows.contains(&index).then(|| seen_at(reading, index)).flatten() else { return false };
    rows.iter().filter(|other| **other != index).any(|other| {
        let common = seen_at(reading, *other).and_then(|other| other.intersection(rect));
        // The sticky one is at the edge; the other extends beyond the overlap.
        common.is_some_and(|common| {
            let beyond =
                seen_at(reading, *other).is_some_and(|other| axis.length(other) > axis.length(common));
            beyond && axis.length(common) * 4 > axis.length(rect)
        })
    })
}

/// The texts of the first and the last visible row, so that an agent can decide where to scroll next.
pub fn ends(seen: &Observation, container: u32) -> Vec<String> {
    let reading = &*seen.reading;
    let words = |row: &u32| {
        seen_at(reading, *row)?;
        let own = label::label(&reading.snapshot, *row as usize).map(|label| label.text.into_owned());
        let inside = || reading.range(*row).find_map(|at| label::own_words(reading.element(at)));
        own.or_else(|| inside().map(str::to_owned))
    };
    let rows = rows(reading, container);
    let first = rows.iter().find_map(words);
    let last = rows.iter().rev().find_map(words);
    first.into_iter().chain(last).collect()
}
