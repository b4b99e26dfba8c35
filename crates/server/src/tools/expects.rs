//! Verifications: conditions that must be true now and hold (VS-01 to VS-03). A failure is reported only after the
//! timeout, and only from a fresh capture.

use std::marker::PhantomData;
use std::time::Duration;

use mdm_core::failure::ErrorCode;
use mdm_core::intent::predicate::{Expected, Judgement, Predicate};
use mdm_core::intent::resolve::describe;
use mdm_core::intent::selector::TextMatch;
use mdm_core::intent::watch::{Ending, Goal, Wait, WatchReport};
use mdm_engine::WantedDevice;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::waits::{absent, run_wait};
use super::{Call, Effect, Tool};
use crate::answer::{Answer, Facts, candidate_lines};
use crate::args::DeviceArg;
use crate::basis::MadeFrom;
use crate::refusal::Refusal;
use crate::target::ElementArg;

/// VS-01: reads must agree over this long, unless the caller says otherwise.
const WINDOW_MS: u64 = 250;
const STATE_TIMEOUT_MS: u32 = 1000;
const VISIBLE_TIMEOUT_MS: u32 = 5000;
/// The longest timeout of an expectation; a longer one is refused.
const TIMEOUT_MS_MAX: u32 = 60_000;
/// Captures that a verification needs at least.
const READS_MIN: u64 = 3;
/// Additional time for the captures of a slow device, unless the caller says how long the call may take.
const SLOW_DEVICE: Duration = Duration::from_secs(20);

/// How long to wait for the condition, and how long the whole call may take (F5).
#[derive(Clone, Copy)]
struct Limits {
    patience: Duration,
    call: Duration,
}

fn limits(given: Option<u32>, usual: u32) -> Result<Limits, Refusal> {
    let ms = given.unwrap_or(usual);
    if (1..=TIMEOUT_MS_MAX).contains(&ms) {
        let patience = Duration::from_millis(ms.into());
        let call = if given.is_some() { patience } else { patience + SLOW_DEVICE };
        return Ok(Limits { patience, call });
    }
    let message = format!("timeout_ms = {ms} is not between 1 and {TIMEOUT_MS_MAX}");
    Err(Refusal::argument(message, "leave it out"))
}

/// The facts of a verification.
#[derive(Debug, Serialize)]
pub struct ExpectFacts {
    pub success: bool,
    device: String,
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
    pub stability_state: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rested_ms: Option<u64>,
    /// Captures that were judged.
    reads: u64,
    elapsed_ms: u64,
}

impl ExpectFacts {
    pub fn device(&self) -> &str {
        &self.device
    }
}

/// The condition to verify, its limits, and the error codes for its failures.
struct Question {
    predicate: Predicate,
    expected: String,
    limits: Limits,
    absent: ErrorCode,
    mismatch: ErrorCode,
}

async fn verify(call: &Call<'_>, device: WantedDevice, question: Question) -> Result<Answer, Refusal> {
    let session = call.device(&device, call.progress).await?;
    let premature = session.premature();
    // VS-02, W2: the whole timeout is used, and a device that needs a second for one capture gets more time.
    let goal = Goal::Holds(question.predicate.clone());
    let wait =
        Wait::new(goal, WINDOW_MS).with_patience(question.limits.patience.as_millis() as u64, READS_MIN);
    let progress = call.progress.within(question.limits.call);
    let waited = run_wait(call, &session, wait, &progress).await?;
    let answer = answer(session.id(), question, &waited).made_from(MadeFrom::Wait(Box::new(waited)));
    // SY-16: without a wait after the action, the screen may be about to change.
    Ok(match premature {
        Some(action) => answer.with_lines(&format!(
            "hint: nothing has waited since {action}; use its expect or settle, or wait_for_ui_change since_revision"
        )),
        None => answer,
    })
}

/// The error code of a failed verification, and the state that was seen instead.
fn seen_instead(waited: &WatchReport, question: &Question) -> (ErrorCode, String) {
    match &waited.judgement {
        Some(Judgement::Fails { index: None, observed }) => (question.absent, observed.clone()),
        Some(Judgement::Fails { observed, .. }) => (question.mismatch, observed.clone()),
        Some(Judgement::Unknown { why }) => (ErrorCode::VerificationFailed, why.clone()),
        Some(Judgement::Ambiguous { indexes }) => {
            (ErrorCode::AmbiguousTarget, format!("{} elements are meant, and they differ", indexes.len()))
        }
        Some(Judgement::Holds { .. }) => {
            (ErrorCode::VerificationFailed, "it holds now, but did not hold long enough".to_owned())
        }
        None => {
            let why = match &waited.ending {
                Ending::Unreadable(failure) => failure.to_string(),
                _ => "time was up".to_owned(),
            };
            (ErrorCode::VerificationFailed, format!("the screen could not be read: {why}"))
        }
    }
}

