//! Waiting: for an element, for a change, for another screen.

pub(super) mod facts;

use std::time::Duration;

use mdm_core::action::failure::{ErrorCode, Failure};
use mdm_core::change::diff::ChangeKind;
use mdm_core::change::fingerprint::Fingerprint;
use mdm_core::intent::predicate::{Expected, Judgement, Predicate};
use mdm_core::intent::scope::Scope;
use mdm_core::intent::selector::{Selector, TextMatch};
use mdm_core::outline::OutlineOptions;
use mdm_engine::{Ending, Goal, Progress, Wait, Waited};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Effect, Tool};
use crate::answer::Answer;
use crate::app::App;
use crate::args::{PlatformArg, element_id, wanted};
use crate::target::SelectorArg;
use crate::tree::{self, DeltaFacts};
use facts::{ErrorJson, WaitFacts, never_read, push_changes, push_moving, unreadable};

const TIMEOUT_MAX_MS: u64 = 600_000;
/// The call's own end, behind every end that a caller may ask for.
const CALL_TIMEOUT: Duration = Duration::from_millis(TIMEOUT_MAX_MS + 5_000);
const WINDOW_DEFAULT_MS: u64 = 250;
const WINDOW_MAX_MS: u64 = 60_000;
const IGNORE_MAX: usize = 32;

fn invalid(message: String, hint: &'static str) -> Failure {
    Failure::new(ErrorCode::InvalidArgument, message, hint)
}

fn needs(what: &str) -> Failure {
    invalid(format!("this condition needs {what}"), "see the tool's arguments")
}

fn bounded(name: &str, value: Option<u64>, default: u64, max: u64) -> Result<u64, Failure> {
    let value = value.unwrap_or(default);
    if value > max {
        return Err(invalid(
            format!("{name} = {value} is more than {max}"),
            "wait again after a shorter wait",
        ));
    }
    Ok(value)
}

/// What callers of a wait write most; everything else that find_element takes is taken too.
#[derive(JsonSchema)]
#[expect(dead_code, reason = "only its schema is used")]
struct SelectorSchema {
    /// Of its label, text, value or hint.
    text: Option<String>,
    /// Whole, or the part behind :id/.
    resource_id: Option<String>,
    accessibility_id: Option<String>,
    /// text and accessibility_id may be parts.
    contains: Option<bool>,
    /// An id like e12.
    element_id: Option<String>,
}

