//! Pairs the elements of one capture with the same elements of the next: proven, or not paired at all (ID-02).

use xxhash_rust::xxh3::xxh3_64;

use super::names::{Names, differ_by_value};
use super::rows::{RowPair, Side, are_swiped, pair_rows};
use crate::meaning::label::{own_words, speaks_for_itself};
use crate::meaning::role;
use crate::screen::element::{Element, Role};
use crate::screen::geometry::Rect;
use crate::screen::reading::{ScreenReading, mix};

/// The index that stands for "no partner".
pub const NONE: u32 = u32::MAX;

/// The same elements in two captures, as indexes. An element without a partner has [`NONE`].
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Pairing {
    /// For each element of the later capture, its index in the earlier one.
    pub to_old: Vec<u32>,
    /// For each element of the earlier capture, its index in the later one.
    pub to_new: Vec<u32>,
    /// True if so little of the earlier screen is left that it counts as another screen.
    pub replaced: bool,
}

impl Pairing {
    fn none(before: &ScreenReading, after: &ScreenReading) -> Pairing {
        Pairing {
            to_old: vec![NONE; after.nodes.len()],
            to_new: vec![NONE; before.nodes.len()],
            replaced: true,
        }
    }

    /// Pairs every element with itself.
    pub fn identity(count: usize) -> Pairing {
        let all: Vec<u32> = (0..count as u32).collect();
        Pairing { to_old: all.clone(), to_new: all, replaced: false }
    }

    pub fn pairs(&self) -> usize {
        self.to_old.iter().filter(|old| **old != NONE).count()
    }
}

/// Pairs elements that are provably the same: their parent is, and no sibling shares the identifier, or the kind and words.
/// A non-tappable element is also paired when all its siblings stayed in place. Rows that look alike, and rows of what
/// scrolls, need more evidence: see [`super::rows`].
///
/// `acted`: something was sent to the device between the captures, so an equal look may hide another thing.
pub fn pair(before: &ScreenReading, after: &ScreenReading, acted: bool) -> Pairing {
    pair_swiped(before, after, acted, (0, 0))
}

/// Like [`pair`]. `swiped_px` is how far fingers went in between, across and down: content follows them.
pub fn pair_swiped(
    before: &ScreenReading,
    after: &ScreenReading,
    acted: bool,
    swiped_px: (i32, i32),
) -> Pairing {
    if !acted && before.relevant == after.relevant && before.nodes.len() == after.nodes.len() {
        return Pairing::identity(after.nodes.len());
    }
    if is_elsewhere(before, after) {
        return Pairing::none(before, after);
    }
    let mut matcher = Matcher {
        before,
        after,
        names: (Names::of(before), Names::of(after)),
        scrollers: acted.then(|| scrollers_before(after)),
        acted,
        swiped_px,
        pairing: Pairing::none(before, after),
        pending: Vec::new(),
    };
    matcher.pairing.replaced = false;
    let olds: Vec<u32> = before.snapshot.roots().map(|index| index as u32).collect();
    let news: Vec<u32> = after.snapshot.roots().map(|index| index as u32).collect();
    matcher.pair_siblings(&olds, &news);
    matcher.pair_pending();
    matcher.pair_moved_by_id();
    matcher.pair_pending();
    matcher.unpair_other_dialogs();
    matcher.unpair_if_replaced();
    matcher.unpair_if_titled_otherwise();
    matcher.pairing
}

/// What two siblings must share to be the same element, surest first (ID-06).
#[derive(Clone, Copy, PartialEq, Eq)]
enum MatchBy {
    /// The whole subtree.
    Content,
    StableId,
    OwnWords,
    /// The first words inside an element that has none itself, such as a row's title.
    InnerWords,
}

/// Elements of a subtree that are searched for its first words.
const INNER_WORDS_ELEMENTS_MAX: usize = 24;
/// Levels of a tree that are followed upwards.
const LEVELS_MAX: usize = 64;

struct Matcher<'a> {
    before: &'a ScreenReading,
    after: &'a ScreenReading,
    /// Of `before` and `after`.
    names: (Names, Names),
    /// For each element of `after`, the number of scroll containers before it; only needed after an action.
    scrollers: Option<Vec<u32>>,
    acted: bool,
    swiped_px: (i32, i32),
    pairing: Pairing,
    /// Pairs whose children are not compared yet.
    pending: Vec<(u32, u32)>,
}

