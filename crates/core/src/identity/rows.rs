//! Pairs the rows of two captures of one container. Where rows look alike, or where rows may have come from outside
//! the visible part, an equal look at an equal place proves nothing (ID-02, F1). What proves that a row is the same:
//!
//! - its names (words and identifiers) are in no other row, and enough rows agree on one displacement, or
//! - it stands between two rows that are proven and moved alike, or
//! - the device says that it is the same entry of a list which only scrolled.
//!
//! A row that the device says is another entry of its list is another row, whatever it shows.

use super::names::Names;
use super::pairing::{NONE, scroller};
use crate::meaning::label::may_act;
use crate::screen::element::CollectionSize;
use crate::screen::geometry::Rect;
use crate::screen::reading::ScreenReading;

/// Containers with more rows than this keep no names by rows: the comparison would cost too much.
const ROWS_MAX: usize = 512;
/// Rows that must agree on a displacement when the content may come from outside the visible part.
const AGREEING_MIN: usize = 2;
/// The same if some rows in sight look alike: then others out of sight may, too.
const AGREEING_WITH_TWINS_MIN: usize = 3;
/// The same if they did not follow the finger: two rows may follow each other elsewhere in the list, too.
const AGREEING_AGAINST_FINGER_MIN: usize = 4;
/// Names of one row that are compared with those of others.
const PARTS_MAX: usize = 64;

/// The children of a container, as far as they can be seen.
pub(super) struct Side<'a> {
    pub reading: &'a ScreenReading,
    pub names: &'a Names,
    pub children: &'a [u32],
    /// The visible part of the scroll container that may hide more rows; `None` if all rows are in the tree.
    pub window: Option<Rect>,
}

impl Side<'_> {
    /// Returns how much the list holds, as the device says.
    fn size(&self) -> Option<CollectionSize> {
        let list = self.reading.element(*self.children.first()?).parent?;
        self.reading.element(list).details.as_ref()?.collection
    }
}

/// Children that are the same row in both captures, as ranges of positions among the children.
pub(super) struct RowPair {
    pub olds: std::ops::Range<usize>,
    pub news: std::ops::Range<usize>,
    /// True if all names in the row are equal.
    pub same_names: bool,
}

/// Siblings that lie beside each other, across the direction in which the container is laid out.
struct Row {
    children: std::ops::Range<usize>,
    start: i32,
    end: i32,
    names: u64,
    /// The first name in the row.
    title: Option<u64>,
    /// The names of its elements, sorted.
    parts: Vec<u64>,
    /// Which entry of its list it is, as the device says.
    entry: Option<i32>,
    /// True if something in the row takes taps.
    is_target: bool,
    /// True if the row reaches the edge at which the visible part begins or ends, so that a part of it may be hidden.
    cut_at_start: bool,
    cut_at_end: bool,
}

fn goes_along(by: i32, swiped_px: i32) -> bool {
    let (by, swiped) = (i64::from(by), i64::from(swiped_px));
    by * swiped > 0 && by.abs() * 2 >= swiped.abs()
}

/// True if the texts that are in sight no longer were swiped away (F84): those that stayed in what scrolls went with the
/// finger, all of them equally far.
pub(super) fn are_swiped(
    before: &ScreenReading,
    after: &ScreenReading,
    to_old: &[u32],
    swiped_px: (i32, i32),
) -> bool {
    let mut moves: Vec<(i32, i32)> = Vec::new();
    for (new, old) in to_old.iter().enumerate().filter(|(_, old)| **old != NONE) {
        let (was, is) = (before.element(*old), after.element(new as u32));
        let (from, to) = (was.bounds, is.bounds);
        let is_whole = from.width() == to.width() && from.height() == to.height();
        if is.text.is_some() && is_whole && from != to && scroller(after, new as u32).is_some() {
            moves.push((to.left.wrapping_sub(from.left), to.top.wrapping_sub(from.top)));
        }
    }
    let Some(&(across, down)) = moves.first().filter(|_| moves.len() >= SWIPED_TEXTS_MIN) else {
        return false;
    };
    let is_along =
        (down == 0 && goes_along(across, swiped_px.0)) || (across == 0 && goes_along(down, swiped_px.1));
    is_along && moves.iter().all(|other| *other == (across, down))
}

/// One text alone may have come to another place by chance.
const SWIPED_TEXTS_MIN: usize = 2;

