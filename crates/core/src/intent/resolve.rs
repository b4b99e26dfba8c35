//! Resolves a selector to one element to act on, or to the reason why not (RFC 007, AC-01 to AC-09).
//!
//! Every match is followed to the element that takes the tap (AC-01); matches with the same place are one candidate.
//! Candidates are compared in a fixed order (ID-06); between equally good ones nothing is decided here.

mod describe;
mod find;
mod group;
mod owner;
mod search;
mod similar;
mod stale;
#[cfg(test)]
mod tests;

use crate::change::tracker::Observation;
use crate::intent::actionable::{NotActionable, TapPlace, find_place};
use crate::intent::selector::{Selector, TextMatch, own_texts, same_id};
use crate::meaning::label::{self, Label, LabelSource};
use crate::meaning::role;
use crate::meaning::semantics::{self, ControlKind};
use crate::screen::element::Role;
use crate::screen::geometry::Point;
use crate::screen::snapshot::Platform;

pub use describe::{describe, failure, not_found, shows_nothing, stale, system_dialog};
pub use find::find;
pub use group::candidates;
pub use owner::{is_static, nearest_target, owner};
pub use search::{Search, SearchResult};
pub use stale::stale_now;

/// Other candidates that are reported with a target.
const ALTERNATES_MAX: usize = 3;
/// Similar elements that are reported when nothing matches.
const NEAR_MAX: usize = 5;

/// Below this confidence nothing is acted on (AC-04).
const CONFIDENCE_MIN: f64 = 0.6;

#[derive(Debug, Clone, PartialEq)]
pub enum Resolution {
    Found(Resolved),
    /// Several equally good candidates, in document order (ID-04, W23).
    Ambiguous(Vec<Candidate>),
    NotFound {
        /// Candidates that match a part of the selector, best first.
        near: Vec<Candidate>,
    },
    NotActionable {
        candidate: Candidate,
        why: NotActionable,
    },
}

/// One place on the screen that the selector may mean.
#[derive(Debug, Clone, PartialEq)]
pub struct Candidate {
    /// The element to act on.
    pub index: u32,
    /// The element that the selector matched.
    pub matched: u32,
    /// Its number among all candidates in document order, from 0; `Selector::index` counts the same way.
    pub number: usize,
    pub confidence: f64,
    pub reasons: Vec<Reason>,
    /// True if the tree says that something there takes taps.
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
    /// Number of all candidates, this one included.
    pub matched_count: usize,
    pub alternates: Vec<Candidate>,
    /// True if there is another candidate to try, should this one be wrong.
    pub fallback_available: bool,
    pub expected_change: ExpectedChange,
}

/// A reason why an element was chosen (AC-03).
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
    ControlBehind,
    AdjustableNode,
    Chosen,
    ExactPreferred,
    ExecutablePreferred,
    OnScreenPreferred,
    UncoveredPreferred,
    MaybeCovered,
    NothingTakesTaps,
}

impl Reason {
    /// The name in answers; the contract's word where it has one.
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
            Reason::ControlBehind => "control_behind_preferred",
            Reason::AdjustableNode => "adjustable_node_preferred",
            Reason::Chosen => "chosen_by_index",
            Reason::ExactPreferred => "exact_preferred",
            Reason::ExecutablePreferred => "executable_preferred",
            Reason::OnScreenPreferred => "on_screen_preferred",
            Reason::UncoveredPreferred => "uncovered_preferred",
            Reason::MaybeCovered => "maybe_covered",
            Reason::NothingTakesTaps => "nothing_takes_taps",
        }
    }
}

/// The change that an action on an element should cause (AC-09).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ExpectedChange {
    Navigation,
    Menu,
    Value,
    Focus,
    /// Its kind does not say.
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

/// Resolves a selector for an action: one element that can be used now, or the reason why not. [`to_verify`] resolves
/// for verifications, [`Search`] for searches; all three match alike.
pub fn to_act(seen: &Observation, selector: &Selector) -> Resolution {
    resolve_above(seen, selector, CONFIDENCE_MIN)
}

/// Resolves a selector for a tap. Like [`to_act`], but what only shows something is refused, unless the caller forces it
/// (F4, RFC 005 paragraph 8).
pub fn to_tap(seen: &Observation, selector: &Selector) -> Resolution {
    let resolution = to_act(seen, selector);
    let Resolution::Found(found) = &resolution else { return resolution };
    if selector.force || !is_static(&seen.reading, found.index) {
        return resolution;
    }
    let candidate = Candidate {
        index: found.index,
        matched: found.matched,
        number: 0,
        confidence: found.confidence,
        reasons: found.reasons.clone(),
        executable: false,
    };
    let nearest = nearest_target(&seen.reading, found.index);
    Resolution::NotActionable { candidate, why: NotActionable::Static { nearest } }
}

