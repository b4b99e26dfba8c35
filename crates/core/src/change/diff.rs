//! What changed between two captures: what counts (SY-03) and what does not (SY-04).

use crate::identity::{NONE, Pairing};
use crate::screen::element::{Element, Role};
use crate::screen::reading::{ScreenReading, frame_hash};

/// The whole change in one word, by what it does to an agent's picture of the screen.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum ChangeKind {
    #[default]
    None,
    /// Movement, focus and ticking texts only.
    Cosmetic,
    State,
    Text,
    /// Elements came, went or changed places.
    Hierarchy,
    /// The same list, another part of it.
    Scroll,
    /// Another screen, or so little left of this one that it is as good as another.
    Navigation,
}

impl ChangeKind {
    pub fn is_relevant(self) -> bool {
        !matches!(self, ChangeKind::None | ChangeKind::Cosmetic)
    }

    /// The names under which waits filter (SY-08).
    pub fn as_str(self) -> Option<&'static str> {
        Some(match self {
            ChangeKind::None => return None,
            ChangeKind::Cosmetic => "cosmetic",
            ChangeKind::State => "state_change",
            ChangeKind::Text => "text_change",
            ChangeKind::Hierarchy => "hierarchy_diff",
            ChangeKind::Scroll => "scroll",
            ChangeKind::Navigation => "navigation",
        })
    }
}

/// An element that stayed and differs in something that counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Changed {
    pub old: u32,
    pub new: u32,
    /// Text, description, hint or value.
    pub words: bool,
    /// Everything else: enabled, checked, selected, expanded, shown, what it is and what can be done with it.
    pub state: bool,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Cosmetic {
    pub moved: usize,
    pub focused: usize,
    pub ticked: usize,
}

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Diff {
    pub kind: ChangeKind,
    /// Indexes in the later capture.
    pub added: Vec<u32>,
    /// Indexes in the earlier capture.
    pub removed: Vec<u32>,
    pub changed: Vec<Changed>,
    /// Stayed, but under another parent or in another order: old and new index.
    pub reordered: Vec<(u32, u32)>,
    pub cosmetic: Cosmetic,
}

impl Diff {
    pub fn is_relevant(&self) -> bool {
        self.kind.is_relevant()
    }
}

/// `ticks` tells whether words that went from those of an old element to those of a new one only show passing time.
pub fn diff(
    before: &ScreenReading,
    after: &ScreenReading,
    pairing: &Pairing,
    ticks: impl Fn(u32, u32) -> bool,
) -> Diff {
    let mut diff = Diff::default();
    if before.relevant != after.relevant {
        diff.removed = unpaired(&pairing.to_new);
        diff.added = unpaired(&pairing.to_old);
        diff.reordered = reordered(before, after, pairing);
    }
    for (new, old) in pairing.to_old.iter().enumerate().filter(|(_, old)| **old != NONE) {
        let (old, new) = (*old, new as u32);
        let (was, is) = (before.element(old), after.element(new));
        diff.cosmetic.moved += usize::from(was.bounds != is.bounds);
        diff.cosmetic.focused += usize::from(was.state.focused != is.state.focused);
        if before.nodes[old as usize].own == after.nodes[new as usize].own {
            continue;
        }
        let words = words_differ(was, is);
        let state = !words || frame_hash(was) != frame_hash(is);
        if words && !state && ticks(old, new) {
            diff.cosmetic.ticked += 1;
        } else {
            diff.changed.push(Changed { old, new, words, state });
        }
    }
    diff.kind = kind(before, after, pairing, &diff);
    diff
}

fn unpaired(partners: &[u32]) -> Vec<u32> {
    let alone = partners.iter().enumerate().filter(|(_, partner)| **partner == NONE);
    alone.map(|(index, _)| index as u32).collect()
}

fn words_differ(was: &Element, is: &Element) -> bool {
    was.text != is.text || was.description != is.description || was.hint != is.hint || was.value != is.value
}

fn reordered(before: &ScreenReading, after: &ScreenReading, pairing: &Pairing) -> Vec<(u32, u32)> {
    let mut found = Vec::new();
    // The furthest old index seen under each new parent; the last place is for elements without one.
    let mut furthest = vec![0; after.nodes.len() + 1];
    for (new, old) in pairing.to_old.iter().enumerate().filter(|(_, old)| **old != NONE) {
        let parent = after.snapshot.elements[new].parent;
        let old_parent = before.element(*old).parent;
        let partner = parent.and_then(|parent| pairing.to_old.get(parent as usize)).copied();
        let place = parent.map_or(after.nodes.len(), |parent| (parent as usize).min(after.nodes.len()));
        let stayed = partner.filter(|partner| *partner != NONE) == old_parent
            || (partner == Some(NONE) && old_parent.is_some_and(|p| pairing.to_new[p as usize] == NONE));
        if !stayed || *old < furthest[place] {
            found.push((*old, new as u32));
        } else {
            furthest[place] = *old;
        }
    }
    found
}