/// Pairs the rows that are proven to be the same, of a container that changed or may have changed unseen.
pub(super) fn pair_rows(before: &Side, after: &Side, swiped_px: (i32, i32)) -> Vec<RowPair> {
    let vertical = is_vertical(before) || is_vertical(after);
    let (olds, news) = (rows(before, vertical), rows(after, vertical));
    if olds.len().max(news.len()) > ROWS_MAX {
        return Vec::new();
    }
    let evidence = Evidence {
        open: before.window.is_some() || after.window.is_some(),
        twins: has_twins(&olds) || has_twins(&news),
        swiped_px: if vertical { swiped_px.1 } else { swiped_px.0 },
        grown: grown(before, after),
        olds: &olds,
        news: &news,
    };
    evidence.pairs().into_iter().map(|(old, new)| row_pair(&olds[old], &news[new])).collect()
}

fn row_pair(old: &Row, new: &Row) -> RowPair {
    RowPair {
        olds: old.children.clone(),
        news: new.children.clone(),
        same_names: old.names == new.names && old.children.len() == new.children.len(),
    }
}

struct Evidence<'a> {
    olds: &'a [Row],
    news: &'a [Row],
    /// True if rows may have come from outside the visible part.
    open: bool,
    twins: bool,
    /// How far fingers went along the container between the captures.
    swiped_px: i32,
    /// How many entries the list gained, if the device says so.
    grown: Option<i32>,
}

