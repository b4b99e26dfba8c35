//! Gestures beyond tap and swipe, and keys. Success means that the device took it; get_ui_tree shows what came of it.

use std::time::Duration;

use mdm_core::device::{Input, Key, Orientation};
use mdm_core::error::{ErrorCode, Failure};
use mdm_engine::{Aim, Follow, Progress};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::input::dispatched;
use super::{Effect, Tool, follow};
use crate::answer::Answer;
use crate::app::App;
use crate::args::{JsonObject, PlatformArg, wanted};
use crate::expect::ExpectArg;
use crate::target::{SelectorArg, Target, TargetArg};

const DURATION_MS_MAX: f64 = 10_000.0;
/// Clearly over the 500 ms of most devices.
const PRESS_MS: f64 = 800.0;
/// A shorter one is a tap.
const PRESS_MS_MIN: f64 = 500.0;
const HOLD_MS: f64 = 500.0;
const DRAG_MS: f64 = 800.0;
const PINCH_MS: u32 = 400;
const PINCH_PX: f64 = 200.0;
/// Higher numbers are no key on any Android.
const KEY_CODE_MAX: u16 = 1000;

/// A selector is written out for find_element; in every tool it would cost each agent more than it tells.
#[derive(JsonSchema)]
#[schemars(transparent)]
#[expect(dead_code, reason = "only its schema is used")]
pub(super) struct SelectorSchema(JsonObject);

/// Where one end of a gesture goes. What is named is looked for and checked; a point is taken as it is.
pub(super) fn aim(
    element_id: Option<String>,
    selector: Option<SelectorArg>,
    x: Option<f64>,
    y: Option<f64>,
) -> Result<Aim, Failure> {
    Ok(match (TargetArg { element_id, selector, x, y }).target()? {
        Target::Element(query) => Aim::Element(query),
        Target::Place(point) => Aim::Point(point),
    })
}

/// What is done to an element is followed by a look, unless told otherwise.
fn follow_of(aim: &Aim, after: &AfterArg<'_>) -> Result<Follow, Failure> {
    follow::read(after.expect, after.settle, after.timeout_ms, matches!(aim, Aim::Element(_)))
}

struct AfterArg<'a> {
    expect: Option<&'a ExpectArg>,
    settle: Option<bool>,
    timeout_ms: Option<u32>,
}

fn ms(name: &str, given: Option<f64>, usual: f64, least: f64) -> Result<u32, Failure> {
    let value = given.unwrap_or(usual);
    if (least..=DURATION_MS_MAX).contains(&value) {
        return Ok(value.round() as u32);
    }
    Err(Failure::new(
        ErrorCode::InvalidArgument,
        format!("{name} = {value} is not between {least} and {DURATION_MS_MAX} ms"),
        format!("{usual} is usual"),
    ))
}

pub struct LongPress;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub struct LongPressParams {
    /// Device pixels, as in get_ui_tree.
    x: Option<f64>,
    y: Option<f64>,
    /// Instead of x and y: from get_ui_tree, like e12.
    element_id: Option<String>,
    /// Instead of both, as in find_element.
    #[schemars(with = "Option<SelectorSchema>")]
    selector: Option<SelectorArg>,
    /// Milliseconds, 500 to 10000; 800 when not given.
    duration: Option<f64>,
    platform: Option<PlatformArg>,
    device_id: Option<String>,
    /// What must be true afterwards, like {"text":"Welcome"}, {"elementId":"e4","checked":true}, {"screen":"Home"}.
    expect: Option<ExpectArg>,
    /// Wait until the screen rests and say what changed (default true, but not for a point).
    settle: Option<bool>,
    /// For both; 5000 when not given.
    #[serde(rename = "timeout_ms")]
    timeout_ms: Option<u32>,
}

impl Tool for LongPress {
    type Params = LongPressParams;
    const NAME: &'static str = "long_press";
    const TITLE: &'static str = "Long press";
    const DESCRIPTION: &'static str = "Press and hold an element (or a point), and say what changed.";
    const EFFECT: Effect = Effect::Acts;
    const TIMEOUT: Duration = Duration::from_secs(90);

