//! Gestures that move: swipe, drag, pinch.

use std::time::Duration;

use mdm_core::action::request::{Act, Action, SwipePath};
use mdm_core::intent::scroll::Direction;
use mdm_core::intent::target::Target;
use schemars::JsonSchema;
use serde::Deserialize;

use super::action::{AfterArg, perform};
use super::taps::settles;
use super::{Call, Effect, Tool};
use crate::answer::Answer;
use crate::args::{DeviceArg, JsonObject, point, within};
use crate::refusal::Refusal;
use crate::target::{ElementArg, SelectorArg, TargetArg};

const GESTURE_TIMEOUT: Duration = Duration::from_secs(150);
/// The longest gesture; a longer one is refused.
const DURATION_MS_MAX: f64 = 10_000.0;
const SWIPE_MS: f64 = 300.0;
const HOLD_MS: f64 = 500.0;
const DRAG_MS: f64 = 800.0;

fn ms(name: &str, given: Option<f64>, usual: f64, least: f64) -> Result<u32, Refusal> {
    let value = within(name, given.unwrap_or(usual), least, DURATION_MS_MAX, usual)?;
    Ok(value.round() as u32)
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum DirectionArg {
    Up,
    Down,
    Left,
    Right,
}

impl From<DirectionArg> for Direction {
    fn from(arg: DirectionArg) -> Direction {
        match arg {
            DirectionArg::Down => Direction::Down,
            DirectionArg::Up => Direction::Up,
            DirectionArg::Left => Direction::Left,
            DirectionArg::Right => Direction::Right,
        }
    }
}

pub struct Swipe;

#[derive(Deserialize, JsonSchema)]
pub struct SwipeParams {
    x1: Option<f64>,
    y1: Option<f64>,
    x2: Option<f64>,
    y2: Option<f64>,
    /// default 300
    duration: Option<f64>,
    direction: Option<DirectionArg>,
    #[serde(flatten)]
    target: ElementArg,
    #[schemars(extend("hidden" = true))]
    scroll: Option<bool>,
    #[serde(flatten)]
    after: AfterArg,
    #[serde(flatten)]
    device: DeviceArg,
}

impl Tool for Swipe {
    type Params = SwipeParams;
    const NAME: &'static str = "swipe";
    const DESCRIPTION: &'static str =
        "Swipe between points or over an element; up shows what is further down.";
    const EFFECT: Effect = Effect::Acts;
    const TIMEOUT: Duration = GESTURE_TIMEOUT;

    async fn run(call: &Call<'_>, params: SwipeParams) -> Result<Answer, Refusal> {
        let duration_ms = ms("duration", params.duration, SWIPE_MS, 1.0)?;
        let points = [params.x1, params.y1, params.x2, params.y2];
        let path = match (points, params.target.is_given(), params.direction) {
            ([Some(x1), Some(y1), Some(x2), Some(y2)], false, None) => {
                SwipePath::Points { from: point(x1, y1)?, to: point(x2, y2)? }
            }
            ([None, None, None, None], true, Some(direction)) => SwipePath::Across {
                element: Target::Element(params.target.selector()?),
                direction: direction.into(),
            },
            _ => {
                return Err(Refusal::argument(
                    "a swipe needs two points, or an element and a direction",
                    "give x1, y1, x2 and y2, or element_id (or selector) and direction",
                ));
            }
        };
        let settles = params.target.is_given();
        let act = params.after.act(Action::Swipe { path, duration_ms }, call.settles(settles))?;
        let act = Act { scroll_to_target: params.scroll == Some(true), ..act };
        perform(call, &params.device.wanted(), act, None).await
    }
}

pub struct Drag;

#[derive(Deserialize, JsonSchema)]
pub struct DragParams {
    x1: Option<f64>,
    y1: Option<f64>,
    /// selector
    #[schemars(with = "Option<JsonObject>")]
    from: Option<SelectorArg>,
    #[schemars(extend("hidden" = true))]
    from_element_id: Option<String>,
    x2: Option<f64>,
    y2: Option<f64>,
    /// selector
    #[schemars(with = "Option<JsonObject>")]
    to: Option<SelectorArg>,
    #[schemars(extend("hidden" = true))]
    to_element_id: Option<String>,
    /// default 500
    hold_ms: Option<f64>,
    #[schemars(extend("hidden" = true))]
    duration: Option<f64>,
    #[serde(flatten)]
    after: AfterArg,
    #[serde(flatten)]
    device: DeviceArg,
}

impl Tool for Drag {
    type Params = DragParams;
    const NAME: &'static str = "drag";
    const DESCRIPTION: &'static str = "Pick up what is at one place and drop it at another.";
    const EFFECT: Effect = Effect::Acts;
    const TIMEOUT: Duration = GESTURE_TIMEOUT;

    async fn run(call: &Call<'_>, params: DragParams) -> Result<Answer, Refusal> {
        let end = |element_id, selector, x, y| TargetArg { element_id, selector, x, y, force: None }.target();
        let from = end(params.from_element_id, params.from, params.x1, params.y1)?;
        let to = end(params.to_element_id, params.to, params.x2, params.y2)?;
        let hold_ms = ms("hold_ms", params.hold_ms, HOLD_MS, 0.0)?;
        let duration_ms = ms("duration", params.duration, DRAG_MS, 1.0)?;
        let settles = settles(&from);
        let act = params.after.act(Action::Drag { from, to, hold_ms, duration_ms }, call.settles(settles))?;
        perform(call, &params.device.wanted(), act, None).await
    }
}

pub struct Pinch;

#[derive(Deserialize, JsonSchema)]
pub struct PinchParams {
    #[serde(flatten)]
    target: TargetArg,
    /// 0.1 to 10; above 1 zooms in
    scale: f64,
    #[serde(flatten)]
    after: AfterArg,
    #[serde(flatten)]
    device: DeviceArg,
}

impl Tool for Pinch {
    type Params = PinchParams;
    const NAME: &'static str = "pinch";
    const DESCRIPTION: &'static str =
        "Zoom with two fingers, where the device takes two; else PLATFORM_NOT_SUPPORTED.";
    const EFFECT: Effect = Effect::Acts;
    const TIMEOUT: Duration = GESTURE_TIMEOUT;

    async fn run(call: &Call<'_>, params: PinchParams) -> Result<Answer, Refusal> {
        let at = params.target.target()?;
        let scale = within("scale", params.scale, 0.1, 10.0, 2.0)?;
        let settles = settles(&at);
        let act = params.after.act(Action::Pinch { at, scale }, call.settles(settles))?;
        perform(call, &params.device.wanted(), act, None).await
    }
}