impl Evidence<'_> {
    fn pairs(&self) -> Vec<(usize, usize)> {
        let mut pairs = self.similar_pairs();
        pairs.retain(|pair| self.may_be_one_entry(*pair));
        pairs
    }

    fn similar_pairs(&self) -> Vec<(usize, usize)> {
        let anchors = self.anchors();
        if anchors.is_empty() {
            return self.all_in_place();
        }
        let mut pairs = Vec::new();
        self.extend_to_start(anchors[0], &mut pairs);
        for (at, anchor) in anchors.iter().enumerate() {
            pairs.push(*anchor);
            match anchors.get(at + 1) {
                Some(next) => self.fill_between(*anchor, *next, &mut pairs),
                None => self.extend_to_end(*anchor, &mut pairs),
            }
        }
        pairs
    }

    /// Rows whose names, or whose titles at the same displacement, are in no other row of both captures; in order.
    fn anchors(&self) -> Vec<(usize, usize)> {
        let mut by_names = longest_in_order(unique(self.olds, self.news, |row| Some(row.names)));
        by_names.retain(|pair| !self.is_cut(*pair) || self.has_name_of_its_own(*pair));
        let mut found = self.supported(by_names);
        let moves: Vec<i32> = found.iter().filter_map(|pair| self.displacement(*pair)).collect();
        let by_title = unique(self.olds, self.news, |row| row.title).into_iter().filter(|pair| {
            let is_new = !found.iter().any(|known| known.0 == pair.0 || known.1 == pair.1);
            is_new && !self.is_cut(*pair) && self.displacement(*pair).is_some_and(|by| moves.contains(&by))
        });
        let by_title: Vec<_> = by_title.filter(|pair| !self.may_be_refilled(*pair)).collect();
        found.extend(by_title);
        let by_entry = self.by_entry();
        let is_new =
            |pair: &&(usize, usize)| !found.iter().any(|(old, new)| *old == pair.0 || *new == pair.1);
        let by_entry: Vec<_> = by_entry.iter().filter(is_new).copied().collect();
        found.extend(by_entry);
        found.retain(|pair| self.may_be_one_entry(*pair));
        longest_in_order(found)
    }

    /// Rows that look the same and are the same entry of a list that a finger moved, or that glides on from it. Android's own
    /// lists tell which entry a row is, and not how many there are; one that is known to have gained or lost some is left out.
    fn by_entry(&self) -> Vec<(usize, usize)> {
        if self.grown.is_some_and(|grown| grown != 0) {
            return Vec::new();
        }
        let key = |row: &Row| row.entry.map(|entry| (row.names, entry));
        let mut found = unique(self.olds, self.news, key);
        let first = found.first().and_then(|pair| self.displacement(*pair));
        if first.is_none() || found.iter().any(|pair| self.displacement(*pair) != first) {
            return Vec::new();
        }
        match first {
            Some(0) => found.retain(|pair| self.would_show_a_loss(*pair)),
            Some(by) if self.goes_against_finger(by) || self.count_at(by, 0..self.olds.len()).1 > 0 => {
                found.clear();
            }
            _ => {}
        }
        found
    }

    fn goes_against_finger(&self, by: i32) -> bool {
        i64::from(by) * i64::from(self.swiped_px) < 0
    }

    /// True if the loss of an entry above this one, or of this one, would have changed what rows below it show.
    fn would_show_a_loss(&self, (old, new): (usize, usize)) -> bool {
        let is_same = self.olds.iter().map(|row| row.names).eq(self.news.iter().map(|row| row.names));
        let names = self.news[new].names;
        old == new && is_same && self.news[new..].iter().any(|row| row.names != names)
    }

    /// False if the device says that the two are different entries: with each entry that the list gained or lost, those
    /// after it changed their numbers by one.
    fn may_be_one_entry(&self, (old, new): (usize, usize)) -> bool {
        let (Some(was), Some(is), Some(grown)) = (self.olds[old].entry, self.news[new].entry, self.grown)
        else {
            return true;
        };
        was == is || was.checked_add(grown) == Some(is)
    }

    fn is_cut(&self, (old, new): (usize, usize)) -> bool {
        let is_cut = |row: &Row| row.cut_at_start || row.cut_at_end;
        is_cut(&self.olds[old]) || is_cut(&self.news[new])
    }

    /// True if some name in the row is in no other row. What is left of a row that is cut off may be only its buttons.
    fn has_name_of_its_own(&self, (old, new): (usize, usize)) -> bool {
        let is_elsewhere = |rows: &[Row], own: usize, name: &u64| {
            rows.iter().enumerate().any(|(at, row)| at != own && row.parts.binary_search(name).is_ok())
        };
        let was = &self.olds[old].parts;
        let mut kept = self.news[new].parts.iter().filter(|name| was.binary_search(name).is_ok());
        kept.any(|name| !is_elsewhere(self.olds, old, name) && !is_elsewhere(self.news, new, name))
    }

    /// Keeps pairs of which enough moved alike, so that they did not come to look the same by chance.
    fn supported(&self, pairs: Vec<(usize, usize)>) -> Vec<(usize, usize)> {
        let moves: Vec<Option<i32>> = pairs.iter().map(|pair| self.displacement(*pair)).collect();
        let has_moved = moves.iter().flatten().any(|by| *by != 0 && self.is_supported(*by, &pairs));
        let is_supported = |by: i32| (by == 0 && has_moved) || self.is_supported(by, &pairs);
        let kept = |at: usize| match moves[at] {
            Some(by) => is_supported(by),
            // A row that is cut off at both ends has no displacement of its own.
            None => [at.wrapping_sub(1), at + 1].into_iter().any(|near| {
                let next_to =
                    |a: (usize, usize), b: (usize, usize)| a.0.abs_diff(b.0) == 1 && a.1.abs_diff(b.1) == 1;
                let by = moves.get(near).copied().flatten();
                by.is_some_and(is_supported) && next_to(pairs[at], pairs[near])
            }),
        };
        (0..pairs.len()).filter(|at| kept(*at)).map(|at| pairs[at]).collect()
    }

    fn is_supported(&self, by: i32, pairs: &[(usize, usize)]) -> bool {
        if !self.open {
            return true;
        }
        let agreeing: Vec<usize> =
            pairs.iter().filter(|pair| self.displacement(**pair) == Some(by)).map(|pair| pair.0).collect();
        let (Some(first), Some(last)) = (agreeing.first(), agreeing.last()) else { return false };
        // If rows before or after stayed in place, a row was added or removed: only the rows between moved.
        let some_stayed = pairs.iter().any(|pair| self.displacement(*pair) == Some(0));
        let range = if some_stayed && by != 0 { *first..*last + 1 } else { 0..self.olds.len() };
        let (matches, misses) = self.count_at(by, range);
        match (by, self.twins) {
            _ if self.is_end_in_sight() => true,
            _ if !self.follows_finger(by) => agreeing.len() >= AGREEING_AGAINST_FINGER_MIN && misses == 0,
            (0, _) => misses == 0 || matches > misses,
            (_, false) => agreeing.len() >= AGREEING_MIN && misses * 2 <= matches,
            (_, true) => agreeing.len() >= AGREEING_WITH_TWINS_MIN && misses == 0,
        }
    }

    /// True if a displacement is what the fingers made, as far as that is known. Content may stay behind a finger that
    /// moved before it was followed, and run on when it was lifted.
    fn follows_finger(&self, by: i32) -> bool {
        self.swiped_px == 0 || goes_along(by, self.swiped_px)
    }

    /// How many of the earlier rows look the same after a displacement, and how many do not, among those that must still
    /// be in sight.
    fn count_at(&self, by: i32, range: std::ops::Range<usize>) -> (usize, usize) {
        let (mut matches, mut misses) = (0, 0);
        let whole = |row: &&Row| !row.cut_at_start && !row.cut_at_end;
        let (Some(first), Some(last)) = (self.news.iter().find(whole), self.news.iter().rfind(whole)) else {
            return (0, 0);
        };
        for row in self.olds[range].iter().filter(|row| whole(row) && row.is_target) {
            let start = row.start.saturating_add(by);
            if start < first.start || start > last.start {
                continue;
            }
            let found = self.news.iter().find(|other| other.start == start);
            let same_title = |other: &Row| !self.twins && other.title == row.title;
            let same = found.is_some_and(|other| other.names == row.names || same_title(other));
            if same { matches += 1 } else { misses += 1 }
        }
        (matches, misses)
    }

    /// How far a row moved, by an edge that is not cut off in either capture.
    fn displacement(&self, (old, new): (usize, usize)) -> Option<i32> {
        let (old, new) = (&self.olds[old], &self.news[new]);
        if old.start == new.start && old.end == new.end {
            return Some(0);
        }
        if !old.cut_at_start && !new.cut_at_start {
            return Some(new.start.saturating_sub(old.start));
        }
        (!old.cut_at_end && !new.cut_at_end).then(|| new.end.saturating_sub(old.end))
    }

    /// Pairs what stands between two proven rows that moved alike: nothing came in between.
    fn fill_between(&self, from: (usize, usize), to: (usize, usize), pairs: &mut Vec<(usize, usize)>) {
        let count = to.0 - from.0;
        let moves = [self.displacement(from), self.displacement(to)];
        let by = match moves {
            [Some(a), Some(b)] if a != b => return,
            [a, b] => a.or(b),
        };
        if count != to.1 - from.1 {
            return;
        }
        for step in 1..count {
            let (old, new) = (from.0 + step, from.1 + step);
            let (was, is) = (&self.olds[old], &self.news[new]);
            if self.displacement((old, new)) != by {
                continue;
            }
            // What tells it from a row with the same title must not have changed.
            let same_title = was.names == is.names || was.title == is.title && !self.shares_title(old, new);
            // With another title it is another row, unless it says something that no other row says, or only says
            // something and takes no taps.
            let is_pinned = || count == 2 && self.has_name_of_its_own((old, new));
            if same_title || self.is_only_shown((old, new)) || is_pinned() {
                pairs.push((old, new));
            }
        }
    }

    fn extend_to_start(&self, first: (usize, usize), pairs: &mut Vec<(usize, usize)>) {
        let mut found = Vec::new();
        for step in 1..=first.0.min(first.1) {
            let pair = (first.0 - step, first.1 - step);
            if !self.is_same_in_place(pair) {
                break;
            }
            found.push(pair);
        }
        pairs.extend(found.into_iter().rev());
    }

    fn extend_to_end(&self, last: (usize, usize), pairs: &mut Vec<(usize, usize)>) {
        for step in 1..(self.olds.len() - last.0).min(self.news.len() - last.1) {
            let pair = (last.0 + step, last.1 + step);
            if !self.is_same_in_place(pair) {
                break;
            }
            pairs.push(pair);
        }
    }

    /// True if a row beyond the outermost proven one is the same: it did not move, and nothing can have taken its place.
    fn is_same_in_place(&self, (old, new): (usize, usize)) -> bool {
        let (was, is) = (&self.olds[old], &self.news[new]);
        let looks_same = was.names == is.names;
        let in_place = self.displacement((old, new)) == Some(0) || (looks_same && was.start == is.start);
        // A container that changed its number of rows has lost or gained one, and which one of equals is not known.
        let same_count = self.olds.len() == self.news.len();
        let is_twin = self.count(was.names) > 1;
        if in_place && same_count && self.is_only_shown((old, new)) {
            return true;
        }
        match self.open {
            false => in_place && same_count && (looks_same || !is_twin),
            true if is_twin || self.is_cut((old, new)) => false,
            true if looks_same => in_place && !self.may_be_refilled((old, new)),
            // With other words it may be the next row, which came here when this one went.
            true => in_place && was.title == is.title && same_count && self.is_end_in_sight(),
        }
    }

    /// True if nothing in the row takes taps: a text in its place that says something else is a text that changed.
    fn is_only_shown(&self, (old, new): (usize, usize)) -> bool {
        !self.olds[old].is_target && !self.news[new].is_target
    }

    /// True if the row may have gone and another one may have come from outside to its place: the last row in sight.
    fn may_be_refilled(&self, (old, new): (usize, usize)) -> bool {
        let is_last = old + 1 == self.olds.len() || new + 1 == self.news.len();
        self.open && is_last && !self.is_end_in_sight()
    }

    /// True if after the last row there is room for another one in both captures: no row waits below.
    fn is_end_in_sight(&self) -> bool {
        let has_room = |rows: &[Row]| rows.last().is_none_or(|row| !row.cut_at_end);
        has_room(self.olds) && has_room(self.news)
    }

    /// True if another row of either capture has the same title.
    fn shares_title(&self, old: usize, new: usize) -> bool {
        let is_shared = |rows: &[Row], own: usize| {
            rows.iter().enumerate().any(|(at, row)| at != own && row.title == rows[own].title)
        };
        is_shared(self.olds, old) || is_shared(self.news, new)
    }

    fn count(&self, names: u64) -> usize {
        let count = |rows: &[Row]| rows.iter().filter(|row| row.names == names).count();
        count(self.olds).max(count(self.news))
    }

    /// Pairs by position when no row can be told from the others: only if nothing moved and no row can have come from
    /// outside.
    fn all_in_place(&self) -> Vec<(usize, usize)> {
        let count = self.olds.len();
        if count != self.news.len() {
            return Vec::new();
        }
        if count == 1 {
            // The one page of a scroll view; its own rows are compared next.
            return vec![(0, 0)];
        }
        let in_place = |at: &usize| self.displacement((*at, *at)) == Some(0);
        if self.open || !(0..count).all(|at| in_place(&at)) {
            return Vec::new();
        }
        (0..count).map(|at| (at, at)).collect()
    }
}