    async fn run(app: &App, params: LongPressParams, progress: &Progress) -> Result<Answer, Failure> {
        let aim = aim(params.element_id, params.selector, params.x, params.y)?;
        let after =
            AfterArg { expect: params.expect.as_ref(), settle: params.settle, timeout_ms: params.timeout_ms };
        let follow = follow_of(&aim, &after)?;
        let duration_ms = ms("duration", params.duration, PRESS_MS, PRESS_MS_MIN)?;
        let session = app.fleet.choose(&wanted(params.platform, params.device_id), progress).await?;
        let press = |[point]: [_; 1]| Input::LongPress { point, duration_ms };
        let acted = session.act([aim], press, &follow, progress).await?;
        Ok(follow::answer(app, Self::NAME, &session, &acted, progress))
    }
}

pub struct DoubleTap;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub struct DoubleTapParams {
    /// Device pixels, as in get_ui_tree.
    x: Option<f64>,
    y: Option<f64>,
    /// Instead of x and y: from get_ui_tree, like e12.
    element_id: Option<String>,
    /// Instead of both, as in find_element.
    #[schemars(with = "Option<SelectorSchema>")]
    selector: Option<SelectorArg>,
    platform: Option<PlatformArg>,
    device_id: Option<String>,
    /// What must be true afterwards, like {"text":"Welcome"}, {"elementId":"e4","checked":true}, {"screen":"Home"}.
    expect: Option<ExpectArg>,
    /// Wait until the screen rests and say what changed (default true, but not for a point).
    settle: Option<bool>,
    /// For both; 5000 when not given.
    #[serde(rename = "timeout_ms")]
    timeout_ms: Option<u32>,
}

impl Tool for DoubleTap {
    type Params = DoubleTapParams;
    const NAME: &'static str = "double_tap";
    const TITLE: &'static str = "Double tap";
    const DESCRIPTION: &'static str = "Tap an element (or a point) twice, quickly, and say what changed.";
    const EFFECT: Effect = Effect::Acts;
    const TIMEOUT: Duration = Duration::from_secs(90);

    async fn run(app: &App, params: DoubleTapParams, progress: &Progress) -> Result<Answer, Failure> {
        let aim = aim(params.element_id, params.selector, params.x, params.y)?;
        let after =
            AfterArg { expect: params.expect.as_ref(), settle: params.settle, timeout_ms: params.timeout_ms };
        let follow = follow_of(&aim, &after)?;
        let session = app.fleet.choose(&wanted(params.platform, params.device_id), progress).await?;
        let acted = session.act([aim], |[point]| Input::DoubleTap(point), &follow, progress).await?;
        Ok(follow::answer(app, Self::NAME, &session, &acted, progress))
    }
}

pub struct Drag;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub struct DragParams {
    x1: Option<f64>,
    y1: Option<f64>,
    /// Instead of x1 and y1.
    from_element_id: Option<String>,
    /// A selector, as in find_element.
    #[schemars(with = "Option<SelectorSchema>")]
    from: Option<SelectorArg>,
    x2: Option<f64>,
    y2: Option<f64>,
    /// Instead of x2 and y2.
    to_element_id: Option<String>,
    /// A selector, as in find_element.
    #[schemars(with = "Option<SelectorSchema>")]
    to: Option<SelectorArg>,
    /// How long the finger rests before it moves, to pick something up: 0 to 10000 ms, 500 when not given.
    hold_ms: Option<f64>,
    /// Of the movement: 1 to 10000 ms, 800 when not given.
    duration: Option<f64>,
    platform: Option<PlatformArg>,
    device_id: Option<String>,
    /// What must be true afterwards, like {"text":"Welcome"}, {"elementId":"e4","checked":true}, {"screen":"Home"}.
    expect: Option<ExpectArg>,
    /// Wait until the screen rests and say what changed (default true, but not for a point).
    settle: Option<bool>,
    /// For both; 5000 when not given.
    #[serde(rename = "timeout_ms")]
    timeout_ms: Option<u32>,
}

impl Tool for Drag {
    type Params = DragParams;
    const NAME: &'static str = "drag";
    const TITLE: &'static str = "Drag and drop";
    const DESCRIPTION: &'static str =
        "Pick something up, let it go elsewhere, and say what changed. To scroll use swipe.";
    const EFFECT: Effect = Effect::Acts;
    const TIMEOUT: Duration = Duration::from_secs(90);

