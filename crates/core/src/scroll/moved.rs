//! Whether the content of what scrolls went anywhere.

use std::collections::BTreeMap;

use super::{Axis, seen_at};
use crate::identity::ElementId;
use crate::label;
use crate::tracker::Seen;

/// Elements of one container that are compared.
const COMPARED_MAX: usize = 2000;

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

/// From one look to a later one, in the container that has this name in both.
pub fn movement(before: &Seen, after: &Seen, container: ElementId, axis: Axis) -> Movement {
    let (Some(was), Some(is)) = (inside(before, container, axis), inside(after, container, axis)) else {
        return Movement::Gap;
    };
    let mut steps: Vec<i32> = Vec::new();
    let mut known = 0;
    for (id, (start, end)) in &is.places {
        let Some((old_start, old_end)) = was.places.get(id) else { continue };
        known += 1;
        // What is cut at one edge has moved by what its other edge has moved.
        let step = if at_edge(*start, is.first) || at_edge(*old_start, was.first) {
            old_end - end
        } else {
            old_start - start
        };
        let cut_again = at_edge(*end, is.last) || at_edge(*old_end, was.last);
        if step != 0 && !(cut_again && (at_edge(*start, is.first) || at_edge(*old_start, was.first))) {
            steps.push(step);
        }
    }
    if let Some(middle) = median(&mut steps) {
        return Movement::By(middle);
    }
    if known == 0 && was.words != is.words { Movement::Gap } else { Movement::None }
}

struct Inside {
    first: i32,
    last: i32,
    /// Of what says something or has nothing in it, which is what a person sees moving.
    places: BTreeMap<ElementId, (i32, i32)>,
    words: Vec<String>,
}

fn inside(seen: &Seen, container: ElementId, axis: Axis) -> Option<Inside> {
    let index = seen.index_of(container)? as u32;
    let reading = &*seen.reading;
    let (first, last) = axis.span(seen_at(reading, index)?);
    let mut found = Inside { first, last, places: BTreeMap::new(), words: Vec::new() };
    for at in reading.range(index).skip(1).take(COMPARED_MAX) {
        let element = reading.element(at);
        let words = label::own_words(element);
        let Some(rect) = seen_at(reading, at).filter(|_| words.is_some() || element.end == at + 1) else {
            continue;
        };
        found.places.insert(seen.ids[at as usize], axis.span(rect));
        found.words.extend(words.map(str::to_owned));
    }
    Some(found)
}

fn at_edge(at: i32, edge: i32) -> bool {
    at == edge
}

fn median(steps: &mut [i32]) -> Option<i32> {
    steps.sort_unstable();
    steps.get(steps.len() / 2).copied()
}
