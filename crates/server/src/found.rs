//! The answer of a search. The tool and the offline command use the same code.

use mdm_core::change::tracker::Observation;
use mdm_core::intent::actionable::{NotActionable, check_within};
use mdm_core::intent::resolve::{Candidate, Search, SearchResult, describe, expected_change, not_found};
use mdm_core::intent::selector::role_word;
use mdm_core::meaning::identifier::{Census, stable_id, test_tag};
use mdm_core::meaning::label::label;
use mdm_core::meaning::role::in_context;
use mdm_core::meaning::semantics;
use mdm_core::screen::geometry::Rect;
use serde::Serialize;

use crate::answer::{Answer, Facts, candidate_lines};
use crate::refusal::Refusal;

/// Candidates written out; the answer also has the number of all.
const CANDIDATES_MAX: usize = 10;
/// Other candidates that an answer describes.
const ALTERNATES_MAX: usize = 3;
/// Characters of a query; a longer one is refused.
const QUERY_CHARS_MAX: usize = 1000;

/// Builds a search by free words.
pub fn words(words: &str, exact: bool) -> Result<Search, Refusal> {
    let hint = "give a text, an identifier, a role or an id that the element has";
    if words.trim().is_empty() {
        return Err(Refusal::argument("Empty query", hint));
    }
    if words.chars().count() > QUERY_CHARS_MAX {
        return Err(Refusal::argument("the query is longer than 1000 characters", hint));
    }
    Ok(Search::Words { words: words.to_owned(), exact })
}

/// Searches one capture and builds the answer. `in_full` adds candidates as JSON, for programs; agents read the lines.
pub fn answer(search: &Search, device: Option<&str>, seen: &Observation, in_full: bool) -> Answer {
    let result = &search.on(seen);
    let partial = seen.reading.snapshot.is_partial();
    let nothing = FindFacts { device: device.map(str::to_owned), partial, ..FindFacts::default() };
    let (facts, lines) = match &result.best[..] {
        [] => {
            let refusal = Refusal::from(not_found(seen, &search.as_selector()));
            let hint = Some(refusal.hint.text().to_owned());
            let lines =
                format!("{}\n{}", refusal.failure.message, candidate_lines(&refusal.failure.candidates));
            (FindFacts { error: Some("Element not found"), hint, ..nothing }, lines)
        }
        [only] => (one(result, only, seen, nothing), String::new()),
        several if in_full => {
            let shown = several.iter().take(CANDIDATES_MAX);
            let candidates = shown.map(|candidate| CandidateJson::new(seen, candidate)).collect();
            (FindFacts { candidates, ..several_facts(several, nothing) }, String::new())
        }
        several => (several_facts(several, nothing), several_lines(several, seen)),
    };
    Answer::new(Facts::Find(Box::new(facts))).with_lines(&lines)
}

fn several_lines(several: &[Candidate], seen: &Observation) -> String {
    let mut lines = String::new();
    for candidate in several.iter().take(CANDIDATES_MAX) {
        lines.push_str(&describe(seen, candidate.index));
        lines.push_str(&format!(" (index {})\n", candidate.number));
    }
    if several.len() > CANDIDATES_MAX {
        lines.push_str(&format!("… and {} more\n", several.len() - CANDIDATES_MAX));
    }
    lines
}

fn one(result: &SearchResult, only: &Candidate, seen: &Observation, nothing: FindFacts) -> FindFacts {
    let others = result.all.iter().filter(|other| other.number != only.number);
    let alternates: Vec<CandidateJson> =
        others.take(ALTERNATES_MAX).map(|other| CandidateJson::new(seen, other)).collect();
    let resolution = ResolutionJson {
        reason: only.reasons.first().map_or("", |reason| reason.name()),
        also: only.reasons.iter().skip(1).map(|reason| reason.name()).collect(),
        fallback_available: !alternates.is_empty(),
        matched_count: result.all.len(),
        alternates,
        expected_change: expected_change(seen, only.index).name(),
    };
    FindFacts {
        found: true,
        element: Some(ElementJson::new(seen, only)),
        score: Some(only.confidence),
        confidence: Some(only.confidence),
        resolution: Some(resolution),
        ..nothing
    }
}

fn several_facts(several: &[Candidate], nothing: FindFacts) -> FindFacts {
    FindFacts {
        found: true,
        ambiguous: true,
        matched_count: Some(several.len()),
        hint: Some("use one of these ids, or add role, inside or index".to_owned()),
        ..nothing
    }
}

#[derive(Debug, Default, Serialize)]
pub struct FindFacts {
    #[serde(skip_serializing_if = "Option::is_none")]
    device: Option<String>,
    pub found: bool,
    /// Several candidates are equally good, and none is chosen (W23).
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    ambiguous: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<&'static str>,
    /// Elements are missing from the tree, so "not found" is not certain (W10).
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    partial: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    element: Option<ElementJson>,
    #[serde(skip_serializing_if = "Option::is_none")]
    score: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    confidence: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    resolution: Option<ResolutionJson>,
    #[serde(skip_serializing_if = "Option::is_none")]
    matched_count: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    hint: Option<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    candidates: Vec<CandidateJson>,
}

impl FindFacts {
    pub fn device(&self) -> Option<&str> {
        self.device.as_deref()
    }
}