fn has_twins(rows: &[Row]) -> bool {
    let mut names: Vec<u64> = rows.iter().map(|row| row.names).collect();
    names.sort_unstable();
    names.windows(2).any(|two| two[0] == two[1])
}

/// Pairs of rows whose key is in exactly one row of each capture, by their place in the earlier one.
fn unique<K: Ord + Copy>(olds: &[Row], news: &[Row], key: impl Fn(&Row) -> Option<K>) -> Vec<(usize, usize)> {
    let keyed = |rows: &[Row]| {
        let keys = rows.iter().enumerate().filter_map(|(at, row)| Some((key(row)?, at)));
        let mut keys: Vec<(K, usize)> = keys.collect();
        keys.sort_unstable();
        keys
    };
    let (olds, news) = (keyed(olds), keyed(news));
    let mut found = Vec::new();
    for group in olds.chunk_by(|a, b| a.0 == b.0) {
        let start = news.partition_point(|(key, _)| *key < group[0].0);
        let matches = news[start..].iter().take_while(|(key, _)| *key == group[0].0).count();
        if group.len() == 1 && matches == 1 {
            found.push((group[0].1, news[start].1));
        }
    }
    found.sort_unstable();
    found
}

/// The longest part of the pairs that is in order in both captures.
fn longest_in_order(mut pairs: Vec<(usize, usize)>) -> Vec<(usize, usize)> {
    pairs.sort_unstable();
    // `ends[n]` is the pair that ends the best chain of n + 1 pairs so far, as an index.
    let mut ends: Vec<usize> = Vec::new();
    let mut previous: Vec<Option<usize>> = Vec::with_capacity(pairs.len());
    for (at, pair) in pairs.iter().enumerate() {
        let length = ends.partition_point(|end| pairs[*end].1 < pair.1);
        previous.push(length.checked_sub(1).map(|shorter| ends[shorter]));
        if length == ends.len() {
            ends.push(at);
        } else {
            ends[length] = at;
        }
    }
    let chain = std::iter::successors(ends.last().copied(), |at| previous[*at]);
    let mut found: Vec<(usize, usize)> = chain.map(|at| pairs[at]).collect();
    found.reverse();
    found
}

