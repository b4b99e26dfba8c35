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

/// Compares two captures; `container` is the container's id in the first.
pub fn movement(before: &Observation, after: &Observation, container: ElementId, axis: Axis) -> Movement {
    let was = before.index_of(container).and_then(|index| inside(before, index as u32, axis));
    let is = again(before, container, after).and_then(|index| inside(after, index, axis));
    let (Some(was), Some(is)) = (was, is) else { return Movement::Gap };
    // Ids are more reliable than words, which many rows may share, but may be lost when much content changes.
    for [was_at, is_at] in [[&was.names, &is.names], [&was.rows, &is.rows]] {
        if let Some(steps) = steps((&was, was_at), (&is, is_at)) {
            return median(steps).map_or(Movement::None, Movement::By);
        }
    }
    if was.rows.keys().eq(is.rows.keys()) { Movement::None } else { Movement::Gap }
}

type Places = BTreeMap<String, (i32, i32)>;

/// The distances of all elements that moved; `None` when no element of the earlier capture is in the later one.
fn steps((was, old): (&Inside, &Places), (is, new): (&Inside, &Places)) -> Option<Vec<i32>> {
    let mut steps = Vec::new();
    let mut known = false;
    for (name, (start, end)) in new {
        let Some((old_start, old_end)) = old.get(name) else { continue };
        known = true;
        // If an element is cut at one edge, its other edge shows how far it moved.
        let first = *start == is.first || *old_start == was.first;
        let last = *end == is.last || *old_end == was.last;
        let step = if first { old_end - end } else { old_start - start };
        if step != 0 && !(first && last) {
            steps.push(step);
        }
    }
    known.then_some(steps)
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
}

fn inside(seen: &Observation, container: u32, axis: Axis) -> Option<Inside> {
    let reading = &*seen.reading;
    let (first, last) = axis.span(seen_at(reading, container)?);
    let mut found = Inside { first, last, names: Places::new(), rows: Places::new() };
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
            shared.insert(said);
        }
    }
    found.rows.retain(|said, _| !shared.contains(said));
    Some(found)
}
