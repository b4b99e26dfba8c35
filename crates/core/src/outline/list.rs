//! Reads a list while it is scrolled: each row once, in order, also those that only pass by (F43).
//!
//! A capture shows a part of the list. How far the content moved since the last capture puts the rows of all captures
//! on one axis; what lies at the same place there is the same row.

mod flat;
#[cfg(test)]
mod tests;

use std::sync::Arc;

use super::{OutlineOptions, lines};
use crate::change::settle::Stability;
use crate::change::tracker::Observation;
use crate::identity::ElementId;
use crate::intent::scroll::{Axis, Movement, again, is_scroller, is_stuck, measure, rows, seen_at};
use crate::intent::selector::Selector;
use crate::screen::geometry::Rect;
use crate::screen::reading::ScreenReading;

/// A child that fills more than this part of the view is no row but holds rows.
const ROW_PERCENT_MAX: i64 = 60;
/// Levels of such children that are entered.
const LEVELS_MAX: usize = 4;
/// Rows of one view.
const VIEW_ROWS_MAX: usize = 512;

/// Which list is read, and how much of it.
#[derive(Debug, Clone, PartialEq)]
pub struct ReadList {
    /// What scrolls, or something in or around it; else what a person would scroll.
    pub inside: Option<Selector>,
    /// Goes to the start of the list first.
    pub from_start: bool,
    pub rows_max: usize,
    pub scrolls_max: u32,
}

/// Why the reading ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ListEnd {
    /// At the end of the list.
    Whole,
    RowsMax,
    ScrollsMax,
    TimeUp,
    /// Something failed on the way.
    Broken,
}

/// What was read of a list.
#[derive(Debug, Clone)]
pub struct ListRead {
    pub rows: Vec<Row>,
    pub end: ListEnd,
    /// Rows changed while they were read: some may be missing or twice.
    pub changed: bool,
    /// Rows look so much alike that some may be missing or twice.
    pub alike: bool,
    pub scrolls: u32,
    pub seen: Arc<Observation>,
    pub container: Option<ElementId>,
    pub stability: Stability,
}

/// One row: its line, and the lines of what is inside it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Row {
    pub parts: Vec<String>,
    place: Place,
}

/// Where a row is in the list, in pixels along the way and across it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Place {
    start: i64,
    end: i64,
    across: (i32, i32),
    /// True if an edge of the view may cut it off.
    is_cut: bool,
    /// True for a heading that stays at the edge of the view.
    is_stuck: bool,
}

impl Place {
    fn length(self) -> i64 {
        self.end - self.start
    }

    /// True if two places of different captures are the same row.
    fn is_same(self, other: Place) -> bool {
        let common = self.end.min(other.end) - self.start.max(other.start);
        let beside = self.across.0 >= other.across.1 || other.across.0 >= self.across.1;
        // Of a row that both captures cut off they may show different parts.
        let least = if self.is_cut && other.is_cut { 0 } else { self.length().min(other.length()) };
        !beside && common * 2 > least
    }
}

/// The last view that was taken in.
struct View {
    seen: Arc<Observation>,
    container: ElementId,
    /// Pixels from the first view to this one.
    offset_px: i64,
    /// The same, as far as the finger moved.
    travelled_px: i32,
    /// The number of its first row.
    from: usize,
}

/// Collects the rows of the views of one list.
pub struct ListReader {
    axis: Axis,
    rows_max: usize,
    rows: Vec<Row>,
    last: Option<View>,
    changed: bool,
    alike: bool,
}

/// How a view was reached.
#[derive(Debug, Clone, Copy, Default)]
pub struct Way {
    /// How far the finger moved the content since the start.
    pub travelled_px: i32,
    /// Nothing lies between two views that have nothing in common.
    pub turns_pages: bool,
}

impl ListReader {
    pub fn new(axis: Axis, rows_max: usize) -> ListReader {
        ListReader { axis, rows_max, rows: Vec::new(), last: None, changed: false, alike: false }
    }