/// True if the children lie below each other; children that all lie beside each other are rows of their own.
fn is_vertical(side: &Side) -> bool {
    side.children.len() < 2 || bands(side, true).len() > 1 || bands(side, false).len() < 2
}

fn rows(side: &Side, vertical: bool) -> Vec<Row> {
    let window = side.window.map(|window| span(window, vertical));
    let mut rows: Vec<Row> = bands(side, vertical).into_iter().map(|band| row(side, band, window)).collect();
    if let (Some(last), Some((_, end))) = (rows.last_mut(), window) {
        // Less room than the row's own size below it may be padding that cuts the next row off.
        last.cut_at_end |= end.saturating_sub(last.end) < last.end.saturating_sub(last.start);
    }
    rows
}

fn row(side: &Side, band: Band, window: Option<(i32, i32)>) -> Row {
    let mut names = 0;
    let mut title = None;
    let mut parts = Vec::new();
    let mut is_target = false;
    for child in &side.children[band.children.clone()] {
        names = side.names.join(names, *child);
        title = title.or_else(|| side.names.first(side.reading, *child));
        parts.extend(side.names.parts(side.reading, *child).take(PARTS_MAX));
        is_target |= side.reading.range(*child).any(|inner| may_act(&side.reading.snapshot, inner as usize));
    }
    parts.sort_unstable();
    let is_cut = |reaches: fn((i32, i32), (i32, i32)) -> bool| {
        window.is_some_and(|window| reaches((band.start, band.end), window))
    };
    Row {
        entry: entry(side, &band),
        children: band.children,
        start: band.start,
        end: band.end,
        names,
        title,
        parts,
        is_target,
        cut_at_start: is_cut(|row, window| row.0 <= window.0),
        cut_at_end: is_cut(|row, window| row.1 >= window.1),
    }
}