impl Matcher<'_> {
    fn pair_pending(&mut self) {
        while let Some((old, new)) = self.pending.pop() {
            self.pair_subtrees(old, new);
        }
    }

    fn pair_subtrees(&mut self, old: u32, new: u32) {
        let (olds, news) = (self.before.range(old), self.after.range(new));
        if self.same_content(old, new) && olds.len() == news.len() && !self.may_have_scrolled(&news) {
            for (old, new) in olds.zip(news) {
                self.record(old, new);
            }
            return;
        }
        self.record(old, new);
        let olds: Vec<u32> = children(self.before, old);
        let news: Vec<u32> = children(self.after, new);
        let windows = (window(self.before, old), window(self.after, new));
        let is_open = windows.0.is_some() || windows.1.is_some();
        if is_open || has_twins(&self.names.0, &olds) || has_twins(&self.names.1, &news) {
            let (olds, news) = self.pair_scroll_bars(olds, news);
            return self.pair_by_rows(&olds, &news, windows);
        }
        self.pair_siblings(&olds, &news);
    }

    /// True if rows of equal look may have come into the subtree since the earlier capture.
    fn may_have_scrolled(&self, range: &std::ops::Range<u32>) -> bool {
        self.scrollers
            .as_ref()
            .is_some_and(|before| before[range.end as usize] != before[range.start as usize])
    }

    /// Pairs the scroll bars of a container, which lie beside all of its rows, and returns the other children.
    fn pair_scroll_bars(&mut self, olds: Vec<u32>, news: Vec<u32>) -> (Vec<u32>, Vec<u32>) {
        let is_bar = |reading: &ScreenReading, index: &u32| reading.element(*index).is_scroll_bar();
        let (old_bars, olds): (Vec<u32>, Vec<u32>) =
            olds.into_iter().partition(|index| is_bar(self.before, index));
        let (new_bars, news): (Vec<u32>, Vec<u32>) =
            news.into_iter().partition(|index| is_bar(self.after, index));
        if old_bars.len() == new_bars.len() {
            self.pending.extend(old_bars.into_iter().zip(new_bars));
        }
        (olds, news)
    }

    fn pair_by_rows(&mut self, olds: &[u32], news: &[u32], windows: (Option<Rect>, Option<Rect>)) {
        let side = |reading, names, children, window| Side { reading, names, children, window };
        let before = side(self.before, &self.names.0, olds, windows.0);
        let after = side(self.after, &self.names.1, news, windows.1);
        let rows = pair_rows(&before, &after, self.swiped_px);
        let stayed = rows.iter().any(|row| self.stands_still(olds[row.olds.start], news[row.news.start]));
        if let Some((old, new)) = self.only_scroller(olds, news).filter(|_| stayed) {
            let is_paired = |row: &RowPair| olds[row.olds.clone()].contains(&old);
            if !rows.iter().any(is_paired) {
                self.pending.push((old, new));
            }
        }
        for row in rows {
            let (olds, news) = (&olds[row.olds], &news[row.news]);
            let alike = |(old, new): (&u32, &u32)| {
                // What has no name adds nothing to the names of its row, so two elements may have changed places.
                let same_name = self.names.0.get(*old) == self.names.1.get(*new);
                same_name && is_alike(self.before.element(*old), self.after.element(*new))
            };
            if row.same_names && olds.iter().zip(news).all(alike) {
                self.pending.extend(olds.iter().copied().zip(news.iter().copied()));
            } else {
                self.pair_siblings(olds, news);
            }
        }
    }

    fn stands_still(&self, old: u32, new: u32) -> bool {
        self.before.element(old).bounds == self.after.element(new).bounds
    }

    /// Returns the only scroll container on a page that scrolls itself, if it stayed where it was. Its rows may all have
    /// gone, so that nothing in it proves it; they need evidence of their own.
    fn only_scroller(&self, olds: &[u32], news: &[u32]) -> Option<(u32, u32)> {
        let only = |reading: &ScreenReading, all: &[u32]| {
            let scrolls = |index: &&u32| {
                let element = reading.element(**index);
                element.affordances.scrollable && !element.is_tappable()
            };
            let mut found = all.iter().filter(scrolls);
            found.next().copied().filter(|_| found.next().is_none())
        };
        let (old, new) = (only(self.before, olds)?, only(self.after, news)?);
        let alike = is_alike(self.before.element(old), self.after.element(new));
        (alike && self.stands_still(old, new)).then_some((old, new))
    }

    fn record(&mut self, old: u32, new: u32) {
        self.pairing.to_old[new as usize] = old;
        self.pairing.to_new[old as usize] = new;
    }

    fn same_content(&self, old: u32, new: u32) -> bool {
        self.before.nodes[old as usize].subtree_hash == self.after.nodes[new as usize].subtree_hash
    }

    /// Pairs the children of two paired parents.
    fn pair_siblings(&mut self, olds: &[u32], news: &[u32]) {
        if let ([old], [new]) = (olds, news) {
            return self.pair_only_children(*old, *new);
        }
        let mut open = Unpaired {
            olds: (0..olds.len()).collect(),
            news: (0..news.len()).collect(),
            same_count: olds.len() == news.len(),
        };
        for by in [MatchBy::Content, MatchBy::StableId, MatchBy::OwnWords, MatchBy::InnerWords] {
            if open.olds.is_empty() || open.news.is_empty() {
                return;
            }
            let keyed = |reading: &ScreenReading, all: &[u32], open: &[usize]| {
                let keys = open.iter().filter_map(|place| Some((key(reading, all[*place], by)?, *place)));
                let mut keys: Vec<(u64, usize)> = keys.collect();
                keys.sort_unstable();
                keys
            };
            let (old_keys, new_keys) =
                (keyed(self.before, olds, &open.olds), keyed(self.after, news, &open.news));
            let mut found = open.unique_matches(&old_keys, &new_keys, by == MatchBy::Content);
            self.pending.extend(found.iter().map(|(old, new)| (olds[*old], news[*new])));
            open.remove(&mut found);
        }
        self.pair_in_place(&open, olds, news);
    }

    /// Does what [`Matcher::pair_siblings`] does, for parents with one child, which most levels of a tree have.
    fn pair_only_children(&mut self, old: u32, new: u32) {
        let (was, is) = (self.before.element(old), self.after.element(new));
        let same_words = || words(self.before, old) == words(self.after, new) || differ_by_value(was, is);
        let same_name = || was.stable_id.is_some() || same_words();
        if is_alike(was, is) && (!is.is_tappable() || same_name()) {
            self.pending.push((old, new));
        }
    }

    /// Pairs the rest by position, if all siblings stayed in place: a changed text, a filled field, a container with
    /// new content. A tappable element with other words is another target.
    fn pair_in_place(&mut self, open: &Unpaired, olds: &[u32], news: &[u32]) {
        if !open.same_count || open.olds != open.news {
            return;
        }
        for place in &open.news {
            let (old, new) = (olds[*place], news[*place]);
            let (was, is) = (self.before.element(old), self.after.element(new));
            let same_words = || words(self.before, old) == words(self.after, new);
            if is_alike(was, is) && (same_words() || !is.is_tappable() && !self.is_named_row(new)) {
                self.pending.push((old, new));
            }
        }
    }

    /// True for an element of what scrolls that holds controls and has a name of its own: with other words it is another
    /// row, which came to this place.
    fn is_named_row(&self, new: u32) -> bool {
        let holds_control = || {
            let mut inside = self.after.range(new).skip(1).take(INNER_WORDS_ELEMENTS_MAX);
            inside.any(|inner| self.after.element(inner).is_tappable())
        };
        let is_named = || speaks_for_itself(&self.after.snapshot, new as usize);
        holds_control() && is_named() && scroller(self.after, new).is_some()
    }

    /// Pairs elements that moved to another parent and have an identifier that no other element has.
    fn pair_moved_by_id(&mut self) {
        let open_news = unpaired_ids(&self.pairing.to_old, self.after);
        let open_olds = unpaired_ids(&self.pairing.to_new, self.before);
        if open_news.is_empty() || open_olds.is_empty() {
            return;
        }
        let (all_olds, all_news) = (all_ids(self.before), all_ids(self.after));
        for (key, new) in open_news {
            let is_unique = |all: &[u64]| {
                let start = all.partition_point(|other| *other < key);
                all[start..].iter().take_while(|other| **other == key).count() == 1
            };
            let at = open_olds.partition_point(|(other, _)| *other < key);
            let Some((_, old)) = open_olds.get(at).filter(|(other, _)| *other == key) else { continue };
            let (was, is) = (self.before.element(*old), self.after.element(new));
            let same_words = !is.is_tappable() || own_words(was) == own_words(is);
            if !(is_unique(&all_olds) && is_unique(&all_news) && same_kind(was, is) && same_words) {
                continue;
            }
            let scrolls = scroller(self.before, *old).is_some() || scroller(self.after, new).is_some();
            if is.affordances.scrollable && !is.is_tappable() {
                // The rows in it need evidence of their own.
                self.pending.push((*old, new));
            } else if !scrolls {
                // What scrolls out of sight may come back with the same identifier for another thing.
                self.record(*old, new);
            }
        }
    }

    /// Keeps only pairs with equal content if the screen was replaced: on another screen of the same activity, an
    /// identifier names another element.
    fn unpair_if_replaced(&mut self) {
        let are_swiped = || are_swiped(self.before, self.after, &self.pairing.to_old, self.swiped_px);
        if !is_replaced(self.before, self.after) || are_swiped() {
            return;
        }
        self.pairing.replaced = true;
        for new in 0..self.pairing.to_old.len() {
            let old = self.pairing.to_old[new];
            if old != NONE && !self.same_content(old, new as u32) {
                self.pairing.to_old[new] = NONE;
                self.pairing.to_new[old as usize] = NONE;
            }
        }
    }

    /// Unpairs what is of another page that looks alike, by its title: texts that say something else, and what scrolls, where
    /// other rows may say the same. A number in a title counts what is on the same page.
    fn unpair_if_titled_otherwise(&mut self) {
        let title = |reading| Some(title(reading)?.replace(|c: char| c.is_ascii_digit(), ""));
        let is_same = match (title(self.before), title(self.after)) {
            (Some(was), Some(is)) => was == is,
            _ => true,
        };
        if is_same {
            return;
        }
        for new in 0..self.pairing.to_old.len() {
            let old = self.pairing.to_old[new];
            if old == NONE {
                continue;
            }
            let is = self.after.element(new as u32);
            let scrolls = is.parent.is_some_and(|parent| scroller(self.after, parent).is_some());
            if scrolls || own_words(self.before.element(old)) != own_words(is) {
                self.pairing.to_old[new] = NONE;
                self.pairing.to_new[old as usize] = NONE;
            }
        }
    }

    /// Unpairs what is in a dialog when the dialog says something else: its buttons answer another question (F1).
    fn unpair_other_dialogs(&mut self) {
        let mut new = 0;
        while new < self.after.nodes.len() as u32 {
            let old = self.pairing.to_old[new as usize];
            if !is_dialog(self.after, new) {
                new += 1;
                continue;
            }
            if old != NONE && self.says_something_else(old, new) {
                self.unpair(new);
            }
            new = self.after.range(new).end;
        }
    }

    /// True if words of the earlier dialog are gone and others have come. A message that is only added, such as one
    /// about a wrong input, leaves the dialog the same; so does a number that counts while nobody acts.
    fn says_something_else(&self, old: u32, new: u32) -> bool {
        let hash = |words: &str| match self.acted {
            true => xxh3_64(words.as_bytes()),
            false => xxh3_64(words.replace(|c: char| c.is_ascii_digit(), "").as_bytes()),
        };
        let words = |reading: &ScreenReading, root: u32| {
            let inside = reading.range(root).filter_map(|index| own_words(reading.element(index)));
            let mut words: Vec<u64> = inside.map(hash).collect();
            words.sort_unstable();
            words
        };
        let (olds, news) = (words(self.before, old), words(self.after, new));
        let kept = common(&olds, &news);
        kept < olds.len() && kept < news.len()
    }

    fn unpair(&mut self, root: u32) {
        for new in self.after.range(root) {
            let old = std::mem::replace(&mut self.pairing.to_old[new as usize], NONE);
            if old != NONE {
                self.pairing.to_new[old as usize] = NONE;
            }
        }
    }
}