fn resolve_above(seen: &Observation, selector: &Selector, confidence_min: f64) -> Resolution {
    let all = candidates(seen, selector);
    if all.is_empty() {
        return Resolution::NotFound { near: near(seen, selector) };
    }
    let best = match selector.index {
        Some(index) => chosen(&all, index),
        None => best(seen, &all),
    };
    match &best[..] {
        [] => Resolution::NotFound { near: all.into_iter().take(NEAR_MAX).collect() },
        [only] => decide(seen, only.clone(), all, confidence_min),
        _ => Resolution::Ambiguous(best),
    }
}

/// Resolves a selector for a verification: every element that it matches, visible or not. A text that is only the label
/// of another match is left out, because it has no state of its own.
pub fn to_verify(seen: &Observation, selector: &Selector) -> Vec<u32> {
    if let Some(index) = selector.index {
        // `index` counts candidates, as it does for actions.
        let all = candidates(seen, selector);
        return all.get(index).map(|candidate| candidate.matched).into_iter().collect();
    }
    let mut matches = selector.matches(seen);
    let snapshot = &seen.reading.snapshot;
    let is_control = |index: &u32| role::in_context(snapshot, *index as usize).is_control();
    let controls = matches.iter().copied().filter(is_control);
    let names: Vec<u32> = controls.filter_map(|index| label::label(snapshot, index as usize)?.from).collect();
    matches.retain(|index| is_control(index) || !names.contains(index));
    // The words of a tab or a row are written by texts inside, which have no state of their own (F32).
    let parts: Vec<(u32, u32)> = matches
        .iter()
        .filter_map(|index| Some((*index, label::label(snapshot, *index as usize)?)))
        .filter(|(_, label)| label.source == LabelSource::Descendants)
        .map(|(index, label)| (index, label.covers_until))
        .collect();
    let is_part = |index: u32| parts.iter().any(|(outer, until)| (outer + 1..*until).contains(&index));
    matches.retain(|index| is_control(index) || !is_part(*index));
    matches
}

/// The candidate with this number, if there is one.
pub fn chosen(all: &[Candidate], index: usize) -> Vec<Candidate> {
    let mut chosen: Vec<Candidate> = all.iter().filter(|c| c.number == index).cloned().collect();
    for candidate in &mut chosen {
        candidate.reasons.push(Reason::Chosen);
    }
    chosen
}

/// Filters the candidates by one criterion after the other, the most important first, and returns those that are left.
pub fn best(seen: &Observation, all: &[Candidate]) -> Vec<Candidate> {
    let mut left = all.to_vec();
    let highest = left.iter().map(grade).max().unwrap_or(0);
    keep(&mut left, Reason::ExactPreferred, |candidate| grade(candidate) == highest);
    // iOS does not say which elements take taps.
    if left.iter().all(is_loose) && seen.reading.snapshot.platform == Platform::Android {
        keep(&mut left, Reason::ExecutablePreferred, |candidate| candidate.executable);
    }
    let checked = |candidate: &Candidate| find_place(&seen.reading, candidate.index, candidate.matched);
    keep(&mut left, Reason::OnScreenPreferred, |c| checked(c) != Err(NotActionable::OutOfSight));
    keep(&mut left, Reason::UncoveredPreferred, |c| {
        !matches!(checked(c), Err(NotActionable::Covered { .. }))
    });
    keep(&mut left, Reason::UncoveredPreferred, |c| {
        checked(c).map_or(true, |place| place.maybe_covered_by.is_none())
    });
    left
}

/// True if the candidate was matched by its text or label.
fn by_words(candidate: &Candidate) -> bool {
    matches!(
        candidate.reasons.first(),
        Some(Reason::ExactText | Reason::ExactValue | Reason::PartialText | Reason::RoleAndLabel)
    )
}

/// True if several matches of this kind are normal. Two elements with one identifier are a collision (ID-04); two with
/// the same words are not.
fn is_loose(candidate: &Candidate) -> bool {
    by_words(candidate)
        || matches!(candidate.reasons.first(), Some(Reason::PartialId | Reason::RoleWord | Reason::ClassName))
}

fn grade(candidate: &Candidate) -> u8 {
    candidate.reasons.first().map_or(0, |reason| step(*reason).0)
}