/// Returns which entry of its list a row is. The entries of a grid stand beside each other and have no number of their own.
fn entry(side: &Side, band: &Band) -> Option<i32> {
    let size = side.size()?;
    let mut children = side.children[band.children.clone()].iter();
    let place = children.find_map(|child| side.reading.element(*child).details.as_ref()?.item)?;
    let entry = match (size.rows, size.columns) {
        (_, ..=1) => place.row,
        (..=1, _) => place.column,
        _ => return None,
    };
    (entry >= 0).then_some(entry)
}

/// Returns how many entries a list gained, if it is known how many it has.
fn grown(before: &Side, after: &Side) -> Option<i32> {
    let count = |side: &Side| {
        let size = side.size().filter(|size| size.rows >= 0 && size.columns >= 0)?;
        Some(size.rows.max(size.columns))
    };
    count(after)?.checked_sub(count(before)?)
}

struct Band {
    children: std::ops::Range<usize>,
    start: i32,
    end: i32,
}

/// Joins consecutive children that overlap by at least half of the smaller one.
fn bands(side: &Side, vertical: bool) -> Vec<Band> {
    let mut bands: Vec<Band> = Vec::new();
    for (at, child) in side.children.iter().enumerate() {
        let rect = side.reading.nodes[*child as usize].visible;
        let (start, end) = span(rect.unwrap_or(side.reading.element(*child).bounds), vertical);
        let mut band = Band { children: at..at + 1, start, end };
        // A tall button beside a title and a subtitle joins both.
        while let Some(last) =
            bands.pop_if(|last| overlap_half((last.start, last.end), (band.start, band.end)))
        {
            band = Band {
                children: last.children.start..band.children.end,
                start: last.start.min(band.start),
                end: last.end.max(band.end),
            };
        }
        bands.push(band);
    }
    bands
}

fn overlap_half(a: (i32, i32), b: (i32, i32)) -> bool {
    let common = i64::from(a.1.min(b.1)) - i64::from(a.0.max(b.0));
    let length = |span: (i32, i32)| i64::from(span.1) - i64::from(span.0);
    let smaller = length(a).min(length(b));
    smaller > 0 && common * 2 >= smaller
}

fn span(rect: Rect, vertical: bool) -> (i32, i32) {
    if vertical { (rect.top, rect.bottom) } else { (rect.left, rect.right) }
}
