//! Waiting: for an element, for a change, for another screen.

use mdm_core::failure::{Cause, Failure};
use mdm_core::intent::predicate::Judgement;
use mdm_core::intent::watch::{Ending, WatchReport};
use mdm_core::meaning::loading::Loading;
use serde::Serialize;
use serde_json::Value;

use super::element::{Elements, FullElement};
use super::expects::observed_words;
use super::{Block, Rendering};
use crate::args::JsonObject;
use crate::basis::MadeFrom;

/// Conditions that the predecessor knew.
const CONDITIONS: [&str; 4] = ["exists", "not_exists", "visible", "clickable"];

#[derive(Serialize)]
struct ElementWait {
    status: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    matched: Option<usize>,
    /// Null where what was waited for is that there is none.
    #[serde(skip_serializing_if = "Option::is_none")]
    element: Option<Option<FullElement>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<WaitError>,
    metrics: Metrics,
    requested: Requested,
    observed: Observed,
}

#[derive(Serialize)]
struct WaitError {
    code: &'static str,
    message: String,
}

#[derive(Default, Serialize)]
struct Metrics {
    latency_ms: u64,
    poll_count: u64,
    attempts: u32,
}

#[derive(Serialize)]
struct Requested {
    selector: JsonObject,
    condition: String,
    #[serde(rename = "match")]
    chosen: Option<JsonObject>,
}

/// What was seen of the element that was waited for.
#[derive(Clone, Default, Serialize)]
pub struct Observed {
    matched_count: usize,
    condition_satisfied: bool,
    selected_index: Option<usize>,
    last_matched_element: Option<FullElement>,
}

impl Observed {
    /// `element`: the one that was judged.
    pub fn of(r: &Rendering<'_>, report: &WatchReport) -> (Observed, Option<FullElement>) {
        let Some(seen) = report.seen.as_deref() else { return (Observed::default(), None) };
        let matches = r.asked.our_selector().map(|selector| selector.matches(seen)).unwrap_or_default();
        let judged = match &report.judgement {
            Some(Judgement::Holds { index } | Judgement::Fails { index, .. }) => *index,
            _ => None,
        };
        let wanted = r.asked.object("match").and_then(|chosen| chosen.get("index")).and_then(Value::as_u64);
        let number = usize::try_from(wanted.unwrap_or(0)).unwrap_or(usize::MAX);
        let elements = Elements::of(seen);
        let matches = elements.by_own_words(&matches, r.asked);
        // What would be tapped, or has a state, may lie around the words; for all else the words themselves are meant.
        let acts = r.asked.text("condition") == Some("clickable") || r.tool == "expect_state";
        let named = matches.get(number).copied();
        let index = if acts { judged.or(named) } else { named.or(judged) };
        let element = index.map(|index| elements.full(index));
        let observed = Observed {
            matched_count: matches.len(),
            condition_satisfied: report.is_success(),
            selected_index: index.and_then(|index| elements.place(index)),
            last_matched_element: element.clone(),
        };
        (observed, element)
    }
}

pub fn element(r: &Rendering<'_>) -> Option<Block> {
    let requested = Requested {
        selector: r.asked.selector().cloned().unwrap_or_default(),
        condition: r.asked.text("condition").unwrap_or("exists").to_owned(),
        chosen: r.asked.object("match").cloned(),
    };
    let MadeFrom::Wait(report) = &r.answer.basis.made_from else {
        return refused(r, requested);
    };
    let (observed, element) = Observed::of(r, report);
    let metrics = Metrics { latency_ms: report.elapsed_ms, poll_count: report.captures, attempts: 1 };
    let succeeded = report.is_success();
    let error = match is_unknown(report) {
        // That it cannot be told is not that there is none (W10).
        true => WaitError { code: "INTERNAL_ERROR", message: observed_words(report) },
        false => WaitError {
            code: "ELEMENT_NOT_FOUND",
            message: format!("{} is not met: {} match(es)", requested.condition, observed.matched_count),
        },
    };
    let is_gone = requested.condition == "not_exists";
    Some(Block::json(&ElementWait {
        status: if succeeded { "success" } else { "timeout" },
        matched: succeeded.then_some(observed.matched_count),
        element: succeeded.then_some(element.filter(|_| !is_gone)),
        error: (!succeeded).then_some(error),
        metrics,
        requested,
        observed,
    }))
}

