//! Gestures beyond tap and swipe, and keys. Success means that the device took it; `expect` says whether it worked.

use std::time::Duration;

use mdm_core::action::failure::{ErrorCode, Failure};
use mdm_core::port::{Input, Key, Orientation};
use mdm_engine::{Aim, Deed, Hit, Progress};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::follow::{self, AfterArg, Done};
use super::{Effect, Tool};
use crate::answer::Answer;
use crate::app::App;
use crate::args::DeviceArg;
use crate::target::{SelectorArg, SelectorSchema, TargetArg};

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

/// What is done to an element is followed by a look, unless told otherwise.
fn settles(aim: &Aim) -> bool {
    matches!(aim, Aim::Element(_))
}

fn aim(
    element_id: Option<String>,
    selector: Option<SelectorArg>,
    x: Option<f64>,
    y: Option<f64>,
) -> Result<Aim, Failure> {
    TargetArg { element_id, selector, x, y }.aim()
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
#[serde(rename_all = "camelCase")]
pub struct LongPressParams {
    #[serde(flatten)]
    target: TargetArg,
    /// Milliseconds, 500 to 10000; 800 when not given.
    duration: Option<f64>,
    #[serde(flatten)]
    device: DeviceArg,
    #[serde(flatten)]
    after: AfterArg,
}

impl Tool for LongPress {
    type Params = LongPressParams;
    const NAME: &'static str = "long_press";
    const TITLE: &'static str = "Long press";
    const DESCRIPTION: &'static str = "Press and hold an element (or a point), and say what changed.";
    const EFFECT: Effect = Effect::Acts;
    const TIMEOUT: Duration = Duration::from_secs(150);

    async fn run(app: &App, params: LongPressParams, progress: &Progress) -> Result<Answer, Failure> {
        let aim = params.target.aim()?;
        let action = app.action(Self::NAME, params.after.follow(settles(&aim))?);
        let duration_ms = ms("duration", params.duration, PRESS_MS, PRESS_MS_MIN)?;
        let session = app.fleet.choose(&params.device.wanted(), progress).await?;
        let press = |[hit]: &[Hit; 1]| Deed::Input(Input::LongPress { point: hit.point, duration_ms });
        let acted = session.act(&action, [aim], press, progress).await?;
        Ok(follow::answer(&action, &session, Done::of(&acted), progress))
    }
}

pub struct DoubleTap;

#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct DoubleTapParams {
    #[serde(flatten)]
    target: TargetArg,
    #[serde(flatten)]
    device: DeviceArg,
    #[serde(flatten)]
    after: AfterArg,
}

impl Tool for DoubleTap {
    type Params = DoubleTapParams;
    const NAME: &'static str = "double_tap";
    const TITLE: &'static str = "Double tap";
    const DESCRIPTION: &'static str = "Tap an element (or a point) twice, quickly, and say what changed.";
    const EFFECT: Effect = Effect::Acts;
    const TIMEOUT: Duration = Duration::from_secs(150);

    async fn run(app: &App, params: DoubleTapParams, progress: &Progress) -> Result<Answer, Failure> {
        let aim = params.target.aim()?;
        let action = app.action(Self::NAME, params.after.follow(settles(&aim))?);
        let session = app.fleet.choose(&params.device.wanted(), progress).await?;
        let twice = |[hit]: &[Hit; 1]| Deed::Input(Input::DoubleTap(hit.point));
        let acted = session.act(&action, [aim], twice, progress).await?;
        Ok(follow::answer(&action, &session, Done::of(&acted), progress))
    }
}

pub struct Drag;

#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
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
    #[serde(flatten)]
    device: DeviceArg,
    #[serde(flatten)]
    after: AfterArg,
}

impl Tool for Drag {
    type Params = DragParams;
    const NAME: &'static str = "drag";
    const TITLE: &'static str = "Drag and drop";
    const DESCRIPTION: &'static str =
        "Pick something up, let it go elsewhere, and say what changed. To scroll use swipe.";
    const EFFECT: Effect = Effect::Acts;
    const TIMEOUT: Duration = Duration::from_secs(150);

    async fn run(app: &App, params: DragParams, progress: &Progress) -> Result<Answer, Failure> {
        let from = aim(params.from_element_id, params.from, params.x1, params.y1)?;
        let to = aim(params.to_element_id, params.to, params.x2, params.y2)?;
        let action = app.action(Self::NAME, params.after.follow(settles(&from))?);
        let hold_ms = ms("holdMs", params.hold_ms, HOLD_MS, 0.0)?;
        let duration_ms = ms("duration", params.duration, DRAG_MS, 1.0)?;
        let session = app.fleet.choose(&params.device.wanted(), progress).await?;
        let drag = |[from, to]: &[Hit; 2]| {
            Deed::Input(Input::Drag { from: from.point, to: to.point, hold_ms, duration_ms })
        };
        let acted = session.act(&action, [from, to], drag, progress).await?;
        Ok(follow::answer(&action, &session, Done::of(&acted), progress))
    }
}

pub struct Pinch;

