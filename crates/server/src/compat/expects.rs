//! Verifications.

use mdm_core::failure::{Cause, Failure};
use mdm_core::intent::predicate::Judgement;
use mdm_core::intent::watch::WatchReport;
use serde::Serialize;
use serde_json::Value;

use super::arguments::PROPERTIES;
use super::element::{FullElement, Reading};
use super::trace::{Metadata, TraceJson};
use super::waits::{Observed, is_unknown};
use super::{Block, Rendering};
use crate::args::JsonObject;
use crate::basis::MadeFrom;

fn report<'a>(r: &'a Rendering<'_>) -> Option<&'a WatchReport> {
    match &r.answer.basis.made_from {
        MadeFrom::Wait(report) => Some(report),
        _ => None,
    }
}

/// What was seen instead.
pub fn observed_words(report: &WatchReport) -> String {
    match &report.judgement {
        Some(Judgement::Fails { observed, .. }) => observed.clone(),
        Some(Judgement::Unknown { why }) => why.clone(),
        Some(Judgement::Ambiguous { indexes }) => format!("{} elements differ in it", indexes.len()),
        Some(Judgement::Holds { .. }) => "it did not hold for long enough".to_owned(),
        None => "the screen could not be read".to_owned(),
    }
}

fn is_argument(failure: &Failure) -> bool {
    failure.cause == Cause::InvalidArgument
}

#[derive(Serialize)]
struct Visible {
    success: bool,
    selector: JsonObject,
    element_id: Option<String>,
    expected_condition: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    element: Option<FullElement>,
    observed: ObservedVisible,
    reason: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    failure_code: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    retryable: Option<bool>,
    trace: TraceJson,
}

#[derive(Serialize)]
struct ObservedVisible {
    status: &'static str,
    #[serde(flatten)]
    seen: Observed,
}

/// The one step of the trace.
#[derive(Clone, Serialize)]
pub struct VisibleStep {
    selector: JsonObject,
    element_id: Option<String>,
    status: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<String>,
}

pub fn visible(r: &Rendering<'_>) -> Option<Block> {
    let selector = r.asked.selector()?.clone();
    let (observed, element, failed) = match (report(r), r.refused()) {
        (Some(report), _) => {
            let (observed, element) = Observed::of(r, report);
            let failed = (!report.is_success()).then(|| observed_words(report));
            (observed, element, failed)
        }
        (None, Some(failure)) if is_argument(&failure) => (Observed::default(), None, Some(failure.message)),
        (None, _) => return None,
    };
    let succeeded = failed.is_none();
    let element = element.filter(|_| succeeded);
    let given = r.asked.text("element_id").map(str::to_owned);
    let element_id = element.as_ref().and_then(|element| element.resolved.element_id.clone()).or(given);
    let status = if succeeded { "success" } else { "timeout" };
    let step = VisibleStep {
        selector: selector.clone(),
        element_id: element_id.clone(),
        status,
        reason: failed.clone(),
    };
    let result = if succeeded { "success" } else { "failure" };
    Some(Block::json(&Visible {
        success: succeeded,
        selector,
        element_id,
        expected_condition: "visible",
        element,
        observed: ObservedVisible { status, seen: observed },
        reason: failed.unwrap_or_else(|| "selector is visible".to_owned()),
        failure_code: (!succeeded).then_some("TIMEOUT"),
        retryable: (!succeeded).then_some(true),
        trace: TraceJson::new(&r.action_id(), succeeded, 1).with(
            "verify",
            result,
            r.now_ms,
            Metadata::Visible(Box::new(step)),
        ),
    }))
}

#[derive(Serialize)]
struct State {
    success: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    selector: Option<JsonObject>,
    element_id: Option<String>,
    expected_state: ExpectedState,
    element: Option<FullElement>,
    observed_state: ObservedState,
    reason: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    failure_code: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    retryable: Option<bool>,
    #[serde(flatten)]
    stabilization: Option<Stabilization>,
    trace: TraceJson,
}