#[derive(Debug, Serialize)]
struct ResolutionJson {
    reason: &'static str,
    /// The other reasons, in the order in which they were applied.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    also: Vec<&'static str>,
    fallback_available: bool,
    matched_count: usize,
    expected_change: &'static str,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    alternates: Vec<CandidateJson>,
}

/// The element to act on; `matched_element_id` is the element that matched, if it is another one inside or around it.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct ElementJson {
    element_id: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    matched_element_id: Option<String>,
    role: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    label: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    text: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    resource_id: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    content_desc: Option<String>,
    class: String,
    bounds: BoundsJson,
    clickable: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    enabled: Option<bool>,
    /// Only if it differs from the resource id.
    #[serde(rename = "stable_id", skip_serializing_if = "Option::is_none")]
    stable_id: Option<String>,
    /// Number of elements with this stable id, if there are several (ID-04).
    #[serde(rename = "stable_id_collision", skip_serializing_if = "Option::is_none")]
    collision: Option<usize>,
    #[serde(rename = "test_tag", skip_serializing_if = "Option::is_none")]
    test_tag: Option<String>,
    /// A point at which a tap reaches it; absent if there is none.
    #[serde(skip_serializing_if = "Option::is_none")]
    tap_coordinates: Option<PointJson>,
    /// The check that failed (AC-05).
    #[serde(rename = "not_interactable", skip_serializing_if = "Option::is_none")]
    not_interactable: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    interaction_hint: Option<HintJson>,
}

#[derive(Debug, Serialize)]
struct PointJson {
    x: i32,
    y: i32,
}

#[derive(Debug, Clone, Copy, Serialize)]
pub struct BoundsJson {
    left: i32,
    top: i32,
    right: i32,
    bottom: i32,
}

impl From<Rect> for BoundsJson {
    fn from(rect: Rect) -> BoundsJson {
        BoundsJson { left: rect.left, top: rect.top, right: rect.right, bottom: rect.bottom }
    }
}

/// Present for elements that are adjusted rather than tapped.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct HintJson {
    kind: &'static str,
    axis: &'static str,
    track_bounds: BoundsJson,
}

impl ElementJson {
    fn new(seen: &Observation, candidate: &Candidate) -> ElementJson {
        let snapshot = &seen.reading.snapshot;
        let index = candidate.index as usize;
        let element = &snapshot.elements[index];
        let checked = check_within(&seen.reading, candidate.index, candidate.matched);
        let other = (candidate.matched != candidate.index).then_some(candidate.matched as usize);
        let id = stable_id(element);
        let shown =
            |text: &Option<Box<str>>| text.as_deref().filter(|_| !element.password).map(str::to_owned);
        ElementJson {
            element_id: seen.ids[index].to_string(),
            matched_element_id: other.map(|other| seen.ids[other].to_string()),
            role: role_word(in_context(snapshot, index)),
            label: label(snapshot, index).filter(|label| label.sure).map(|label| label.text.into_owned()),
            text: shown(&element.text),
            resource_id: element.stable_id.as_deref().map(str::to_owned),
            content_desc: shown(&element.description),
            class: element.class.to_string(),
            bounds: element.bounds.into(),
            clickable: element.is_tappable(),
            enabled: element.state.enabled,
            stable_id: id.filter(|id| Some(*id) != element.stable_id.as_deref()).map(str::to_owned),
            collision: id.map(|id| Census::of(snapshot).with_id(id)).filter(|holders| *holders > 1),
            test_tag: test_tag(snapshot, element).map(str::to_owned),
            tap_coordinates: checked.ok().map(|point| PointJson { x: point.x, y: point.y }),
            not_interactable: checked.err().map(|why| in_words(seen, why)),
            interaction_hint: HintJson::of(seen, index),
        }
    }
}

fn in_words(seen: &Observation, why: NotActionable) -> String {
    match why {
        NotActionable::OutOfSight => "off screen".to_owned(),
        NotActionable::Disabled => "disabled".to_owned(),
        NotActionable::Covered { by } => format!("covered by {}", describe(seen, by)),
        NotActionable::Static { .. } => "nothing there reacts to a tap".to_owned(),
        NotActionable::Doubtful { confidence } => format!("confidence {confidence}"),
    }
}

impl HintJson {
    fn of(seen: &Observation, index: usize) -> Option<HintJson> {
        let control = semantics::control(&seen.reading.snapshot, index)?;
        let bounds = seen.reading.element(control.target).bounds;
        control.kind.adjustable().then(|| HintJson {
            kind: control.kind.semantic_role(),
            axis: if bounds.height() > bounds.width() { "vertical" } else { "horizontal" },
            track_bounds: bounds.into(),
        })
    }
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct CandidateJson {
    element_id: String,
    /// The line that an agent reads.
    line: String,
    index: usize,
    bounds: BoundsJson,
    clickable: bool,
    score: f64,
    reason: &'static str,
}

impl CandidateJson {
    fn new(seen: &Observation, candidate: &Candidate) -> CandidateJson {
        let element = seen.reading.element(candidate.index);
        CandidateJson {
            element_id: seen.ids[candidate.index as usize].to_string(),
            line: describe(seen, candidate.index),
            index: candidate.number,
            bounds: element.bounds.into(),
            clickable: candidate.executable,
            score: candidate.confidence,
            reason: candidate.reasons.first().map_or("", |reason| reason.name()),
        }
    }
}
