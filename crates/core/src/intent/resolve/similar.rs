//! Elements whose words are nearly those that were asked for: a slip of the pen, or some of the words (F46).

use super::group::group;
use super::{Candidate, Reason};
use crate::change::tracker::Observation;
use crate::intent::selector::{folded, own_texts};
use crate::meaning::label;

/// Similar elements that are reported.
const SIMILAR_MAX: usize = 3;
/// Characters of a text that are compared; longer texts are prose and never a slip of the pen.
const CHARS_MAX: usize = 60;
/// Shorter words ("of", "in") make no two texts similar.
const WORD_CHARS_MIN: usize = 3;

/// Elements that can be seen and are called nearly like that, the nearest first.
pub(super) fn similar(seen: &Observation, asked: &str) -> Vec<Candidate> {
    let asked = folded(asked);
    if asked.chars().count() > CHARS_MAX {
        return Vec::new();
    }
    let mut near: Vec<(usize, u32)> = (0..seen.ids.len() as u32)
        .filter(|index| seen.reading.nodes[*index as usize].visible.is_some())
        .filter_map(|index| Some((nearest(seen, index, &asked)?, index)))
        .collect();
    near.sort_unstable();
    let least = near.first().map_or(0, |(distance, _)| *distance);
    // What is as near as a slip of the pen is not mixed with what only shares a word.
    near.retain(|(distance, _)| is_slip(*distance) == is_slip(least));
    near.truncate(SIMILAR_MAX * 2);
    let mut found = group(seen, near.into_iter().map(|(_, index)| (index, Reason::PartialText)));
    found.truncate(SIMILAR_MAX);
    found
}

/// The distance of shared words is counted from here on.
const SHARED: usize = 1000;

fn is_slip(distance: usize) -> bool {
    distance < SHARED
}

fn nearest(seen: &Observation, index: u32, asked: &str) -> Option<usize> {
    let element = seen.reading.element(index);
    let label = label::label(&seen.reading.snapshot, index as usize).filter(|label| label.sure);
    let texts = own_texts(element).chain(label.as_ref().map(|label| &*label.text));
    texts.filter_map(|shown| distance(asked, &folded(shown))).min()
}

/// How far two texts are from each other; `None` when they have nothing to do with each other.
fn distance(asked: &str, shown: &str) -> Option<usize> {
    let (a, b): (Vec<char>, Vec<char>) = (asked.chars().collect(), shown.chars().collect());
    if a.len() < WORD_CHARS_MIN || b.len() < WORD_CHARS_MIN || b.len() > CHARS_MAX {
        return None;
    }
    // Another number is another thing: row 4 is not row 40 with a slip of the pen.
    if numbers(asked).any(|number| !numbers(shown).any(|other| other == number)) {
        return None;
    }
    let slips = edits(&a, &b);
    if slips <= a.len().max(b.len()).div_ceil(4).min(3) && slips < a.len().min(b.len()) {
        return Some(slips);
    }
    let words = |text: &str| -> Vec<Vec<char>> {
        let split = text.split(|c: char| !c.is_alphanumeric());
        split.map(|word| word.chars().collect::<Vec<char>>()).filter(|w| w.len() >= WORD_CHARS_MIN).collect()
    };
    let (asked, shown) = (words(asked), words(shown));
    let is_shown = |word: &&Vec<char>| shown.iter().any(|other| edits(word, other) <= word.len() / 5);
    let shared = asked.iter().filter(is_shown).count();
    let missing = asked.len() - shared;
    (shared > 0 && shared >= missing).then_some(SHARED + missing)
}

fn numbers(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c: char| !c.is_numeric()).filter(|digits| !digits.is_empty())
}

/// Characters to insert, delete or replace, or neighbours to swap, to make one text the other.
fn edits(a: &[char], b: &[char]) -> usize {
    let mut before_last: Vec<usize> = Vec::new();
    let mut last: Vec<usize> = (0..=b.len()).collect();
    for (i, from) in a.iter().enumerate() {
        let mut row = vec![i + 1];
        for (j, to) in b.iter().enumerate() {
            let mut best = (last[j] + usize::from(from != to)).min(last[j + 1] + 1).min(row[j] + 1);
            if i > 0 && j > 0 && *from == b[j - 1] && a[i - 1] == *to {
                best = best.min(before_last[j - 1] + 1);
            }
            row.push(best);
        }
        before_last = std::mem::replace(&mut last, row);
    }
    last[b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slip_of_the_pen_and_shared_words_are_near_and_others_are_not() {
        // F46
        for (asked, shown, near) in [
            ("log im", "log in", Some(1)),
            ("setings", "settings", Some(1)),
            ("dlete", "delete", Some(1)),
            ("recieve", "receive", Some(1)),
            ("sign in", "sign in to workbench", Some(SHARED)),
            ("delete account", "delete", Some(SHARED + 1)),
            ("dark theme", "dark mode", Some(SHARED + 1)),
            ("log in", "log out", Some(SHARED)),
            ("welcome", "settings", None),
            ("milk", "silk", Some(1)),
            ("of", "off", None),
            ("buy one of these now", "one of us", None),
            ("ok", "no", None),
            ("row 40", "row 4", None),
            ("row 40", "row 10, 40 items", Some(SHARED)),
            ("price: 11", "price: 10", None),
            ("delet item 3", "delete item 3", Some(1)),
        ] {
            let said = distance(asked, shown);
            assert_eq!(said, near, "{asked:?}, {shown:?}");
        }
    }
}
