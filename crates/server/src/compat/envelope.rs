//! The envelope of an action.

use mdm_core::action::outcome::{Effect as Came, Outcome};
use mdm_core::change::tracker::Observation;
use mdm_core::failure::{Cause, Failure};
use mdm_core::port::{AppReport, Dispatch};
use mdm_core::screen::snapshot::{Platform, Screen};
use serde::Serialize;

use super::adjust::{AdjustDetails, AdjustJson};
use super::element::{Elements, Resolved, parse_element_id};
use super::failure::{FailureJson, Recovery};
use super::parts::{Device, iso};
use super::trace::{Metadata, TraceJson};
use super::{Block, Rendering, adjust};
use crate::args::JsonObject;
use crate::basis::MadeFrom;

#[derive(Serialize)]
pub struct Envelope {
    pub action_id: String,
    pub timestamp: String,
    pub action_type: &'static str,
    pub lifecycle_state: &'static str,
    pub source_module: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub device: Option<Device>,
    pub target: TargetJson,
    pub success: bool,
    #[serde(flatten)]
    pub failure: Option<FailureJson>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub recovery: Option<Recovery>,
    pub trace: TraceJson,
    pub ui_fingerprint_before: Option<String>,
    pub ui_fingerprint_after: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub details: Option<Details>,
    #[serde(flatten)]
    pub adjusted: Option<AdjustJson>,
}

#[derive(Clone, Serialize)]
pub struct TargetJson {
    pub selector: Option<JsonObject>,
    pub resolved: Option<Resolved>,
}

#[derive(Serialize)]
#[serde(untagged)]
pub enum Details {
    Launch(Box<LaunchDetails>),
    Adjusted(Box<AdjustDetails>),
}

#[derive(Serialize)]
pub struct LaunchDetails {
    launch_time_ms: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    output: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    device_id: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    terminated_before_restart: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    observed_app: Option<ObservedApp>,
}

#[derive(Serialize)]
#[serde(untagged)]
enum ObservedApp {
    #[serde(rename_all = "camelCase")]
    Android {
        app_id: String,
        package: Option<String>,
        activity: Option<String>,
        screen: Option<String>,
        matched_target: Option<bool>,
    },
    #[serde(rename_all = "camelCase")]
    Ios { app_id: String, pid: Option<u32>, screen: Option<String>, matched_target: Option<bool> },
}

/// Tools whose envelopes named the device.
fn names_device(tool: &str, succeeded: bool) -> bool {
    match tool {
        "start_app" | "restart_app" => true,
        "tap_element" => succeeded,
        _ => false,
    }
}

fn source_module(tool: &str) -> &'static str {
    if matches!(tool, "tap_element" | "adjust_control") { "interact" } else { "server" }
}

/// The envelope, or nothing where the predecessor had no more to say than an error.
pub fn render(r: &Rendering<'_>) -> Option<Block> {
    let outcome = match &r.answer.basis.made_from {
        MadeFrom::Action(outcome) => Some(outcome.as_ref()),
        _ => None,
    };
    let failure = match outcome {
        Some(outcome) => outcome.failure.clone(),
        None => Some(r.refused()?),
    };
    if outcome.is_none() && !has_envelope_when_refused(r, failure.as_ref()) || is_no_bundle(r) {
        return None;
    }
    Some(Block::json(&envelope(r, outcome, failure.as_ref())))
}

/// What can be no name of an app of iOS was refused as one.
fn is_no_bundle(r: &Rendering<'_>) -> bool {
    let launches = matches!(r.tool, "start_app" | "restart_app") && r.platform() == Platform::Ios;
    let is_letter = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '-' | '_');
    launches && r.asked.text("app_id").is_some_and(|id| !id.chars().all(is_letter))
}

/// Arguments and devices that were wrong made an error of most calls; launching and adjusting took them for a failure.
fn has_envelope_when_refused(r: &Rendering<'_>, failure: Option<&Failure>) -> bool {
    let is_argument = failure.is_some_and(|failure| failure.cause == Cause::InvalidArgument);
    match r.tool {
        // A property that cannot be adjusted was a failure like others.
        "adjust_control" => r.asked.text("property").is_some(),
        "start_app" | "restart_app" => !is_argument,
        "tap_element" => !is_argument,
        _ => false,
    }
}

