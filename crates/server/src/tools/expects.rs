//! Verification: what must be true now, and hold (VS-01 to VS-03). A failure is only said after the time is used up and
//! a fresh look has failed.

use std::marker::PhantomData;
use std::time::Duration;

use mdm_core::action::failure::{ErrorCode, Failure};
use mdm_core::intent::predicate::{Expected, Judgement, Predicate};
use mdm_core::intent::resolve::tell;
use mdm_core::intent::selector::{Selector, TextMatch};
use mdm_engine::{Goal, Patience, Progress, Wait, Waited};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Effect, Tool};
use crate::answer::Answer;
use crate::app::App;
use crate::args::{PlatformArg, element_id, wanted};
use crate::target::SelectorArg;

/// VS-01: reads must agree over this long, unless the caller says otherwise.
const WINDOW_MS: u32 = 250;
const STATE_TIMEOUT_MS: u32 = 1000;
const VISIBLE_TIMEOUT_MS: u32 = 5000;
const TIMEOUT_MS_MAX: u32 = 60_000;
/// Fewer looks than this prove nothing.
const READS_MIN: u64 = 3;
/// What a slow device gets beyond that, for all of its looks together.
const SLOW_DEVICE: Duration = Duration::from_secs(30);

fn timeout(given: Option<u32>, usual: u32) -> Result<Duration, Failure> {
    let ms = given.unwrap_or(usual);
    if (1..=TIMEOUT_MS_MAX).contains(&ms) {
        return Ok(Duration::from_millis(ms.into()));
    }
    Err(invalid(format!("timeout_ms = {ms} is not between 1 and {TIMEOUT_MS_MAX}"), "leave it out"))
}

fn invalid(message: impl Into<String>, hint: &'static str) -> Failure {
    Failure::new(ErrorCode::InvalidArgument, message, hint)
}

fn query(selector: Option<&SelectorArg>, id: Option<&str>) -> Result<Selector, Failure> {
    match (selector, id) {
        (Some(selector), None) => selector.query(),
        (None, Some(id)) => Ok(Selector { id: Some(element_id(id)?), ..Selector::default() }),
        (Some(_), Some(_)) => Err(invalid("selector and element_id are both given", "give one of them")),
        (None, None) => Err(invalid("selector or element_id is missing", "give one of them")),
    }
}

#[derive(Serialize)]
struct Facts<'a> {
    success: bool,
    device: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    failure_code: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    element_id: Option<String>,
    expected: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    observed: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    snapshot_revision: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    captured_at_ms: Option<u64>,
    stability_state: &'static str,
    /// Captures that were judged.
    reads: u64,
    elapsed_ms: u64,
}

/// What is asked, for how long, and what it is called when it is not so.
struct Question {
    condition: Predicate,
    expected: String,
    timeout: Duration,
    absent: ErrorCode,
    mismatch: ErrorCode,
}

async fn verify(
    app: &App,
    wanted: mdm_engine::Wanted,
    question: Question,
    progress: &Progress,
) -> Result<Answer, Failure> {
    let session = app.fleet.choose(&wanted, progress).await?;
    let premature = session.premature();
    let window = Duration::from_millis(WINDOW_MS.into());
    // VS-02, W2: the time is used up, and a device that needs a second for one look gets the time for its looks.
    let patience = Patience { ms: question.timeout.as_millis() as u64, captures: READS_MIN };
    let goal = Goal::Predicate(question.condition.clone());
    let wait = Wait { patience: Some(patience), ..Wait::holding(goal, window) };
    let spent = Duration::from_millis(progress.elapsed_ms());
    let waited = session.wait(&wait, &progress.within(spent + question.timeout + SLOW_DEVICE)).await?;
    let answer = answer(session.id(), question, &waited);
    // SY-16: what is verified before anyone has waited may be about to change.
    Ok(match premature {
        Some(action) => answer.with_lines(&format!(
            "hint: nothing has waited since {action}; use its expect or settle, or wait_for_ui_change since_revision"
        )),
        None => answer,
    })
}

