//! Whether the content of what scrolls went anywhere.

use std::collections::{BTreeMap, BTreeSet};

use super::{Axis, is_scroller, rows, seen_at};
use crate::change::tracker::Observation;
use crate::identity::ElementId;
use crate::meaning::label;

/// Elements of one container that are compared.
const COMPARED_MAX: usize = 2000;
/// Of one row.
const WORDS_MAX: usize = 64;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Movement {
    /// Everything is where it was.
    None,
    /// The same content, by so many pixels: positive when what lies below or to the right came in.
    By(i32),
    /// Nothing of what was there is there now: something may lie in between.
    Gap,
}

impl Movement {
    pub fn moved(self) -> bool {
        self != Movement::None
    }
}

/// The container of one look in a later one. Names may be lost with so much of the content; what scrolls stays where it
/// is and keeps its identifier.
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

/// From one look to a later one, in the container that has this name in the first.
pub fn movement(before: &Observation, after: &Observation, container: ElementId, axis: Axis) -> Movement {
    let was = before.index_of(container).and_then(|index| inside(before, index as u32, axis));
    let is = again(before, container, after).and_then(|index| inside(after, index, axis));
    let (Some(was), Some(is)) = (was, is) else { return Movement::Gap };
    // Names are surer than words, which many rows may share; but with so much of the content they may be lost.
    for [was_at, is_at] in [[&was.names, &is.names], [&was.rows, &is.rows]] {
        if let Some(steps) = steps((&was, was_at), (&is, is_at)) {
            return median(steps).map_or(Movement::None, Movement::By);
        }
    }
    if was.rows.keys().eq(is.rows.keys()) { Movement::None } else { Movement::Gap }
}

type Places = BTreeMap<String, (i32, i32)>;

/// How far everything went that is known again and went somewhere; `None` when nothing is known again.
fn steps((was, old): (&Inside, &Places), (is, new): (&Inside, &Places)) -> Option<Vec<i32>> {
    let mut steps = Vec::new();
    let mut known = false;
    for (name, (start, end)) in new {
        let Some((old_start, old_end)) = old.get(name) else { continue };
        known = true;
        // What is cut at one edge has moved by what its other edge has moved.
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
    /// Of what says something or has nothing in it, which is what a person sees moving.
    names: Places,
    /// By all that a row says, where no other says the same.
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
