//! From what a caller described to what is acted on: one element, or an honest reason why not (RFC 007, AC-01 to AC-09).
//!
//! Every match is followed to the element that owns the tap (AC-01); matches that lead to one place are one candidate.
//! Candidates are then compared in a fixed order (ID-06), and several that are equally good are never decided here.

mod describe;
mod find;
mod group;
mod owner;
mod search;
#[cfg(test)]
mod tests;

use crate::change::tracker::Observation;
use crate::intent::actionable::{NotActionable, check_within};
use crate::intent::selector::{Selector, TextMatch, own_texts, same_id};
use crate::meaning::semantics::{self, ControlKind};
use crate::meaning::{label, role};
use crate::screen::element::Role;
use crate::screen::geometry::Point;
use crate::screen::snapshot::Platform;

pub use describe::{describe, failure, stale};
pub use find::find;
pub use group::candidates;
pub use owner::owner;
pub use search::{Search, SearchResult};

/// Other candidates told with a target.
const ALTERNATES_MAX: usize = 3;
/// What was not found may have been one of these.
const NEAR_MAX: usize = 5;

/// Below this confidence nothing is acted on (AC-04).
const CONFIDENCE_MIN: f64 = 0.6;

#[derive(Debug, Clone, PartialEq)]
pub enum Resolution {
    Found(Resolved),
    /// Equally good, in document order (ID-04, W23).
    Ambiguous(Vec<Candidate>),
    NotFound {
        /// What a part of the query describes, best first.
        near: Vec<Candidate>,
    },
    NotActionable {
        candidate: Candidate,
        why: NotActionable,
    },
}

/// One place on the screen that may be meant.
#[derive(Debug, Clone, PartialEq)]
pub struct Candidate {
    /// The element to act on.
    pub index: u32,
    /// The element that was described.
    pub matched: u32,
    /// Among all that could be meant, in document order, from 0: what `Selector::index` counts.
    pub number: usize,
    pub confidence: f64,
    pub reasons: Vec<Reason>,
    /// Something there takes a tap, as far as the tree says.
    pub executable: bool,
}

#[derive(Debug, Clone, PartialEq)]
pub struct Resolved {
    pub index: u32,
    pub matched: u32,
    pub point: Point,
    /// From 0 to 1.
    pub confidence: f64,
    pub reasons: Vec<Reason>,
    /// Candidates that the query describes, this one included.
    pub matched_count: usize,
    pub alternates: Vec<Candidate>,
    /// Another candidate could be tried, should this one turn out wrong.
    pub fallback_available: bool,
    pub expected_change: ExpectedChange,
}

/// Why an element was taken (AC-03).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Reason {
    ElementId,
    StableId,
    PartialId,
    Description,
    RoleAndLabel,
    Structure,
    ExactText,
    ExactValue,
    PartialText,
    RoleWord,
    ClassName,
    ClickableParent,
    ControlInside,
    ControlInFront,
    AdjustableNode,
    Chosen,
    ExactPreferred,
    ExecutablePreferred,
    OnScreenPreferred,
    UncoveredPreferred,
    NothingTakesTaps,
}

impl Reason {
    /// The words of the contract where it has one.
    pub fn name(self) -> &'static str {
        match self {
            Reason::ElementId => "id_match",
            Reason::StableId => "exact_stable_id_match",
            Reason::PartialId => "partial_resource_id_match",
            Reason::Description => "exact_content_desc_match",
            Reason::RoleAndLabel => "role_and_label_match",
            Reason::Structure => "structure_match",
            Reason::ExactText => "exact_text_match",
            Reason::ExactValue => "exact_value_match",
            Reason::PartialText => "partial_text_match",
            Reason::RoleWord => "semantic_role_match",
            Reason::ClassName => "class_match",
            Reason::ClickableParent => "clickable_parent_preferred",
            Reason::ControlInside => "control_inside_preferred",
            Reason::ControlInFront => "control_in_front_preferred",
            Reason::AdjustableNode => "adjustable_node_preferred",
            Reason::Chosen => "chosen_by_index",
            Reason::ExactPreferred => "exact_preferred",
            Reason::ExecutablePreferred => "executable_preferred",
            Reason::OnScreenPreferred => "on_screen_preferred",
            Reason::UncoveredPreferred => "uncovered_preferred",
            Reason::NothingTakesTaps => "nothing_takes_taps",
        }
    }
}

/// What an action on it should change (AC-09).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ExpectedChange {
    Navigation,
    Menu,
    Value,
    Focus,
    /// Its kind does not tell.
    Any,
}

impl ExpectedChange {
    pub fn name(self) -> &'static str {
        match self {
            ExpectedChange::Navigation => "navigation",
            ExpectedChange::Menu => "menu",
            ExpectedChange::Value => "value",
            ExpectedChange::Focus => "focus",
            ExpectedChange::Any => "any",
        }
    }
}

