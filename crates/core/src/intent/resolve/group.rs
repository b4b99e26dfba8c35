//! Groups matches into candidates: matches with the same place are one candidate.

use super::owner::{area, is_ground, owner, same_place};
use super::{Candidate, Reason, by_words, match_reason, rounded, step};
use crate::change::tracker::Observation;
use crate::intent::actionable::inner_indexes;
use crate::intent::selector::Selector;
use crate::meaning::label;
use crate::screen::element::Role;

/// Matches that are considered; a selector with more of them is too vague to be useful.
pub(super) const MATCHES_MAX: usize = 500;

/// Returns one candidate for each place that the selector may mean, in document order, before `index` picks one.
pub fn candidates(seen: &Observation, selector: &Selector) -> Vec<Candidate> {
    let mut matches = selector.matches(seen);
    matches.truncate(MATCHES_MAX);
    let reason = |index: u32| (index, match_reason(seen, selector, index));
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

/// True if both candidates are one place. Nested elements with the same words are; nested elements with the same
/// identifier are a collision (ID-04).
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
    // A row that has the name of the one control in it, or a wrapper that repeats the words inside.
    let only = || inner_indexes(reading, a.index).as_slice() == [b.index];
    by_words && a.executable == b.executable && (!a.executable || only())
}

fn nested(seen: &Observation, outer: u32, inner: u32) -> bool {
    seen.reading.range(outer).contains(&inner) || seen.reading.range(inner).contains(&outer)
}

/// Keeps the candidate with the better reason, then the one that takes taps, then the smaller one: a tap there reaches
/// the larger one too.
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

/// Drops texts that are only the label of a control that is a candidate itself.
fn drop_names(seen: &Observation, groups: &mut Vec<Candidate>) {
    let executable = groups.iter().filter(|candidate| candidate.executable);
    let names: Vec<u32> = executable
        .filter_map(|candidate| {
            let label = label::label(&seen.reading.snapshot, candidate.index as usize)?;
            let is_field = seen.reading.element(candidate.index).role == Role::TextField;
            label.from.filter(|_| label.sure || is_field)
        })
        .collect();
    groups.retain(|candidate| {
        candidate.executable || !by_words(candidate) || !names.contains(&candidate.matched)
    });
}