fn envelope(r: &Rendering<'_>, outcome: Option<&Outcome>, failure: Option<&Failure>) -> Envelope {
    let failed = failure.map(|failure| FailureJson::of(r.tool, failure));
    let began_ms = outcome.map_or(r.now_ms, |outcome| outcome.trace.began_ms);
    let base = Envelope {
        action_id: r.action_id(),
        timestamp: iso(began_ms),
        action_type: r.tool,
        lifecycle_state: if failed.is_some() { "failed" } else { "pending_verification" },
        source_module: source_module(r.tool),
        device: names_device(r.tool, failed.is_none()).then(|| r.device_or_unknown()),
        target: TargetJson {
            selector: selector(r),
            resolved: outcome.and_then(|outcome| resolved(r, outcome)),
        },
        success: failed.is_none(),
        recovery: failed.as_ref().map(FailureJson::recovery),
        failure: failed,
        trace: TraceJson::new("", false, 1),
        ui_fingerprint_before: print_before(r, outcome),
        ui_fingerprint_after: print_after(r, outcome),
        details: None,
        adjusted: None,
    };
    if r.tool == "adjust_control" {
        return adjust::add(r, base, outcome, failure, began_ms);
    }
    let details = matches!(r.tool, "start_app" | "restart_app").then(|| launch(r, outcome, failure));
    Envelope {
        trace: trace(&base, began_ms),
        details: details.map(|all| Details::Launch(Box::new(all))),
        ..base
    }
}

/// Says again what the call named, in the predecessor's order.
fn selector(r: &Rendering<'_>) -> Option<JsonObject> {
    let names: &[&str] = match r.tool {
        "tap" => &["x", "y"],
        "swipe" => &["x1", "y1", "x2", "y2", "duration"],
        "type_text" => &["text"],
        "start_app" | "restart_app" => &["appId"],
        "tap_element" => &["elementId"],
        "press_back" => return Some(JsonObject::from_iter([("key".to_owned(), "back".into())])),
        _ => {
            let by_id = || {
                let id = r.asked.get("element_id")?.clone();
                Some(JsonObject::from_iter([("elementId".to_owned(), id)]))
            };
            return r.asked.selector().cloned().or_else(by_id);
        }
    };
    let named = |name: &&str| Some(((*name).to_owned(), r.asked.get(name)?.clone()));
    Some(names.iter().filter_map(named).collect())
}

/// The capture before the action.
pub fn before(outcome: &Outcome) -> Option<&Observation> {
    match &outcome.effect {
        Came::Scrolled(scrolled) => Some(&scrolled.before),
        _ => outcome.before.as_deref(),
    }
}

/// The capture after what was sent; nothing where nothing was.
pub fn after(outcome: &Outcome) -> Option<&Observation> {
    match &outcome.effect {
        Came::Scrolled(scrolled) => Some(&scrolled.seen),
        _ => outcome.seen_after().map(|after| after.seen.as_ref()),
    }
}

fn resolved(r: &Rendering<'_>, outcome: &Outcome) -> Option<Resolved> {
    match (r.tool, &outcome.effect) {
        ("scroll_to_element", Came::Scrolled(scrolled)) => {
            let found = scrolled.found.as_ref()?;
            let elements = Elements::of(&scrolled.seen);
            let index = scrolled.seen.index_of(found.id)? as u32;
            let matches = r.asked.our_selector().map(|selector| selector.matches(&scrolled.seen));
            let own = elements.by_own_words(&matches.unwrap_or_default(), r.asked);
            let whole = elements.resolved(own.first().copied().unwrap_or(index));
            // Nothing else was told of it.
            Some(Resolved {
                text: whole.text,
                resource_id: whole.resource_id,
                bounds: whole.bounds,
                ..Resolved::default()
            })
        }
        ("tap_element", _) => {
            let seen = seen_before(r, Some(outcome))?;
            let place = outcome.places.first().and_then(|place| place.target.as_ref());
            let named =
                || r.asked.text("element_id").and_then(parse_element_id).and_then(|id| seen.index_of(id));
            let index =
                place.map(|(_, target)| target.index).or_else(|| named().map(|index| index as u32))?;
            Some(Elements::of(seen).resolved(index))
        }
        _ => None,
    }
}

/// The screen before the action. Where nothing was sent, it is the one that was seen last.
pub fn seen_before<'a>(r: &'a Rendering<'_>, outcome: Option<&'a Outcome>) -> Option<&'a Observation> {
    outcome.and_then(before).or(r.last.as_deref().filter(|_| !sent(outcome)))
}

