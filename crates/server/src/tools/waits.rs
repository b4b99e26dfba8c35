//! Waiting: for an element, for a change, for another screen.

pub(super) mod facts;

use std::time::Duration;

use mdm_core::action::outcome::Effect as Came;
use mdm_core::action::request::{Request, What};
use mdm_core::change::diff::ChangeKind;
use mdm_core::change::fingerprint::Fingerprint;
use mdm_core::intent::predicate::{Expected, Judgement, Predicate};
use mdm_core::intent::resolve;
use mdm_core::intent::scope::Scope;
use mdm_core::intent::selector::{Selector, TextMatch};
use mdm_core::intent::watch::{Ending, Goal, Wait, WatchReport};
use mdm_core::outline::OutlineOptions;
use mdm_engine::{Progress, Session};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Call, Effect, Tool};
use crate::answer::{Answer, Facts, candidate_lines};
use crate::args::{DeviceArg, element_id};
use crate::basis::MadeFrom;
use crate::refusal::Refusal;
use crate::target::ElementArg;
use crate::tree::{self, DeltaFacts};
use facts::{ErrorJson, OwnFacts, WaitFacts, never_read, push_changes, push_moving};

const TIMEOUT_MS: u64 = 60_000;
/// Of the wait for another screen.
const SCREEN_TIMEOUT_MS: u64 = 5_000;
/// The longest timeout of a wait; a longer one is refused.
const TIMEOUT_MAX_MS: u64 = 600_000;
/// Deadline of the call itself, later than any timeout that a caller may ask for.
const CALL_TIMEOUT: Duration = Duration::from_millis(TIMEOUT_MAX_MS + 5_000);
const WINDOW_DEFAULT_MS: u64 = 250;
/// The longest time of quiet that a caller may ask for; a longer one is refused.
const WINDOW_MAX_MS: u64 = 60_000;
/// Elements whose changes do not count; more are refused.
const IGNORE_MAX: usize = 32;

fn needs(what: &str) -> Refusal {
    Refusal::argument(format!("this condition needs {what}"), "see the tool's arguments")
}

fn bounded(name: &str, value: Option<u64>, default: u64, max: u64) -> Result<u64, Refusal> {
    let value = value.unwrap_or(default);
    if value > max {
        let message = format!("{name} = {value} is more than {max}");
        return Err(Refusal::argument(message, "wait again after a shorter wait"));
    }
    Ok(value)
}