#[derive(Clone, Copy, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum ConditionArg {
    Exists,
    NotExists,
    Visible,
    Clickable,
    Enabled,
    Checked,
    Value,
    Text,
    Stable,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct MatchArg {
    /// From 0, in document order.
    index: Option<usize>,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RetryArg {
    #[serde(rename = "max_attempts")]
    _max_attempts: Option<u32>,
    #[serde(rename = "backoff_ms")]
    _backoff_ms: Option<u64>,
}

pub struct WaitForUi;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct WaitForUiParams {
    platform: Option<PlatformArg>,
    #[serde(rename = "deviceId")]
    device_id: Option<String>,
    /// Also role, regex, inside, … as in find_element.
    #[schemars(with = "Option<SelectorSchema>")]
    selector: Option<SelectorArg>,
    /// Default exists. stable: neither changes nor moves (without selector: the whole screen).
    condition: Option<ConditionArg>,
    /// For enabled and checked, default true.
    expected: Option<bool>,
    /// For text: the whole of it.
    expected_text: Option<String>,
    /// For value.
    expected_value: Option<f64>,
    /// Of expected_value, default 0.
    tolerance: Option<f64>,
    /// Default 60000.
    timeout_ms: Option<u64>,
    /// It must hold for this long: default 0, two captures; for stable 250.
    stability_window_ms: Option<u64>,
    /// For stable: as in wait_for_ui_change.
    adaptive: Option<bool>,
    /// Accepted; the server finds its own pace.
    #[serde(rename = "poll_interval_ms")]
    _poll_interval_ms: Option<u64>,
    /// Which of several; default the first.
    #[serde(rename = "match")]
    chosen: Option<MatchArg>,
    /// Accepted; one wait reads as often as needed.
    #[serde(rename = "retry")]
    _retry: Option<RetryArg>,
}

impl WaitForUiParams {
    fn wait(&self) -> Result<(Wait, Option<Selector>), Failure> {
        let condition = self.condition.unwrap_or(ConditionArg::Exists);
        let query = match &self.selector {
            Some(selector) => Some(selector.query()?),
            None if condition == ConditionArg::Stable => None,
            None => {
                return Err(invalid(
                    "selector is missing".to_owned(),
                    "give selector {text, resource_id, accessibility_id or element_id}",
                ));
            }
        };
        let is_stable = condition == ConditionArg::Stable;
        let window = if is_stable { WINDOW_DEFAULT_MS } else { 0 };
        let goal = match &query {
            None => Goal::Quiet,
            Some(query) => {
                let index = self.index(query)?;
                // Of several the first is meant, unless it is about how many there are.
                let counts = matches!(condition, ConditionArg::Exists | ConditionArg::NotExists);
                let index = index.or((!counts).then_some(0));
                let query = Selector { index, ..query.clone() };
                match self.expected(condition)? {
                    None => Goal::Rest(query),
                    Some(expected) => Goal::Predicate(Predicate::Element { query, expected }),
                }
            }
        };
        let wait = Wait {
            goal,
            window_ms: bounded("stability_window_ms", self.stability_window_ms, window, WINDOW_MAX_MS)?,
            adaptive: self.adaptive(is_stable)?,
            ..Wait::holding(Goal::Quiet, Duration::ZERO)
        };
        Ok((wait, query))
    }

    fn adaptive(&self, is_stable: bool) -> Result<bool, Failure> {
        if self.adaptive == Some(true) && !is_stable {
            return Err(invalid("adaptive is for condition stable".to_owned(), "leave it out"));
        }
        Ok(self.adaptive == Some(true) && self.stability_window_ms.is_none())
    }

    /// `match.index` of the contract, or the selector's own.
    fn index(&self, query: &Selector) -> Result<Option<usize>, Failure> {
        match (self.chosen.as_ref().and_then(|chosen| chosen.index), query.index) {
            (Some(one), Some(other)) if one != other => Err(invalid(
                format!("match.index = {one} and selector.index = {other} differ"),
                "give one of them",
            )),
            (chosen, own) => Ok(chosen.or(own)),
        }
    }

    fn expected(&self, condition: ConditionArg) -> Result<Option<Expected>, Failure> {
        let flag = self.expected.unwrap_or(true);
        let tolerance = self.tolerance.unwrap_or(0.0);
        Ok(Some(match condition {
            ConditionArg::Stable => return Ok(None),
            ConditionArg::Exists => Expected::Exists,
            ConditionArg::NotExists => Expected::NotExists,
            ConditionArg::Visible => Expected::Visible,
            ConditionArg::Clickable => Expected::Clickable,
            ConditionArg::Enabled => Expected::Enabled(flag),
            ConditionArg::Checked => Expected::Checked(flag),
            ConditionArg::Value if tolerance >= 0.0 => match self.expected_value {
                Some(number) => Expected::Value { number, tolerance },
                None => return Err(needs("expected_value")),
            },
            ConditionArg::Value => return Err(needs("a tolerance of 0 or more")),
            ConditionArg::Text => match &self.expected_text {
                Some(text) => Expected::Text(TextMatch::Is(text.clone())),
                None => return Err(needs("expected_text")),
            },
        }))
    }
}

impl Tool for WaitForUi {
    type Params = WaitForUiParams;
    const NAME: &'static str = "wait_for_ui";
    const TITLE: &'static str = "Wait for an element";
    const DESCRIPTION: &'static str = "Wait until an element meets a condition in two captures in a row. not_exists is \
        only concluded from a whole tree. For \"something changes\" use wait_for_ui_change.";
    const EFFECT: Effect = Effect::ReadOnly;
    const TIMEOUT: Duration = CALL_TIMEOUT;

    async fn run(app: &App, params: WaitForUiParams, progress: &Progress) -> Result<Answer, Failure> {
        let timeout = bounded("timeout_ms", params.timeout_ms, 60_000, TIMEOUT_MAX_MS)?;
        let (wait, query) = params.wait()?;
        let progress = &progress.within(Duration::from_millis(timeout));
        let session = app.fleet.choose(&wanted(params.platform, params.device_id.clone()), progress).await?;
        let waited = session.wait(&wait, progress).await?;
        let condition = params.condition.unwrap_or(ConditionArg::Exists);
        Ok(element_answer(session.id(), condition, query.as_ref(), params.adaptive, &waited))
    }
}

#[derive(Serialize)]
struct ElementFacts<'a> {
    #[serde(flatten)]
    wait: WaitFacts<'a>,
    condition: ConditionArg,
    #[serde(skip_serializing_if = "Option::is_none")]
    matched: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    element: Option<Found>,
    metrics: MetricsFacts,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Found {
    element_id: String,
}

#[derive(Serialize)]
struct MetricsFacts {
    latency_ms: u64,
    poll_count: u64,
    attempts: u32,
}

fn element_answer(
    device: &str,
    condition: ConditionArg,
    query: Option<&Selector>,
    adaptive: Option<bool>,
    waited: &Waited,
) -> Answer {
    let seen = waited.seen.as_deref();
    let matched = query.zip(seen).map(|(query, seen)| query.matches(seen).len());
    let index = match waited.standing {
        Some(Judgement::Holds { index } | Judgement::Fails { index, .. }) => index,
        _ => None,
    };
    let found = index.zip(seen).and_then(|(index, seen)| seen.ids.get(index as usize)).copied();
    let mut wait = WaitFacts::new(device, waited, "condition met").paced(adaptive, waited);
    wait.elapsed_ms = None;
    if waited.ending == Ending::Timeout {
        let observed = match &waited.standing {
            Some(Judgement::Fails { observed, .. }) => observed.clone(),
            Some(Judgement::Unknown { why }) => why.clone(),
            Some(Judgement::Ambiguous { indexes }) => format!("{} elements differ in it", indexes.len()),
            Some(Judgement::Holds { .. }) => "it held, but not for long enough".to_owned(),
            None => "the screen did not come to rest".to_owned(),
        };
        wait.error = Some(ErrorJson {
            code: "ELEMENT_NOT_FOUND",
            message: format!(
                "not met in {} ms and {} captures: {observed}",
                waited.elapsed_ms, waited.captures
            ),
            hint: None,
        });
        if seen.is_none() {
            wait.error = Some(never_read());
        }
    }
    let metrics = MetricsFacts { latency_ms: waited.elapsed_ms, poll_count: waited.captures, attempts: 1 };
    let element = found.map(|id| Found { element_id: id.to_string() });
    let mut lines = String::new();
    if let (Some(id), Some(seen)) = (found, seen) {
        let outline = tree::outline(seen, &OutlineOptions::default());
        if let Some(line) = outline.lines.iter().find(|line| line.id == id) {
            lines.push_str(&format!("{id} {}\n", line.text));
        }
    }
    if !waited.success() && matches!(condition, ConditionArg::Stable) {
        push_moving(&mut lines, waited);
    }
    let answer = Answer::json(&ElementFacts { wait, condition, matched, element, metrics });
    Answer { is_error: unreadable(waited), ..answer.with_lines(&lines) }
}

#[derive(Clone, Copy, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum ChangeArg {
    HierarchyDiff,
    TextChange,
    StateChange,
}

