//! The finger movement that scrolls a container.

use super::{Axis, Direction, axis_of, band, is_scroller, seen_at};
use crate::screen::element::Role;
use crate::screen::geometry::{Point, Rect, Size};
use crate::screen::reading::ScreenReading;

/// Margins at the edges of the screen, in thousandths of its height or width: strokes that begin there are system
/// gestures (shade, home, back).
const EDGE_TOP: i64 = 40;
const EDGE_BOTTOM: i64 = 50;
const EDGE_SIDE: i64 = 60;
/// Start positions across the scroll direction, in sixteenths of the usable part, the preferred first.
const ACROSS: [i64; 9] = [8, 5, 11, 3, 13, 2, 14, 1, 15];
/// Start positions along the scroll direction are one part in this many of the usable length apart.
const ALONG_STEPS: i64 = 48;
/// Duration of a stroke over the whole screen, in milliseconds; faster strokes fling the content.
const SCREEN_MS: i64 = 1700;
/// Even short strokes take this long, so that they end slowly.
const STROKE_MS_MIN: i64 = 500;
/// Limit of [`StrokeOptions::slower`]; slower strokes would take too long.
const SLOWER_MAX: u32 = 8;
/// Shortest stroke, in thousandths of the screen's longer side; shorter ones are taken for taps.
const STROKE_MIN: i64 = 30;
/// Distance that a finger moves before the content follows, in thousandths of the screen's longer side.
const SLOP: i64 = 10;

/// Options for the start and the speed of a stroke.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct StrokeOptions {
    /// Prefers the other end of the container as start: something may have swallowed the last stroke.
    pub another: bool,
    /// The bounds of the keyboard, which covers the app.
    pub keyboard: Option<Rect>,
    /// Factor by which the stroke is slower than usual, for lists that glide far.
    pub slower: u32,
}

/// One movement of a finger.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Stroke {
    pub from: Point,
    pub to: Point,
    pub duration_ms: u32,
    /// Distance that the content should move, without gliding.
    pub way_px: i32,
}

/// Returns the stroke that scrolls the container in `direction`, by `way_px` if there is room for that.
pub fn stroke(
    reading: &ScreenReading,
    container: u32,
    direction: Direction,
    way_px: i32,
    options: StrokeOptions,
) -> Option<Stroke> {
    let axis = direction.axis();
    let band = band(reading, container, axis)?;
    let screen = screen_of(reading);
    let long = i64::from(screen.height().max(screen.width()));
    let least = (long * STROKE_MIN / 1000).max(1);
    let wanted = (i64::from(way_px) + long * SLOP / 1000).max(least);
    let safe = band.intersection(safe_part(screen)).unwrap_or(band);
    let mut takers = takers(reading, container, axis, band);
    takers.extend(options.keyboard.map(|keyboard| (keyboard, 400)));
    let mut best: Option<(i64, Point, i64)> = None;
    for order in 2..ALONG_STEPS {
        for (column, across) in ACROSS.into_iter().enumerate() {
            let along = if direction.is_forward() { ALONG_STEPS - order } else { order };
            let from = point(safe, axis, along, across);
            let room = room(band, axis, direction, from);
            let possible = wanted.min(room);
            if possible < least {
                continue;
            }
            // A short stroke is better than one that another list takes.
            let short = (wanted - possible) * 100 / wanted;
            let late = if options.another { ALONG_STEPS - order } else { order };
            let cost = (price(&takers, from) + short) * 1000 + late * 16 + column as i64;
            if best.is_none_or(|(least, ..)| cost < least) {
                best = Some((cost, from, possible));
            }
        }
    }
    let (_, from, length) = best?;
    let signed = if direction.is_forward() { -length } else { length };
    let to = match axis {
        Axis::Vertical => Point { y: (i64::from(from.y) + signed) as i32, ..from },
        Axis::Horizontal => Point { x: (i64::from(from.x) + signed) as i32, ..from },
    };
    let usual_ms = (length * SCREEN_MS / long.max(1)).max(STROKE_MS_MIN);
    let duration_ms = usual_ms * i64::from(options.slower.clamp(1, SLOWER_MAX));
    Some(Stroke {
        from,
        to,
        duration_ms: duration_ms as u32,
        way_px: (length - long * SLOP / 1000).max(1) as i32,
    })
}

fn screen_of(reading: &ScreenReading) -> Rect {
    let screen = reading.snapshot.size.rect();
    let root = reading.nodes.first().and_then(|node| node.visible);
    let known = if screen.is_empty() { root } else { Some(screen) };
    known.unwrap_or_else(|| Size { width: 1080, height: 1920 }.rect())
}

fn safe_part(screen: Rect) -> Rect {
    let (wide, high) = (i64::from(screen.width()), i64::from(screen.height()));
    Rect {
        left: screen.left + (wide * EDGE_SIDE / 1000) as i32,
        right: screen.right - (wide * EDGE_SIDE / 1000) as i32,
        top: screen.top + (high * EDGE_TOP / 1000) as i32,
        bottom: screen.bottom - (high * EDGE_BOTTOM / 1000) as i32,
    }
}

fn point(rect: Rect, axis: Axis, along: i64, across: i64) -> Point {
    let at = |axis: Axis, part: (i64, i64)| {
        let (start, end) = axis.span(rect);
        (i64::from(start) + (i64::from(end) - i64::from(start)) * part.0 / part.1) as i32
    };
    let (along, across) = ((along, ALONG_STEPS), (across, 16));
    match axis {
        Axis::Vertical => Point { x: at(Axis::Horizontal, across), y: at(Axis::Vertical, along) },
        Axis::Horizontal => Point { x: at(Axis::Horizontal, along), y: at(Axis::Vertical, across) },
    }
}

/// Distance that the finger can move from a point before it leaves the container.
fn room(band: Rect, axis: Axis, direction: Direction, from: Point) -> i64 {
    let (start, end) = axis.span(band);
    let at = if axis == Axis::Vertical { from.y } else { from.x };
    if direction.is_forward() { i64::from(at) - i64::from(start) } else { i64::from(end) - 1 - i64::from(at) }
}

/// Areas whose element would take the stroke, each with the cost of beginning there.
fn takers(reading: &ScreenReading, container: u32, axis: Axis, band: Rect) -> Vec<(Rect, i64)> {
    let mut found = Vec::new();
    for index in 0..reading.nodes.len() as u32 {
        let over = seen_at(reading, index).and_then(|rect| rect.intersection(band));
        let Some(rect) = over.filter(|_| index != container && !reading.range(index).contains(&container))
        else {
            continue;
        };
        let element = reading.element(index);
        let price = match element.role {
            Role::Slider | Role::Picker => 300,
            Role::Switch if axis == Axis::Horizontal => 120,
            _ if is_scroller(reading, index) => match axis_of(reading, index) {
                Some(other) if other != axis => 20,
                _ => 200,
            },
            _ if element.affordances.long_clickable || element.role == Role::TextField => 2,
            _ if element.is_tappable() => 1,
            _ => continue,
        };
        found.push((rect, price));
    }
    found
}

fn price(takers: &[(Rect, i64)], point: Point) -> i64 {
    takers.iter().filter(|(rect, _)| rect.contains(point)).map(|(_, price)| *price).max().unwrap_or(0)
}
