//! Rows that a framework draws without an element around them: Compose lists titles, subtitles and buttons as siblings.
//! What repeats tells which of them belong together.

use super::Row;

/// Parts of one row.
pub(super) const PARTS_MAX: usize = 8;
/// A pattern must repeat so often, and hold so many of all elements, in percent.
const REPEATS_MIN: usize = 3;
const COVERED_PERCENT_MIN: usize = 75;

/// Edges are whole pixels, so rows of one length may differ by one, and by two where both edges are rounded.
const ROUNDING_PX_MAX: u64 = 2;

/// How an element looks, apart from its words.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Look<'a> {
    role: &'a str,
    start_across: i32,
    length: i64,
}

impl Look<'_> {
    fn is_as_long_as(&self, other: &Look<'_>) -> bool {
        self.length.abs_diff(other.length) <= ROUNDING_PX_MAX
    }
}

/// Joins elements that repeat in the same order: each repetition is one row.
pub(super) fn join_flat_rows(rows: Vec<Row>) -> Vec<Row> {
    let single = rows.iter().filter(|row| row.parts.len() == 1).count();
    if rows.len() < REPEATS_MIN * 2 || single * 100 < rows.len() * 90 {
        return rows;
    }
    let Some(pattern) = pattern(&rows) else { return rows };
    let mut joined: Vec<Row> = Vec::new();
    let mut rows = rows.into_iter();
    for length in pattern {
        let Some(mut row) = rows.next() else { break };
        for part in rows.by_ref().take(length - 1) {
            row.parts.extend(part.parts);
            row.place.end = row.place.end.max(part.place.end);
        }
        joined.push(row);
    }
    joined
}

/// The numbers of elements that make the rows, in order; `None` if nothing repeats.
fn pattern(rows: &[Row]) -> Option<Vec<usize>> {
    let looks: Vec<Look<'_>> = rows.iter().map(look).collect();
    for with_length in [true, false] {
        let is_same = |a: &Look<'_>, b: &Look<'_>| {
            a.role == b.role && a.start_across == b.start_across && (!with_length || a.is_as_long_as(b))
        };
        for size in 2..=PARTS_MAX.min(rows.len() / REPEATS_MIN) {
            let splits = (0..size).filter_map(|first| split(rows, &looks, first, size, &is_same));
            let best = splits.max_by_key(|split| (split.repeats, split.gaps_px));
            if let Some(best) = best {
                return Some(best.lengths);
            }
        }
    }
    None
}

/// One way to divide the elements into rows.
struct Split {
    lengths: Vec<usize>,
    repeats: usize,
    /// Space between the rows: a list has more of it between rows than within.
    gaps_px: i64,
}

/// Divides by the `size` elements from `first` on, if they are a row that repeats.
fn split(
    rows: &[Row],
    looks: &[Look<'_>],
    first: usize,
    size: usize,
    is_same: &impl Fn(&Look<'_>, &Look<'_>) -> bool,
) -> Option<Split> {
    let model = looks.get(first..first + size).filter(|model| is_row(model))?;
    let mut split = Split { lengths: Vec::new(), repeats: 0, gaps_px: 0 };
    let mut at = 0;
    while at < looks.len() {
        let here = looks.get(at..at + size);
        let fits = here.is_some_and(|here| here.iter().zip(model).all(|(one, other)| is_same(one, other)));
        if fits {
            split.repeats += 1;
            let next = rows.get(at + size).map_or(0, |next| next.place.start - rows[at + size - 1].place.end);
            split.gaps_px += next.max(0);
        }
        let length = if fits { size } else { 1 };
        split.lengths.push(length);
        at += length;
    }
    let covers = split.repeats * size * 100 >= looks.len() * COVERED_PERCENT_MIN;
    (split.repeats >= REPEATS_MIN && covers).then_some(split)
}

/// True if the elements differ as the parts of a row do: not cells of a grid, and begun by a text.
fn is_row(model: &[Look<'_>]) -> bool {
    let differs = |one: &Look<'_>| one.role != model[0].role || !one.is_as_long_as(&model[0]);
    model[0].role.is_empty() && model[1..].iter().any(differs)
}

fn look(row: &Row) -> Look<'_> {
    let line = row.parts.first().map_or("", String::as_str);
    Look {
        role: line.split('"').next().unwrap_or("").trim_end(),
        start_across: row.place.across.0,
        length: row.place.end - row.place.start,
    }
}
