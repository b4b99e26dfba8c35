//! Which element of one capture is which element of the next: proven, or not paired at all (ID-02).

use xxhash_rust::xxh3::xxh3_64;

use crate::meaning::label::own_words;
use crate::screen::element::Element;
use crate::screen::reading::{ScreenReading, mix};

/// The session's own name for an element (ID-01). Never given to another one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ElementId(pub u32);

impl std::fmt::Display for ElementId {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "e{}", self.0)
    }
}

impl std::str::FromStr for ElementId {
    type Err = NotAnId;

    fn from_str(text: &str) -> Result<ElementId, NotAnId> {
        let digits = text.strip_prefix('e').filter(|digits| digits.bytes().all(|b| b.is_ascii_digit()));
        digits.and_then(|digits| digits.parse().ok()).map(ElementId).ok_or(NotAnId)
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NotAnId;

/// Marks an element without a partner.
pub const NONE: u32 = u32::MAX;

/// Pairs of indexes in two captures.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Pairing {
    /// For each element of the later capture.
    pub to_old: Vec<u32>,
    /// For each element of the earlier one.
    pub to_new: Vec<u32>,
    /// So little of the earlier screen is left that it is another one.
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

    /// Every element with itself.
    pub fn identity(count: usize) -> Pairing {
        let all: Vec<u32> = (0..count as u32).collect();
        Pairing { to_old: all.clone(), to_new: all, replaced: false }
    }

    pub fn pairs(&self) -> usize {
        self.to_old.iter().filter(|old| **old != NONE).count()
    }
}

/// Pairs what is provably the same element. An element is the same when its parent is, and when nothing else there
/// has its identifier, or its kind and words; or when everything around it stayed and it is no target of its own.
pub fn pair(before: &ScreenReading, after: &ScreenReading) -> Pairing {
    if before.relevant == after.relevant && before.nodes.len() == after.nodes.len() {
        return Pairing::identity(after.nodes.len());
    }
    let mut matcher = Matcher { before, after, pairing: Pairing::none(before, after), todo: Vec::new() };
    matcher.pairing.replaced = false;
    if before.snapshot.screen.is_some()
        && after.snapshot.screen.is_some()
        && before.snapshot.screen != after.snapshot.screen
    {
        return Pairing::none(before, after);
    }
    let olds: Vec<u32> = before.snapshot.roots().map(|index| index as u32).collect();
    let news: Vec<u32> = after.snapshot.roots().map(|index| index as u32).collect();
    matcher.siblings(&olds, &news);
    while let Some((old, new)) = matcher.todo.pop() {
        matcher.descend(old, new);
    }
    matcher.moved_by_id();
    matcher.drop_if_replaced();
    matcher.pairing
}

/// How two siblings are recognised, surest first (ID-06).
#[derive(Clone, Copy, PartialEq, Eq)]
enum By {
    /// Everything in them is equal.
    Content,
    StableId,
    OwnWords,
    /// The first words inside something that has none itself: a row by its title.
    InnerWords,
}

/// How far into a subtree its first words are looked for, in elements.
const INNER_WORDS_REACH: usize = 24;

struct Matcher<'a> {
    before: &'a ScreenReading,
    after: &'a ScreenReading,
    pairing: Pairing,
    todo: Vec<(u32, u32)>,
}

