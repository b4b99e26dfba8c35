//! Touching, typing and going back. Success means that the device took the input; get_ui_tree shows what came of it.

use std::time::Duration;

use mdm_core::device::Input;
use mdm_core::error::{ErrorCode, Failure};
use mdm_engine::{Aim, Progress, ReadBack, Session};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::gestures::{SelectorSchema, aim};
use super::{Effect, Tool, follow};
use crate::answer::Answer;
use crate::app::App;
use crate::args::{PlatformArg, point, wanted};
use crate::expect::ExpectArg;
use crate::target::SelectorArg;

/// The envelope of every action.
#[derive(Serialize)]
pub(super) struct ActionFacts<'a, S: Serialize, D: Serialize> {
    pub action_id: String,
    pub action_type: &'a str,
    pub lifecycle_state: &'a str,
    pub success: bool,
    pub device: &'a str,
    pub target: Target<S>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub details: Option<D>,
    pub elapsed_ms: u64,
}

#[derive(Serialize)]
pub(super) struct Target<S: Serialize> {
    pub selector: S,
}

#[derive(Serialize)]
struct NoDetails {}

pub(super) fn dispatched(
    app: &App,
    action_type: &str,
    session: &Session,
    selector: impl Serialize,
    progress: &Progress,
) -> Answer {
    Answer::json(&ActionFacts::<_, NoDetails> {
        action_id: app.action_id(action_type),
        action_type,
        lifecycle_state: "pending_verification",
        success: true,
        device: session.id(),
        target: Target { selector },
        details: None,
        elapsed_ms: progress.elapsed_ms(),
    })
}

pub struct Tap;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub struct TapParams {
    /// Device pixels, as in get_ui_tree.
    x: f64,
    y: f64,
    platform: Option<PlatformArg>,
    device_id: Option<String>,
    /// What must be true afterwards, like {"text":"Welcome"}, {"elementId":"e4","checked":true}, {"screen":"Home"}.
    expect: Option<ExpectArg>,
    /// Wait until the screen rests and say what changed (not unless asked).
    settle: Option<bool>,
    /// For both; 5000 when not given.
    #[serde(rename = "timeout_ms")]
    timeout_ms: Option<u32>,
}

impl Tool for Tap {
    type Params = TapParams;
    const NAME: &'static str = "tap";
    const TITLE: &'static str = "Tap";
    const DESCRIPTION: &'static str =
        "Tap a point, where no element can be named. success = the device took the tap.";
    const EFFECT: Effect = Effect::Acts;
    const TIMEOUT: Duration = Duration::from_secs(70);

    async fn run(app: &App, params: TapParams, progress: &Progress) -> Result<Answer, Failure> {
        let point = point(params.x, params.y)?;
        let follow = follow::read(params.expect.as_ref(), params.settle, params.timeout_ms, false)?;
        let session = app.fleet.choose(&wanted(params.platform, params.device_id), progress).await?;
        let acted = session.act([Aim::Point(point)], |[point]| Input::Tap(point), &follow, progress).await?;
        Ok(follow::answer(app, Self::NAME, &session, &acted, progress))
    }
}

pub struct TapElement;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub struct TapElementParams {
    /// From get_ui_tree, like e12.
    element_id: Option<String>,
    /// Instead of it, as in find_element.
    #[schemars(with = "Option<SelectorSchema>")]
    selector: Option<SelectorArg>,
    platform: Option<PlatformArg>,
    device_id: Option<String>,
    /// What must be true afterwards, like {"text":"Welcome"}, {"elementId":"e4","checked":true}, {"screen":"Home"}.
    expect: Option<ExpectArg>,
    /// Wait until the screen rests and say what changed (default true).
    settle: Option<bool>,
    /// For both; 5000 when not given.
    #[serde(rename = "timeout_ms")]
    timeout_ms: Option<u32>,
}

impl Tool for TapElement {
    type Params = TapElementParams;
    const NAME: &'static str = "tap_element";
    const TITLE: &'static str = "Tap an element";
    const DESCRIPTION: &'static str = "Tap an element, where it is now, and say what changed. A gone, disabled or \
        covered element is refused and nothing is tapped. With expect the verdict is confirmed, contradicted or \
        undetermined.";
    const EFFECT: Effect = Effect::Acts;
    const TIMEOUT: Duration = Duration::from_secs(90);

    async fn run(app: &App, params: TapElementParams, progress: &Progress) -> Result<Answer, Failure> {
        let aim = aim(params.element_id, params.selector, None, None)?;
        let follow = follow::read(params.expect.as_ref(), params.settle, params.timeout_ms, true)?;
        let session = app.fleet.choose(&wanted(params.platform, params.device_id), progress).await?;
        let acted = session.act([aim], |[point]| Input::Tap(point), &follow, progress).await?;
        Ok(follow::answer(app, Self::NAME, &session, &acted, progress))
    }
}

pub struct Swipe;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub struct SwipeParams {
    x1: f64,
    y1: f64,
    x2: f64,
    y2: f64,
    /// Milliseconds, 1 to 10000.
    duration: f64,
    platform: Option<PlatformArg>,
    device_id: Option<String>,
    /// What must be true afterwards, as in tap_element.
    expect: Option<ExpectArg>,
    /// Wait until the screen rests and say what changed (not unless asked).
    settle: Option<bool>,
    /// For both; 5000 when not given.
    #[serde(rename = "timeout_ms")]
    timeout_ms: Option<u32>,
}