/// Resolves a selector to act on: one element that can be used now, or why not. What only has to be seen is resolved by
/// [`to_verify`], what is looked for by [`Search`]; all three match alike.
pub fn to_act(seen: &Observation, selector: &Selector) -> Resolution {
    resolve_above(seen, selector, CONFIDENCE_MIN)
}

fn resolve_above(seen: &Observation, query: &Selector, confidence_min: f64) -> Resolution {
    let all = candidates(seen, query);
    if all.is_empty() {
        return Resolution::NotFound { near: near(seen, query) };
    }
    let best = match query.index {
        Some(index) => chosen(&all, index),
        None => best(seen, &all),
    };
    match &best[..] {
        [] => Resolution::NotFound { near: all.into_iter().take(NEAR_MAX).collect() },
        [only] => decide(seen, only.clone(), all, confidence_min),
        _ => Resolution::Ambiguous(best),
    }
}

/// Resolves a selector to verify: every element that it describes, seen or not. A text that only names a control which
/// is described too is not asked: it has no state of its own.
pub fn to_verify(seen: &Observation, selector: &Selector) -> Vec<u32> {
    if let Some(index) = selector.index {
        // Counted as where something is acted on.
        let all = candidates(seen, selector);
        return all.get(index).map(|candidate| candidate.matched).into_iter().collect();
    }
    let mut matches = selector.matches(seen);
    let snapshot = &seen.reading.snapshot;
    let is_control = |index: &u32| role::in_context(snapshot, *index as usize).is_control();
    let controls = matches.iter().copied().filter(is_control);
    let names: Vec<u32> = controls.filter_map(|index| label::label(snapshot, index as usize)?.from).collect();
    matches.retain(|index| is_control(index) || !names.contains(index));
    matches
}

/// The one that the caller counted out.
pub fn chosen(all: &[Candidate], index: usize) -> Vec<Candidate> {
    let mut chosen: Vec<Candidate> = all.iter().filter(|c| c.number == index).cloned().collect();
    for candidate in &mut chosen {
        candidate.reasons.push(Reason::Chosen);
    }
    chosen
}

/// What is left of the candidates when all that are worse in one respect are dropped, the respects in the order in
/// which they count.
pub fn best(seen: &Observation, all: &[Candidate]) -> Vec<Candidate> {
    let mut left = all.to_vec();
    let highest = left.iter().map(grade).max().unwrap_or(0);
    keep(&mut left, Reason::ExactPreferred, |candidate| grade(candidate) == highest);
    // iOS does not say what takes taps.
    if left.iter().all(is_loose) && seen.reading.snapshot.platform == Platform::Android {
        keep(&mut left, Reason::ExecutablePreferred, |candidate| candidate.executable);
    }
    let checked = |candidate: &Candidate| check_within(&seen.reading, candidate.index, candidate.matched);
    keep(&mut left, Reason::OnScreenPreferred, |c| checked(c) != Err(NotActionable::OutOfSight));
    keep(&mut left, Reason::UncoveredPreferred, |c| {
        !matches!(checked(c), Err(NotActionable::Covered { .. }))
    });
    left
}

/// Described by what it says.
fn by_words(candidate: &Candidate) -> bool {
    matches!(
        candidate.reasons.first(),
        Some(Reason::ExactText | Reason::ExactValue | Reason::PartialText | Reason::RoleAndLabel)
    )
}

/// One identifier on two elements is a collision, whatever else they are (ID-04); loose words are not.
fn is_loose(candidate: &Candidate) -> bool {
    by_words(candidate)
        || matches!(candidate.reasons.first(), Some(Reason::PartialId | Reason::RoleWord | Reason::ClassName))
}

fn grade(candidate: &Candidate) -> u8 {
    candidate.reasons.first().map_or(0, |reason| step(*reason).0)
}

/// Drops those that do not hold, unless none does.
fn keep(left: &mut Vec<Candidate>, reason: Reason, holds: impl Fn(&Candidate) -> bool) {
    if left.len() < 2 {
        return;
    }
    let good: Vec<Candidate> = left.iter().filter(|candidate| holds(candidate)).cloned().collect();
    if good.is_empty() || good.len() == left.len() {
        return;
    }
    *left = good;
    for candidate in left.iter_mut() {
        candidate.reasons.push(reason);
        candidate.confidence = rounded(candidate.confidence - 0.05);
    }
}

fn decide(seen: &Observation, chosen: Candidate, all: Vec<Candidate>, confidence_min: f64) -> Resolution {
    let matched_count = all.len();
    let point = match check_within(&seen.reading, chosen.index, chosen.matched) {
        Ok(point) => point,
        Err(why) => return Resolution::NotActionable { candidate: chosen, why },
    };
    if chosen.confidence < confidence_min {
        let why = NotActionable::Doubtful { confidence: chosen.confidence };
        return Resolution::NotActionable { candidate: chosen, why };
    }
    let mut alternates: Vec<Candidate> =
        all.into_iter().filter(|other| other.number != chosen.number).collect();
    alternates.sort_by(|a, b| b.confidence.total_cmp(&a.confidence));
    alternates.truncate(ALTERNATES_MAX);
    Resolution::Found(Resolved {
        index: chosen.index,
        matched: chosen.matched,
        point,
        confidence: chosen.confidence,
        reasons: chosen.reasons,
        matched_count,
        fallback_available: !alternates.is_empty(),
        alternates,
        expected_change: expected_change(seen, chosen.index),
    })
}