impl Matcher<'_> {
    fn descend(&mut self, old: u32, new: u32) {
        let (olds, news) = (self.before.range(old), self.after.range(new));
        if self.same_content(old, new) && olds.len() == news.len() {
            for (old, new) in olds.zip(news) {
                self.note(old, new);
            }
            return;
        }
        self.note(old, new);
        let olds: Vec<u32> = children(self.before, old);
        let news: Vec<u32> = children(self.after, new);
        self.siblings(&olds, &news);
    }

    fn note(&mut self, old: u32, new: u32) {
        self.pairing.to_old[new as usize] = old;
        self.pairing.to_new[old as usize] = new;
    }

    fn same_content(&self, old: u32, new: u32) -> bool {
        self.before.nodes[old as usize].subtree == self.after.nodes[new as usize].subtree
    }

    /// Pairs the children of two parents that are the same one.
    fn siblings(&mut self, olds: &[u32], news: &[u32]) {
        if let ([old], [new]) = (olds, news) {
            return self.only_children(*old, *new);
        }
        let mut open = Open {
            olds: (0..olds.len()).collect(),
            news: (0..news.len()).collect(),
            same_count: olds.len() == news.len(),
        };
        for by in [By::Content, By::StableId, By::OwnWords, By::InnerWords] {
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
            let mut found = open.twins(&old_keys, &new_keys, by == By::Content);
            self.todo.extend(found.iter().map(|(old, new)| (olds[*old], news[*new])));
            open.close(&mut found);
        }
        self.in_place(&open, olds, news);
    }

    /// Most levels of a tree hold one element. Nothing else there can be meant, so that it need not be compared with
    /// others: the rules are those for several.
    fn only_children(&mut self, old: u32, new: u32) {
        let (was, is) = (self.before.element(old), self.after.element(new));
        let same = same_kind(was, is) && was.stable_id == is.stable_id;
        let named = || was.stable_id.is_some() || words(self.before, old) == words(self.after, new);
        if same && (!is.is_tappable() || named()) {
            self.todo.push((old, new));
        }
    }

    /// What is left, at the same places among siblings that all stayed: a text that changed, a field that was filled,
    /// a container whose content changed. A target with other words is another target.
    fn in_place(&mut self, open: &Open, olds: &[u32], news: &[u32]) {
        if !open.same_count || open.olds != open.news {
            return;
        }
        for place in &open.news {
            let (old, new) = (olds[*place], news[*place]);
            let (was, is) = (self.before.element(old), self.after.element(new));
            let same = same_kind(was, is) && was.stable_id == is.stable_id;
            if same && (!is.is_tappable() || words(self.before, old) == words(self.after, new)) {
                self.todo.push((old, new));
            }
        }
    }

    /// What moved to another parent and carries an identifier that nothing else has.
    fn moved_by_id(&mut self) {
        let open_news = open(&self.pairing.to_old, self.after);
        let open_olds = open(&self.pairing.to_new, self.before);
        if open_news.is_empty() || open_olds.is_empty() {
            return;
        }
        let (all_olds, all_news) = (all_ids(self.before), all_ids(self.after));
        for (key, new) in open_news {
            let alone = |all: &[u64]| {
                let start = all.partition_point(|other| *other < key);
                all[start..].iter().take_while(|other| **other == key).count() == 1
            };
            let at = open_olds.partition_point(|(other, _)| *other < key);
            let Some((_, old)) = open_olds.get(at).filter(|(other, _)| *other == key) else { continue };
            let (was, is) = (self.before.element(*old), self.after.element(new));
            let same_words = !is.is_tappable() || own_words(was) == own_words(is);
            if alone(&all_olds) && alone(&all_news) && same_kind(was, is) && same_words {
                self.note(*old, new);
            }
        }
    }

    /// On another screen of the same activity an identifier names another thing: only what stayed whole is kept.
    fn drop_if_replaced(&mut self) {
        if !self.is_replaced() {
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

    /// Whether less than a third of what says something is left as it was.
    fn is_replaced(&self) -> bool {
        let worded = |element: &&Element| element.text.is_some() || element.description.is_some();
        let count = |reading: &ScreenReading| reading.snapshot.elements.iter().filter(worded).count();
        let kept = self.pairing.to_old.iter().zip(&self.after.nodes).zip(&self.after.snapshot.elements);
        let kept = kept.filter(|((old, node), element)| {
            **old != NONE && worded(element) && self.before.nodes[**old as usize].own == node.own
        });
        let words = count(self.before).max(count(self.after));
        words >= REPLACED_WORDS_MIN && kept.count() * 3 < words
    }
}

/// Below this a screen says too little to be called another one.
const REPLACED_WORDS_MIN: usize = 3;

fn children(reading: &ScreenReading, index: u32) -> Vec<u32> {
    reading.snapshot.children(index as usize).map(|child| child as u32).collect()
}

fn key(reading: &ScreenReading, index: u32, by: By) -> Option<u64> {
    let element = reading.element(index);
    let words_key = |words: &str| {
        let kind = (element.role as u64) << 1 | u64::from(element.is_tappable());
        // Another identifier is another element, whatever it says.
        let id = id_hash(element).unwrap_or_default();
        mix(mix(xxh3_64(element.class.as_bytes()), kind), mix(id, xxh3_64(words.as_bytes())))
    };
    match by {
        By::Content => Some(reading.nodes[index as usize].subtree),
        By::StableId => element.stable_id.as_deref().map(words_key),
        By::OwnWords => own_words(element).map(words_key),
        By::InnerWords if own_words(element).is_some() => None,
        By::InnerWords => words(reading, index).map(words_key),
    }
}

fn same_kind(was: &Element, is: &Element) -> bool {
    was.class == is.class && was.role == is.role && was.is_tappable() == is.is_tappable()
}

/// Its own words, or the first that stand inside it.
fn words(reading: &ScreenReading, index: u32) -> Option<&str> {
    let near = reading.range(index).take(INNER_WORDS_REACH);
    near.filter_map(|inner| own_words(reading.element(inner))).next()
}

/// Places among siblings that have no partner yet, in order.
struct Open {
    olds: Vec<usize>,
    news: Vec<usize>,
    same_count: bool,
}

impl Open {
    /// Pairs of places that share a key with nobody else. Of several that look alike position is all that tells them
    /// apart: it counts only where they are equal, and nothing around them moved.
    fn twins(&self, olds: &[(u64, usize)], news: &[(u64, usize)], equal: bool) -> Vec<(usize, usize)> {
        let mut found = Vec::new();
        for group in news.chunk_by(|a, b| a.0 == b.0) {
            let start = olds.partition_point(|(key, _)| *key < group[0].0);
            let rivals = olds[start..].iter().take_while(|(key, _)| *key == group[0].0).count();
            let pairs = olds[start..start + rivals].iter().zip(group).map(|(old, new)| (old.1, new.1));
            let alone = rivals == 1 && group.len() == 1;
            let unmoved = || self.same_count && equal && pairs.clone().all(|(old, new)| old == new);
            if alone || (rivals == group.len() && unmoved()) {
                found.extend(pairs);
            }
        }
        found
    }

    fn close(&mut self, found: &mut [(usize, usize)]) {
        found.sort_unstable_by_key(|(old, _)| *old);
        self.olds.retain(|place| found.binary_search_by_key(place, |(old, _)| *old).is_err());
        found.sort_unstable_by_key(|(_, new)| *new);
        self.news.retain(|place| found.binary_search_by_key(place, |(_, new)| *new).is_err());
    }
}

/// Elements that carry an identifier and have no partner yet.
fn open(partners: &[u32], reading: &ScreenReading) -> Vec<(u64, u32)> {
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