fn sent(outcome: Option<&Outcome>) -> bool {
    let went_out = |dispatch| matches!(dispatch, Dispatch::Taken | Dispatch::Unknown);
    outcome.is_some_and(|outcome| went_out(outcome.dispatch()))
}

/// Of a tap whose platform was not named nobody looked; nor for an element that never was.
fn print_before(r: &Rendering<'_>, outcome: Option<&Outcome>) -> Option<String> {
    let id = r.asked.text("element_id").filter(|_| r.tool == "tap_element");
    let looked = match r.tool {
        "tap" => r.asked.text("platform").is_some(),
        _ => id.is_none_or(|id| parse_element_id(id).is_some()),
    };
    seen_before(r, outcome).filter(|_| looked).map(|seen| seen.fingerprint.to_string())
}

fn print_after(r: &Rendering<'_>, outcome: Option<&Outcome>) -> Option<String> {
    let seen = outcome.and_then(after);
    let last = match r.tool {
        // Its own readings go on while it touches the control.
        "adjust_control" => outcome.is_some_and(|outcome| matches!(outcome.effect, Came::Adjusted(_))),
        "tap_element" | "tap" => false,
        _ => !sent(outcome),
    };
    seen.or(r.last.as_deref().filter(|_| last)).map(|seen| seen.fingerprint.to_string())
}

/// Steps that follow from the result: the predecessor noted none while it went.
fn trace(envelope: &Envelope, at_ms: u64) -> TraceJson {
    let (action_type, source_module) = (envelope.action_type, envelope.source_module);
    let target = Metadata::Target {
        action_type,
        source_module,
        selector: envelope.target.selector.clone(),
        resolved: envelope.target.resolved.clone().map(Box::new),
    };
    let failure = envelope.failure.clone();
    let done = if failure.is_some() { "failure" } else { "success" };
    let named = if envelope.target.resolved.is_some() { "success" } else { "failure" };
    let trace = TraceJson::new(&envelope.action_id, failure.is_none(), 1)
        .with("resolve", named, at_ms, target)
        .with("execute", done, at_ms, Metadata::Execute { action_type, source_module, failure });
    match &envelope.recovery {
        Some(recovery) => trace.recovering(at_ms, recovery),
        None => trace,
    }
}

fn launch(r: &Rendering<'_>, outcome: Option<&Outcome>, failure: Option<&Failure>) -> LaunchDetails {
    let restarted = r.tool == "restart_app";
    let report = outcome.and_then(|outcome| match &outcome.effect {
        Came::App(report, screen) => Some((report, screen.as_ref())),
        _ => None,
    });
    let launched = report.filter(|_| failure.is_none());
    LaunchDetails {
        launch_time_ms: launched.map_or(0, |(report, _)| launch_time(r, outcome, report)),
        output: launched.map(|(_, screen)| screen.map(Screen::component).unwrap_or_default()),
        device_id: (!restarted).then(|| r.device_or_unknown().id),
        terminated_before_restart: restarted.then_some(true),
        error: failure.map(|failure| failure.message.clone()),
        observed_app: launched.map(|(_, screen)| observed(r, screen)),
    }
}

/// As the platform measured it; where it does not, how long it took to be taken.
fn launch_time(r: &Rendering<'_>, outcome: Option<&Outcome>, report: &AppReport) -> u64 {
    let began_ms = outcome.map_or(r.now_ms, |outcome| outcome.trace.began_ms);
    report.launch_time_ms.unwrap_or_else(|| r.now_ms.saturating_sub(began_ms))
}

fn observed(r: &Rendering<'_>, screen: Option<&Screen>) -> ObservedApp {
    let app_id = r.asked.text("app_id").unwrap_or_default().to_owned();
    let matched_target = screen.map(|screen| screen.app == app_id);
    match r.platform() {
        Platform::Android => ObservedApp::Android {
            package: screen.map(|screen| screen.app.clone()),
            activity: screen.and_then(|screen| screen.name.clone()),
            screen: screen.map(|screen| screen.short_name().to_owned()),
            app_id,
            matched_target,
        },
        // Screens of iOS have no names.
        Platform::Ios => ObservedApp::Ios { app_id, pid: r.pid, screen: Some(String::new()), matched_target },
    }
}