/// The title of the screen: the words of the first heading in sight.
pub fn title(reading: &ScreenReading) -> Option<&str> {
    let in_sight = (0..reading.nodes.len()).filter(|index| reading.nodes[*index].visible.is_some());
    let mut headings = in_sight.filter(|index| role::in_context(&reading.snapshot, *index) == Role::Heading);
    headings.find_map(|index| own_words(reading.element(index as u32)))
}

/// True if it is another screen, or less than a third of the texts are still there. Which of several equal ones is which
/// does not matter.
pub fn is_replaced(before: &ScreenReading, after: &ScreenReading) -> bool {
    if is_elsewhere(before, after) {
        return true;
    }
    let texts = |reading: &ScreenReading| {
        let elements = reading.snapshot.elements.iter().zip(&reading.nodes);
        let with_text =
            elements.filter(|(element, _)| element.text.is_some() || element.description.is_some());
        let mut texts: Vec<u64> = with_text.map(|(_, node)| node.own_hash).collect();
        texts.sort_unstable();
        texts
    };
    let (olds, news) = (texts(before), texts(after));
    let most = olds.len().max(news.len());
    most >= REPLACED_TEXTS_MIN && common(&olds, &news) * 3 < most
}

fn is_elsewhere(before: &ScreenReading, after: &ScreenReading) -> bool {
    let screens = (&before.snapshot.screen, &after.snapshot.screen);
    matches!(screens, (Some(was), Some(is)) if was != is)
}

