//! Touching, swiping, typing and going back. Success means that the device took it; `expect` says whether it worked.

use std::time::Duration;

use mdm_core::action::failure::{Dispatch, ErrorCode, Failure};
use mdm_core::port::Input;
use mdm_core::screen::geometry::{Point, Rect};
use mdm_engine::{Action, Aim, Deed, Hit, Progress, ReadBack, Typing};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::follow::{self, AfterArg, Done};
use super::{Effect, Tool};
use crate::answer::Answer;
use crate::app::App;
use crate::args::{DeviceArg, point};
use crate::target::ElementArg;

pub struct Tap;

#[derive(Deserialize, JsonSchema)]
pub struct TapParams {
    /// Device pixels, as in get_ui_tree.
    x: f64,
    y: f64,
    #[serde(flatten)]
    device: DeviceArg,
    #[serde(flatten)]
    after: AfterArg,
}

impl Tool for Tap {
    type Params = TapParams;
    const NAME: &'static str = "tap";
    const TITLE: &'static str = "Tap";
    const DESCRIPTION: &'static str =
        "Tap a point, where no element can be named. success = the device took the tap.";
    const EFFECT: Effect = Effect::Acts;
    const TIMEOUT: Duration = Duration::from_secs(120);

    async fn run(app: &App, params: TapParams, progress: &Progress) -> Result<Answer, Failure> {
        let aim = Aim::Point(point(params.x, params.y)?);
        let action = app.action(Self::NAME, params.after.follow(false)?);
        let session = app.fleet.choose(&params.device.wanted(), progress).await?;
        let tap = |[hit]: &[Hit; 1]| Deed::Input(Input::Tap(hit.point));
        let acted = session.act(&action, [aim], tap, progress).await?;
        Ok(follow::answer(&action, &session, Done::of(&acted), progress))
    }
}

pub struct TapElement;

#[derive(Deserialize, JsonSchema)]
pub struct TapElementParams {
    #[serde(flatten)]
    target: ElementArg,
    #[serde(flatten)]
    device: DeviceArg,
    #[serde(flatten)]
    after: AfterArg,
}

impl Tool for TapElement {
    type Params = TapElementParams;
    const NAME: &'static str = "tap_element";
    const TITLE: &'static str = "Tap an element";
    const DESCRIPTION: &'static str = "Tap an element, where it is now, and say what changed. A gone, disabled, moving \
        or covered element is refused and nothing is tapped. With expect the verdict is confirmed, contradicted or \
        undetermined. expect takes text, contains, resource_id, accessibility_id, elementId and one of exists, \
        enabled, checked, selected, expanded, value, text_value (visible when none is given); or screen.";
    const EFFECT: Effect = Effect::Acts;
    const TIMEOUT: Duration = Duration::from_secs(150);

    async fn run(app: &App, params: TapElementParams, progress: &Progress) -> Result<Answer, Failure> {
        let scroll = params.target.scroll == Some(true);
        let aim = Aim::Element(params.target.query()?);
        let action = Action { scroll, ..app.action(Self::NAME, params.after.follow(true)?) };
        let session = app.fleet.choose(&params.device.wanted(), progress).await?;
        let tap = |[hit]: &[Hit; 1]| Deed::Input(Input::Tap(hit.point));
        let acted = session.act(&action, [aim], tap, progress).await?;
        Ok(follow::answer(&action, &session, Done::of(&acted), progress))
    }
}

pub struct Swipe;

#[derive(Clone, Copy, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum DirectionArg {
    Up,
    Down,
    Left,
    Right,
}

/// Most of an element, but not its edges.
const SWIPE_PART: (i32, i32) = (1, 5);
const SWIPE_MS: f64 = 300.0;
const SWIPE_MS_MAX: f64 = 10_000.0;

impl DirectionArg {
    fn across(self, rect: Rect) -> (Point, Point) {
        let (part, of) = SWIPE_PART;
        let center = rect.center();
        let (dx, dy) = ((rect.right - rect.left) * part / of, (rect.bottom - rect.top) * part / of);
        let (left, right) = (Point { x: rect.left + dx, ..center }, Point { x: rect.right - dx, ..center });
        let (top, bottom) = (Point { y: rect.top + dy, ..center }, Point { y: rect.bottom - dy, ..center });
        match self {
            DirectionArg::Up => (bottom, top),
            DirectionArg::Down => (top, bottom),
            DirectionArg::Left => (right, left),
            DirectionArg::Right => (left, right),
        }
    }
}