/// Runs a wait on a session; like every call, it is recorded in a trace.
pub(super) async fn run_wait(
    call: &Call<'_>,
    session: &Session,
    wait: Wait,
    progress: &Progress,
) -> Result<WatchReport, Refusal> {
    let request =
        Request { id: call.app.action_id(call.tool), name: call.tool, what: What::Wait(Box::new(wait)) };
    let outcome = session.run(request, progress).await;
    match (outcome.failure, outcome.effect) {
        (None, Came::Watched(report)) => Ok(*report),
        (Some(failure), _) => Err(failure.into()),
        (None, _) => Err(Refusal::defect("nobody looked")),
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
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
pub struct WaitForUiParams {
    #[serde(flatten)]
    target: ElementArg,
    condition: Option<ConditionArg>,
    /// for enabled, checked
    expected: Option<bool>,
    expected_text: Option<String>,
    expected_value: Option<f64>,
    #[schemars(extend("hidden" = true))]
    tolerance: Option<f64>,
    /// default 60000
    timeout_ms: Option<u64>,
    #[schemars(extend("hidden" = true))]
    stability_window_ms: Option<u64>,
    #[schemars(extend("hidden" = true))]
    adaptive: Option<bool>,
    #[serde(rename = "poll_interval_ms")]
    #[schemars(extend("hidden" = true))]
    _poll_interval_ms: Option<u64>,
    #[serde(rename = "match")]
    #[schemars(extend("hidden" = true))]
    chosen: Option<MatchArg>,
    #[serde(rename = "retry")]
    #[schemars(extend("hidden" = true))]
    _retry: Option<RetryArg>,
    #[serde(flatten)]
    device: DeviceArg,
}

impl WaitForUiParams {
    fn wait(&self) -> Result<(Wait, Option<Selector>), Refusal> {
        let condition = self.condition.unwrap_or(ConditionArg::Exists);
        let selector = match self.target.is_given() {
            true => Some(self.target.selector()?),
            false if condition == ConditionArg::Stable => None,
            false => {
                let hint = "give selector {text, resource_id, accessibility_id, …} or element_id";
                return Err(Refusal::argument("selector is missing", hint));
            }
        };
        let is_stable = condition == ConditionArg::Stable;
        let window = if is_stable { WINDOW_DEFAULT_MS } else { 0 };
        let goal = match &selector {
            None => Goal::Quiet,
            Some(selector) => {
                let index = self.index(selector)?;
                // The first of several matches is used, except for conditions about existence.
                let counts = matches!(condition, ConditionArg::Exists | ConditionArg::NotExists);
                let index = index.or((!counts).then_some(0));
                let selector = Selector { index, ..selector.clone() };
                match self.expected(condition)? {
                    None => Goal::ElementRests(selector),
                    Some(expected) => Goal::Holds(Predicate::Element { selector, expected }),
                }
            }
        };
        let window_ms = bounded("stability_window_ms", self.stability_window_ms, window, WINDOW_MAX_MS)?;
        let wait = Wait { adaptive: self.adaptive(is_stable)?, ..Wait::new(goal, window_ms) };
        Ok((wait, selector))
    }

    fn adaptive(&self, is_stable: bool) -> Result<bool, Refusal> {
        if self.adaptive == Some(true) && !is_stable {
            return Err(Refusal::argument("adaptive is for condition stable", "leave it out"));
        }
        Ok(self.adaptive == Some(true) && self.stability_window_ms.is_none())
    }

    /// Returns `match.index` of the contract, or the selector's own index.
    fn index(&self, selector: &Selector) -> Result<Option<usize>, Refusal> {
        match (self.chosen.as_ref().and_then(|chosen| chosen.index), selector.index) {
            (Some(one), Some(other)) if one != other => Err(Refusal::argument(
                format!("match.index = {one} and selector.index = {other} differ"),
                "give one of them",
            )),
            (chosen, own) => Ok(chosen.or(own)),
        }
    }

    fn expected(&self, condition: ConditionArg) -> Result<Option<Expected>, Refusal> {
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
    const DESCRIPTION: &'static str = "Wait until an element meets a condition (default exists). stable without an element: \
        the whole screen.";
    const EFFECT: Effect = Effect::ReadOnly;
    const TIMEOUT: Duration = CALL_TIMEOUT;

    async fn run(call: &Call<'_>, params: WaitForUiParams) -> Result<Answer, Refusal> {
        let timeout = bounded("timeout_ms", params.timeout_ms, TIMEOUT_MS, TIMEOUT_MAX_MS)?;
        let (wait, selector) = params.wait()?;
        let progress = &call.progress.within(Duration::from_millis(timeout));
        let session = call.device(&params.device.wanted(), progress).await?;
        let waited = run_wait(call, &session, wait, progress).await?;
        let condition = params.condition.unwrap_or(ConditionArg::Exists);
        let answer = element_answer(session.id(), condition, selector.as_ref(), params.adaptive, &waited);
        Ok(answer.made_from(MadeFrom::Wait(Box::new(waited))))
    }
}

#[derive(Debug, Serialize)]
pub struct ElementFacts {
    condition: ConditionArg,
    #[serde(skip_serializing_if = "Option::is_none")]
    matched: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    element: Option<Found>,
    metrics: MetricsFacts,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct Found {
    element_id: String,
}

#[derive(Debug, Serialize)]
struct MetricsFacts {
    latency_ms: u64,
    poll_count: u64,
    attempts: u32,
}

/// Why nothing matches, when that is what was waited for in vain.
pub fn absent(waited: &WatchReport, selector: Option<&Selector>) -> Option<Refusal> {
    let nothing = matches!(waited.judgement, Some(Judgement::Fails { index: None, .. }));
    let (seen, selector) = waited.seen.as_deref().zip(selector).filter(|_| nothing)?;
    selector.matches(seen).is_empty().then(|| resolve::not_found(seen, selector).into())
}

fn element_answer(
    device: &str,
    condition: ConditionArg,
    selector: Option<&Selector>,
    adaptive: Option<bool>,
    waited: &WatchReport,
) -> Answer {
    let seen = waited.seen.as_deref();
    let matched = selector.zip(seen).map(|(selector, seen)| selector.matches(seen).len());
    let index = match waited.judgement {
        Some(Judgement::Holds { index } | Judgement::Fails { index, .. }) => index,
        _ => None,
    };
    let found = index.zip(seen).and_then(|(index, seen)| seen.ids.get(index as usize)).copied();
    let metrics = MetricsFacts { latency_ms: waited.elapsed_ms, poll_count: waited.captures, attempts: 1 };
    let element = found.map(|id| Found { element_id: id.to_string() });
    let own = OwnFacts::Element(ElementFacts { condition, matched, element, metrics });
    let mut wait = WaitFacts::new(device, waited, "condition met", own).paced(adaptive, waited);
    wait.elapsed_ms = None;
    let mut lines = String::new();
    if waited.ending == Ending::Timeout {
        let absent = absent(waited, selector);
        let observed = match &waited.judgement {
            _ if absent.is_some() => absent.as_ref().map_or_else(String::new, |r| r.failure.message.clone()),
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
            hint: absent.as_ref().map(|refusal| refusal.hint.text().to_owned()),
        });
        if let Some(refusal) = absent {
            lines.push_str(&candidate_lines(&refusal.failure.candidates));
        }
        if seen.is_none() {
            wait.error = Some(never_read());
        }
    }
    if let (Some(id), Some(seen)) = (found, seen) {
        let outline = tree::outline(seen, &OutlineOptions::default());
        if let Some(line) = outline.lines.iter().find(|line| line.id == id) {
            lines.push_str(&format!("{id} {}\n", line.text));
        }
    }
    if !waited.is_success() && matches!(condition, ConditionArg::Stable) {
        push_moving(&mut lines, waited);
    }
    Answer::new(Facts::Wait(Box::new(wait))).with_lines(&lines)
}

#[derive(Clone, Copy, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum ChangeArg {
    HierarchyDiff,
    TextChange,
    StateChange,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum ScopeArg {
    Screen,
    Subtree,
}

pub struct WaitForUiChange;

#[derive(Deserialize, JsonSchema)]
pub struct WaitForUiChangeParams {
    /// default 60000
    timeout_ms: Option<u64>,
    /// default 250
    stability_window_ms: Option<u64>,
    #[schemars(extend("hidden" = true))]
    adaptive: Option<bool>,
    expected_change: Option<ChangeArg>,
    #[schemars(extend("hidden" = true))]
    scope: Option<ScopeArg>,
    /// element id
    target: Option<String>,
    since_revision: Option<u64>,
    /// ids, #resource_id or labels
    ignore: Option<Vec<String>>,
    #[serde(flatten)]
    device: DeviceArg,
}

impl WaitForUiChangeParams {
    fn wait(&self) -> Result<Wait, Refusal> {
        let target = match (self.scope, &self.target) {
            (None | Some(ScopeArg::Subtree), Some(target)) => Some(element_id(target)?),
            (None | Some(ScopeArg::Screen), None) => None,
            _ => {
                return Err(Refusal::argument(
                    "scope subtree and target belong together",
                    "pass both, target as an element id, or neither",
                ));
            }
        };
        let ignore = self.ignore.as_deref().unwrap_or_default();
        if ignore.len() > IGNORE_MAX {
            let message = format!("ignore has {} entries, more than {IGNORE_MAX}", ignore.len());
            return Err(Refusal::argument(message, "wait on a subtree instead"));
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
            scope: Scope {
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

fn ignored(entry: &str) -> Result<Selector, Refusal> {
    let selector = match (entry.parse(), entry.strip_prefix('#')) {
        (Ok(id), _) => Selector { id: Some(id), ..Selector::default() },
        (Err(_), Some(id)) => Selector { resource_id: Some(id.to_owned()), ..Selector::default() },
        (Err(_), None) => Selector { text: Some(TextMatch::Is(entry.to_owned())), ..Selector::default() },
    };
    if entry.trim_start_matches('#').trim().is_empty() {
        return Err(Refusal::argument("an entry of ignore is empty", "pass e12, #resource_id, or a label"));
    }
    Ok(selector)
}

#[derive(Debug, Serialize)]
pub struct ChangeFacts {
    #[serde(skip_serializing_if = "Option::is_none")]
    change_summary: Option<DeltaFacts>,
    scope: ScopeArg,
    #[serde(skip_serializing_if = "Option::is_none")]
    target: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    expected_change: Option<&'static str>,
}

impl Tool for WaitForUiChange {
    type Params = WaitForUiChangeParams;
    const NAME: &'static str = "wait_for_ui_change";
    const DESCRIPTION: &'static str = "Wait until something that matters changes and the screen rests. Pass since_revision \
        after an action.";
    const EFFECT: Effect = Effect::ReadOnly;
    const TIMEOUT: Duration = CALL_TIMEOUT;

    async fn run(call: &Call<'_>, params: WaitForUiChangeParams) -> Result<Answer, Refusal> {
        let timeout = bounded("timeout_ms", params.timeout_ms, TIMEOUT_MS, TIMEOUT_MAX_MS)?;
        let wait = params.wait()?;
        let progress = &call.progress.within(Duration::from_millis(timeout));
        let session = call.device(&params.device.wanted(), progress).await?;
        let waited = run_wait(call, &session, wait.clone(), progress).await?;
        let since = waited.since.as_ref().filter(|since| since.diff.is_relevant());
        // Only changes in the scope of the wait (SY-09).
        let shown = since.zip(waited.seen.as_deref()).map(|(since, seen)| wait.scope.narrow(since, seen));
        let shown = shown.filter(|diff| diff.is_relevant());
        let own = OwnFacts::Change(Box::new(ChangeFacts {
            change_summary: since.zip(shown.as_ref()).map(|(since, diff)| DeltaFacts::new(&since.base, diff)),
            scope: if wait.scope.target.is_some() { ScopeArg::Subtree } else { ScopeArg::Screen },
            target: params.target.clone(),
            expected_change: wait.filter.and_then(ChangeKind::as_str),
        }));
        let facts = WaitFacts::new(session.id(), &waited, "UI change observed", own);
        let facts = facts.paced(params.adaptive, &waited);
        let mut lines = String::new();
        if let (Some(since), Some(seen)) = (since, &waited.seen) {
            push_changes(&mut lines, &since.base, seen, &wait.scope);
        }
        push_moving(&mut lines, &waited);
        let answer = Answer::new(Facts::Wait(Box::new(facts))).with_lines(&lines);
        Ok(answer.made_from(MadeFrom::Wait(Box::new(waited))))
    }
}

pub struct WaitForScreenChange;

#[derive(Deserialize, JsonSchema)]
pub struct WaitForScreenChangeParams {
    previous_fingerprint: String,
    /// default 5000
    timeout_ms: Option<u64>,
    #[serde(rename = "poll_interval_ms")]
    #[schemars(extend("hidden" = true))]
    _poll_interval_ms: Option<u64>,
    #[serde(flatten)]
    device: DeviceArg,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ScreenChangeFacts {
    previous_fingerprint: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    new_fingerprint: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    last_fingerprint: Option<String>,
    #[serde(rename = "observed_screen", skip_serializing_if = "Option::is_none")]
    observed_screen: Option<ObservedScreen>,
    #[serde(rename = "elapsedMs")]
    elapsed_ms: u64,
}

#[derive(Debug, Serialize)]
struct ObservedScreen {
    #[serde(skip_serializing_if = "Option::is_none")]
    activity: Option<String>,
}

impl Tool for WaitForScreenChange {
    type Params = WaitForScreenChangeParams;
    const NAME: &'static str = "wait_for_screen_change";
    const DESCRIPTION: &'static str =
        "Wait until the screen has another fingerprint than the one given and is quiet.";
    const EFFECT: Effect = Effect::ReadOnly;
    const TIMEOUT: Duration = CALL_TIMEOUT;

    async fn run(call: &Call<'_>, params: WaitForScreenChangeParams) -> Result<Answer, Refusal> {
        let timeout = bounded("timeout_ms", params.timeout_ms, SCREEN_TIMEOUT_MS, TIMEOUT_MAX_MS)?;
        let previous = params.previous_fingerprint.as_str();
        let from =
            u64::from_str_radix(previous, 16).ok().filter(|_| previous.len() == 16).ok_or_else(|| {
                Refusal::argument(
                    format!("previous_fingerprint = {previous:?} is no fingerprint"),
                    "pass the value of get_screen_fingerprint as it came",
                )
            })?;
        let goal = Goal::ScreenChange { from: Fingerprint(from) };
        let progress = &call.progress.within(Duration::from_millis(timeout));
        let session = call.device(&params.device.wanted(), progress).await?;
        let waited = run_wait(call, &session, Wait::new(goal, WINDOW_DEFAULT_MS), progress).await?;
        let seen = waited.seen.as_deref();
        let fingerprint = seen.map(|seen| seen.fingerprint.to_string());
        let screen = seen.and_then(|seen| seen.reading.snapshot.screen.as_ref());
        let (new_fingerprint, last_fingerprint) =
            if waited.is_success() { (fingerprint, None) } else { (None, fingerprint) };
        let own = OwnFacts::ScreenChange(ScreenChangeFacts {
            previous_fingerprint: previous.to_owned(),
            new_fingerprint,
            last_fingerprint,
            observed_screen: screen.map(|screen| ObservedScreen { activity: screen.name.clone() }),
            elapsed_ms: waited.elapsed_ms,
        });
        let mut facts = WaitFacts::new(session.id(), &waited, "screen changed", own);
        facts.elapsed_ms = None;
        let mut lines = String::new();
        push_moving(&mut lines, &waited);
        let answer = Answer::new(Facts::Wait(Box::new(facts))).with_lines(&lines);
        Ok(answer.made_from(MadeFrom::Wait(Box::new(waited))))
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::tools;

    const PAGE: &str = include_str!("../../../../docs/waits.md");

    /// The cells of the page's first table.
    fn rows() -> Vec<Vec<&'static str>> {
        let table = PAGE.split("## The table").nth(1).unwrap().split("\n\nWhat follows").next().unwrap();
        let lines = table.lines().filter(|line| line.starts_with('|')).skip(2);
        lines.map(|line| line.trim_matches('|').split('|').map(str::trim).collect()).collect()
    }

    #[test]
    fn the_page_says_when_to_use_each_wait_that_there_is_and_no_other() {
        // SY-21
        let is_wait = |name: &&str| name.starts_with("wait_for_");
        let real: BTreeSet<&str> = tools::all().map(|entry| entry.name).filter(is_wait).collect();
        let words = |text: &'static str| text.split(|c: char| !(c.is_ascii_lowercase() || c == '_'));
        let told: BTreeSet<&str> = rows().iter().flat_map(|row| words(row[1])).filter(is_wait).collect();
        assert_eq!(told, real);
    }

    #[test]
    fn the_page_says_how_long_each_wait_waits() {
        // SY-21
        for (tool, ms) in [
            (WaitForUi::NAME, TIMEOUT_MS),
            (WaitForUiChange::NAME, TIMEOUT_MS),
            (WaitForScreenChange::NAME, SCREEN_TIMEOUT_MS),
        ] {
            let of_tool = rows().into_iter().filter(|row| row[1].contains(&format!("`{tool}`")));
            let times: Vec<&str> = of_tool.map(|row| row[3]).collect();
            let wanted = format!("{} s", ms / 1000);
            assert!(!times.is_empty() && times.iter().all(|time| *time == wanted), "{tool}: {times:?}");
        }
        assert!(PAGE.contains(&format!("{WINDOW_DEFAULT_MS} ms of quiet")));
    }
}