/// What was seen, and the code for it.
fn seen_instead(waited: &Waited, question: &Question) -> (ErrorCode, String) {
    match &waited.standing {
        Some(Judgement::Fails { index: None, observed }) => (question.absent, observed.clone()),
        Some(Judgement::Fails { observed, .. }) => (question.mismatch, observed.clone()),
        Some(Judgement::Unknown { why }) => (ErrorCode::VerificationFailed, why.clone()),
        Some(Judgement::Ambiguous { indexes }) => {
            (ErrorCode::AmbiguousTarget, format!("{} elements are meant, and they differ", indexes.len()))
        }
        Some(Judgement::Holds { .. }) => {
            (ErrorCode::VerificationFailed, "it holds now, but did not hold long enough".to_owned())
        }
        None => (ErrorCode::VerificationFailed, format!("the screen could not be read: {:?}", waited.ending)),
    }
}

fn answer(device: &str, question: Question, waited: &Waited) -> Answer {
    let failed = (!waited.success()).then(|| seen_instead(waited, &question));
    let seen = waited.seen.as_deref();
    let index = match &waited.standing {
        Some(Judgement::Holds { index } | Judgement::Fails { index, .. }) => *index,
        _ => None,
    };
    let facts = Facts {
        success: waited.success(),
        device,
        failure_code: failed.as_ref().map(|(code, _)| code.as_str()),
        element_id: index.and_then(|index| Some(seen?.ids.get(index as usize)?.to_string())),
        expected: question.expected,
        observed: failed.as_ref().map(|(_, observed)| observed.clone()),
        snapshot_revision: seen.map(|seen| seen.revision),
        captured_at_ms: seen.map(|seen| seen.captured_at_ms),
        stability_state: waited.stability.as_str(),
        reads: waited.captures,
        elapsed_ms: waited.elapsed_ms,
    };
    let mut lines = String::new();
    if let (Some(Judgement::Ambiguous { indexes }), Some(seen)) = (&waited.standing, seen) {
        for index in indexes.iter().take(AMBIGUOUS_SHOWN_MAX) {
            lines.push_str(&tell(seen, *index));
            lines.push('\n');
        }
    }
    Answer { is_error: failed.is_some(), ..Answer::json(&facts).with_lines(&lines) }
}

const AMBIGUOUS_SHOWN_MAX: usize = 8;

pub struct ExpectElementVisible;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ExpectElementVisibleParams {
    selector: Option<SelectorArg>,
    /// Like e12, instead of selector.
    element_id: Option<String>,
    /// Default 5000.
    timeout_ms: Option<u32>,
    platform: Option<PlatformArg>,
    #[serde(rename = "deviceId")]
    device_id: Option<String>,
}

impl Tool for ExpectElementVisible {
    type Params = ExpectElementVisibleParams;
    const NAME: &'static str = "expect_element_visible";
    const TITLE: &'static str = "Expect an element";
    const DESCRIPTION: &'static str = "Verify that an element can be seen, and stays.";
    const EFFECT: Effect = Effect::ReadOnly;
    const TIMEOUT: Duration = Duration::from_secs(100);

    async fn run(
        app: &App,
        params: ExpectElementVisibleParams,
        progress: &Progress,
    ) -> Result<Answer, Failure> {
        let query = query(params.selector.as_ref(), params.element_id.as_deref())?;
        let question = Question {
            expected: format!("{} visible", query.describe()),
            condition: Predicate::Element { query, expected: Expected::Visible },
            timeout: timeout(params.timeout_ms, VISIBLE_TIMEOUT_MS)?,
            absent: ErrorCode::ElementNotFound,
            mismatch: ErrorCode::VerificationFailed,
        };
        verify(app, wanted(params.platform, params.device_id), question, progress).await
    }
}

pub struct ExpectState;

#[derive(Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Property {
    Checked,
    Selected,
    Focused,
    Expanded,
    Enabled,
    Value,
    RawValue,
    TextValue,
}

impl Property {
    fn name(self) -> &'static str {
        match self {
            Property::Checked => "checked",
            Property::Selected => "selected",
            Property::Focused => "focused",
            Property::Expanded => "expanded",
            Property::Enabled => "enabled",
            Property::Value => "value",
            Property::RawValue => "raw_value",
            Property::TextValue => "text_value",
        }
    }
}

/// true, 38, "text" or {"id":…,"label":…}.
#[derive(Debug, Clone, Deserialize)]
#[serde(untagged)]
enum ExpectedArg {
    Flag(bool),
    Number(f64),
    Text(String),
    Choice { id: Option<String>, label: Option<String> },
}

