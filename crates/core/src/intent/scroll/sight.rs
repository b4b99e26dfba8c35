//! Decides whether a target is fully visible: not cut at an edge, not under a bar.

use super::{Axis, Direction, axis_of, band, rows, scrollers_around, seen_at};
use crate::screen::geometry::Rect;
use crate::screen::reading::ScreenReading;

/// A row is whole if its length differs from the usual length by at most this many percent.
const WHOLE_PERCENT: i64 = 5;
/// Without a usual length, an element is whole if it fills at least one part in this many of the view.
const ENOUGH: i32 = 3;
/// Without a usual length, the next scroll goes one part in this many of the view.
const STEP: i32 = 8;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Sight {
    Clear,
    /// A part of it is hidden; the container has to scroll this far to show it.
    Cut {
        container: u32,
        direction: Direction,
        way_px: i32,
    },
}

/// Checks a visible element against each scroll container around it, innermost first.
pub fn sight(reading: &ScreenReading, index: u32) -> Sight {
    let Some(rect) = seen_at(reading, index) else { return Sight::Clear };
    for container in scrollers_around(reading, index) {
        let axes = match axis_of(reading, container) {
            Some(axis) => vec![axis],
            None => vec![Axis::Vertical, Axis::Horizontal],
        };
        for axis in axes {
            if let Some((direction, way_px)) = missing(reading, container, index, rect, axis) {
                return Sight::Cut { container, direction, way_px };
            }
        }
    }
    Sight::Clear
}

fn missing(
    reading: &ScreenReading,
    container: u32,
    index: u32,
    rect: Rect,
    axis: Axis,
) -> Option<(Direction, i32)> {
    let whole = seen_at(reading, container)?;
    let free = band(reading, container, axis)?;
    let ((start, end), (from, to)) = (axis.span(free), axis.span(rect));
    let (first, last) = axis.span(whole);
    // Longer than the view: scrolling cannot show more of it.
    if from <= start && to >= end {
        return None;
    }
    let margin = axis.length(free) / 50;
    let usual = usual_length(reading, container, index, axis);
    let step = usual.map_or(axis.length(free) / STEP, |usual| usual.length) + margin;
    let cut = usual.map_or(axis.length(rect) < axis.length(free) / ENOUGH, |usual| usual.cut);
    let (back, on) = (axis.forward().opposite(), axis.forward());
    if from < start {
        let hidden = if from <= first && cut { step } else { 0 };
        return Some((back, (start - from).max(hidden) + margin));
    }
    if to > end {
        let hidden = if to >= last && cut { step } else { 0 };
        return Some((on, (to - end).max(hidden) + margin));
    }
    match (from <= first, to >= last) {
        (true, _) if cut => Some((back, step)),
        (_, true) if cut => Some((on, step)),
        _ => None,
    }
}

#[derive(Clone, Copy)]
struct Usual {
    length: i32,
    /// True if the element's own row is shorter than that.
    cut: bool,
}

/// The median length of the whole rows of the same class in the container.
fn usual_length(reading: &ScreenReading, container: u32, index: u32, axis: Axis) -> Option<Usual> {
    let rows = rows(reading, container);
    let own = rows.iter().copied().find(|row| reading.range(*row).contains(&index))?;
    let (first, last) = axis.span(seen_at(reading, container)?);
    let whole = |row: &u32| {
        let rect = seen_at(reading, *row)?;
        let (from, to) = axis.span(rect);
        (from > first && to < last && *row != own).then_some(to - from)
    };
    let same_kind = |row: &&u32| reading.element(**row).class == reading.element(own).class;
    let mut lengths: Vec<i32> = rows.iter().filter(same_kind).filter_map(whole).collect();
    lengths.sort_unstable();
    let length = *lengths.get(lengths.len() / 2)?;
    let seen = axis.length(seen_at(reading, own)?);
    let slack = i64::from(length) * WHOLE_PERCENT / 100;
    // A longer row is of another kind, and the length of the others does not apply to it.
    let alike = i64::from(seen) <= i64::from(length) + slack;
    alike.then_some(Usual { length, cut: i64::from(seen) < i64::from(length) - slack })
}

/// The container, direction and distance that scroll an element out from under `cover`, which floats over it: towards
/// the middle of the view, where there is room.
pub fn uncover(reading: &ScreenReading, index: u32, cover: u32) -> Option<(u32, Direction, i32)> {
    let (rect, over) = (seen_at(reading, index)?, seen_at(reading, cover)?);
    let container = *scrollers_around(reading, index).first()?;
    if reading.range(container).contains(&cover) {
        return None;
    }
    let axis = axis_of(reading, container).unwrap_or(Axis::Vertical);
    let free = band(reading, container, axis)?;
    let ((start, end), (from, to), (first, last)) = (axis.span(free), axis.span(rect), axis.span(over));
    if i64::from(last - first) * 100 > i64::from(end - start) * super::BAR_PERCENT_MAX {
        return None;
    }
    let margin = axis.length(free) / 50;
    if i64::from(first) + i64::from(last) >= i64::from(start) + i64::from(end) {
        Some((container, axis.forward(), to - first + margin))
    } else {
        Some((container, axis.forward().opposite(), last - from + margin))
    }
}

/// The container, direction and distance that bring an element into view that is in the tree but not visible.
pub fn away(reading: &ScreenReading, index: u32) -> Option<(u32, Direction, i32)> {
    let rect = reading.element(index).bounds;
    for container in scrollers_around(reading, index) {
        let whole = seen_at(reading, container)?;
        for axis in [Axis::Vertical, Axis::Horizontal] {
            if axis_of(reading, container).is_some_and(|own| own != axis) {
                continue;
            }
            let ((start, end), (from, to)) = (axis.span(whole), axis.span(rect));
            let margin = axis.length(whole) / 10;
            if from >= end && to > from {
                return Some((container, axis.forward(), to.saturating_sub(end).saturating_add(margin)));
            }
            if to <= start && to > from {
                let way = start.saturating_sub(from).saturating_add(margin);
                return Some((container, axis.forward().opposite(), way));
            }
        }
    }
    None
}
