//! What changed between two captures: relevant changes (SY-03) and cosmetic ones (SY-04).

use crate::identity::{NONE, Pairing};
use crate::screen::element::{Element, Role};
use crate::screen::reading::{ScreenReading, hash_without_texts};

/// The kind of the whole change, ordered by how much of an agent's knowledge of the screen it makes stale.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum ChangeKind {
    #[default]
    None,
    /// Only movement, focus and ticking texts.
    Cosmetic,
    State,
    Text,
    /// Elements were added, removed or reordered.
    Hierarchy,
    /// The same list shows another part of its content.
    Scroll,
    /// Another screen, or one of which so little is left that it counts as another.
    Navigation,
}

impl ChangeKind {
    pub fn is_relevant(self) -> bool {
        !matches!(self, ChangeKind::None | ChangeKind::Cosmetic)
    }

    /// The name that a wait can filter by (SY-08).
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

/// An element that is in both captures and differs in a relevant field.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Changed {
    pub old: u32,
    pub new: u32,
    /// The text, description, hint or value differs.
    pub words: bool,
    /// Another relevant field differs: state, displayed, role, class, identifier or affordances.
    pub state: bool,
}

/// Counts of elements with cosmetic changes.
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
    /// Old and new index of elements that are in both captures, but under another parent or in another order.
    pub reordered: Vec<(u32, u32)>,
    pub cosmetic: Cosmetic,
}

impl Diff {
    pub fn is_relevant(&self) -> bool {
        self.kind.is_relevant()
    }
}

/// Compares two captures. `swiped`: a finger moved over the screen in between. `ticks(old, new)` is true if the change of an element's words only shows that time passed.
pub fn diff(
    before: &ScreenReading,
    after: &ScreenReading,
    pairing: &Pairing,
    swiped: bool,
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
        if before.nodes[old as usize].own_hash == after.nodes[new as usize].own_hash {
            continue;
        }
        let words = words_differ(was, is);
        let state = !words || hash_without_texts(was) != hash_without_texts(is);
        if words && !state && ticks(old, new) {
            diff.cosmetic.ticked += 1;
        } else {
            diff.changed.push(Changed { old, new, words, state });
        }
    }
    diff.kind = kind(before, after, pairing, &diff);
    if diff.kind == ChangeKind::Scroll && !swiped && is_unfolded(before, after, pairing, &diff) {
        diff.kind = ChangeKind::Hierarchy;
    }
    diff
}

fn unpaired(partners: &[u32]) -> Vec<u32> {
    let unpaired = partners.iter().enumerate().filter(|(_, partner)| **partner == NONE);
    unpaired.map(|(index, _)| index as u32).collect()
}

fn words_differ(was: &Element, is: &Element) -> bool {
    was.text != is.text || was.description != is.description || was.hint != is.hint || was.value != is.value
}

fn reordered(before: &ScreenReading, after: &ScreenReading, pairing: &Pairing) -> Vec<(u32, u32)> {
    let mut found = Vec::new();
    // The highest old index seen under each new parent; the last entry is for elements without a parent.
    let mut highest = vec![0; after.nodes.len() + 1];
    for (new, old) in pairing.to_old.iter().enumerate().filter(|(_, old)| **old != NONE) {
        let parent = after.snapshot.elements[new].parent;
        let old_parent = before.element(*old).parent;
        let partner = parent.and_then(|parent| pairing.to_old.get(parent as usize)).copied();
        let entry = parent.map_or(after.nodes.len(), |parent| (parent as usize).min(after.nodes.len()));
        let same_parent = partner.filter(|partner| *partner != NONE) == old_parent
            || (partner == Some(NONE) && old_parent.is_some_and(|p| pairing.to_new[p as usize] == NONE));
        if !same_parent || *old < highest[entry] {
            found.push((*old, new as u32));
        } else {
            highest[entry] = *old;
        }
    }
    found
}