/// Place in the order of ID-06, the best highest, and the confidence that it gives.
fn step(reason: Reason) -> (u8, f64) {
    match reason {
        Reason::ElementId => (10, 1.0),
        Reason::StableId => (9, 1.0),
        Reason::Description => (8, 0.95),
        Reason::RoleAndLabel => (7, 0.95),
        Reason::ExactText => (6, 0.9),
        Reason::ExactValue => (5, 0.85),
        Reason::PartialText => (4, 0.75),
        Reason::PartialId => (3, 0.7),
        Reason::Structure => (2, 0.75),
        Reason::RoleWord => (2, 0.65),
        Reason::ClassName => (1, 0.45),
        _ => (0, 0.5),
    }
}

/// How the query describes an element that it matches: the first step of ID-06 that it takes.
fn match_reason(seen: &Observation, query: &Selector, index: u32) -> Reason {
    let element = seen.reading.element(index);
    if query.id.is_some() {
        return Reason::ElementId;
    }
    if query.resource_id.is_some() || query.test_tag.is_some() {
        return Reason::StableId;
    }
    if let Some(wanted) = &query.accessibility_id {
        let is_id = element.stable_id.as_deref().is_some_and(|id| match wanted {
            TextMatch::Is(wanted) => same_id(id, wanted),
            other => other.matches(id),
        });
        // On iOS both are what automation calls the accessibility id.
        let named = |text: &str| matches!(wanted, TextMatch::Is(wanted) if *wanted == *text);
        let ios = seen.reading.snapshot.platform == Platform::Ios;
        let named = ios && element.stable_id.is_none() && element.description.as_deref().is_some_and(named);
        return if is_id || named { Reason::StableId } else { Reason::Description };
    }
    let Some(text) = &query.text else { return Reason::Structure };
    let label = || label::label(&seen.reading.snapshot, index as usize);
    let named =
        [&element.text, &element.description].into_iter().flatten().any(|shown| text.is_exactly(shown));
    let named = (named && !element.password) || label().is_some_and(|label| text.is_exactly(&label.text));
    match (named, query.role.is_some()) {
        (true, true) => Reason::RoleAndLabel,
        (true, false) => Reason::ExactText,
        (false, _) if own_texts(element).any(|shown| text.is_exactly(shown)) => Reason::ExactValue,
        (false, _) => Reason::PartialText,
    }
}

/// What the query describes when a part of it is left out, the surest part kept first.
fn near(seen: &Observation, query: &Selector) -> Vec<Candidate> {
    if query.id.is_some() {
        // A name whose element is gone is never given to another one (ID-02).
        return Vec::new();
    }
    let id_only = Selector {
        resource_id: query.resource_id.clone(),
        test_tag: query.test_tag.clone(),
        accessibility_id: query.accessibility_id.clone(),
        ..Selector::default()
    };
    let text_only = Selector { text: query.text.clone(), ..Selector::default() };
    let found =
        [id_only, text_only].iter().map(|part| candidates(seen, part)).find(|found| !found.is_empty());
    let looser = || {
        let Some(TextMatch::Is(text)) = query.text.as_ref().or(query.accessibility_id.as_ref()) else {
            return query.resource_id.as_deref().map_or_else(Vec::new, |id| find(seen, id, false));
        };
        find(seen, text, false)
    };
    let mut found = found.unwrap_or_else(looser);
    found.truncate(NEAR_MAX);
    found
}

/// What a tap on the element should change.
pub fn expected_change(seen: &Observation, index: u32) -> ExpectedChange {
    let snapshot = &seen.reading.snapshot;
    let kind = semantics::control(snapshot, index as usize).map(|control| control.kind);
    match kind {
        Some(ControlKind::Dropdown | ControlKind::Expandable) => return ExpectedChange::Menu,
        Some(ControlKind::TabRow) => return ExpectedChange::Navigation,
        Some(_) => return ExpectedChange::Value,
        None => {}
    }
    match role::in_context(snapshot, index as usize) {
        Role::TextField => ExpectedChange::Focus,
        Role::Switch | Role::Checkbox | Role::Radio | Role::Slider | Role::Stepper | Role::Picker => {
            ExpectedChange::Value
        }
        Role::Dropdown => ExpectedChange::Menu,
        Role::Link | Role::Tab | Role::Row => ExpectedChange::Navigation,
        _ => ExpectedChange::Any,
    }
}

fn rounded(confidence: f64) -> f64 {
    (confidence.clamp(0.0, 1.0) * 100.0).round() / 100.0
}
