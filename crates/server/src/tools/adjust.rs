//! Sliders: set, read back, compare, until the value is there or cannot be had.

use std::time::Duration;

use mdm_core::action::request::Action;
use mdm_core::intent::adjust::{Adjusted, Adjustment, ControlValue, TOUCHES_MAX, WantedValue};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::action::{AfterArg, perform};
use super::{Call, Effect, Hints, Tool};
use crate::answer::Answer;
use crate::args::{DeviceArg, within};
use crate::refusal::Refusal;
use crate::target::ElementArg;

/// Most sliders need one or two.
const TOUCHES: f64 = 10.0;

pub struct AdjustControl;

#[derive(Deserialize, JsonSchema)]
pub struct AdjustControlParams {
    #[serde(flatten)]
    target: ElementArg,
    /// in the unit that it shows
    target_value: f64,
    /// default 0
    tolerance: Option<f64>,
    /// default 10
    max_attempts: Option<f64>,
    #[schemars(extend("hidden" = true))]
    property: Option<String>,
    #[serde(flatten)]
    device: DeviceArg,
}

/// What only an adjustment says (AD-04).
#[derive(Debug, Serialize)]
pub struct AdjustFacts {
    target_state: TargetState,
    #[serde(skip_serializing_if = "Option::is_none")]
    pre_state: Option<StateFacts>,
    #[serde(skip_serializing_if = "Option::is_none")]
    actual_state: Option<StateFacts>,
    within_tolerance: bool,
    converged: bool,
    attempts: u32,
    adjustment_mode: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    nearest_value: Option<f64>,
}

#[derive(Debug, Serialize)]
struct TargetState {
    property: &'static str,
    target_value: f64,
    tolerance: f64,
}

#[derive(Debug, Serialize)]
struct StateFacts {
    property: &'static str,
    value: f64,
    #[serde(skip_serializing_if = "Option::is_none")]
    unit: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    raw_value: Option<String>,
}

const PROPERTY: &str = "value";

impl AdjustFacts {
    pub fn new(asked: &Adjustment, adjusted: &Adjusted, converged: bool) -> AdjustFacts {
        let goal = asked.goal;
        let state = |shown: &ControlValue| StateFacts {
            property: PROPERTY,
            value: shown.value,
            unit: shown.unit.clone(),
            raw_value: shown.raw.clone(),
        };
        AdjustFacts {
            target_state: TargetState {
                property: PROPERTY,
                target_value: goal.target,
                tolerance: goal.tolerance,
            },
            pre_state: adjusted.before.as_ref().map(state),
            actual_state: adjusted.after.as_ref().map(state),
            within_tolerance: adjusted.after.as_ref().is_some_and(|after| goal.is_met_by(after.value)),
            converged,
            attempts: adjusted.touches,
            adjustment_mode: adjusted.mode.as_str(),
            nearest_value: adjusted.nearest,
        }
    }
}

fn asked(params: &AdjustControlParams) -> Result<Adjustment, Refusal> {
    let control = params.target.selector()?;
    if !matches!(params.property.as_deref(), None | Some("value" | "raw_value")) {
        return Err(Refusal::argument("only value can be adjusted", "leave property out"));
    }
    let touches = params.max_attempts.unwrap_or(TOUCHES);
    let touches = within("max_attempts", touches, 1.0, TOUCHES_MAX.into(), TOUCHES)?;
    let tolerance = params.tolerance.unwrap_or(0.0).max(0.0);
    let goal = WantedValue { target: params.target_value, tolerance };
    Ok(Adjustment { control, goal, touches_max: touches as u32 })
}

impl Tool for AdjustControl {
    type Params = AdjustControlParams;
    const NAME: &'static str = "adjust_control";
    const DESCRIPTION: &'static str = "Bring a slider, stepper or number picker to a value: move it, read it back, correct. \
        Names the nearest value if it cannot be had.";
    const EFFECT: Effect = Effect::Acts;
    const HINTS: Hints = Hints::IDEMPOTENT;
    const TIMEOUT: Duration = Duration::from_secs(90);

    async fn run(call: &Call<'_>, params: AdjustControlParams) -> Result<Answer, Refusal> {
        let act = AfterArg::default().act(Action::Adjust(asked(&params)?), false)?;
        perform(call, &params.device.wanted(), act, None).await
    }
}