impl std::fmt::Display for ExpectedArg {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            ExpectedArg::Flag(flag) => write!(f, "{flag}"),
            ExpectedArg::Number(number) => write!(f, "{number}"),
            ExpectedArg::Text(text) => write!(f, "{text:?}"),
            ExpectedArg::Choice { id, label } => write!(f, "{:?}", id.as_ref().or(label.as_ref())),
        }
    }
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ExpectStateParams {
    selector: Option<SelectorArg>,
    /// Like e12, instead of selector.
    element_id: Option<String>,
    property: Property,
    /// true, false, a number or a text, as a string or as it is.
    #[schemars(with = "String")]
    expected: ExpectedArg,
    /// Of a number (default 0).
    tolerance: Option<f64>,
    /// Default 1000.
    timeout_ms: Option<u32>,
    platform: Option<PlatformArg>,
    #[serde(rename = "deviceId")]
    device_id: Option<String>,
}

impl ExpectedArg {
    /// The schema says string, because clients stumble over choices; what stands in it is meant.
    fn meant(self, property: Property) -> ExpectedArg {
        let ExpectedArg::Text(text) = &self else { return self };
        let number =
            || text.parse().ok().filter(|_| matches!(property, Property::Value | Property::RawValue));
        match (property, text.as_str()) {
            (Property::TextValue, _) => self,
            (_, "true") => ExpectedArg::Flag(true),
            (_, "false") => ExpectedArg::Flag(false),
            _ => number().map_or(self, ExpectedArg::Number),
        }
    }
}

fn expected_state(property: Property, expected: &ExpectedArg, tolerance: f64) -> Result<Expected, Failure> {
    let wrong = || {
        let hint = "flags take true or false, value a number or a text, text_value a text";
        Err(invalid(format!("{} cannot be compared with {expected}", property.name()), hint))
    };
    let text = |text: &String| Expected::Text(TextMatch::Is(text.clone()));
    Ok(match (property, expected) {
        (Property::Checked, ExpectedArg::Flag(flag)) => Expected::Checked(*flag),
        (Property::Selected, ExpectedArg::Flag(flag)) => Expected::Selected(*flag),
        (Property::Selected, ExpectedArg::Text(name)) => Expected::Choice(name.clone()),
        (Property::Selected, ExpectedArg::Choice { id, label }) => match id.as_ref().or(label.as_ref()) {
            Some(name) => Expected::Choice(name.clone()),
            None => return wrong(),
        },
        (Property::Focused, ExpectedArg::Flag(flag)) => Expected::Focused(*flag),
        (Property::Expanded, ExpectedArg::Flag(flag)) => Expected::Expanded(*flag),
        (Property::Enabled, ExpectedArg::Flag(flag)) => Expected::Enabled(*flag),
        (Property::Value | Property::RawValue, ExpectedArg::Number(number)) => {
            Expected::Value { number: *number, tolerance }
        }
        (Property::Value | Property::RawValue | Property::TextValue, ExpectedArg::Text(held)) => text(held),
        _ => return wrong(),
    })
}

impl Tool for ExpectState {
    type Params = ExpectStateParams;
    const NAME: &'static str = "expect_state";
    const TITLE: &'static str = "Expect a state";
    const DESCRIPTION: &'static str = "Verify a state of an element, and that it holds. What the platform does not say is \
        never taken for false.";
    const EFFECT: Effect = Effect::ReadOnly;
    const TIMEOUT: Duration = Duration::from_secs(100);

    async fn run(app: &App, params: ExpectStateParams, progress: &Progress) -> Result<Answer, Failure> {
        let query = query(params.selector.as_ref(), params.element_id.as_deref())?;
        let tolerance = params.tolerance.unwrap_or(0.0);
        if !(tolerance.is_finite() && tolerance >= 0.0) {
            return Err(invalid("tolerance is not a number from 0 up", "leave it out for an exact match"));
        }
        let wanted_state = params.expected.meant(params.property);
        let state = expected_state(params.property, &wanted_state, tolerance)?;
        let question = Question {
            expected: format!("{} {} = {}", query.describe(), params.property.name(), wanted_state),
            condition: Predicate::Element { query, expected: state },
            timeout: timeout(params.timeout_ms, STATE_TIMEOUT_MS)?,
            absent: ErrorCode::ElementNotFound,
            mismatch: ErrorCode::ExpectStateMismatch,
        };
        verify(app, wanted(params.platform, params.device_id), question, progress).await
    }
}

