//! Sliders: set, read back, compare, until the value is there or cannot be had.

use std::time::Duration;

use mdm_core::action::failure::{Dispatch, ErrorCode, Failure};
use mdm_core::intent::adjust::{Goal, Why};
use mdm_core::intent::selector::Selector;
use mdm_engine::{Adjusted, Adjustment, ControlValue, End, Mode, Progress};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::follow::AfterArg;
use super::{Effect, Tool};
use crate::answer::Answer;
use crate::app::App;
use crate::args::{PlatformArg, element_id, wanted};
use crate::target::{SelectorArg, SelectorSchema};

/// Most sliders need one or two.
const TOUCHES: f64 = 10.0;

pub struct AdjustControl;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct AdjustControlParams {
    /// As in find_element.
    #[schemars(with = "Option<SelectorSchema>")]
    selector: Option<SelectorArg>,
    /// Instead of a selector: from get_ui_tree, like e12.
    #[serde(alias = "elementId")]
    element_id: Option<String>,
    /// value (or raw_value, which means the same).
    property: Option<String>,
    /// In the unit that the control shows.
    #[serde(rename = "targetValue")]
    target_value: f64,
    /// How far off is still right; 0 when not given.
    tolerance: Option<f64>,
    /// Corrections, each followed by a look: 1 to 20, 10 when not given.
    #[serde(rename = "maxAttempts")]
    max_attempts: Option<f64>,
    platform: Option<PlatformArg>,
    #[serde(rename = "deviceId")]
    device_id: Option<String>,
}

#[derive(Serialize)]
struct Facts<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<ErrorFacts<'a>>,
    action_id: &'a str,
    action_type: &'a str,
    lifecycle_state: &'a str,
    success: bool,
    device: &'a str,
    target: TargetFacts<'a>,
    target_state: TargetState<'a>,
    pre_state: Option<StateFacts<'a>>,
    actual_state: Option<StateFacts<'a>>,
    within_tolerance: bool,
    converged: bool,
    attempts: u32,
    adjustment_mode: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    nearest_value: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    retryable: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    dispatched: Option<&'a str>,
    elapsed_ms: u64,
}

#[derive(Serialize)]
struct ErrorFacts<'a> {
    tool: &'a str,
    code: &'a str,
    message: &'a str,
    hint: &'a str,
}

#[derive(Serialize)]
struct TargetFacts<'a> {
    selector: NamedFacts<'a>,
}

#[derive(Serialize)]
struct NamedFacts<'a> {
    #[serde(rename = "elementId")]
    element_id: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    label: Option<&'a str>,
}

#[derive(Serialize)]
struct TargetState<'a> {
    property: &'a str,
    target_value: f64,
    tolerance: f64,
}

#[derive(Serialize)]
struct StateFacts<'a> {
    property: &'a str,
    value: f64,
    #[serde(skip_serializing_if = "Option::is_none")]
    unit: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    raw_value: Option<&'a str>,
}

fn state<'a>(property: &'a str, reading: &'a ControlValue) -> StateFacts<'a> {
    let ControlValue { value, raw, unit } = reading;
    StateFacts { property, value: *value, unit: unit.as_deref(), raw_value: raw.as_deref() }
}

fn bad(message: impl Into<String>, hint: &'static str) -> Failure {
    Failure::new(ErrorCode::InvalidArgument, message, hint)
}

fn asked(params: &AdjustControlParams) -> Result<Adjustment, Failure> {
    let query = match (&params.selector, &params.element_id) {
        (None, Some(id)) => Selector { id: Some(element_id(id)?), ..Selector::default() },
        (Some(selector), None) => selector.query()?,
        _ => return Err(bad("give either a selector or an element_id", "get_ui_tree shows ids like e12")),
    };
    if !matches!(params.property.as_deref(), None | Some("value" | "raw_value")) {
        return Err(bad("only value can be adjusted", "leave property out"));
    }
    let touches = params.max_attempts.unwrap_or(TOUCHES);
    if !(1.0..=f64::from(mdm_core::intent::adjust::TOUCHES_MAX)).contains(&touches) {
        return Err(bad(format!("maxAttempts = {touches} is not between 1 and 20"), "10 is usual"));
    }
    let goal = Goal { target: params.target_value, tolerance: params.tolerance.unwrap_or(0.0).max(0.0) };
    Ok(Adjustment { query, goal, touches_max: touches as u32 })
}