    /// Takes in a view that is at rest; `container` is the list's id in it. A view that has nothing in common with the
    /// last one is left out, because rows between them would be missing, unless the list turns pages.
    pub fn take_in(&mut self, seen: &Arc<Observation>, container: ElementId, way: Way) {
        let known = self.last.as_ref().and_then(|last| again(&last.seen, last.container, seen));
        let Some(index) = seen.index_of(container).map(|index| index as u32).or(known) else { return };
        let Some(offset_px) = self.offset(seen, way) else { return };
        let found = view_rows(seen, index, self.axis, offset_px);
        if found.is_empty() {
            return;
        }
        let from = self.merge(found);
        let container = seen.ids[index as usize];
        self.last =
            Some(View { seen: Arc::clone(seen), container, offset_px, travelled_px: way.travelled_px, from });
    }

    pub fn is_full(&self) -> bool {
        if self.rows.len() < self.rows_max {
            return false;
        }
        // What looks like many rows may be the parts of few, and the parts of the last row may not all be in sight.
        let joined = flat::join_flat_rows(self.rows.clone()).len();
        let unsure = if joined < self.rows.len() { flat::PARTS_MAX } else { 0 };
        joined >= self.rows_max + unsure
    }

    /// Hands over what was read.
    pub fn finish(self, read: &mut ListRead) {
        let mut rows = flat::join_flat_rows(self.rows);
        rows.truncate(self.rows_max);
        read.rows = rows;
        read.changed = self.changed;
        read.alike = self.alike;
    }

    /// How far the content has moved since the first view; `None` if that is not known.
    fn offset(&mut self, seen: &Observation, way: Way) -> Option<i64> {
        let Some(last) = &self.last else { return Some(0) };
        let expected = way.travelled_px.saturating_sub(last.travelled_px);
        let measured = measure(&last.seen, seen, last.container, self.axis, Some(expected));
        self.alike |= !measured.is_sure;
        match measured.movement {
            Movement::None => Some(last.offset_px),
            Movement::By(px) => Some(last.offset_px + i64::from(px)),
            // The next page lies after everything that was read.
            Movement::Gap if way.turns_pages => {
                let ends = self.rows.iter().map(|row| row.place.end);
                ends.max().map(|end| end.max(last.offset_px) + 1)
            }
            Movement::Gap => None,
        }
    }

    /// Puts the rows of a view where they belong. Returns the number of its first row.
    fn merge(&mut self, found: Vec<Row>) -> usize {
        let from = self.last.as_ref().map_or(0, |last| last.from);
        if self.is_shifted(&found, from) {
            self.changed = true;
            return self.read_anew(found, from);
        }
        let mut first = None;
        let mut next = None;
        for row in found {
            let known = (from..self.rows.len()).find(|at| self.rows[*at].place.is_same(row.place));
            let known = known.or_else(|| if first.is_none() { self.goes_on(&row) } else { None });
            let at = match known {
                _ if row.place.is_stuck && self.was_read(&row) => continue,
                Some(at) => {
                    self.join(at, row);
                    at
                }
                None => {
                    let after = |known: &Row| known.place.start > row.place.start;
                    let by_place = || self.rows.iter().skip(from).position(after).map(|at| at + from);
                    let at = next.or_else(by_place).unwrap_or(self.rows.len()).min(self.rows.len());
                    self.rows.insert(at, row);
                    at
                }
            };
            next = Some(at + 1);
            first.get_or_insert(at);
        }
        first.unwrap_or(from)
    }

    /// The number of the last row, if this is its other end. Between the two views lies a gap that no finger made: the
    /// rows moved by themselves.
    fn goes_on(&mut self, row: &Row) -> Option<usize> {
        let last = self.rows.last()?;
        let is_beyond = last.place.is_cut && row.place.is_cut && row.place.start > last.place.end;
        self.changed |= is_beyond;
        (is_beyond && last.parts == row.parts).then(|| self.rows.len() - 1)
    }

    fn was_read(&self, row: &Row) -> bool {
        self.rows.iter().any(|known| known.parts == row.parts)
    }

    /// True if most rows of the last view say something else now: rows came or went in between, and no place can be
    /// trusted.
    fn is_shifted(&self, found: &[Row], from: usize) -> bool {
        let (mut same, mut other) = (0, 0);
        for row in found.iter().filter(|row| !row.place.is_cut && !row.place.is_stuck) {
            let mut known = self.rows[from..].iter().filter(|known| !known.place.is_cut);
            match known.find(|known| known.place.is_same(row.place)) {
                Some(known) if known.parts == row.parts => same += 1,
                Some(_) => other += 1,
                None => {}
            }
        }
        other > same
    }

