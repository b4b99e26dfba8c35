//! What an action came to, by the signals around it and by what this server saw itself (VR-01 to VR-03).

use std::fmt::Write as _;
use std::time::Duration;

use mdm_core::action::classify::{Request, RequestStatus, Signals, Why, classify, judge};
use mdm_core::action::kind::{self, Reach};
use mdm_core::action::trace::Trace;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Call, Effect, Tool, all};
use crate::answer::{Answer, Facts};
use crate::args::DeviceArg;
use crate::refusal::Refusal;

/// Actions whose effect does not show on the screen first (RFC 006).
const SIDE_EFFECTS: [&str; 5] = ["start_app", "restart_app", "terminate_app", "reset_app_data", "run_flow"];
/// Requests that a caller may tell; more are refused.
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
pub struct ClassifyParams {
    /// default the last action
    action_id: Option<String>,
    #[schemars(extend("hidden" = true))]
    ui_changed: Option<bool>,
    #[schemars(extend("hidden" = true))]
    expected_element_visible: Option<bool>,
    #[schemars(extend("hidden" = true))]
    action_type: Option<String>,
    #[schemars(extend("hidden" = true))]
    network_requests: Option<Vec<RequestArg>>,
    #[schemars(extend("hidden" = true))]
    has_log_errors: Option<bool>,
    #[serde(flatten)]
    device: DeviceArg,
}

#[derive(Debug, Serialize)]
pub struct ClassifiedFacts {
    pub outcome: &'static str,
    pub reasoning: String,
    #[serde(flatten)]
    action: Option<RecordFacts>,
}

/// What is on record of the action.
#[derive(Debug, Serialize)]
struct RecordFacts {
    action_id: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    action_kind: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    lifecycle_state: Option<&'static str>,
    attempts: u32,
    table_version: u32,
}

impl ClassifyParams {
    fn signals(&self, trace: Option<&Trace>) -> Signals {
        let seen = trace.and_then(|trace| trace.ui_changed);
        let met = trace.and_then(|trace| trace.expectation_met);
        let named = self.action_type.as_deref().map(str::trim).filter(|name| !name.is_empty());
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
            reach: named.map(reach_of).or(trace.map(|trace| trace.reach)),
            requests: self.network_requests.as_ref().map(|all| all.iter().map(request).collect()),
            log_errors: self.has_log_errors.unwrap_or(false),
        }
    }
}

impl Tool for ClassifyActionOutcome {
    type Params = ClassifyParams;
    const NAME: &'static str = "classify_action_outcome";
    const DESCRIPTION: &'static str = "Say whether an action worked, did nothing, or failed in the UI or behind it, and how it went step by step.";
    const EFFECT: Effect = Effect::ReadOnly;
    const TIMEOUT: Duration = Duration::from_secs(10);

    async fn run(call: &Call<'_>, params: ClassifyParams) -> Result<Answer, Refusal> {
        if params.network_requests.as_ref().is_some_and(|all| all.len() > REQUESTS_MAX) {
            let message = format!("network_requests has more than {REQUESTS_MAX} entries");
            return Err(Refusal::argument(message, "give those of this action"));
        }
        let trace = recorded(call, &params).await?;
        let signals = params.signals(trace.as_ref());
        let looked = |trace: &Trace| params.ui_changed.or(trace.ui_changed).is_some();
        let (outcome, why) = match &trace {
            Some(trace) => judge(&signals, trace, looked(trace)),
            None => classify(&signals),
        };
        let action = trace.as_ref().map(|trace| RecordFacts {
            action_id: trace.action_id.clone(),
            action_kind: trace.kind.map(|kind| kind.as_str()),
            lifecycle_state: trace.lifecycle().map(|state| state.as_str()),
            attempts: trace.attempts(),
            table_version: kind::TABLE_VERSION,
        });
        let facts = ClassifiedFacts { outcome: outcome.as_str(), reasoning: reasoning(&why), action };
        Ok(Answer::new(Facts::Classified(facts))
            .with_lines(&trace.as_ref().map(step_lines).unwrap_or_default()))
    }
}

/// The action that is meant, if one is: what a caller says itself needs no device.
async fn recorded(call: &Call<'_>, params: &ClassifyParams) -> Result<Option<Trace>, Refusal> {
    if params.action_id.is_none() && params.ui_changed.is_some() {
        return Ok(None);
    }
    let session = call.device(&params.device.wanted(), call.progress).await?;
    let memory = session.memory();
    let found = match &params.action_id {
        Some(id) => memory.traces.find(id),
        None => memory.traces.last_action(),
    };
    match found {
        Some(trace) => Ok(Some(trace.clone())),
        None => Err(Refusal::argument(
            "no such action is on record, and ui_changed is not given",
            "pass the action_id of an answer of this session, or ui_changed",
        )),
    }
}

/// `12 ms resolve success e5`, a line a step.
fn step_lines(trace: &Trace) -> String {
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

/// Where the effect of an action with this name shows first. What nobody knows may have effects anywhere (VR-02).
fn reach_of(name: &str) -> Reach {
    let acts = all().any(|tool| tool.name == name && tool.effect != Effect::ReadOnly);
    if acts && !SIDE_EFFECTS.contains(&name) { Reach::LocalState } else { Reach::SideEffect }
}

fn reasoning(why: &Why) -> String {
    let noted = |log_errors: &bool| if *log_errors { " (log errors present)" } else { "" };
    match why {
        Why::ExpectedVisible => "expected element is visible".to_owned(),
        Why::UiChanged => "UI changed after action".to_owned(),
        Why::Unnamed => {
            "actionType was not supplied; pass the runtime action_type so the classifier can distinguish \
                         local-state and side-effect routing"
                .to_owned()
        }
        Why::RequestFailed(failed) => {
            format!("network request {} returned {}", failed.endpoint, failed.status.as_str())
        }
        Why::LocalState { log_errors } => format!(
            "local-state action{}; use expect_state, refreshed snapshot comparison, or expect_element_visible instead \
             of defaulting to network inspection",
            noted(log_errors)
        ),
        Why::NoNetworkData => {
            "side-effect action without network data; inspect network or log signals only if the \
                               outcome is still ambiguous"
                .to_owned()
        }
        Why::NoNetworkActivity { log_errors } => {
            format!("side-effect action and no network activity{}", noted(log_errors))
        }
        Why::RequestsWithoutChange => "network requests succeeded but UI did not change".to_owned(),
        Why::NothingSent { last } => format!("nothing was sent: {last}"),
        Why::OnlyPrepared { sent, last } => {
            format!(
                "the action was not sent ({last}), but before it: {sent}; look with get_ui_tree since_revision"
            )
        }
        Why::ChangedOtherwise => "the screen changed, but what was expected was not seen".to_owned(),
        Why::Crashed { summary } => summary.clone(),
        Why::NobodyLooked => {
            "it was sent, and nobody looked at the screen afterwards; look with get_ui_tree \
                              since_revision, or act with expect or settle"
                .to_owned()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_nobody_knows_may_have_effects_anywhere() {
        // VR-02
        assert_eq!(reach_of("adjust_control"), Reach::LocalState);
        assert_eq!(reach_of("restart_app"), Reach::SideEffect);
        assert_eq!(reach_of("teleport"), Reach::SideEffect);
        assert_eq!(reach_of("get_ui_tree"), Reach::SideEffect, "it is no action");
        for name in SIDE_EFFECTS {
            assert!(all().any(|tool| tool.name == name), "{name}");
        }
    }
}