fn answer(device: &str, question: Question, waited: &WatchReport) -> Answer {
    let failed = (!waited.is_success()).then(|| seen_instead(waited, &question));
    let absent = failed.as_ref().and_then(|_| absent(waited, question.predicate.selector()));
    let seen = waited.seen.as_deref();
    let index = match &waited.judgement {
        Some(Judgement::Holds { index } | Judgement::Fails { index, .. }) => *index,
        _ => None,
    };
    let facts = ExpectFacts {
        success: waited.is_success(),
        device: device.to_owned(),
        failure_code: failed.as_ref().map(|(code, _)| code.as_str()),
        element_id: index.and_then(|index| Some(seen?.ids.get(index as usize)?.to_string())),
        expected: question.expected,
        observed: match (&absent, &failed) {
            (Some(refusal), _) => Some(refusal.failure.message.clone()),
            (None, failed) => failed.as_ref().map(|(_, observed)| observed.clone()),
        },
        snapshot_revision: seen.map(|seen| seen.revision),
        captured_at_ms: seen.map(|seen| seen.captured_at_ms),
        stability_state: waited.stability_word(),
        rested_ms: waited.rested_ms,
        reads: waited.captures,
        elapsed_ms: waited.elapsed_ms,
    };
    let mut lines = absent.map(|r| candidate_lines(&r.failure.candidates)).unwrap_or_default();
    if let (Some(Judgement::Ambiguous { indexes }), Some(seen)) = (&waited.judgement, seen) {
        for index in indexes.iter().take(AMBIGUOUS_SHOWN_MAX) {
            lines.push_str(&describe(seen, *index));
            lines.push('\n');
        }
    }
    Answer::new(Facts::Expect(Box::new(facts))).with_lines(&lines)
}

/// Elements that fit and are described.
const AMBIGUOUS_SHOWN_MAX: usize = 8;

pub struct ExpectElementVisible;

#[derive(Deserialize, JsonSchema)]
pub struct ExpectElementVisibleParams {
    #[serde(flatten)]
    target: ElementArg,
    /// default 5000
    timeout_ms: Option<u32>,
    #[serde(flatten)]
    device: DeviceArg,
}

impl Tool for ExpectElementVisible {
    type Params = ExpectElementVisibleParams;
    const NAME: &'static str = "expect_element_visible";
    const DESCRIPTION: &'static str = "Verify that an element can be seen, and stays.";
    const EFFECT: Effect = Effect::ReadOnly;
    const TIMEOUT: Duration = Duration::from_secs(100);

    async fn run(call: &Call<'_>, params: ExpectElementVisibleParams) -> Result<Answer, Refusal> {
        let selector = params.target.selector()?;
        let question = Question {
            expected: format!("{} visible", selector.describe()),
            predicate: Predicate::Element { selector, expected: Expected::Visible },
            limits: limits(params.timeout_ms, VISIBLE_TIMEOUT_MS)?,
            absent: ErrorCode::ElementNotFound,
            mismatch: ErrorCode::VerificationFailed,
        };
        verify(call, params.device.wanted(), question).await
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
            ExpectedArg::Choice { id, label } => {
                write!(f, "{:?}", id.as_ref().or(label.as_ref()).map_or("", String::as_str))
            }
        }
    }
}

#[derive(Deserialize, JsonSchema)]
pub struct ExpectStateParams {
    #[serde(flatten)]
    target: ElementArg,
    property: Property,
    #[schemars(with = "String")]
    expected: ExpectedArg,
    tolerance: Option<f64>,
    /// default 1000
    timeout_ms: Option<u32>,
    #[serde(flatten)]
    device: DeviceArg,
}

