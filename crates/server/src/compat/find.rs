//! Looking for an element by what it is called.

use mdm_core::change::tracker::Observation;
use mdm_core::failure::Cause;
use mdm_core::intent::actionable::check_within;
use mdm_core::intent::resolve::{Candidate, Reason, SearchResult};
use mdm_core::meaning::semantics;
use serde::Serialize;

use super::element::{Elements, Identity, description, text};
use super::trace::PointJson;
use super::{Block, Rendering};
use crate::basis::MadeFrom;
use crate::found::BoundsJson;

/// Others that could have been meant.
const ALTERNATES_MAX: usize = 3;

#[derive(Serialize)]
struct NotFound {
    found: bool,
    error: String,
}

#[derive(Serialize)]
struct Found {
    found: bool,
    element: ElementJson,
    score: f64,
    confidence: f64,
    resolution: Resolution,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct ElementJson {
    text: Option<String>,
    resource_id: Option<String>,
    content_desc: Option<String>,
    class: String,
    bounds: BoundsJson,
    clickable: bool,
    enabled: bool,
    #[serde(flatten)]
    identity: Identity,
    tap_coordinates: PointJson,
    telemetry: Telemetry,
    #[serde(skip_serializing_if = "Option::is_none")]
    interaction_hint: Option<Hint>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Telemetry {
    matched_index: Option<usize>,
    matched_interactable: bool,
    slider_like: bool,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Hint {
    kind: &'static str,
    axis: &'static str,
    track_bounds: BoundsJson,
}

#[derive(Serialize)]
struct Resolution {
    confidence: f64,
    reason: &'static str,
    fallback_available: bool,
    matched_count: usize,
    alternates: Vec<Alternate>,
}

#[derive(Serialize)]
struct Alternate {
    text: Option<String>,
    resource_id: Option<String>,
    accessibility_id: Option<String>,
    class: String,
    bounds: BoundsJson,
    clickable: bool,
    enabled: bool,
    score: f64,
    reason: &'static str,
}

impl Alternate {
    fn of(seen: &Observation, index: u32, candidate: &Candidate) -> Alternate {
        let (platform, element) = (seen.reading.snapshot.platform, seen.reading.element(index));
        Alternate {
            text: text(platform, element),
            resource_id: element.stable_id.as_deref().map(str::to_owned),
            accessibility_id: description(platform, element),
            class: element.class.to_string(),
            bounds: element.bounds.into(),
            clickable: element.affordances.clickable,
            enabled: element.state.enabled.unwrap_or(true),
            score: candidate.confidence,
            reason: candidate.reasons.first().map_or("", |reason| reason.name()),
        }
    }
}

pub fn render(r: &Rendering<'_>) -> Option<Block> {
    let not_found = |error: String| Some(Block::json(&NotFound { found: false, error }));
    let MadeFrom::Search(search, seen) = &r.answer.basis.made_from else {
        let failure = r.refused()?;
        return if failure.cause == Cause::InvalidArgument { not_found(failure.message) } else { None };
    };
    let result = search.on(seen);
    // Of several that were equally good the first was taken; the others are the alternates.
    match result.best.first() {
        Some(best) => Some(Block::json(&found(seen, &result, best))),
        None => not_found("Element not found".to_owned()),
    }
}

fn found(seen: &Observation, result: &SearchResult, best: &Candidate) -> Found {
    let is_promoted = best.matched != best.index;
    let itself = if is_promoted { Some(best.matched) } else { words_inside(seen, best.index) };
    let itself = itself.map(|index| Alternate::of(seen, index, best));
    let others = result.all.iter().filter(|other| other.number != best.number);
    let others = others.map(|other| Alternate::of(seen, other.index, other));
    let alternates: Vec<Alternate> = itself.into_iter().chain(others).take(ALTERNATES_MAX).collect();
    Found {
        found: true,
        element: element(seen, best),
        score: best.confidence,
        confidence: best.confidence,
        resolution: Resolution {
            confidence: best.confidence,
            reason: best.reasons.last().map_or("", |reason| reason.name()),
            fallback_available: !alternates.is_empty(),
            matched_count: result.all.len(),
            alternates,
        },
    }
}

/// The element inside that has the words, where this one has none of its own.
fn words_inside(seen: &Observation, index: u32) -> Option<u32> {
    let platform = seen.reading.snapshot.platform;
    let has_words = |index: &u32| {
        let element = seen.reading.element(*index);
        text(platform, element).or_else(|| description(platform, element)).is_some()
    };
    let mut inside = seen.reading.range(index).skip(1);
    if has_words(&index) { None } else { inside.find(has_words) }
}

fn element(seen: &Observation, best: &Candidate) -> ElementJson {
    let snapshot = &seen.reading.snapshot;
    let element = seen.reading.element(best.index);
    let point = check_within(&seen.reading, best.index, best.matched).unwrap_or(element.bounds.center());
    let control = semantics::control(snapshot, best.index as usize);
    // What was asked for as a slider needs no hint that it is one.
    let by_kind = best.reasons.iter().any(|reason| matches!(reason, Reason::RoleWord | Reason::ClassName));
    let slider_like = !by_kind && control.as_ref().is_some_and(|control| control.kind.adjustable());
    let hint = control.filter(|_| slider_like).map(|control| Hint {
        kind: "slider",
        axis: if element.bounds.height() > element.bounds.width() { "vertical" } else { "horizontal" },
        track_bounds: seen.reading.element(control.target).bounds.into(),
    });
    ElementJson {
        text: text(snapshot.platform, element),
        resource_id: element.stable_id.as_deref().map(str::to_owned),
        content_desc: description(snapshot.platform, element),
        class: element.class.to_string(),
        bounds: element.bounds.into(),
        clickable: element.affordances.clickable,
        enabled: element.state.enabled.unwrap_or(true),
        identity: Identity::of(snapshot, best.index as usize),
        tap_coordinates: PointJson { x: point.x, y: point.y },
        telemetry: Telemetry {
            matched_index: Elements::of(seen).place(best.index),
            matched_interactable: best.executable,
            slider_like,
        },
        interaction_hint: hint,
    }
}