#[derive(Deserialize, JsonSchema)]
pub struct SwipeParams {
    x1: Option<f64>,
    y1: Option<f64>,
    x2: Option<f64>,
    y2: Option<f64>,
    /// Milliseconds, 1 to 10000; 300 when not given.
    duration: Option<f64>,
    /// Of the finger, across the element that is named instead of points.
    direction: Option<DirectionArg>,
    #[serde(flatten)]
    target: ElementArg,
    #[serde(flatten)]
    device: DeviceArg,
    #[serde(flatten)]
    after: AfterArg,
}

impl Tool for Swipe {
    type Params = SwipeParams;
    const NAME: &'static str = "swipe";
    const TITLE: &'static str = "Swipe";
    const DESCRIPTION: &'static str = "Swipe from (x1,y1) to (x2,y2), or across an element. To see content further \
        down, swipe up. To find something in a list use scroll_to_element.";
    const EFFECT: Effect = Effect::Acts;
    const TIMEOUT: Duration = Duration::from_secs(150);

    async fn run(app: &App, params: SwipeParams, progress: &Progress) -> Result<Answer, Failure> {
        let duration = params.duration.unwrap_or(SWIPE_MS);
        if !(1.0..=SWIPE_MS_MAX).contains(&duration) {
            return Err(wrong(
                format!("duration = {duration} is not between 1 and 10000 ms"),
                "300 is a usual swipe, 1000 a slow drag",
            ));
        }
        let duration_ms = duration.round() as u32;
        let points = [params.x1, params.y1, params.x2, params.y2];
        let follow = params.after.follow(params.target.is_given())?;
        let action = Action { scroll: params.target.scroll == Some(true), ..app.action(Self::NAME, follow) };
        let swipe = move |from, to| Deed::Input(Input::Swipe { from, to, duration_ms });
        let answered = match (points, params.target.is_given(), params.direction) {
            ([Some(x1), Some(y1), Some(x2), Some(y2)], false, None) => {
                let aims = [Aim::Point(point(x1, y1)?), Aim::Point(point(x2, y2)?)];
                let session = app.fleet.choose(&params.device.wanted(), progress).await?;
                let deed = |[from, to]: &[Hit; 2]| swipe(from.point, to.point);
                let acted = session.act(&action, aims, deed, progress).await?;
                follow::answer(&action, &session, Done::of(&acted), progress)
            }
            ([None, None, None, None], true, Some(direction)) => {
                let aim = Aim::Element(params.target.query()?);
                let session = app.fleet.choose(&params.device.wanted(), progress).await?;
                let deed = |[hit]: &[Hit; 1]| {
                    let here =
                        Rect { left: hit.point.x, right: hit.point.x, top: hit.point.y, bottom: hit.point.y };
                    let (from, to) = direction.across(hit.visible.unwrap_or(here));
                    swipe(from, to)
                };
                let acted = session.act(&action, [aim], deed, progress).await?;
                follow::answer(&action, &session, Done::of(&acted), progress)
            }
            _ => {
                return Err(wrong(
                    "a swipe needs two points, or an element and a direction".to_owned(),
                    "give x1, y1, x2 and y2, or elementId (or selector) and direction",
                ));
            }
        };
        Ok(answered)
    }
}

fn wrong(message: String, hint: &'static str) -> Failure {
    Failure::new(ErrorCode::InvalidArgument, message, hint)
}

pub struct TypeText;

#[derive(Deserialize, JsonSchema)]
pub struct TypeTextParams {
    /// Any Unicode; a line break presses Enter.
    text: String,
    #[serde(flatten)]
    target: ElementArg,
    /// Delete what the field holds first.
    clear: Option<bool>,
    /// Press Enter when the text stands in the field.
    submit: Option<bool>,
    /// Never show what the field holds.
    secure: Option<bool>,
    #[serde(flatten)]
    device: DeviceArg,
    #[serde(flatten)]
    after: AfterArg,
}