#[derive(Clone, Serialize)]
struct ExpectedState {
    property: String,
    expected: Value,
}

#[derive(Clone, Serialize)]
struct ObservedState {
    property: String,
    value: Option<StateValue>,
    #[serde(skip_serializing_if = "Option::is_none")]
    raw_value: Option<StateValue>,
}

#[derive(Clone, Serialize)]
#[serde(untagged)]
pub enum StateValue {
    Flag(bool),
    Reading(Reading),
}

#[derive(Serialize)]
struct Stabilization {
    stabilization_attempts: u64,
    stabilization_window_ms: u64,
    stable_observation_count: u64,
    snapshot_freshness_ms: u64,
}

/// The steps of one verification of a state.
#[derive(Clone, Serialize)]
#[serde(untagged)]
pub enum StateStep {
    Resolved {
        selector: Option<JsonObject>,
        element_id: Option<String>,
        matched: bool,
        reason: &'static str,
        #[serde(skip_serializing_if = "Option::is_none")]
        attempt: Option<u64>,
    },
    Stabilized {
        stabilization_attempts: u64,
        stable_observation_count: u64,
        snapshot_freshness_ms: u64,
        reason: String,
    },
    Verified {
        property: String,
        expected: Value,
        observed_value: Option<StateValue>,
        reason: String,
    },
}

pub fn state(r: &Rendering<'_>) -> Option<Block> {
    let report = report(r)?;
    let property = r.asked.text("property")?.to_owned();
    let expected = r.asked.get("expected")?.clone();
    let (_, element) = Observed::of(r, report);
    let value = element.as_ref().and_then(|element| element.resolved.state.as_ref()?.property(&property));
    let is_known = PROPERTIES.contains(&property.as_str());
    let succeeded = report.is_success() && is_known;
    let reason = match (succeeded, &element, is_known) {
        (true, ..) => format!("{property} matches expected value"),
        (false, None, _) if is_unknown(report) => observed_words(report),
        (false, None, _) => "element not found".to_owned(),
        (false, Some(_), false) => format!("there is no property {property:.40}"),
        (false, Some(_), true) => observed_words(report),
    };
    let is_absent = element.is_none() && !is_unknown(report);
    let failure_code = if is_absent { "ELEMENT_NOT_FOUND" } else { "UNKNOWN" };
    let expected_state = ExpectedState { property: property.clone(), expected };
    // A choice and a text had nothing behind them.
    let has_raw = !matches!(property.as_str(), "selected" | "text_value");
    let observed_state = ObservedState { raw_value: value.clone().filter(|_| has_raw), value, property };
    let element_id = element.as_ref().and_then(|element| element.resolved.element_id.clone());
    let trace = state_trace(r, report, succeeded, &expected_state, &observed_state, &element_id, &reason);
    Some(Block::json(&State {
        success: succeeded,
        selector: r.asked.selector().cloned(),
        element_id,
        expected_state,
        observed_state,
        reason,
        failure_code: (!succeeded).then_some(failure_code),
        retryable: (!succeeded).then_some(true),
        stabilization: succeeded.then_some(Stabilization {
            stabilization_attempts: report.captures,
            stabilization_window_ms: report.elapsed_ms,
            stable_observation_count: report.captures,
            snapshot_freshness_ms: report.freshness_ms,
        }),
        element,
        trace,
    }))
}

