//! What an action came to, by the signals around it and by what this server saw itself (VR-01 to VR-03).

use std::fmt::Write as _;
use std::time::Duration;

use mdm_core::action::classify::{Request, RequestStatus, Signals, classify, judge};
use mdm_core::action::failure::{ErrorCode, Failure};
use mdm_core::action::kind::{self, action_type};
use mdm_core::action::trace::Trace;
use mdm_engine::Progress;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Effect, Tool};
use crate::answer::Answer;
use crate::app::App;
use crate::args::DeviceArg;

const REQUESTS_MAX: usize = 1000;

pub struct ClassifyActionOutcome;

#[derive(Clone, Copy, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum StatusArg {
    Success,
    Failure,
    Retryable,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct RequestArg {
    endpoint: String,
    status: StatusArg,
}

#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ClassifyParams {
    /// Without it the server's own record of the action decides.
    ui_changed: Option<bool>,
    expected_element_visible: Option<bool>,
    /// As in the action's answer.
    action_type: Option<String>,
    network_requests: Option<Vec<RequestArg>>,
    has_log_errors: Option<bool>,
    /// Of an action of this session; the last one when neither this nor uiChanged is given.
    action_id: Option<String>,
    #[serde(flatten)]
    device: DeviceArg,
}

#[derive(Serialize)]
struct Facts<'a> {
    outcome: &'a str,
    reasoning: &'a str,
    #[serde(flatten)]
    action: Option<ActionFacts<'a>>,
}

#[derive(Serialize)]
struct ActionFacts<'a> {
    action_id: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    action_kind: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    lifecycle_state: Option<&'a str>,
    attempts: u32,
    table_version: u32,
}

impl ClassifyParams {
    fn signals(&self, trace: Option<&Trace>) -> Signals {
        let seen = trace.and_then(|trace| trace.ui_changed);
        let met = trace.and_then(|trace| trace.expectation_met);
        let ran = trace.map(|trace| trace.action_type.to_owned());
        let request = |arg: &RequestArg| Request {
            endpoint: arg.endpoint.chars().take(200).collect(),
            status: match arg.status {
                StatusArg::Success => RequestStatus::Success,
                StatusArg::Failure => RequestStatus::Failure,
                StatusArg::Retryable => RequestStatus::Retryable,
            },
        };
        Signals {
            ui_changed: self.ui_changed.or(seen).unwrap_or(false),
            expected_visible: self.expected_element_visible.or(met).unwrap_or(false),
            action_type: self.action_type.clone().or(ran),
            requests: self.network_requests.as_ref().map(|all| all.iter().map(request).collect()),
            log_errors: self.has_log_errors.unwrap_or(false),
        }
    }
}

impl Tool for ClassifyActionOutcome {
    type Params = ClassifyParams;
    const NAME: &'static str = "classify_action_outcome";
    const TITLE: &'static str = "What an action came to";
    const DESCRIPTION: &'static str = "Say whether an action worked, did nothing, or failed in the UI or behind it, and \
        show how it went step by step. Call it when an answer leaves that open, before looking at network or logs.";
    const EFFECT: Effect = Effect::ReadOnly;
    const TIMEOUT: Duration = Duration::from_secs(10);

    async fn run(app: &App, params: ClassifyParams, progress: &Progress) -> Result<Answer, Failure> {
        if params.network_requests.as_ref().is_some_and(|all| all.len() > REQUESTS_MAX) {
            let message = format!("networkRequests has more than {REQUESTS_MAX} entries");
            return Err(Failure::new(ErrorCode::InvalidArgument, message, "give those of this action"));
        }
        let trace = recorded(app, &params, progress).await?;
        let signals = params.signals(trace.as_ref());
        let (outcome, reasoning) = match &trace {
            Some(trace) => judge(&signals, trace),
            None => classify(&signals),
        };
        let action = trace.as_ref().map(|trace| ActionFacts {
            action_id: &trace.action_id,
            action_kind: action_type(trace.action_type).map(|action| action.kind.as_str()),
            lifecycle_state: trace.lifecycle().map(|state| state.as_str()),
            attempts: trace.attempts(),
            table_version: kind::TABLE_VERSION,
        });
        let facts = Facts { outcome: outcome.as_str(), reasoning: &reasoning, action };
        Ok(Answer::json(&facts).with_lines(&trace.as_ref().map(told).unwrap_or_default()))
    }
}

/// The action that is meant, if one is: what a caller says itself needs no device.
async fn recorded(app: &App, params: &ClassifyParams, progress: &Progress) -> Result<Option<Trace>, Failure> {
    if params.action_id.is_none() && params.ui_changed.is_some() {
        return Ok(None);
    }
    let session = app.fleet.choose(&params.device.wanted(), progress).await?;
    let memory = session.memory();
    let found = match &params.action_id {
        Some(id) => memory.journal.find(id),
        None => memory.journal.last(),
    };
    match found {
        Some(trace) => Ok(Some(trace.clone())),
        None => Err(Failure::new(
            ErrorCode::InvalidArgument,
            "no such action is on record, and uiChanged is not given",
            "pass the action_id of an answer of this session, or uiChanged",
        )),
    }
}

/// `12 ms resolve success e5`, a line a step.
fn told(trace: &Trace) -> String {
    let mut lines = String::new();
    for step in &trace.steps {
        let at = step.at_ms.saturating_sub(trace.began_ms);
        let (stage, result) = (step.stage.as_str(), step.result.as_str());
        let _ = write!(lines, "{at} ms {stage} {result}");
        if step.attempt_index > 0 {
            let _ = write!(lines, " (attempt {})", step.attempt_index + 1);
        }
        if !step.note.is_empty() {
            let _ = write!(lines, ": {}", step.note);
        }
        lines.push('\n');
    }
    lines
}
