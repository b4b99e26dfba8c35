//! Where an element can be acted on.

use crate::geometry::{Point, Rect};
use crate::reading::Reading;

/// For the choice of a point; a screen-wide element may hold thousands.
const INNER_TARGETS_MAX: usize = 64;

/// The middle of what can be seen, or another point when something inside would take the tap (AC-06). `None` when
/// nothing can be seen.
pub fn tap_point(reading: &Reading, index: usize) -> Option<Point> {
    let rect = reading.nodes.get(index)?.visible?;
    let inner = inner_targets(reading, index);
    let free = |point: &Point| !inner.iter().any(|rect| rect.contains(*point));
    Some(candidates(rect).into_iter().find(free).unwrap_or_else(|| rect.center()))
}

/// What can be seen of the outermost tappable or scrolling elements inside.
pub(crate) fn inner_targets(reading: &Reading, index: usize) -> Vec<Rect> {
    let elements = &reading.snapshot.elements;
    let end = elements[index].end as usize;
    let mut rects = Vec::new();
    let mut next = index + 1;
    while next < end && rects.len() < INNER_TARGETS_MAX {
        let Some(element) = elements.get(next) else { break };
        if element.is_tappable() || element.affordances.scrollable {
            rects.extend(reading.nodes[next].visible);
            next = (element.end as usize).max(next + 1);
        } else {
            next += 1;
        }
    }
    rects
}

fn candidates(rect: Rect) -> [Point; 9] {
    let center = rect.center();
    let x = [
        rect.left.saturating_add(rect.width() / 8),
        rect.right.saturating_sub(rect.width() / 8).saturating_sub(1),
    ];
    let y = [
        rect.top.saturating_add(rect.height() / 8),
        rect.bottom.saturating_sub(rect.height() / 8).saturating_sub(1),
    ];
    let at = |x, y| Point { x, y };
    [
        center,
        at(x[0], center.y),
        at(x[1], center.y),
        at(center.x, y[0]),
        at(center.x, y[1]),
        at(x[0], y[0]),
        at(x[1], y[0]),
        at(x[0], y[1]),
        at(x[1], y[1]),
    ]
}