/// Why the value is not there.
fn failure(adjusted: &Adjusted, goal: Goal) -> Option<Failure> {
    let (why, nearest) = match &adjusted.end {
        End::Met => return None,
        End::Failed(failure) => return Some(failure.clone()),
        End::CannotReach { why, nearest } => (*why, *nearest),
    };
    let (code, reason, hint) = match why {
        Why::BetweenSteps => (
            ErrorCode::ControlConvergenceFailed,
            "lies between two values that the control has",
            "ask for the nearest value, or give a larger tolerance",
        ),
        Why::EndOfTrack => (
            ErrorCode::ControlConvergenceFailed,
            "lies past the end of the control",
            "ask for a value that the control has; when a part of it is out of sight, scroll first",
        ),
        Why::NoReaction => (
            ErrorCode::ElementNotInteractable,
            "was not reached: neither taps nor drags on the control change its value",
            "it may only be a display; look with capture_screenshot",
        ),
        Why::Exhausted => (
            ErrorCode::ControlConvergenceFailed,
            "was not reached with the touches that were allowed",
            "call again with a larger tolerance or more maxAttempts",
        ),
    };
    let Goal { target, tolerance } = goal;
    let message = format!("{target} ± {tolerance} {reason}; the nearest value is {nearest}");
    Some(Failure::new(code, message, hint))
}

impl Tool for AdjustControl {
    type Params = AdjustControlParams;
    const NAME: &'static str = "adjust_control";
    const TITLE: &'static str = "Set a slider";
    const DESCRIPTION: &'static str = "Bring a slider, stepper or number picker to a value: move it, read it back, \
        correct, until it is within tolerance or the value cannot be had; then the nearest value is named. Touches \
        nothing but the control.";
    const EFFECT: Effect = Effect::Acts;
    const TIMEOUT: Duration = Duration::from_secs(90);

    async fn run(app: &App, params: AdjustControlParams, progress: &Progress) -> Result<Answer, Failure> {
        let asked = asked(&params)?;
        let session = app.fleet.choose(&wanted(params.platform, params.device_id), progress).await?;
        let action = app.action(Self::NAME, AfterArg::default().follow(false)?);
        let adjusted = session.adjust(&action, &asked, progress).await?;
        let failure = failure(&adjusted, asked.goal);
        let property = params.property.as_deref().unwrap_or("value");
        let within = adjusted.after.as_ref().is_some_and(|after| asked.goal.is_met_by(after.value));
        let answer = Answer::json(&Facts {
            error: failure.as_ref().map(|failure| ErrorFacts {
                tool: Self::NAME,
                code: failure.code.as_str(),
                message: &failure.message,
                hint: &failure.hint,
            }),
            action_id: &action.id,
            action_type: Self::NAME,
            lifecycle_state: if failure.is_none() { "verified" } else { "failed" },
            success: failure.is_none(),
            device: session.id(),
            target: TargetFacts {
                selector: NamedFacts {
                    element_id: adjusted.id.to_string(),
                    label: adjusted.label.as_deref(),
                },
            },
            target_state: TargetState {
                property,
                target_value: asked.goal.target,
                tolerance: asked.goal.tolerance,
            },
            pre_state: adjusted.before.as_ref().map(|before| state(property, before)),
            actual_state: adjusted.after.as_ref().map(|after| state(property, after)),
            within_tolerance: within,
            converged: failure.is_none(),
            attempts: adjusted.touches,
            adjustment_mode: match adjusted.mode {
                Mode::Semantic => "semantic",
                Mode::Gesture => "gesture",
                Mode::Coordinate => "coordinate",
            },
            nearest_value: match adjusted.end {
                End::CannotReach { nearest, .. } => Some(nearest),
                _ => None,
            },
            retryable: failure.as_ref().map(Failure::retryable),
            dispatched: failure
                .as_ref()
                .is_some_and(|failure| failure.dispatch == Dispatch::Unknown)
                .then_some("unknown"),
            elapsed_ms: progress.elapsed_ms(),
        });
        Ok(Answer { is_error: failure.is_some(), ..answer })
    }
}