impl Tool for Swipe {
    type Params = SwipeParams;
    const NAME: &'static str = "swipe";
    const TITLE: &'static str = "Swipe";
    const DESCRIPTION: &'static str =
        "Swipe from (x1,y1) to (x2,y2). To see content further down, swipe up: y2 smaller than y1.";
    const EFFECT: Effect = Effect::Acts;
    const TIMEOUT: Duration = Duration::from_secs(90);

    async fn run(app: &App, params: SwipeParams, progress: &Progress) -> Result<Answer, Failure> {
        let (from, to) = (point(params.x1, params.y1)?, point(params.x2, params.y2)?);
        if !(1.0..=10_000.0).contains(&params.duration) {
            return Err(Failure::new(
                ErrorCode::InvalidArgument,
                format!("duration = {} is not between 1 and 10000 ms", params.duration),
                "300 is a usual swipe, 1000 a slow drag",
            ));
        }
        let duration_ms = params.duration.round() as u32;
        let follow = follow::read(params.expect.as_ref(), params.settle, params.timeout_ms, false)?;
        let session = app.fleet.choose(&wanted(params.platform, params.device_id), progress).await?;
        let swipe = |[from, to]: [_; 2]| Input::Swipe { from, to, duration_ms };
        let acted = session.act([Aim::Point(from), Aim::Point(to)], swipe, &follow, progress).await?;
        Ok(follow::answer(app, Self::NAME, &session, &acted, progress))
    }
}

pub struct TypeText;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub struct TypeTextParams {
    /// Any Unicode; a line break presses Enter.
    text: String,
    platform: Option<PlatformArg>,
    device_id: Option<String>,
}

/// The length stands for the text, which may be a secret (S8).
#[derive(Serialize)]
struct TextSelector {
    characters: usize,
}

#[derive(Serialize)]
struct ReadBackFacts<'a> {
    /// seen, hidden (a secret field), no_field (nothing with the focus) or unread (the screen could not be read).
    read_back: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    why: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    field: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    characters: Option<usize>,
}

impl Tool for TypeText {
    type Params = TypeTextParams;
    const NAME: &'static str = "type_text";
    const TITLE: &'static str = "Type text";
    const DESCRIPTION: &'static str = "Type into the focused field (tap it first), then read the field back and fail if it holds something else.";
    const EFFECT: Effect = Effect::Acts;
    const TIMEOUT: Duration = Duration::from_secs(40);

    async fn run(app: &App, params: TypeTextParams, progress: &Progress) -> Result<Answer, Failure> {
        if params.text.is_empty() {
            let hint = "give the text to type";
            return Err(Failure::new(ErrorCode::InvalidArgument, "text is empty", hint));
        }
        let session = app.fleet.choose(&wanted(params.platform, params.device_id), progress).await?;
        let read_back = session.type_text(&params.text, progress).await?;
        if let Some(contradiction) = read_back.contradiction(&params.text) {
            return Err(contradiction);
        }
        let facts = |read_back| ReadBackFacts { read_back, why: None, field: None, characters: None };
        let details = match &read_back {
            ReadBack::Seen { field } => ReadBackFacts { field: Some(field), ..facts("seen") },
            ReadBack::Differs { field } => ReadBackFacts { field: Some(field), ..facts("differs") },
            ReadBack::Hidden { characters } => {
                ReadBackFacts { characters: Some(*characters), ..facts("hidden") }
            }
            ReadBack::NoField => facts("no_field"),
            ReadBack::Unread { why } => ReadBackFacts { why: Some(why), ..facts("unread") },
        };
        let verified = matches!(read_back, ReadBack::Seen { .. });
        Ok(Answer::json(&ActionFacts {
            action_id: app.action_id(Self::NAME),
            action_type: Self::NAME,
            lifecycle_state: if verified { "verified" } else { "pending_verification" },
            success: true,
            device: session.id(),
            target: Target { selector: TextSelector { characters: params.text.chars().count() } },
            details: Some(details),
            elapsed_ms: progress.elapsed_ms(),
        }))
    }
}

pub struct PressBack;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub struct PressBackParams {
    platform: Option<PlatformArg>,
    device_id: Option<String>,
    /// What must be true afterwards, as in tap_element.
    expect: Option<ExpectArg>,
    /// Wait until the screen rests and say what changed (not unless asked).
    settle: Option<bool>,
    /// For both; 5000 when not given.
    #[serde(rename = "timeout_ms")]
    timeout_ms: Option<u32>,
}

impl Tool for PressBack {
    type Params = PressBackParams;
    const NAME: &'static str = "press_back";
    const TITLE: &'static str = "Back";
    const DESCRIPTION: &'static str = "Press Back (Android). Closes the keyboard first when it is open.";
    const EFFECT: Effect = Effect::Acts;
    const TIMEOUT: Duration = Duration::from_secs(70);

    async fn run(app: &App, params: PressBackParams, progress: &Progress) -> Result<Answer, Failure> {
        let follow = follow::read(params.expect.as_ref(), params.settle, params.timeout_ms, false)?;
        let session = app.fleet.choose(&wanted(params.platform, params.device_id), progress).await?;
        let acted = session.act([], |[]| Input::Back, &follow, progress).await?;
        Ok(follow::answer(app, Self::NAME, &session, &acted, progress))
    }
}