    async fn run(app: &App, params: DragParams, progress: &Progress) -> Result<Answer, Failure> {
        let from = aim(params.from_element_id, params.from, params.x1, params.y1)?;
        let to = aim(params.to_element_id, params.to, params.x2, params.y2)?;
        let after =
            AfterArg { expect: params.expect.as_ref(), settle: params.settle, timeout_ms: params.timeout_ms };
        let follow = follow_of(&from, &after)?;
        let hold_ms = ms("holdMs", params.hold_ms, HOLD_MS, 0.0)?;
        let duration_ms = ms("duration", params.duration, DRAG_MS, 1.0)?;
        let session = app.fleet.choose(&wanted(params.platform, params.device_id), progress).await?;
        let drag = |[from, to]: [_; 2]| Input::Drag { from, to, hold_ms, duration_ms };
        let acted = session.act([from, to], drag, &follow, progress).await?;
        Ok(follow::answer(app, Self::NAME, &session, &acted, progress))
    }
}

pub struct Pinch;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub struct PinchParams {
    /// Device pixels, as in get_ui_tree.
    x: Option<f64>,
    y: Option<f64>,
    /// Instead of x and y: from get_ui_tree, like e12.
    element_id: Option<String>,
    /// Instead of both, as in find_element.
    #[schemars(with = "Option<SelectorSchema>")]
    selector: Option<SelectorArg>,
    /// Above 1 zooms in, below 1 out; 0.1 to 10.
    scale: f64,
    platform: Option<PlatformArg>,
    device_id: Option<String>,
}

impl Tool for Pinch {
    type Params = PinchParams;
    const NAME: &'static str = "pinch";
    const TITLE: &'static str = "Pinch";
    const DESCRIPTION: &'static str =
        "Zoom with two fingers. Answers PLATFORM_NOT_SUPPORTED where the device takes only one finger (adb).";
    const EFFECT: Effect = Effect::Acts;
    const TIMEOUT: Duration = Duration::from_secs(90);

    async fn run(app: &App, params: PinchParams, progress: &Progress) -> Result<Answer, Failure> {
        let aim = aim(params.element_id, params.selector, params.x, params.y)?;
        let follow = follow::read(None, None, None, matches!(aim, Aim::Element(_)))?;
        if !(0.1..=10.0).contains(&params.scale) {
            let message = format!("scale = {} is not between 0.1 and 10", params.scale);
            return Err(Failure::new(ErrorCode::InvalidArgument, message, "2 doubles, 0.5 halves"));
        }
        // The smaller distance stays, so that both fingers have room.
        let (from, to) = if params.scale >= 1.0 {
            (PINCH_PX, PINCH_PX * params.scale)
        } else {
            (PINCH_PX / params.scale, PINCH_PX)
        };
        let (from_px, to_px) = (from.round() as u32, to.round() as u32);
        let session = app.fleet.choose(&wanted(params.platform, params.device_id), progress).await?;
        let pinch = |[center]: [_; 1]| Input::Pinch { center, from_px, to_px, duration_ms: PINCH_MS };
        let acted = session.act([aim], pinch, &follow, progress).await?;
        Ok(follow::answer(app, Self::NAME, &session, &acted, progress))
    }
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub struct NoParams {
    platform: Option<PlatformArg>,
    device_id: Option<String>,
}

#[derive(Serialize)]
struct KeyFacts<'a> {
    key: &'a str,
}

async fn send(
    app: &App,
    tool: &str,
    params: NoParams,
    (input, selector): (Input, impl Serialize),
    progress: &Progress,
) -> Result<Answer, Failure> {
    let session = app.fleet.choose(&wanted(params.platform, params.device_id), progress).await?;
    session.input(input, progress).await?;
    Ok(dispatched(app, tool, &session, selector, progress))
}

pub struct PressKey;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub struct PressKeyParams {
    /// home, back, recents, enter, delete, tab, escape, volume_up, volume_down, power, dpad_up, …, or an Android key
    /// code such as 82.
    key: String,
    platform: Option<PlatformArg>,
    device_id: Option<String>,
}

fn key(name: &str) -> Result<Key, Failure> {
    let plain = name.trim().to_ascii_lowercase();
    if let Some(code) = plain.parse().ok().filter(|code| (1..=KEY_CODE_MAX).contains(code)) {
        return Ok(Key::Android(code));
    }
    let plain = plain.strip_prefix("keycode_").unwrap_or(&plain);
    let known = match plain {
        "app_switch" => Some(Key::Recents),
        "del" | "backspace" => Some(Key::Delete),
        "forward_del" => Some(Key::ForwardDelete),
        "return" => Some(Key::Enter),
        _ => Key::NAMED.iter().find(|(known, _)| *known == plain).map(|(_, key)| *key),
    };
    known.ok_or_else(|| {
        let names: Vec<&str> = Key::NAMED.iter().map(|(name, _)| *name).collect();
        Failure::new(
            ErrorCode::InvalidArgument,
            format!("{name:.40?} is no key"),
            format!("use one of {}, or an Android key code; type_text types characters", names.join(", ")),
        )
    })
}