/// A screen with fewer texts is never called replaced: it holds too little evidence.
const REPLACED_TEXTS_MIN: usize = 3;

/// Counts what two sorted lists have in common.
fn common(a: &[u64], b: &[u64]) -> usize {
    let (mut at, mut bt, mut count) = (0, 0, 0);
    while at < a.len() && bt < b.len() {
        match a[at].cmp(&b[bt]) {
            std::cmp::Ordering::Less => at += 1,
            std::cmp::Ordering::Greater => bt += 1,
            std::cmp::Ordering::Equal => {
                (at, bt, count) = (at + 1, bt + 1, count + 1);
            }
        }
    }
    count
}

/// For each element and the end, the number of scroll containers before it.
fn scrollers_before(reading: &ScreenReading) -> Vec<u32> {
    let mut count = 0;
    let mut before: Vec<u32> = Vec::with_capacity(reading.nodes.len() + 1);
    for element in &reading.snapshot.elements {
        before.push(count);
        count += u32::from(element.affordances.scrollable);
    }
    before.push(count);
    before
}

/// The innermost scroll container that holds the element, or the element itself.
pub(super) fn scroller(reading: &ScreenReading, index: u32) -> Option<u32> {
    let up = |index: &u32| reading.element(*index).parent.filter(|parent| parent < index);
    let mut above = std::iter::successors(Some(index), up).take(LEVELS_MAX);
    above.find(|index| reading.element(*index).affordances.scrollable)
}

