//! Measures how far the content of a container moved between two captures.

use std::collections::{BTreeMap, BTreeSet};

use super::{Axis, is_scroller, rows, seen_at};
use crate::change::tracker::Observation;
use crate::identity::ElementId;
use crate::meaning::label;

/// Elements of one container that are compared.
const COMPARED_MAX: usize = 2000;
/// Elements of one row whose words are compared.
const WORDS_MAX: usize = 64;
/// Rows that are compared as a pattern; the comparison grows with their square.
const PATTERN_ROWS_MAX: usize = 64;
/// As many rows that fit are no chance.
const FITTING_ROWS_MIN: usize = 2;
/// Rows of a pattern may be so far from where they should be.
const PATTERN_PX_OFF: u32 = 2;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Movement {
    /// The content did not move.
    None,
    /// The content moved by so many pixels; positive when content from below or from the right came in.
    By(i32),
    /// No old content is visible any more: some content in between may have been skipped.
    Gap,
}

impl Movement {
    pub fn moved(self) -> bool {
        self != Movement::None
    }

    fn is_about(self, px: i32) -> bool {
        match self {
            Movement::None => px.unsigned_abs() <= PATTERN_PX_OFF,
            Movement::By(own) => own.abs_diff(px) <= PATTERN_PX_OFF,
            Movement::Gap => false,
        }
    }
}

/// Finds the container of an earlier capture in a later one. Its id may be lost when much content changes; then class,
/// identifier and position tell.
pub fn again(before: &Observation, container: ElementId, after: &Observation) -> Option<u32> {
    if let Some(index) = after.index_of(container) {
        return Some(index as u32);
    }
    let was = before.index_of(container)? as u32;
    let (old, place) = (before.reading.element(was), seen_at(&before.reading, was));
    let same = |index: &u32| {
        let new = after.reading.element(*index);
        is_scroller(&after.reading, *index)
            && new.class == old.class
            && new.stable_id == old.stable_id
            && seen_at(&after.reading, *index) == place
    };
    (0..after.reading.nodes.len() as u32).find(same)
}

/// How far the content moved, and whether that is certain.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Measured {
    pub movement: Movement,
    /// False if rows look so much alike that other distances fit too.
    pub is_sure: bool,
}

/// Compares two captures; `container` is the container's id in the first.
pub fn movement(before: &Observation, after: &Observation, container: ElementId, axis: Axis) -> Movement {
    measure(before, after, container, axis, None).movement
}

/// Like [`movement`]. `expected_px` is the distance that a finger moved the content; it decides between distances that
/// fit equally well.
pub fn measure(
    before: &Observation,
    after: &Observation,
    container: ElementId,
    axis: Axis,
    expected_px: Option<i32>,
) -> Measured {
    let sure = |movement: Movement| Measured { movement, is_sure: true };
    let was = before.index_of(container).and_then(|index| inside(before, index as u32, axis));
    let is = again(before, container, after).and_then(|index| inside(after, index, axis));
    let (Some(was), Some(is)) = (was, is) else { return sure(Movement::Gap) };
    // Ids are more reliable than words, which many rows may share, but may be lost when much content changes.
    let mut evidence = [[&was.names, &is.names], [&was.rows, &is.rows]]
        .map(|[was_at, is_at]| Evidence::new((&was, was_at), (&is, is_at)));
    for evidence in &mut evidence {
        // Content does not move against the finger: what seems to is something else that looks the same.
        evidence.steps.retain(|step| is_possible(*step, expected_px.unwrap_or(0)));
    }
    let distances = fitting_distances(&was, &is);
    match (&distances[..], expected_px) {
        // More than one row that fits is no chance; where single rows tell something else, two of them look alike.
        ([only], _) if only.rows >= FITTING_ROWS_MIN => return choose(&distances, only.px),
        ([_, _, ..], Some(expected)) => return choose(&distances, expected),
        _ => {}
    }
    if let Some(movement) = evidence.iter().find_map(Evidence::movement) {
        let fits = distances.iter().any(|distance| movement.is_about(distance.px));
        return match expected_px {
            Some(expected) if !fits && !distances.is_empty() => {
                Measured { is_sure: false, ..choose(&distances, expected) }
            }
            _ => sure(movement),
        };
    }
    let cut = evidence.iter().find_map(|evidence| evidence.cut);
    if let Some(by) = cut.and_then(|cut| cut.distance(&was, &is, expected_px)) {
        return sure(Movement::By(by));
    }
    if !distances.is_empty() {
        return choose(&distances, expected_px.unwrap_or(0));
    }
    sure(if was.rows.keys().eq(is.rows.keys()) { Movement::None } else { Movement::Gap })
}