fn state_trace(
    r: &Rendering<'_>,
    report: &WatchReport,
    succeeded: bool,
    expected: &ExpectedState,
    observed: &ObservedState,
    element_id: &Option<String>,
    reason: &str,
) -> TraceJson {
    let matched = element_id.is_some();
    let done = if succeeded { "success" } else { "retry" };
    let step = |step: StateStep| Metadata::State(Box::new(step));
    let resolved = StateStep::Resolved {
        selector: r.asked.selector().cloned(),
        element_id: element_id.clone(),
        matched,
        reason: if matched { "element resolved" } else { "element not found" },
        attempt: (!matched).then_some(report.captures),
    };
    let stabilized = StateStep::Stabilized {
        stabilization_attempts: report.captures,
        stable_observation_count: if succeeded { report.captures } else { 0 },
        snapshot_freshness_ms: report.freshness_ms,
        reason: reason.to_owned(),
    };
    let trace = TraceJson::new(&r.action_id(), succeeded, report.captures)
        .with("resolve", if matched { "success" } else { "retry" }, r.now_ms, step(resolved))
        .with("stabilize", done, r.now_ms, step(stabilized));
    if !matched {
        return trace;
    }
    let verified = StateStep::Verified {
        property: expected.property.clone(),
        expected: expected.expected.clone(),
        observed_value: observed.value.clone(),
        reason: reason.to_owned(),
    };
    trace.with("verify", done, r.now_ms, step(verified))
}

#[derive(Serialize)]
struct Screen {
    success: bool,
    observed_screen: ScreenJson,
    expected_screen: ScreenJson,
    confidence: u8,
    comparison: Comparison,
    trace: TraceJson,
}

#[derive(Clone, Serialize)]
struct ScreenJson {
    fingerprint: Option<String>,
    screen: Option<String>,
}

#[derive(Clone, Serialize)]
struct Comparison {
    basis: &'static str,
    matched: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<String>,
}

/// The one step of the trace.
#[derive(Clone, Serialize)]
pub struct ScreenStep {
    expected_screen: ScreenJson,
    observed_screen: ScreenJson,
    comparison: Comparison,
}

pub fn screen(r: &Rendering<'_>) -> Option<Block> {
    let report = report(r);
    if report.is_none() && !r.refused().is_some_and(|failure| is_argument(&failure)) {
        return None;
    }
    // A verification that saw nothing shows nothing that was seen before it (VS-03).
    let seen = match report {
        Some(report) => report.seen.as_deref(),
        None => r.last.as_deref(),
    };
    let name = seen.and_then(|seen| seen.reading.snapshot.screen.as_ref());
    let asked = |name: &str| r.asked.text(name).map(str::to_owned);
    let expected_screen = ScreenJson { fingerprint: asked("fingerprint"), screen: asked("screen") };
    let by_name = expected_screen.fingerprint.is_none() && expected_screen.screen.is_some();
    let shown = name.map(|screen| match by_name {
        true => screen.name.as_ref().map_or_else(String::new, |_| screen.short_name().to_owned()),
        false => screen.name.clone().unwrap_or_default(),
    });
    let observed_screen =
        ScreenJson { fingerprint: seen.map(|seen| seen.fingerprint.to_string()), screen: shown };
    let (basis, expected) = match (&expected_screen.fingerprint, &expected_screen.screen) {
        (Some(print), _) => ("fingerprint", format!("fingerprint {print}")),
        (None, Some(screen)) => ("screen", format!("screen {screen}")),
        (None, None) => ("none", String::new()),
    };
    let matched = report.is_some_and(WatchReport::is_success);
    let reason = match (matched, report) {
        (true, _) => format!("{expected} is in front"),
        (false, Some(report)) => format!("{expected} is not in front: {}", observed_words(report)),
        (false, None) => r.refused().map(|failure| failure.message).unwrap_or_default(),
    };
    let comparison = Comparison { basis, matched, reason: Some(reason) };
    let step = ScreenStep {
        expected_screen: expected_screen.clone(),
        observed_screen: observed_screen.clone(),
        comparison: Comparison { reason: None, ..comparison.clone() },
    };
    let result = if matched { "success" } else { "failure" };
    Some(Block::json(&Screen {
        success: matched,
        observed_screen,
        expected_screen,
        confidence: matched.into(),
        comparison,
        trace: TraceJson::new(&r.action_id(), matched, 1).with(
            "verify",
            result,
            r.now_ms,
            Metadata::Screen(Box::new(step)),
        ),
    }))
}