/// Keeps the candidates for which `holds` is true, unless there are none.
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
        // One of several elements with the same identifier is a guess: the app meant the identifier to be one (ID-04).
        let collides = matches!(candidate.reasons.first(), Some(Reason::StableId | Reason::Description));
        candidate.reasons.push(reason);
        candidate.confidence = rounded(candidate.confidence - if collides { 0.2 } else { 0.05 });
    }
}

fn decide(seen: &Observation, mut chosen: Candidate, all: Vec<Candidate>, confidence_min: f64) -> Resolution {
    let matched_count = all.len();
    let TapPlace { point, maybe_covered_by } = match find_place(&seen.reading, chosen.index, chosen.matched) {
        Ok(place) => place,
        Err(why) => return Resolution::NotActionable { candidate: chosen, why },
    };
    if maybe_covered_by.is_some() {
        // A doubt is told and does not refuse (F30).
        chosen.reasons.push(Reason::MaybeCovered);
        chosen.confidence = rounded((chosen.confidence - 0.1).max(confidence_min.min(chosen.confidence)));
    }
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

/// Rank in the order of ID-06 (higher is better), and the confidence that it gives.
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

/// The highest reason of ID-06 for which the selector matches this element.
fn match_reason(seen: &Observation, selector: &Selector, index: u32) -> Reason {
    let element = seen.reading.element(index);
    if selector.id.is_some() {
        return Reason::ElementId;
    }
    if selector.resource_id.is_some() || selector.test_tag.is_some() {
        return Reason::StableId;
    }
    if let Some(wanted) = &selector.accessibility_id {
        let is_id = element.stable_id.as_deref().is_some_and(|id| match wanted {
            TextMatch::Is(wanted) => same_id(id, wanted),
            other => other.matches(id),
        });
        // On iOS, automation tools call both the identifier and the label the accessibility id.
        let named = |text: &str| matches!(wanted, TextMatch::Is(wanted) if *wanted == *text);
        let ios = seen.reading.snapshot.platform == Platform::Ios;
        let named = ios && element.stable_id.is_none() && element.description.as_deref().is_some_and(named);
        return if is_id || named { Reason::StableId } else { Reason::Description };
    }
    let Some(text) = &selector.text else { return Reason::Structure };
    // A title above a slider is hardly its name; a text above a field is, or leads to it (F87).
    let is_name =
        |label: &Label<'_>| label.sure || element.role == Role::TextField || selector.role.is_some();
    let label = || label::label(&seen.reading.snapshot, index as usize).filter(is_name);
    // What a field holds does not compete with what others are called (F35).
    let own = element.text.as_deref().filter(|_| !element.role.text_is_value());
    let named =
        [own, element.description.as_deref()].into_iter().flatten().any(|shown| text.is_exactly(shown));
    let named = (named && !element.password) || label().is_some_and(|label| text.is_exactly(&label.text));
    match (named, selector.role.is_some()) {
        (true, true) => Reason::RoleAndLabel,
        (true, false) => Reason::ExactText,
        (false, _) if own_texts(element).any(|shown| text.is_exactly(shown)) => Reason::ExactValue,
        (false, _) => Reason::PartialText,
    }
}

/// Candidates for a part of the selector: its identifiers alone, else its text alone, else similar words.
fn near(seen: &Observation, selector: &Selector) -> Vec<Candidate> {
    if selector.id.is_some() {
        // The id of an element that is gone never means another element (ID-02).
        return Vec::new();
    }
    let id_only = Selector {
        resource_id: selector.resource_id.clone(),
        test_tag: selector.test_tag.clone(),
        accessibility_id: selector.accessibility_id.clone(),
        ..Selector::default()
    };
    let text_only = Selector { text: selector.text.clone(), ..Selector::default() };
    let found =
        [id_only, text_only].iter().map(|part| candidates(seen, part)).find(|found| !found.is_empty());
    let looser = || {
        let Some(TextMatch::Is(text)) = selector.text.as_ref().or(selector.accessibility_id.as_ref()) else {
            return selector.resource_id.as_deref().map_or_else(Vec::new, |id| find(seen, id, false));
        };
        find(seen, text, false)
    };
    let mut found = found.unwrap_or_else(looser);
    if let (true, Some(TextMatch::Is(text) | TextMatch::Contains(text))) = (found.is_empty(), &selector.text)
    {
        found = similar::similar(seen, text);
    }
    found.truncate(NEAR_MAX);
    found
}

/// The change that a tap on the element should cause.
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
