//! Touching one place. Success means that the device took it; `expect` says whether it worked.

use std::time::Duration;

use mdm_core::action::request::{Act, Action};
use mdm_core::intent::target::Target;
use schemars::JsonSchema;
use serde::Deserialize;

use super::action::{AfterArg, perform};
use super::{Call, Effect, Tool};
use crate::answer::Answer;
use crate::args::{DeviceArg, point, within};
use crate::refusal::Refusal;
use crate::target::{ElementArg, TargetArg};

const TAP_TIMEOUT: Duration = Duration::from_secs(150);
/// Clearly over the 500 ms of most devices.
const PRESS_MS: f64 = 800.0;
/// A shorter one is a tap.
const PRESS_MS_MIN: f64 = 500.0;
/// The longest press; a longer one is refused.
const PRESS_MS_MAX: f64 = 10_000.0;

/// What is done to an element is followed by a look, unless told otherwise.
pub fn settles(target: &Target) -> bool {
    target.selector().is_some()
}

pub struct Tap;

#[derive(Deserialize, JsonSchema)]
pub struct TapParams {
    x: f64,
    y: f64,
    #[serde(flatten)]
    after: AfterArg,
    #[serde(flatten)]
    device: DeviceArg,
}

impl Tool for Tap {
    type Params = TapParams;
    const NAME: &'static str = "tap";
    const DESCRIPTION: &'static str = "Tap a point in device pixels, where no element can be named.";
    const EFFECT: Effect = Effect::Acts;
    const TIMEOUT: Duration = TAP_TIMEOUT;

    async fn run(call: &Call<'_>, params: TapParams) -> Result<Answer, Refusal> {
        let at = Target::Point(point(params.x, params.y)?);
        let act = params.after.act(Action::Tap { at }, false)?;
        perform(call, &params.device.wanted(), act, None).await
    }
}

pub struct TapElement;

#[derive(Deserialize, JsonSchema)]
pub struct TapElementParams {
    #[serde(flatten)]
    target: ElementArg,
    /// long press
    hold_ms: Option<f64>,
    /// 2: double tap
    taps: Option<u8>,
    scroll: Option<bool>,
    #[serde(flatten)]
    after: AfterArg,
    #[serde(flatten)]
    device: DeviceArg,
}

impl Tool for TapElement {
    type Params = TapElementParams;
    const NAME: &'static str = "tap_element";
    const DESCRIPTION: &'static str = "Tap an element where it is now, and say what changed. One that is gone, disabled, \
        moving or covered is refused.";
    const EFFECT: Effect = Effect::Acts;
    const TIMEOUT: Duration = TAP_TIMEOUT;

    async fn run(call: &Call<'_>, params: TapElementParams) -> Result<Answer, Refusal> {
        let at = Target::Element(params.target.selector()?);
        let action = match (params.hold_ms, params.taps.unwrap_or(1)) {
            (None, 1) => Action::Tap { at },
            (None, 2) => Action::DoubleTap { at },
            (Some(ms), 1) => Action::LongPress { at, duration_ms: held("hold_ms", Some(ms))? },
            _ => {
                let hint = "give taps as 1 or 2, and hold_ms only with one tap";
                return Err(Refusal::argument("this is neither a tap, a double tap nor a long press", hint));
            }
        };
        let act = params.after.act(action, call.settles(true))?;
        let act = Act { scroll_to_target: params.scroll == Some(true), ..act };
        perform(call, &params.device.wanted(), act, None).await
    }
}

/// How long the finger stays down.
fn held(name: &'static str, ms: Option<f64>) -> Result<u32, Refusal> {
    let ms = ms.unwrap_or(PRESS_MS);
    Ok(within(name, ms, PRESS_MS_MIN, PRESS_MS_MAX, PRESS_MS)?.round() as u32)
}

pub struct LongPress;

#[derive(Deserialize, JsonSchema)]
pub struct LongPressParams {
    #[serde(flatten)]
    target: TargetArg,
    /// ms, default 800
    duration: Option<f64>,
    #[serde(flatten)]
    after: AfterArg,
    #[serde(flatten)]
    device: DeviceArg,
}

impl Tool for LongPress {
    type Params = LongPressParams;
    const NAME: &'static str = "long_press";
    const DESCRIPTION: &'static str = "Press and hold an element or a point.";
    const EFFECT: Effect = Effect::Acts;
    const TIMEOUT: Duration = TAP_TIMEOUT;

    async fn run(call: &Call<'_>, params: LongPressParams) -> Result<Answer, Refusal> {
        let at = params.target.target()?;
        let duration_ms = held("duration", params.duration)?;
        let settles = settles(&at);
        let act = params.after.act(Action::LongPress { at, duration_ms }, call.settles(settles))?;
        perform(call, &params.device.wanted(), act, None).await
    }
}

pub struct DoubleTap;

#[derive(Deserialize, JsonSchema)]
pub struct DoubleTapParams {
    #[serde(flatten)]
    target: TargetArg,
    #[serde(flatten)]
    after: AfterArg,
    #[serde(flatten)]
    device: DeviceArg,
}

impl Tool for DoubleTap {
    type Params = DoubleTapParams;
    const NAME: &'static str = "double_tap";
    const DESCRIPTION: &'static str = "Tap an element or a point twice, quickly.";
    const EFFECT: Effect = Effect::Acts;
    const TIMEOUT: Duration = TAP_TIMEOUT;

    async fn run(call: &Call<'_>, params: DoubleTapParams) -> Result<Answer, Refusal> {
        let at = params.target.target()?;
        let settles = settles(&at);
        let act = params.after.act(Action::DoubleTap { at }, call.settles(settles))?;
        perform(call, &params.device.wanted(), act, None).await
    }
}
