//! Matches that lead to one place are one candidate.

use super::owner::{area, is_ground, owner, same_place};
use super::{Candidate, Reason, by_words, match_reason, rounded, step};
use crate::change::tracker::Observation;
use crate::intent::actionable::inner_indexes;
use crate::intent::selector::Selector;
use crate::meaning::label;

/// More matches than this say nothing any more.
pub(super) const MATCHES_MAX: usize = 500;

/// Everything that the query could mean, before `index` picks one: a candidate a place, in document order.
pub fn candidates(seen: &Observation, query: &Selector) -> Vec<Candidate> {
    let mut matches = query.matches(seen);
    matches.truncate(MATCHES_MAX);
    let reason = |index: u32| (index, match_reason(seen, query, index));
    group(seen, matches.into_iter().map(reason))
}

pub(super) fn group(seen: &Observation, matches: impl Iterator<Item = (u32, Reason)>) -> Vec<Candidate> {
    let mut groups: Vec<Candidate> = Vec::new();
    for (matched, reason) in matches {
        let candidate = candidate(seen, matched, reason);
        match groups.iter_mut().find(|other| is_same(seen, other, &candidate)) {
            Some(other) => merge(seen, other, candidate),
            None => groups.push(candidate),
        }
    }
    drop_names(seen, &mut groups);
    for (number, candidate) in groups.iter_mut().enumerate() {
        candidate.number = number;
    }
    groups
}

fn candidate(seen: &Observation, matched: u32, reason: Reason) -> Candidate {
    let mut reasons = vec![reason];
    let mut confidence = step(reason).1;
    let owner = owner(&seen.reading, matched);
    match owner {
        Some((_, because)) => reasons.extend(because),
        None => {
            reasons.push(Reason::NothingTakesTaps);
            confidence = rounded(confidence - 0.1);
        }
    }
    let index = owner.map_or(matched, |(owner, _)| owner);
    Candidate { index, matched, number: 0, confidence, reasons, executable: owner.is_some() }
}

/// Words inside the same words only repeat them; one identifier inside another is a collision (ID-04).
fn is_same(seen: &Observation, a: &Candidate, b: &Candidate) -> bool {
    let reading = &seen.reading;
    let by_words = by_words(a) && by_words(b);
    if a.index == b.index {
        return nested(seen, a.matched, b.matched) || (by_words && !is_ground(reading, a.index, a.matched));
    }
    if !nested(seen, a.index, b.index) {
        return false;
    }
    if same_place(reading, a.index, b.index) {
        return true;
    }
    // A row that is called after the one control in it, or a wrapper that repeats the words inside.
    let only = || inner_indexes(reading, a.index).as_slice() == [b.index];
    by_words && a.executable == b.executable && (!a.executable || only())
}

fn nested(seen: &Observation, outer: u32, inner: u32) -> bool {
    seen.reading.range(outer).contains(&inner) || seen.reading.range(inner).contains(&outer)
}

/// The better reason stays, then what takes taps, then the smaller place: a tap there reaches the larger too.
fn merge(seen: &Observation, kept: &mut Candidate, other: Candidate) {
    let size = |candidate: &Candidate| {
        seen.reading.nodes[candidate.matched as usize].visible.map_or(i128::MAX, area)
    };
    let rank = |candidate: &Candidate| {
        let grade = candidate.reasons.first().map_or(0, |reason| step(*reason).0);
        (grade, candidate.executable, std::cmp::Reverse(size(candidate)))
    };
    if rank(&other) > rank(kept) {
        *kept = other;
    }
}

/// A text that only names a control beside it is not meant when the control is there.
fn drop_names(seen: &Observation, groups: &mut Vec<Candidate>) {
    let executable = groups.iter().filter(|candidate| candidate.executable);
    let names: Vec<u32> = executable
        .filter_map(|candidate| label::label(&seen.reading.snapshot, candidate.index as usize)?.from)
        .collect();
    groups.retain(|candidate| {
        candidate.executable || !by_words(candidate) || !names.contains(&candidate.matched)
    });
}
