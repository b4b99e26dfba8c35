//! The part of a screen that a wait observes: one subtree or the whole screen, without ignored elements (SY-04, SY-09).

use std::ops::Range;

use crate::change::diff::{ChangeKind, Diff, look_alike};
use crate::change::tracker::{Comparison, Observation};
use crate::identity::{ElementId, NONE};
use crate::intent::selector::Selector;
use crate::meaning::label::own_words;

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Scope {
    /// Only this element and its descendants; `None` means the whole screen.
    pub target: Option<ElementId>,
    /// Elements that these select are ignored, with their descendants.
    pub ignore: Vec<Selector>,
}

/// The part of the difference between two captures that lies in a scope.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ScopedChange {
    pub kind: ChangeKind,
    /// Elements that changed, and elements in which others appeared, disappeared or moved.
    pub touched: Vec<ElementId>,
    pub structure: bool,
    pub words: bool,
    pub state: bool,
}

impl ScopedChange {
    /// True if it contains a change of this kind, possibly among others (SY-08).
    pub fn has(&self, wanted: ChangeKind) -> bool {
        match wanted {
            ChangeKind::Hierarchy => self.structure,
            ChangeKind::Text => self.words,
            ChangeKind::State => self.state,
            other => self.kind == other,
        }
    }
}

impl Scope {
    /// Returns the part of a difference that lies in the scope.
    pub fn narrow(&self, since: &Comparison, now: &Observation) -> Diff {
        let (before, after) = (View::new(self, &since.base), View::new(self, now));
        let mut diff = since.diff.clone();
        diff.added.retain(|new| after.shows(*new));
        diff.removed.retain(|old| before.shows(*old));
        diff.reordered.retain(|(old, new)| before.shows(*old) || after.shows(*new));
        diff.changed.retain(|changed| after.shows(changed.new));
        diff.kind = self.changes_in(since, now).kind;
        diff
    }

    pub fn changes_in(&self, since: &Comparison, now: &Observation) -> ScopedChange {
        let diff = &since.diff;
        if !diff.is_relevant() {
            return ScopedChange { kind: diff.kind, ..ScopedChange::default() };
        }
        let (before, after) = (View::new(self, &since.base), View::new(self, now));
        let seen_old = |old: &u32| before.shows(*old);
        let seen_new = |new: &u32| after.shows(*new);
        let added: Vec<u32> = diff.added.iter().copied().filter(seen_new).collect();
        let removed: Vec<u32> = diff.removed.iter().copied().filter(seen_old).collect();
        let moved = diff.reordered.iter().filter(|(old, new)| seen_old(old) || seen_new(new));
        let moved: Vec<u32> = moved.map(|(_, new)| *new).collect();
        let changed: Vec<_> = diff.changed.iter().filter(|changed| seen_new(&changed.new)).collect();
        // Another screen counts as a change even if both have the same elements.
        let screens = [&*since.base, now].map(|seen| seen.reading.snapshot.screen.as_ref());
        let elsewhere = self.target.is_none() && matches!(screens, [Some(was), Some(is)] if was != is);
        let renamed =
            || !changed.is_empty() && look_alike(&since.base.reading, &removed, &now.reading, &added);
        let same_elements = (added.is_empty() && removed.is_empty()) || renamed();
        let structure = elsewhere || !moved.is_empty() || !same_elements;
        // Words that only moved from one element to another are no change of text.
        let came = sorted_words(now, &added);
        let words =
            changed.iter().any(|changed| changed.words) || came != sorted_words(&since.base, &removed);
        let state = changed.iter().any(|changed| changed.state);
        let mut touched: Vec<ElementId> =
            changed.iter().map(|changed| now.ids[changed.new as usize]).collect();
        touched.extend(added.iter().chain(&moved).filter_map(|new| holder(now, *new, &since.pairing.to_old)));
        touched.extend(removed.iter().filter_map(|old| holder(&since.base, *old, &since.pairing.to_new)));
        touched.sort_unstable();
        touched.dedup();
        let kind = kind(diff, structure, changed.iter().any(|changed| changed.words), state);
        ScopedChange { kind, touched, structure, words, state }
    }
}

fn sorted_words<'a>(seen: &'a Observation, indexes: &[u32]) -> Vec<&'a str> {
    let mut words: Vec<_> =
        indexes.iter().filter_map(|index| own_words(seen.reading.element(*index))).collect();
    words.sort_unstable();
    words
}

/// The nearest ancestor that is in both captures: the id of an element that disappeared is of no use later.
fn holder(seen: &Observation, index: u32, partners: &[u32]) -> Option<ElementId> {
    let mut at = seen.reading.element(index).parent;
    while let Some(parent) = at {
        if partners.get(parent as usize).is_some_and(|partner| *partner != NONE) {
            return seen.ids.get(parent as usize).copied();
        }
        at = seen.reading.element(parent).parent.filter(|above| *above < parent);
    }
    None
}

fn kind(diff: &Diff, structure: bool, words: bool, state: bool) -> ChangeKind {
    match diff.kind {
        whole @ (ChangeKind::Navigation | ChangeKind::Scroll) if structure => whole,
        _ if structure => ChangeKind::Hierarchy,
        _ if words => ChangeKind::Text,
        _ if state => ChangeKind::State,
        // Every relevant change was outside the scope.
        _ => ChangeKind::Cosmetic,
    }
}

/// The elements of one capture that are in the scope.
struct View {
    /// `None` when the target is not on this capture: then no element is in the scope.
    range: Option<Range<u32>>,
    ignored: Vec<Range<u32>>,
}

impl View {
    fn new(scope: &Scope, seen: &Observation) -> View {
        let range = match scope.target {
            None => Some(0..u32::MAX),
            Some(id) => seen.index_of(id).map(|index| seen.reading.range(index as u32)),
        };
        let picked = |selector: &Selector| {
            let all = selector.matches(seen);
            match selector.index {
                Some(index) => all.get(index).copied().into_iter().collect(),
                None => all,
            }
        };
        let ignored = scope.ignore.iter().flat_map(picked).map(|index| seen.reading.range(index)).collect();
        View { range, ignored }
    }

    fn shows(&self, index: u32) -> bool {
        self.range.as_ref().is_some_and(|range| range.contains(&index))
            && !self.ignored.iter().any(|range| range.contains(&index))
    }
}