type Span = (i32, i32);
type Places = BTreeMap<String, Span>;

/// What the elements that are in both captures tell.
#[derive(Default)]
struct Evidence {
    /// The distances of those that moved.
    steps: Vec<i32>,
    /// Elements that did not move.
    stayed: usize,
    /// Elements of the later capture that are new.
    new: usize,
    /// An element that both captures cut off, at different ends.
    cut: Option<CutRow>,
}

impl Evidence {
    fn new((was, old): (&Inside, &Places), (is, new): (&Inside, &Places)) -> Evidence {
        let mut evidence = Evidence::default();
        for (name, (start, end)) in new {
            let Some((old_start, old_end)) = old.get(name) else {
                evidence.new += 1;
                continue;
            };
            // If an element is cut at one edge, its other edge shows how far it moved.
            let first = *start == is.first || *old_start == was.first;
            let last = *end == is.last || *old_end == was.last;
            let step = if first { old_end.saturating_sub(*end) } else { old_start.saturating_sub(*start) };
            match step {
                0 => evidence.stayed += 1,
                _ if first && last => {
                    evidence.cut = Some(CutRow { was: (*old_start, *old_end), is: (*start, *end) });
                }
                step => evidence.steps.push(step),
            }
        }
        evidence
    }

    /// `None` if nothing is known. What stays while most else is new is a heading that is stuck at the edge.
    fn movement(&self) -> Option<Movement> {
        match median(self.steps.clone()) {
            Some(step) => Some(Movement::By(step)),
            None => (self.stayed > 0 && self.stayed >= self.new).then_some(Movement::None),
        }
    }
}

/// A row of which one capture shows the beginning and the other the end.
#[derive(Clone, Copy)]
struct CutRow {
    was: Span,
    is: Span,
}

impl CutRow {
    /// The distance that the row moved, if its length can be told from the other rows or from the finger.
    fn distance(self, was: &Inside, is: &Inside, expected_px: Option<i32>) -> Option<i32> {
        let shown = length(self.was).max(length(self.is));
        let forward = self.was.1 == was.last && self.is.0 == is.first;
        // From the edge that is its own in one capture to the edge that is its own in the other.
        let between =
            if forward { self.was.0.saturating_sub(self.is.1) } else { self.was.1.saturating_sub(self.is.0) };
        let by_length = |length: i32| {
            if forward { between.saturating_add(length) } else { between.saturating_sub(length) }
        };
        if let Some(length) = common_length(was, is).filter(|length| *length >= shown) {
            return Some(by_length(length));
        }
        let least = by_length(shown);
        expected_px.filter(|px| if forward { *px >= least } else { *px <= least })
    }
}

fn length(span: Span) -> i32 {
    span.1.saturating_sub(span.0)
}

/// The length that all whole rows of both captures have.
fn common_length(was: &Inside, is: &Inside) -> Option<i32> {
    let mut lengths = [was, is].into_iter().flat_map(Inside::whole).map(|(_, span)| length(span));
    let first = lengths.next()?;
    lengths.all(|length| length == first).then_some(first)
}

/// A distance after which all rows that are in both captures look the same.
#[derive(Debug, Clone, Copy)]
struct FittingDistance {
    px: i32,
    rows: usize,
}

/// Where rows look alike there may be several.
fn fitting_distances(was: &Inside, is: &Inside) -> Vec<FittingDistance> {
    let length = common_length(was, is);
    let (olds, news) = (was.placed_rows(length), is.placed_rows(length));
    if olds.len().max(news.len()) > PATTERN_ROWS_MAX {
        return Vec::new();
    }
    let mut distances: Vec<i32> = Vec::new();
    for old in &olds {
        let alike = news.iter().filter(|new| old.may_be(new));
        distances.extend(alike.map(|new| old.start.saturating_sub(new.start)));
    }
    distances.sort_unstable();
    distances.dedup_by(|later, earlier| later.abs_diff(*earlier) <= PATTERN_PX_OFF);
    let fitting = |px: i32| {
        let rows = fitting_rows(&olds, &news, px)?.min(fitting_rows(&news, &olds, px.saturating_neg())?);
        (rows > 0).then_some(FittingDistance { px, rows })
    };
    distances.into_iter().filter_map(fitting).collect()
}