fn kind(before: &ScreenReading, after: &ScreenReading, pairing: &Pairing, diff: &Diff) -> ChangeKind {
    let screens = (&before.snapshot.screen, &after.snapshot.screen);
    if matches!(screens, (Some(was), Some(is)) if was != is) {
        return ChangeKind::Navigation;
    }
    let structure = (!diff.added.is_empty() || !diff.removed.is_empty() || !diff.reordered.is_empty())
        && !is_only_renamed(before, after, diff);
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

/// True if, beside what changed in place, the same elements are there: they look alike and only lost their ids.
fn is_only_renamed(before: &ScreenReading, after: &ScreenReading, diff: &Diff) -> bool {
    !diff.changed.is_empty()
        && diff.reordered.is_empty()
        && look_alike(before, &diff.removed, after, &diff.added)
}

/// True if the elements at these indexes look the same, each like one of the others.
pub(crate) fn look_alike(before: &ScreenReading, olds: &[u32], after: &ScreenReading, news: &[u32]) -> bool {
    let looks = |reading: &ScreenReading, indexes: &[u32]| {
        let mut looks: Vec<u64> =
            indexes.iter().map(|index| reading.nodes[*index as usize].own_hash).collect();
        looks.sort_unstable();
        looks
    };
    olds.len() == news.len() && looks(before, olds) == looks(after, news)
}

/// True if every added and removed element lies at an end of a scroll container, and the elements that stayed in the
/// container moved away from the end where elements were added.
fn is_scroll(before: &ScreenReading, after: &ScreenReading, pairing: &Pairing, diff: &Diff) -> bool {
    if diff.added.is_empty() || !diff.reordered.is_empty() {
        return false;
    }
    let entered = diff.added.iter().map(|new| Some((scroller(after, *new)?, Edge::Entered(*new))));
    let left = diff.removed.iter().map(|old| {
        let partner = pairing.to_new[scroller(before, *old)? as usize];
        (partner != NONE).then_some((partner, Edge::Left(*old)))
    });
    let mut moves: Vec<(u32, Edge)> = Vec::new();
    for edge in entered.chain(left) {
        match edge {
            Some(edge) if pairing.to_old[edge.0 as usize] != NONE => moves.push(edge),
            _ => return false,
        }
    }
    moves.sort_unstable();
    moves.chunk_by(|a, b| a.0 == b.0).all(|moves| {
        let shift = shift(before, after, pairing, moves[0].0);
        shift.is_some_and(|shift| moves.iter().all(|(_, edge)| shift.explains(*edge)))
    })
}

/// True if an element came in right after one that stayed in its place, as the entries of a group that unfolds do (F85).
/// Under a finger that one may be a header that stays while its list scrolls.
fn is_unfolded(before: &ScreenReading, after: &ScreenReading, pairing: &Pairing, diff: &Diff) -> bool {
    diff.added.iter().any(|new| {
        let Some(parent) = after.element(*new).parent else { return false };
        let sibling =
            after.snapshot.children(parent as usize).take_while(|child| *child < *new as usize).last();
        let old = sibling.map_or(NONE, |sibling| pairing.to_old[sibling]);
        old != NONE
            && sibling.is_some_and(|new| before.element(old).bounds == after.element(new as u32).bounds)
    })
}

/// An element that entered or left a scroll container, by its index in its own capture.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Edge {
    Entered(u32),
    Left(u32),
}

/// The direction in which elements that stayed in a scroll container moved, and the index ranges they span.
struct Shift {
    forward: bool,
    olds: (u32, u32),
    news: (u32, u32),
}

impl Shift {
    /// True if the shift explains the edge: scrolling forward adds elements at the end and removes them at the start.
    fn explains(&self, edge: Edge) -> bool {
        match (edge, self.forward) {
            (Edge::Entered(new), true) => new > self.news.1,
            (Edge::Entered(new), false) => new < self.news.0,
            (Edge::Left(old), true) => old < self.olds.0,
            (Edge::Left(old), false) => old > self.olds.1,
        }
    }
}

/// Returns the outermost scroll container around `index`: a scrolled page moves the lists on it too.
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

/// Returns the shift of a scroll container's content; `None` unless most moved elements moved by the same distance.
fn shift(before: &ScreenReading, after: &ScreenReading, pairing: &Pairing, scroller: u32) -> Option<Shift> {
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
    Some(Shift {
        forward: if down == 0 { across < 0 } else { down < 0 },
        olds: ends(&mut together.iter().map(|moved| moved.1)),
        news: ends(&mut together.iter().map(|moved| moved.2)),
    })
}