#[derive(Clone, Copy, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum ScopeArg {
    Screen,
    Subtree,
}

pub struct WaitForUiChange;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct WaitForUiChangeParams {
    platform: Option<PlatformArg>,
    #[serde(rename = "deviceId")]
    device_id: Option<String>,
    /// Default 60000.
    timeout_ms: Option<u64>,
    /// How long nothing may change before it counts as done, default 250.
    stability_window_ms: Option<u64>,
    /// Use the window learnt for this screen (100 to 2000); beside stability_window_ms it is only suggested.
    adaptive: Option<bool>,
    /// Only a change of this kind; default any.
    expected_change: Option<ChangeArg>,
    /// subtree: only target and what it holds.
    scope: Option<ScopeArg>,
    /// An element id like e12.
    target: Option<String>,
    /// A snapshot_revision you saw: changes since then count, so none between your action and this call is missed.
    since_revision: Option<u64>,
    /// Elements whose changes never count: e12, #resource_id, or a label.
    ignore: Option<Vec<String>>,
}

impl WaitForUiChangeParams {
    fn wait(&self) -> Result<Wait, Failure> {
        let target = match (self.scope, &self.target) {
            (Some(ScopeArg::Subtree), Some(target)) => Some(element_id(target)?),
            (None | Some(ScopeArg::Screen), None) => None,
            _ => {
                return Err(invalid(
                    "scope subtree and target belong together".to_owned(),
                    "pass both, target as an element id, or neither",
                ));
            }
        };
        let ignore = self.ignore.as_deref().unwrap_or_default();
        if ignore.len() > IGNORE_MAX {
            return Err(invalid(
                format!("ignore has {} entries, more than {IGNORE_MAX}", ignore.len()),
                "wait on a subtree instead",
            ));
        }
        Ok(Wait {
            patience: None,
            goal: Goal::Change,
            window_ms: bounded(
                "stability_window_ms",
                self.stability_window_ms,
                WINDOW_DEFAULT_MS,
                WINDOW_MAX_MS,
            )?,
            adaptive: self.adaptive == Some(true) && self.stability_window_ms.is_none(),
            since_revision: self.since_revision,
            lens: Scope {
                target,
                ignore: ignore.iter().map(|entry| ignored(entry)).collect::<Result<_, _>>()?,
            },
            filter: self.expected_change.map(|change| match change {
                ChangeArg::HierarchyDiff => ChangeKind::Hierarchy,
                ChangeArg::TextChange => ChangeKind::Text,
                ChangeArg::StateChange => ChangeKind::State,
            }),
        })
    }
}