/// The length stands for the text, which may be a secret (S8).
#[derive(Serialize)]
struct TextSelector {
    characters: usize,
    #[serde(rename = "elementId", skip_serializing_if = "Option::is_none")]
    element_id: Option<String>,
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

fn facts(read_back: &ReadBack, secure: bool) -> ReadBackFacts<'_> {
    let facts = |read_back| ReadBackFacts { read_back, why: None, field: None, characters: None };
    match read_back {
        ReadBack::Matches { field } | ReadBack::Differs { field } if secure => {
            ReadBackFacts { characters: Some(field.chars().count()), ..facts("hidden") }
        }
        ReadBack::Matches { field } => ReadBackFacts { field: Some(field), ..facts("seen") },
        ReadBack::Differs { field } => ReadBackFacts { field: Some(field), ..facts("differs") },
        ReadBack::Hidden { characters } => ReadBackFacts { characters: Some(*characters), ..facts("hidden") },
        ReadBack::NoField => facts("no_field"),
        ReadBack::Unread { why } => ReadBackFacts { why: Some(why), ..facts("unread") },
    }
}

impl Tool for TypeText {
    type Params = TypeTextParams;
    const NAME: &'static str = "type_text";
    const TITLE: &'static str = "Type text";
    const DESCRIPTION: &'static str = "Type into a field (or, without a target, into the focused one), then read it \
        back and fail if it holds something else.";
    const EFFECT: Effect = Effect::Acts;
    const TIMEOUT: Duration = Duration::from_secs(150);

    async fn run(app: &App, params: TypeTextParams, progress: &Progress) -> Result<Answer, Failure> {
        if params.text.is_empty() && params.clear != Some(true) {
            return Err(wrong("text is empty".to_owned(), "give the text to type, or clear"));
        }
        let scroll = params.target.scroll == Some(true);
        let into = params.target.is_given().then(|| params.target.query()).transpose()?;
        let submit = params.submit == Some(true);
        let action = Action { scroll, ..app.action(Self::NAME, params.after.follow(submit)?) };
        let characters = params.text.chars().count();
        let secure = params.secure == Some(true);
        let typing = Typing { text: params.text, into, clear: params.clear == Some(true), submit, secure };
        let session = app.fleet.choose(&params.device.wanted(), progress).await?;
        let typed = session.type_text(&action, &typing, progress).await?;
        let target = typed.hit.as_ref().and_then(|hit| hit.target.as_ref());
        let done = Done {
            before: typed.before.as_deref(),
            hits: &[],
            after: typed.after.as_ref(),
            dispatch: Dispatch::NotApplied,
            recovered: &[],
            selector: Some(TextSelector { characters, element_id: target.map(|(id, _)| id.to_string()) }),
            details: Some(facts(&typed.read_back, secure)),
            verified: matches!(typed.read_back, ReadBack::Matches { .. }) && !submit,
        };
        Ok(follow::answer(&action, &session, done, progress))
    }
}

pub struct PressBack;

#[derive(Deserialize, JsonSchema)]
pub struct PressBackParams {
    #[serde(flatten)]
    device: DeviceArg,
    #[serde(flatten)]
    after: AfterArg,
}

impl Tool for PressBack {
    type Params = PressBackParams;
    const NAME: &'static str = "press_back";
    const TITLE: &'static str = "Back";
    const DESCRIPTION: &'static str = "Press Back (Android). Closes the keyboard first when it is open.";
    const EFFECT: Effect = Effect::Acts;
    const TIMEOUT: Duration = Duration::from_secs(120);

    async fn run(app: &App, params: PressBackParams, progress: &Progress) -> Result<Answer, Failure> {
        let action = app.action(Self::NAME, params.after.follow(false)?);
        let session = app.fleet.choose(&params.device.wanted(), progress).await?;
        let acted = session.act(&action, [], |[]| Deed::Input(Input::Back), progress).await?;
        Ok(follow::answer(&action, &session, Done::of(&acted), progress))
    }
}