    /// Goes on from the first row of this view that the last one showed too.
    fn read_anew(&mut self, mut found: Vec<Row>, from: usize) -> usize {
        let known = |row: &Row| {
            let mut at = from..self.rows.len();
            at.find(|at| self.rows[*at].parts == row.parts)
        };
        let common = found.iter().enumerate().find_map(|(new, row)| Some((new, known(row)?)));
        let (new, old) = common.unwrap_or((0, self.rows.len()));
        self.rows.truncate(old);
        self.rows.extend(found.drain(new..));
        old
    }

    /// Two views of one row: the whole one is kept; what both cut off is put together.
    fn join(&mut self, at: usize, row: Row) {
        let known = &mut self.rows[at];
        match (known.place.is_cut, row.place.is_cut) {
            (false, true) => {}
            (true, true) => {
                let new: Vec<String> =
                    row.parts.into_iter().filter(|part| !known.parts.contains(part)).collect();
                if row.place.start < known.place.start {
                    known.parts.splice(0..0, new);
                } else {
                    known.parts.extend(new);
                }
                known.place.start = known.place.start.min(row.place.start);
                known.place.end = known.place.end.max(row.place.end);
            }
            (was_cut, false) => {
                self.changed |= !was_cut && known.parts != row.parts;
                *known = row;
            }
        }
    }
}

/// The rows of one view, in document order.
fn view_rows(seen: &Observation, container: u32, axis: Axis, offset_px: i64) -> Vec<Row> {
    let reading = &*seen.reading;
    let Some(view) = seen_at(reading, container) else { return Vec::new() };
    let units = units(reading, container, axis, axis.length(view));
    let options = OutlineOptions { root: Some(container as usize), ..OutlineOptions::default() };
    let outline = lines(reading, &seen.ids, &options);
    let mut found: Vec<Row> = Vec::new();
    let mut last = None;
    for line in &outline.lines {
        let Some(unit) = units.iter().copied().find(|unit| reading.range(*unit).contains(&line.index)) else {
            continue;
        };
        let part = without_role(&line.text).to_owned();
        match found.last_mut().filter(|_| last == Some(unit)) {
            Some(row) => row.parts.push(part),
            None => {
                let Some(rect) = seen_at(reading, unit) else { continue };
                let stuck = is_stuck(reading, unit, &units, axis);
                found.push(Row { parts: vec![part], place: place(rect, view, axis, offset_px, stuck) });
            }
        }
        last = Some(unit);
    }
    found
}

fn place(rect: Rect, view: Rect, axis: Axis, offset_px: i64, is_stuck: bool) -> Place {
    let (start, end) = axis.span(rect);
    let (first, last) = axis.span(view);
    Place {
        start: i64::from(start) + offset_px,
        end: i64::from(end) + offset_px,
        across: axis.across().span(rect),
        is_cut: start <= first || end >= last,
        is_stuck,
    }
}

/// The elements that are rows: the children of the container; a child that fills the view is replaced by its own.
fn units(reading: &ScreenReading, container: u32, axis: Axis, view_px: i32) -> Vec<u32> {
    let mut children = reading.snapshot.children(container as usize).map(|child| child as u32);
    // The only row of a list is a row, and no wrapper around rows.
    let only =
        children.next().filter(|child| children.next().is_none() && reading.element(*child).is_tappable());
    let mut found = only.map_or_else(|| rows(reading, container), |only| vec![only]);
    for _ in 0..LEVELS_MAX {
        let is_large = |row: &u32| {
            let length = seen_at(reading, *row).map_or(0, |rect| axis.length(rect));
            i64::from(length) * 100 > i64::from(view_px) * ROW_PERCENT_MAX && !is_scroller(reading, *row)
        };
        let split = |row: u32| {
            let inner = if is_large(&row) { rows(reading, row) } else { Vec::new() };
            if inner.len() > 1 { inner } else { vec![row] }
        };
        let finer: Vec<u32> = found.iter().flat_map(|row| split(*row)).take(VIEW_ROWS_MAX).collect();
        if finer == found {
            break;
        }
        found = finer;
    }
    found
}

/// A line of a row without the words that every row would repeat.
fn without_role(line: &str) -> &str {
    ["row ", "text "].into_iter().find_map(|role| line.strip_prefix(role)).unwrap_or(line)
}