impl ExpectedArg {
    /// Reads a flag or a number out of a text: the schema says string, because some clients do not support unions.
    fn typed_for(self, property: Property) -> ExpectedArg {
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

fn expected_state(property: Property, expected: &ExpectedArg, tolerance: f64) -> Result<Expected, Refusal> {
    let wrong = || {
        let hint = "flags take true or false, value a number or a text, text_value a text";
        Err(Refusal::argument(format!("{} cannot be compared with {expected}", property.name()), hint))
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
    const DESCRIPTION: &'static str = "Verify a state of an element, and that it holds. expected: true, false, a number or a \
        text.";
    const EFFECT: Effect = Effect::ReadOnly;
    const TIMEOUT: Duration = Duration::from_secs(100);

    async fn run(call: &Call<'_>, params: ExpectStateParams) -> Result<Answer, Refusal> {
        let selector = params.target.selector()?;
        let tolerance = params.tolerance.unwrap_or(0.0);
        if !(tolerance.is_finite() && tolerance >= 0.0) {
            return Err(Refusal::argument(
                "tolerance is not a number from 0 up",
                "leave it out for an exact match",
            ));
        }
        let wanted_state = params.expected.typed_for(params.property);
        let state = expected_state(params.property, &wanted_state, tolerance)?;
        let question = Question {
            expected: format!("{} {} = {}", selector.describe(), params.property.name(), wanted_state),
            predicate: Predicate::Element { selector, expected: state },
            limits: limits(params.timeout_ms, STATE_TIMEOUT_MS)?,
            absent: ErrorCode::ElementNotFound,
            mismatch: ErrorCode::ExpectStateMismatch,
        };
        verify(call, params.device.wanted(), question).await
    }
}

/// One property of expect_state as a tool of its own (ST-05). It can be called but is not listed, to save tokens.
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
    #[serde(flatten)]
    target: ElementArg,
    /// Flags are true when it is not given.
    #[schemars(with = "String")]
    expected: Option<ExpectedArg>,
    tolerance: Option<f64>,
    timeout_ms: Option<u32>,
    #[serde(flatten)]
    device: DeviceArg,
}

impl<A: Alias> Tool for ExpectAlias<A> {
    type Params = ExpectAliasParams;
    const NAME: &'static str = A::NAME;
    const DESCRIPTION: &'static str = ExpectState::DESCRIPTION;
    const EFFECT: Effect = ExpectState::EFFECT;
    const TIMEOUT: Duration = ExpectState::TIMEOUT;

    async fn run(call: &Call<'_>, params: ExpectAliasParams) -> Result<Answer, Refusal> {
        let ExpectAliasParams { target, expected, tolerance, timeout_ms, device } = params;
        let property = A::PROPERTY;
        let expected = match (expected, property) {
            (None, Property::Value) => {
                return Err(Refusal::argument("expected is missing", "give the number that it must show"));
            }
            (expected, _) => expected.unwrap_or(ExpectedArg::Flag(true)),
        };
        let params = ExpectStateParams { target, property, expected, tolerance, timeout_ms, device };
        ExpectState::run(call, params).await
    }
}

pub struct ExpectScreen;

#[derive(Deserialize, JsonSchema)]
pub struct ExpectScreenParams {
    fingerprint: Option<String>,
    /// short or full name
    screen: Option<String>,
    /// default 1000
    timeout_ms: Option<u32>,
    #[serde(flatten)]
    device: DeviceArg,
}

impl Tool for ExpectScreen {
    type Params = ExpectScreenParams;
    const NAME: &'static str = "expect_screen";
    const DESCRIPTION: &'static str = "Verify which screen is in front, and that it stays.";
    const EFFECT: Effect = Effect::ReadOnly;
    const TIMEOUT: Duration = Duration::from_secs(100);

    async fn run(call: &Call<'_>, params: ExpectScreenParams) -> Result<Answer, Refusal> {
        let (predicate, expected) = match (params.fingerprint, params.screen) {
            (Some(print), _) => (Predicate::Fingerprint(print.clone()), format!("fingerprint {print}")),
            (None, Some(screen)) => (Predicate::Screen(screen.clone()), format!("screen {screen}")),
            (None, None) => {
                return Err(Refusal::argument("neither fingerprint nor screen is given", "give one"));
            }
        };
        let question = Question {
            predicate,
            expected,
            limits: limits(params.timeout_ms, STATE_TIMEOUT_MS)?,
            absent: ErrorCode::VerificationFailed,
            mismatch: ErrorCode::VerificationFailed,
        };
        verify(call, params.device.wanted(), question).await
    }
}