/// The visible part of the scroll container that may hide children of `parent`: it holds or is `parent`, and `parent`
/// reaches its edge.
fn window(reading: &ScreenReading, parent: u32) -> Option<Rect> {
    let scroller = scroller(reading, parent)?;
    let view = reading.nodes[scroller as usize].visible?;
    let own = reading.nodes[parent as usize].visible?;
    let reaches = own.top <= view.top || own.bottom >= view.bottom;
    let reaches_side = own.left < view.left || own.right > view.right;
    (scroller == parent || reaches || reaches_side).then_some(view)
}

fn has_twins(names: &Names, children: &[u32]) -> bool {
    let mut hashes: Vec<u64> = children.iter().map(|child| names.get(*child)).collect();
    hashes.sort_unstable();
    hashes.windows(2).any(|two| two[0] == two[1])
}

/// True for a dialog, and for the root of a window that leaves a margin on all four sides. The window of an app reaches
/// an edge of the screen, even if it ends above a navigation bar.
pub fn is_dialog(reading: &ScreenReading, index: u32) -> bool {
    let element = reading.element(index);
    let (own, screen) = (element.bounds, reading.snapshot.size.rect());
    let has_margins = || {
        own.left > screen.left
            && own.right < screen.right
            && own.top > screen.top
            && own.bottom < screen.bottom
    };
    element.role == Role::Dialog || (element.parent.is_none() && !screen.is_empty() && has_margins())
}