fn kind(before: &ScreenReading, after: &ScreenReading, pairing: &Pairing, diff: &Diff) -> ChangeKind {
    let screens = (&before.snapshot.screen, &after.snapshot.screen);
    if matches!(screens, (Some(was), Some(is)) if was != is) {
        return ChangeKind::Navigation;
    }
    let structure = !diff.added.is_empty() || !diff.removed.is_empty() || !diff.reordered.is_empty();
    if structure && pairing.replaced {
        return ChangeKind::Navigation;
    }
    if structure && diff.changed.is_empty() && is_scroll(before, after, pairing, diff) {
        return ChangeKind::Scroll;
    }
    if structure {
        return ChangeKind::Hierarchy;
    }
    if diff.changed.iter().any(|changed| changed.words) {
        return ChangeKind::Text;
    }
    if !diff.changed.is_empty() {
        return ChangeKind::State;
    }
    let Cosmetic { moved, focused, ticked } = diff.cosmetic;
    if moved + focused + ticked > 0 { ChangeKind::Cosmetic } else { ChangeKind::None }
}

/// Everything that came and went did so inside something that scrolls, at its two ends, and what stayed in it moved
/// from the one towards the other.
fn is_scroll(before: &ScreenReading, after: &ScreenReading, pairing: &Pairing, diff: &Diff) -> bool {
    if diff.added.is_empty() || !diff.reordered.is_empty() {
        return false;
    }
    let came = diff.added.iter().map(|new| Some((scroller(after, *new)?, Side::Came(*new))));
    let went = diff.removed.iter().map(|old| {
        let partner = pairing.to_new[scroller(before, *old)? as usize];
        (partner != NONE).then_some((partner, Side::Went(*old)))
    });
    let mut moves: Vec<(u32, Side)> = Vec::new();
    for place in came.chain(went) {
        match place {
            Some(place) if pairing.to_old[place.0 as usize] != NONE => moves.push(place),
            _ => return false,
        }
    }
    moves.sort_unstable();
    moves.chunk_by(|a, b| a.0 == b.0).all(|moves| {
        let travelled = travelled(before, after, pairing, moves[0].0);
        travelled.is_some_and(|travelled| moves.iter().all(|(_, side)| travelled.explains(*side)))
    })
}

/// An element that came into view or left it, by its index in its own capture.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Side {
    Came(u32),
    Went(u32),
}

/// How what stayed in a list moved, and which places it took.
struct Travelled {
    forward: bool,
    olds: (u32, u32),
    news: (u32, u32),
}

impl Travelled {
    /// Content that moves towards the start comes in at the end and goes out at the start.
    fn explains(&self, side: Side) -> bool {
        match (side, self.forward) {
            (Side::Came(new), true) => new > self.news.1,
            (Side::Came(new), false) => new < self.news.0,
            (Side::Went(old), true) => old < self.olds.0,
            (Side::Went(old), false) => old > self.olds.1,
        }
    }
}

/// The outermost element around `index` that scrolls: a page that moves takes the lists on it along.
fn scroller(reading: &ScreenReading, index: u32) -> Option<u32> {
    let mut found = None;
    let mut at = reading.element(index).parent;
    while let Some(parent) = at {
        let element = reading.element(parent);
        if element.affordances.scrollable || matches!(element.role, Role::List | Role::WebView) {
            found = Some(parent);
        }
        at = element.parent.filter(|above| *above < parent);
    }
    found
}

/// `None` unless most of what kept its size inside moved by one distance.
fn travelled(
    before: &ScreenReading,
    after: &ScreenReading,
    pairing: &Pairing,
    scroller: u32,
) -> Option<Travelled> {
    let mut moved = Vec::new();
    for new in after.range(scroller).skip(1) {
        let old = pairing.to_old[new as usize];
        if old == NONE {
            continue;
        }
        let (was, is) = (before.element(old).bounds, after.element(new).bounds);
        if was.width() == is.width() && was.height() == is.height() && was != is {
            moved.push(((is.left.wrapping_sub(was.left), is.top.wrapping_sub(was.top)), old, new));
        }
    }
    moved.sort_unstable();
    let together = moved.chunk_by(|a, b| a.0 == b.0).max_by_key(|group| group.len())?;
    if together.len() * 4 < moved.len() * 3 {
        return None;
    }
    let (across, down) = together[0].0;
    let ends = |all: &mut dyn Iterator<Item = u32>| {
        all.fold((u32::MAX, 0), |(least, most), index| (least.min(index), most.max(index)))
    };
    Some(Travelled {
        forward: if down == 0 { across < 0 } else { down < 0 },
        olds: ends(&mut together.iter().map(|moved| moved.1)),
        news: ends(&mut together.iter().map(|moved| moved.2)),
    })
}