fn ignored(entry: &str) -> Result<Selector, Failure> {
    let query = match (entry.parse(), entry.strip_prefix('#')) {
        (Ok(id), _) => Selector { id: Some(id), ..Selector::default() },
        (Err(_), Some(id)) => Selector { resource_id: Some(id.to_owned()), ..Selector::default() },
        (Err(_), None) => Selector { text: Some(TextMatch::Is(entry.to_owned())), ..Selector::default() },
    };
    if entry.trim_start_matches('#').trim().is_empty() {
        return Err(invalid("an entry of ignore is empty".to_owned(), "pass e12, #resource_id, or a label"));
    }
    Ok(query)
}

#[derive(Serialize)]
struct ChangeFacts<'a> {
    #[serde(flatten)]
    wait: WaitFacts<'a>,
    #[serde(skip_serializing_if = "Option::is_none")]
    change_summary: Option<DeltaFacts>,
    scope: ScopeArg,
    #[serde(skip_serializing_if = "Option::is_none")]
    target: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    expected_change: Option<&'static str>,
}

impl Tool for WaitForUiChange {
    type Params = WaitForUiChangeParams;
    const NAME: &'static str = "wait_for_ui_change";
    const TITLE: &'static str = "Wait for a change";
    const DESCRIPTION: &'static str = "Wait until something that matters changes and the screen is quiet again; says what \
        changed, or what keeps moving. Pass since_revision after an action.";
    const EFFECT: Effect = Effect::ReadOnly;
    const TIMEOUT: Duration = CALL_TIMEOUT;

    async fn run(app: &App, params: WaitForUiChangeParams, progress: &Progress) -> Result<Answer, Failure> {
        let timeout = bounded("timeout_ms", params.timeout_ms, 60_000, TIMEOUT_MAX_MS)?;
        let wait = params.wait()?;
        let progress = &progress.within(Duration::from_millis(timeout));
        let session = app.fleet.choose(&wanted(params.platform, params.device_id.clone()), progress).await?;
        let waited = session.wait(&wait, progress).await?;
        let since = waited.since.as_ref().filter(|since| since.diff.is_relevant());
        // Of the part that was looked at (SY-09).
        let shown = since.zip(waited.seen.as_deref()).map(|(since, seen)| wait.lens.narrow(since, seen));
        let shown = shown.filter(|diff| diff.is_relevant());
        let facts = ChangeFacts {
            wait: WaitFacts::new(session.id(), &waited, "UI change observed").paced(params.adaptive, &waited),
            change_summary: since.zip(shown.as_ref()).map(|(since, diff)| DeltaFacts::new(&since.base, diff)),
            scope: params.scope.unwrap_or(ScopeArg::Screen),
            target: params.target.as_deref(),
            expected_change: wait.filter.and_then(ChangeKind::as_str),
        };
        let mut lines = String::new();
        if let (Some(since), Some(seen)) = (since, &waited.seen) {
            push_changes(&mut lines, &since.base, seen, &wait.lens);
        }
        push_moving(&mut lines, &waited);
        let answer = Answer::json(&facts).with_lines(&lines);
        Ok(Answer { is_error: unreadable(&waited), ..answer })
    }
}