/// True if no capture could tell whether what was asked for is so.
pub fn is_unknown(report: &WatchReport) -> bool {
    report.seen.is_none() || matches!(report.judgement, Some(Judgement::Unknown { .. }))
}

/// Arguments that were wrong ended as a wait that had no time.
fn refused(r: &Rendering<'_>, requested: Requested) -> Option<Block> {
    let failure: Failure = r.refused()?;
    if failure.cause != Cause::InvalidArgument {
        return None;
    }
    let is_other = r.asked.text("platform").is_some_and(|name| !matches!(name, "android" | "ios"));
    let code = match () {
        () if is_other => "PLATFORM_NOT_SUPPORTED",
        () if !CONDITIONS.contains(&requested.condition.as_str()) => "INVALID_CONDITION",
        () => "INVALID_SELECTOR",
    };
    Some(Block::json(&ElementWait {
        status: "timeout",
        matched: None,
        element: None,
        error: Some(WaitError { code, message: failure.message }),
        metrics: Metrics::default(),
        requested,
        observed: Observed::default(),
    }))
}

#[derive(Serialize)]
struct ChangeWait {
    success: bool,
    observed_change: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    snapshot_revision: Option<u64>,
    timeout: bool,
    elapsed_ms: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    expected_change: Option<String>,
    loading_state: Option<LoadingJson>,
    reason: &'static str,
}

#[derive(Clone, Serialize)]
pub struct LoadingJson {
    active: bool,
    signal: &'static str,
    source: &'static str,
}

impl LoadingJson {
    pub fn of(loading: Loading) -> LoadingJson {
        LoadingJson { active: true, signal: loading.signal.name(), source: "ui_tree" }
    }
}

pub fn change(r: &Rendering<'_>) -> Option<Block> {
    let MadeFrom::Wait(report) = &r.answer.basis.made_from else { return None };
    let seen = report.seen.as_deref();
    let succeeded = report.is_success();
    Some(Block::json(&ChangeWait {
        success: succeeded,
        observed_change: report.observed.as_str().filter(|_| succeeded).map(kind_of_change),
        snapshot_revision: seen.map(|seen| seen.revision),
        timeout: report.ending == Ending::Timeout,
        elapsed_ms: report.elapsed_ms,
        expected_change: r.asked.text("expected_change").map(str::to_owned),
        loading_state: seen.and_then(|seen| seen.loading()).map(LoadingJson::of),
        reason: why(report),
    }))
}

/// Time is up, no screen and no target are three reasons (SY-08).
fn why(report: &WatchReport) -> &'static str {
    match &report.ending {
        Ending::Reached => "UI change observed",
        Ending::Timeout => "timeout",
        Ending::TargetGone(_) => "the target is gone",
        Ending::Unreadable(_) => "the screen could not be read",
    }
}

/// Another screen was a difference like any other.
fn kind_of_change(kind: &'static str) -> &'static str {
    if matches!(kind, "text_change" | "state_change") { kind } else { "hierarchy_diff" }
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct ScreenWait {
    success: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<&'static str>,
    previous_fingerprint: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    new_fingerprint: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    last_fingerprint: Option<Option<String>>,
    elapsed_ms: u64,
    #[serde(rename = "observed_screen")]
    observed_screen: ObservedScreen,
}

#[derive(Serialize)]
struct ObservedScreen {
    fingerprint: Option<String>,
    activity: String,
}

pub fn screen(r: &Rendering<'_>) -> Option<Block> {
    let MadeFrom::Wait(report) = &r.answer.basis.made_from else { return None };
    let seen = report.seen.as_deref();
    let fingerprint = seen.map(|seen| seen.fingerprint.to_string());
    let activity = seen.and_then(|seen| seen.reading.snapshot.screen.as_ref()?.name.clone());
    let succeeded = report.is_success();
    Some(Block::json(&ScreenWait {
        success: succeeded,
        reason: (!succeeded).then(|| why(report)),
        previous_fingerprint: r.asked.text("previous_fingerprint").unwrap_or_default().to_owned(),
        new_fingerprint: fingerprint.clone().filter(|_| succeeded),
        last_fingerprint: (!succeeded).then(|| fingerprint.clone()),
        elapsed_ms: report.elapsed_ms,
        observed_screen: ObservedScreen { fingerprint, activity: activity.unwrap_or_default() },
    }))
}