/// One property of expect_state under a name of its own (ST-05). Callable, and not listed: a second way to say a thing
/// would cost every agent tokens.
pub struct ExpectAlias<A: Alias>(PhantomData<A>);

pub trait Alias: Send + Sync {
    const NAME: &'static str;
    const PROPERTY: Property;
}

macro_rules! aliases {
    ($($alias:ident $name:literal $property:ident,)*) => {$(
        pub struct $alias;

        impl Alias for $alias {
            const NAME: &'static str = $name;
            const PROPERTY: Property = Property::$property;
        }
    )*};
}

aliases! {
    IsChecked "expect_checked" Checked,
    HasValue "expect_value" Value,
    IsSelected "expect_selected" Selected,
    IsExpanded "expect_expanded" Expanded,
    IsEnabled "expect_enabled" Enabled,
}

#[derive(Deserialize, JsonSchema)]
pub struct ExpectAliasParams {
    selector: Option<SelectorArg>,
    element_id: Option<String>,
    /// Flags are true when it is not given.
    #[schemars(with = "String")]
    expected: Option<ExpectedArg>,
    tolerance: Option<f64>,
    timeout_ms: Option<u32>,
    platform: Option<PlatformArg>,
    #[serde(rename = "deviceId")]
    device_id: Option<String>,
}

impl<A: Alias> Tool for ExpectAlias<A> {
    type Params = ExpectAliasParams;
    const NAME: &'static str = A::NAME;
    const TITLE: &'static str = ExpectState::TITLE;
    const DESCRIPTION: &'static str = ExpectState::DESCRIPTION;
    const EFFECT: Effect = ExpectState::EFFECT;
    const TIMEOUT: Duration = ExpectState::TIMEOUT;

    async fn run(app: &App, params: ExpectAliasParams, progress: &Progress) -> Result<Answer, Failure> {
        let ExpectAliasParams { selector, element_id, expected, tolerance, timeout_ms, platform, device_id } =
            params;
        let property = A::PROPERTY;
        let expected = match (expected, property) {
            (None, Property::Value) => {
                return Err(invalid("expected is missing", "give the number that it must show"));
            }
            (expected, _) => expected.unwrap_or(ExpectedArg::Flag(true)),
        };
        let params = ExpectStateParams {
            selector,
            element_id,
            property,
            expected,
            tolerance,
            timeout_ms,
            platform,
            device_id,
        };
        ExpectState::run(app, params, progress).await
    }
}

pub struct ExpectScreen;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub struct ExpectScreenParams {
    /// From get_screen_fingerprint.
    fingerprint: Option<String>,
    /// Short or full name of the activity.
    screen: Option<String>,
    /// Default 1000.
    #[serde(rename = "timeout_ms")]
    timeout_ms: Option<u32>,
    platform: Option<PlatformArg>,
    device_id: Option<String>,
}

impl Tool for ExpectScreen {
    type Params = ExpectScreenParams;
    const NAME: &'static str = "expect_screen";
    const TITLE: &'static str = "Expect a screen";
    const DESCRIPTION: &'static str = "Verify which screen is in front, and that it stays.";
    const EFFECT: Effect = Effect::ReadOnly;
    const TIMEOUT: Duration = Duration::from_secs(100);

    async fn run(app: &App, params: ExpectScreenParams, progress: &Progress) -> Result<Answer, Failure> {
        let (condition, expected) = match (params.fingerprint, params.screen) {
            (Some(print), _) => (Predicate::Fingerprint(print.clone()), format!("fingerprint {print}")),
            (None, Some(screen)) => (Predicate::Screen(screen.clone()), format!("screen {screen}")),
            (None, None) => return Err(invalid("neither fingerprint nor screen is given", "give one")),
        };
        let question = Question {
            condition,
            expected,
            timeout: timeout(params.timeout_ms, STATE_TIMEOUT_MS)?,
            absent: ErrorCode::VerificationFailed,
            mismatch: ErrorCode::VerificationFailed,
        };
        verify(app, wanted(params.platform, params.device_id), question, progress).await
    }
}
