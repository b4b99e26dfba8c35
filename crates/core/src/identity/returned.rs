//! Decides whether a screen that was seen before has come back, so that its ids may come back with it.

use super::pairing::{NONE, Pairing, scroller};
use crate::meaning::label::own_words;
use crate::screen::element::Role;
use crate::screen::reading::ScreenReading;

/// Rows of one shape that make a scroll container a list.
const LIST_ROWS_MIN: usize = 3;

/// True if everything outside of lists says the same in both captures, so that it is the same screen about the same
/// thing: a page about another thing has the same layout and the same buttons (F1). The rows of a list are paired by
/// their own evidence. `only_time_passed(old, new)` excuses clocks and counters.
pub fn is_same_screen(
    before: &ScreenReading,
    after: &ScreenReading,
    pairing: &Pairing,
    only_time_passed: impl Fn(u32, u32) -> bool,
) -> bool {
    if pairing.replaced || before.snapshot.screen != after.snapshot.screen {
        return false;
    }
    let is_named = |reading: &ScreenReading, index: u32| {
        own_words(reading.element(index)).is_some() && !is_in_list(reading, index)
    };
    let same = |new: u32| {
        let old = pairing.to_old[new as usize];
        old != NONE
            && (own_words(before.element(old)) == own_words(after.element(new)) || only_time_passed(old, new))
    };
    let all_known = (0..after.nodes.len() as u32).filter(|new| is_named(after, *new)).all(same);
    let is_kept = |old: u32| pairing.to_new[old as usize] != NONE;
    all_known && (0..before.nodes.len() as u32).filter(|old| is_named(before, *old)).all(is_kept)
}

fn is_in_list(reading: &ScreenReading, index: u32) -> bool {
    let parent = reading.element(index).parent.filter(|parent| *parent < index);
    parent.and_then(|parent| scroller(reading, parent)).is_some_and(|scroller| is_list(reading, scroller))
}

/// True if the container is a list by its kind, or most of its children have one shape.
fn is_list(reading: &ScreenReading, scroller: u32) -> bool {
    if reading.element(scroller).role == Role::List {
        return true;
    }
    let mut parent = scroller;
    // A scroll view often holds one box with the rows in it.
    loop {
        let mut children = reading.snapshot.children(parent as usize);
        match (children.next(), children.next()) {
            (Some(only), None) => parent = only as u32,
            (None, _) => return false,
            _ => break,
        }
    }
    let shape = |child: usize| {
        let element = &reading.snapshot.elements[child];
        (element.class.clone(), element.end - child as u32)
    };
    let mut shapes: Vec<_> = reading.snapshot.children(parent as usize).map(shape).collect();
    shapes.sort_unstable();
    let most = shapes.chunk_by(|a, b| a == b).map(<[_]>::len).max().unwrap_or(0);
    most >= LIST_ROWS_MIN && most * 2 > shapes.len()
}