#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct PinchParams {
    #[serde(flatten)]
    target: TargetArg,
    /// Above 1 zooms in, below 1 out; 0.1 to 10.
    scale: f64,
    #[serde(flatten)]
    device: DeviceArg,
    #[serde(flatten)]
    after: AfterArg,
}

impl Tool for Pinch {
    type Params = PinchParams;
    const NAME: &'static str = "pinch";
    const TITLE: &'static str = "Pinch";
    const DESCRIPTION: &'static str = "Zoom with two fingers. Answers PLATFORM_NOT_SUPPORTED where the device takes only one: over adb that depends on whether the shell may write /dev/input.";
    const EFFECT: Effect = Effect::Acts;
    const TIMEOUT: Duration = Duration::from_secs(150);

    async fn run(app: &App, params: PinchParams, progress: &Progress) -> Result<Answer, Failure> {
        let aim = params.target.aim()?;
        let action = app.action(Self::NAME, params.after.follow(settles(&aim))?);
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
        let session = app.fleet.choose(&params.device.wanted(), progress).await?;
        let pinch = |[hit]: &[Hit; 1]| {
            let (center, within) = (hit.point, hit.visible);
            Deed::Input(Input::Pinch { center, within, from_px, to_px, duration_ms: PINCH_MS })
        };
        let acted = session.act(&action, [aim], pinch, progress).await?;
        Ok(follow::answer(&action, &session, Done::of(&acted), progress))
    }
}

#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct NoParams {
    #[serde(flatten)]
    device: DeviceArg,
    #[serde(flatten)]
    after: AfterArg,
}

#[derive(Serialize)]
struct KeyFacts<'a> {
    key: &'a str,
}

async fn send(
    app: &App,
    tool: &'static str,
    params: &NoParams,
    (input, selector): (Input, impl Serialize),
    progress: &Progress,
) -> Result<Answer, Failure> {
    let action = app.action(tool, params.after.follow(false)?);
    let session = app.fleet.choose(&params.device.wanted(), progress).await?;
    let acted = session.act(&action, [], |[]| Deed::Input(input.clone()), progress).await?;
    Ok(follow::answer(&action, &session, Done::named(&acted, Some(selector)), progress))
}

pub struct PressKey;

#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct PressKeyParams {
    /// home, back, recents, enter, delete, tab, escape, volume_up, volume_down, power, dpad_up, …, or an Android key
    /// code such as 82.
    key: String,
    #[serde(flatten)]
    device: DeviceArg,
    #[serde(flatten)]
    after: AfterArg,
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
    const TIMEOUT: Duration = Duration::from_secs(120);

    async fn run(app: &App, params: PressKeyParams, progress: &Progress) -> Result<Answer, Failure> {
        let PressKeyParams { key: name, device, after } = params;
        let input = (Input::Key(key(&name)?), KeyFacts { key: name.trim() });
        send(app, Self::NAME, &NoParams { device, after }, input, progress).await
    }
}

pub struct PressHome;

impl Tool for PressHome {
    type Params = NoParams;
    const NAME: &'static str = "press_home";
    const TITLE: &'static str = "Home";
    const DESCRIPTION: &'static str = "Go to the home screen.";
    const EFFECT: Effect = Effect::Acts;
    const TIMEOUT: Duration = Duration::from_secs(120);

    async fn run(app: &App, params: NoParams, progress: &Progress) -> Result<Answer, Failure> {
        let input = (Input::Key(Key::Home), KeyFacts { key: "home" });
        send(app, Self::NAME, &params, input, progress).await
    }
}

pub struct PressRecents;

impl Tool for PressRecents {
    type Params = NoParams;
    const NAME: &'static str = "press_recents";
    const TITLE: &'static str = "Recent apps";
    const DESCRIPTION: &'static str = "Show the apps that were used last.";
    const EFFECT: Effect = Effect::Acts;
    const TIMEOUT: Duration = Duration::from_secs(120);

    async fn run(app: &App, params: NoParams, progress: &Progress) -> Result<Answer, Failure> {
        let input = (Input::Key(Key::Recents), KeyFacts { key: "recents" });
        send(app, Self::NAME, &params, input, progress).await
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
    const TIMEOUT: Duration = Duration::from_secs(120);

    async fn run(app: &App, params: NoParams, progress: &Progress) -> Result<Answer, Failure> {
        send(app, Self::NAME, &params, (Input::HideKeyboard, NothingNamed {}), progress).await
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
#[serde(rename_all = "camelCase")]
pub struct SetOrientationParams {
    /// auto: as the device is held.
    orientation: OrientationArg,
    #[serde(flatten)]
    device: DeviceArg,
    #[serde(flatten)]
    after: AfterArg,
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
    const TIMEOUT: Duration = Duration::from_secs(120);

    async fn run(app: &App, params: SetOrientationParams, progress: &Progress) -> Result<Answer, Failure> {
        let SetOrientationParams { orientation, device, after } = params;
        let turn = match orientation {
            OrientationArg::Portrait => Orientation::Portrait,
            OrientationArg::Landscape => Orientation::Landscape,
            OrientationArg::Auto => Orientation::Auto,
        };
        let input = (Input::Orientation(turn), OrientationFacts { orientation });
        send(app, Self::NAME, &NoParams { device, after }, input, progress).await
    }
}
