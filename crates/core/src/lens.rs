//! The part of a screen that a wait looks at: one subtree or all of it, without what is to be ignored (SY-04, SY-09).

use std::ops::Range;

use crate::change::{ChangeKind, Diff};
use crate::identity::ElementId;
use crate::label::own_words;
use crate::query::Query;
use crate::tracker::{Seen, Since};

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Lens {
    /// Only this element and what it holds; the whole screen without one.
    pub target: Option<ElementId>,
    /// What these describe, with all that it holds, never counts.
    pub ignore: Vec<Query>,
}

/// What a lens shows of the difference between two captures.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Glimpse {
    pub kind: ChangeKind,
    /// Elements that came, went, changed or changed places.
    pub touched: Vec<ElementId>,
    pub structure: bool,
    pub words: bool,
    pub state: bool,
}

impl Glimpse {
    /// Whether it holds a change of this kind, whatever else changed with it (SY-08).
    pub fn has(&self, wanted: ChangeKind) -> bool {
        match wanted {
            ChangeKind::Hierarchy => self.structure,
            ChangeKind::Text => self.words,
            ChangeKind::State => self.state,
            other => self.kind == other,
        }
    }
}

impl Lens {
    pub fn look(&self, since: &Since, now: &Seen) -> Glimpse {
        let diff = &since.diff;
        if !diff.is_relevant() {
            return Glimpse { kind: diff.kind, ..Glimpse::default() };
        }
        let (before, after) = (View::new(self, &since.base), View::new(self, now));
        let seen_old = |old: &u32| before.shows(*old);
        let seen_new = |new: &u32| after.shows(*new);
        let added: Vec<u32> = diff.added.iter().copied().filter(seen_new).collect();
        let removed: Vec<u32> = diff.removed.iter().copied().filter(seen_old).collect();
        let moved = diff.reordered.iter().filter(|(old, new)| seen_old(old) || seen_new(new));
        let moved: Vec<u32> = moved.map(|(_, new)| *new).collect();
        let changed: Vec<_> = diff.changed.iter().filter(|changed| seen_new(&changed.new)).collect();
        // Another screen counts even when both are made of the same parts.
        let screens = [&*since.base, now].map(|seen| seen.reading.snapshot.screen.as_ref());
        let elsewhere = self.target.is_none() && matches!(screens, [Some(was), Some(is)] if was != is);
        let structure = elsewhere || !(added.is_empty() && removed.is_empty() && moved.is_empty());
        let worded = |seen: &Seen, index: &u32| own_words(seen.reading.element(*index)).is_some();
        let words = changed.iter().any(|changed| changed.words)
            || added.iter().any(|new| worded(now, new))
            || removed.iter().any(|old| worded(&since.base, old));
        let state = changed.iter().any(|changed| changed.state);
        let here = added.iter().chain(&moved).chain(changed.iter().map(|changed| &changed.new));
        let mut touched: Vec<ElementId> = here.map(|new| now.ids[*new as usize]).collect();
        touched.extend(removed.iter().map(|old| since.base.ids[*old as usize]));
        let kind = kind(diff, structure, changed.iter().any(|changed| changed.words), state);
        Glimpse { kind, touched, structure, words, state }
    }
}

fn kind(diff: &Diff, structure: bool, words: bool, state: bool) -> ChangeKind {
    match diff.kind {
        whole @ (ChangeKind::Navigation | ChangeKind::Scroll) if structure => whole,
        _ if structure => ChangeKind::Hierarchy,
        _ if words => ChangeKind::Text,
        _ if state => ChangeKind::State,
        // All that counted was out of view.
        _ => ChangeKind::Cosmetic,
    }
}

/// Which elements of one capture count.
struct View {
    /// `None` when the target is not there: then nothing counts.
    range: Option<Range<u32>>,
    ignored: Vec<Range<u32>>,
}

impl View {
    fn new(lens: &Lens, seen: &Seen) -> View {
        let range = match lens.target {
            None => Some(0..u32::MAX),
            Some(id) => seen.index_of(id).map(|index| seen.reading.range(index as u32)),
        };
        let picked = |query: &Query| {
            let all = query.matches(seen);
            match query.index {
                Some(index) => all.get(index).copied().into_iter().collect(),
                None => all,
            }
        };
        let ignored = lens.ignore.iter().flat_map(picked).map(|index| seen.reading.range(index)).collect();
        View { range, ignored }
    }

    fn shows(&self, index: u32) -> bool {
        self.range.as_ref().is_some_and(|range| range.contains(&index))
            && !self.ignored.iter().any(|range| range.contains(&index))
    }
}