/// Of several distances that fit: nothing moved if that fits too, else the one next to what was expected.
fn choose(distances: &[FittingDistance], expected: i32) -> Measured {
    let mut px = distances.iter().map(|distance| distance.px);
    let stays = px.clone().any(|by| by.unsigned_abs() <= PATTERN_PX_OFF);
    let nearest = px.by_ref().min_by_key(|by| by.abs_diff(expected)).unwrap_or(0);
    let by = if stays { 0 } else { nearest };
    let is_sure = distances.iter().filter(|by| is_possible(by.px, expected)).count() <= 1;
    Measured { movement: if by == 0 { Movement::None } else { Movement::By(by) }, is_sure }
}

/// At its end a list moves less than the finger, and one that glides moves further; but none moves the other way.
fn is_possible(by: i32, expected: i32) -> bool {
    by.signum() * expected.signum() >= 0
}

/// How many of the rows are among the others after the distance; `None` if one that must be there is not.
fn fitting_rows(rows: &[PlacedRow<'_>], others: &[PlacedRow<'_>], by: i32) -> Option<usize> {
    let (first, last) = (others.first()?.start, others.last()?.start);
    let mut found = 0;
    for row in rows {
        let at = row.start.saturating_sub(by);
        if at < first || at > last {
            continue;
        }
        others.iter().find(|other| other.start.abs_diff(at) <= PATTERN_PX_OFF && row.may_be(other))?;
        found += 1;
    }
    Some(found)
}

/// A row whose beginning is known, or can be told from the length that all rows have.
struct PlacedRow<'a> {
    words: &'a str,
    start: i32,
    is_cut: bool,
}

impl PlacedRow<'_> {
    /// True if both may be the same row. What is cut off may lack some of its words.
    fn may_be(&self, other: &PlacedRow<'_>) -> bool {
        let within =
            |part: &PlacedRow<'_>, whole: &PlacedRow<'_>| part.is_cut && whole.words.contains(part.words);
        self.words == other.words || within(self, other) || within(other, self)
    }
}

fn median(mut steps: Vec<i32>) -> Option<i32> {
    steps.sort_unstable();
    steps.get(steps.len() / 2).copied()
}

struct Inside {
    first: i32,
    last: i32,
    /// By id: elements that have words or no children, which are what a person sees moving.
    names: Places,
    /// By all words of a row, for rows whose words are unique.
    rows: Places,
    /// All rows with words, in order.
    sequence: Vec<(String, Span)>,
}

impl Inside {
    /// The rows that no edge cuts off.
    fn whole(&self) -> impl Iterator<Item = (&str, Span)> {
        let is_whole = |row: &&(String, Span)| row.1.0 > self.first && row.1.1 < self.last;
        self.sequence.iter().filter(is_whole).map(|(words, span)| (words.as_str(), *span))
    }

    fn placed_rows(&self, length: Option<i32>) -> Vec<PlacedRow<'_>> {
        let mut placed = Vec::new();
        for (words, (start, end)) in &self.sequence {
            let is_cut = *start <= self.first || *end >= self.last;
            let start = match length {
                None if is_cut => continue,
                Some(length) if *start <= self.first => end.saturating_sub(length),
                _ => *start,
            };
            placed.push(PlacedRow { words, start, is_cut });
        }
        placed
    }
}

fn inside(seen: &Observation, container: u32, axis: Axis) -> Option<Inside> {
    let reading = &*seen.reading;
    let (first, last) = axis.span(seen_at(reading, container)?);
    let mut found = Inside { first, last, names: Places::new(), rows: Places::new(), sequence: Vec::new() };
    for at in reading.range(container).skip(1).take(COMPARED_MAX) {
        let element = reading.element(at);
        let shows = label::own_words(element).is_some() || element.end == at + 1;
        if let Some(rect) = seen_at(reading, at).filter(|_| shows) {
            found.names.insert(seen.ids[at as usize].to_string(), axis.span(rect));
        }
    }
    let mut shared = BTreeSet::new();
    for row in rows(reading, container) {
        let words = reading.range(row).take(WORDS_MAX).filter_map(|at| label::own_words(reading.element(at)));
        let said: String = words.flat_map(|words| [words, "\n"]).collect();
        let Some(rect) = seen_at(reading, row).filter(|_| !said.is_empty()) else { continue };
        if found.rows.insert(said.clone(), axis.span(rect)).is_some() {
            shared.insert(said.clone());
        }
        found.sequence.push((said, axis.span(rect)));
    }
    found.rows.retain(|said, _| !shared.contains(said));
    Some(found)
}