impl Tool for PressKey {
    type Params = PressKeyParams;
    const NAME: &'static str = "press_key";
    const TITLE: &'static str = "Press a key";
    const DESCRIPTION: &'static str = "Press one key. Characters are typed with type_text.";
    const EFFECT: Effect = Effect::Acts;
    const TIMEOUT: Duration = Duration::from_secs(10);

    async fn run(app: &App, params: PressKeyParams, progress: &Progress) -> Result<Answer, Failure> {
        let PressKeyParams { key: name, platform, device_id } = params;
        let input = (Input::Key(key(&name)?), KeyFacts { key: name.trim() });
        send(app, Self::NAME, NoParams { platform, device_id }, input, progress).await
    }
}

pub struct PressHome;

impl Tool for PressHome {
    type Params = NoParams;
    const NAME: &'static str = "press_home";
    const TITLE: &'static str = "Home";
    const DESCRIPTION: &'static str = "Go to the home screen.";
    const EFFECT: Effect = Effect::Acts;
    const TIMEOUT: Duration = Duration::from_secs(10);

    async fn run(app: &App, params: NoParams, progress: &Progress) -> Result<Answer, Failure> {
        let input = (Input::Key(Key::Home), KeyFacts { key: "home" });
        send(app, Self::NAME, params, input, progress).await
    }
}

pub struct PressRecents;

impl Tool for PressRecents {
    type Params = NoParams;
    const NAME: &'static str = "press_recents";
    const TITLE: &'static str = "Recent apps";
    const DESCRIPTION: &'static str = "Show the apps that were used last.";
    const EFFECT: Effect = Effect::Acts;
    const TIMEOUT: Duration = Duration::from_secs(10);

    async fn run(app: &App, params: NoParams, progress: &Progress) -> Result<Answer, Failure> {
        let input = (Input::Key(Key::Recents), KeyFacts { key: "recents" });
        send(app, Self::NAME, params, input, progress).await
    }
}

pub struct HideKeyboard;

#[derive(Serialize)]
struct NothingNamed {}

impl Tool for HideKeyboard {
    type Params = NoParams;
    const NAME: &'static str = "hide_keyboard";
    const TITLE: &'static str = "Hide the keyboard";
    const DESCRIPTION: &'static str =
        "Hide the on-screen keyboard. When it is not shown nothing is pressed, so the screen is never left.";
    const EFFECT: Effect = Effect::Acts;
    const TIMEOUT: Duration = Duration::from_secs(10);

    async fn run(app: &App, params: NoParams, progress: &Progress) -> Result<Answer, Failure> {
        send(app, Self::NAME, params, (Input::HideKeyboard, NothingNamed {}), progress).await
    }
}

pub struct SetOrientation;

#[derive(Clone, Copy, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum OrientationArg {
    Portrait,
    Landscape,
    Auto,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub struct SetOrientationParams {
    /// auto: as the device is held.
    orientation: OrientationArg,
    platform: Option<PlatformArg>,
    device_id: Option<String>,
}

#[derive(Serialize)]
struct OrientationFacts {
    orientation: OrientationArg,
}

impl Tool for SetOrientation {
    type Params = SetOrientationParams;
    const NAME: &'static str = "set_orientation";
    const TITLE: &'static str = "Turn the screen";
    const DESCRIPTION: &'static str = "Turn the screen, for all apps and until it is changed again. An app may insist on its own orientation.";
    const EFFECT: Effect = Effect::Acts;
    const TIMEOUT: Duration = Duration::from_secs(20);

    async fn run(app: &App, params: SetOrientationParams, progress: &Progress) -> Result<Answer, Failure> {
        let SetOrientationParams { orientation, platform, device_id } = params;
        let turn = match orientation {
            OrientationArg::Portrait => Orientation::Portrait,
            OrientationArg::Landscape => Orientation::Landscape,
            OrientationArg::Auto => Orientation::Auto,
        };
        let input = (Input::Orientation(turn), OrientationFacts { orientation });
        send(app, Self::NAME, NoParams { platform, device_id }, input, progress).await
    }
}