fn children(reading: &ScreenReading, index: u32) -> Vec<u32> {
    reading.snapshot.children(index as usize).map(|child| child as u32).collect()
}

fn key(reading: &ScreenReading, index: u32, by: MatchBy) -> Option<u64> {
    let element = reading.element(index);
    let words_key = |words: &str| {
        let kind = (element.role as u64) << 1 | u64::from(element.is_tappable());
        // Elements with different identifiers are different, even if their words are equal.
        let id = id_hash(element).unwrap_or_default();
        mix(mix(xxh3_64(element.class.as_bytes()), kind), mix(id, xxh3_64(words.as_bytes())))
    };
    match by {
        MatchBy::Content => Some(reading.nodes[index as usize].subtree_hash),
        MatchBy::StableId => element.stable_id.as_deref().map(words_key),
        MatchBy::OwnWords => own_words(element).map(words_key),
        MatchBy::InnerWords if own_words(element).is_some() => None,
        MatchBy::InnerWords => words(reading, index).map(words_key),
    }
}

fn same_kind(was: &Element, is: &Element) -> bool {
    was.class == is.class && was.role == is.role && was.is_tappable() == is.is_tappable()
}

fn is_alike(was: &Element, is: &Element) -> bool {
    same_kind(was, is) && was.stable_id == is.stable_id
}

/// The element's own words, or the first words inside it.
fn words(reading: &ScreenReading, index: u32) -> Option<&str> {
    let near = reading.range(index).take(INNER_WORDS_ELEMENTS_MAX);
    near.filter_map(|inner| own_words(reading.element(inner))).next()
}

/// Positions among siblings that have no partner yet, in order.
struct Unpaired {
    olds: Vec<usize>,
    news: Vec<usize>,
    same_count: bool,
}

impl Unpaired {
    /// Returns pairs of positions whose key is unique on both sides. Several elements with one key can only be told
    /// apart by position, which counts only if they are `equal` and none of them moved.
    fn unique_matches(
        &self,
        olds: &[(u64, usize)],
        news: &[(u64, usize)],
        equal: bool,
    ) -> Vec<(usize, usize)> {
        let mut found = Vec::new();
        for group in news.chunk_by(|a, b| a.0 == b.0) {
            let start = olds.partition_point(|(key, _)| *key < group[0].0);
            let rivals = olds[start..].iter().take_while(|(key, _)| *key == group[0].0).count();
            let pairs = olds[start..start + rivals].iter().zip(group).map(|(old, new)| (old.1, new.1));
            let unique = rivals == 1 && group.len() == 1;
            let unmoved = || self.same_count && equal && pairs.clone().all(|(old, new)| old == new);
            if unique || (rivals == group.len() && unmoved()) {
                found.extend(pairs);
            }
        }
        found
    }

    fn remove(&mut self, found: &mut [(usize, usize)]) {
        found.sort_unstable_by_key(|(old, _)| *old);
        self.olds.retain(|place| found.binary_search_by_key(place, |(old, _)| *old).is_err());
        found.sort_unstable_by_key(|(_, new)| *new);
        self.news.retain(|place| found.binary_search_by_key(place, |(_, new)| *new).is_err());
    }
}

/// Returns the elements with an identifier and without a partner, sorted by the identifier's hash.
fn unpaired_ids(partners: &[u32], reading: &ScreenReading) -> Vec<(u64, u32)> {
    let unpaired = partners.iter().enumerate().filter(|(_, partner)| **partner == NONE);
    let keyed = |index: usize| Some((id_hash(reading.element(index as u32))?, index as u32));
    let mut ids: Vec<(u64, u32)> = unpaired.filter_map(|(index, _)| keyed(index)).collect();
    ids.sort_unstable();
    ids
}

fn all_ids(reading: &ScreenReading) -> Vec<u64> {
    let mut ids: Vec<u64> = reading.snapshot.elements.iter().filter_map(id_hash).collect();
    ids.sort_unstable();
    ids
}

fn id_hash(element: &Element) -> Option<u64> {
    element.stable_id.as_deref().map(|id| xxh3_64(id.as_bytes()))
}

#[cfg(test)]
mod tests;