pub struct WaitForScreenChange;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub struct WaitForScreenChangeParams {
    platform: Option<PlatformArg>,
    device_id: Option<String>,
    /// From get_screen_fingerprint.
    previous_fingerprint: String,
    /// Default 5000.
    timeout_ms: Option<u64>,
    /// Accepted; the server finds its own pace.
    #[serde(rename = "pollIntervalMs")]
    _poll_interval_ms: Option<u64>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct ScreenChangeFacts<'a> {
    #[serde(flatten)]
    wait: WaitFacts<'a>,
    previous_fingerprint: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    new_fingerprint: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    last_fingerprint: Option<String>,
    #[serde(rename = "observed_screen", skip_serializing_if = "Option::is_none")]
    observed_screen: Option<ObservedScreen<'a>>,
    elapsed_ms: u64,
}

#[derive(Serialize)]
struct ObservedScreen<'a> {
    activity: &'a str,
}

impl Tool for WaitForScreenChange {
    type Params = WaitForScreenChangeParams;
    const NAME: &'static str = "wait_for_screen_change";
    const TITLE: &'static str = "Wait for another screen";
    const DESCRIPTION: &'static str =
        "Wait until the screen has another fingerprint than the one given and is quiet.";
    const EFFECT: Effect = Effect::ReadOnly;
    const TIMEOUT: Duration = CALL_TIMEOUT;

    async fn run(
        app: &App,
        params: WaitForScreenChangeParams,
        progress: &Progress,
    ) -> Result<Answer, Failure> {
        let timeout = bounded("timeoutMs", params.timeout_ms, 5_000, TIMEOUT_MAX_MS)?;
        let previous = params.previous_fingerprint.as_str();
        let from =
            u64::from_str_radix(previous, 16).ok().filter(|_| previous.len() == 16).ok_or_else(|| {
                invalid(
                    format!("previousFingerprint = {previous:?} is no fingerprint"),
                    "pass the value of get_screen_fingerprint as it came",
                )
            })?;
        let goal = Goal::ScreenChange { from: Fingerprint(from) };
        let wait = Wait::holding(goal, Duration::from_millis(WINDOW_DEFAULT_MS));
        let progress = &progress.within(Duration::from_millis(timeout));
        let session = app.fleet.choose(&wanted(params.platform, params.device_id.clone()), progress).await?;
        let waited = session.wait(&wait, progress).await?;
        let seen = waited.seen.as_deref();
        let fingerprint = seen.map(|seen| seen.fingerprint.to_string());
        let screen = seen.and_then(|seen| seen.reading.snapshot.screen.as_ref());
        let (new_fingerprint, last_fingerprint) =
            if waited.success() { (fingerprint, None) } else { (None, fingerprint) };
        let mut common = WaitFacts::new(session.id(), &waited, "screen changed");
        common.elapsed_ms = None;
        let facts = ScreenChangeFacts {
            wait: common,
            previous_fingerprint: previous,
            new_fingerprint,
            last_fingerprint,
            observed_screen: screen.map(|screen| ObservedScreen { activity: &screen.activity }),
            elapsed_ms: waited.elapsed_ms,
        };
        let mut lines = String::new();
        push_moving(&mut lines, &waited);
        Ok(Answer { is_error: unreadable(&waited), ..Answer::json(&facts).with_lines(&lines) })
    }
}
