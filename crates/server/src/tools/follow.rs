//! What every action takes and answers beyond its own inputs: an expectation, settling, and what came of it.

use std::time::Duration;

use mdm_core::action::failure::{Dispatch, ErrorCode, Failure};
use mdm_core::action::recover::Strategy;
use mdm_core::change::tracker::Observation;
use mdm_core::intent::resolve::ExpectedChange;
use mdm_core::meaning::label::label;
use mdm_core::meaning::role;
use mdm_core::outline::{OutlineOptions, changes};
use mdm_engine::{Acted, Action, After, Follow, Hit, Moving, Progress, Session, Verdict};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::waits::facts::moving_told;
use crate::answer::Answer;
use crate::expect::ExpectArg;
use crate::target::SelectorSchema;
use crate::tree;

/// The quiet that counts as rest after an action.
const WINDOW: Duration = Duration::from_millis(250);
const TIMEOUT_MS: u32 = 5000;
const TIMEOUT_MS_MAX: u32 = 60_000;
/// Of the lines that say what changed: an action's answer stays short, get_ui_tree says the rest.
const CHANGE_TOKENS_MAX: usize = 120;

/// What one exact match is worth.
const SURE: f64 = 0.9;

/// Flattened into the parameters of every action.
#[derive(Debug, Default, Deserialize, JsonSchema)]
pub struct AfterArg {
    /// What must be true afterwards: {"text":"Welcome"}, {"elementId":"e4","checked":true}, {"screen":"Home"}.
    #[schemars(with = "Option<SelectorSchema>")]
    expect: Option<ExpectArg>,
    /// Say what changed once the screen rests (default: when an element is named).
    settle: Option<bool>,
    /// For both, 5000.
    timeout_ms: Option<u32>,
}

impl AfterArg {
    /// `settles`: whether this action does so unless told otherwise.
    pub fn follow(&self, settles: bool) -> Result<Follow, Failure> {
        let timeout_ms = self.timeout_ms.unwrap_or(TIMEOUT_MS);
        if !(1..=TIMEOUT_MS_MAX).contains(&timeout_ms) {
            return Err(Failure::new(
                ErrorCode::InvalidArgument,
                format!("timeout_ms = {timeout_ms} is not between 1 and {TIMEOUT_MS_MAX}"),
                "5000 is usual",
            ));
        }
        Ok(Follow {
            settle: self.settle.unwrap_or(settles),
            window: WINDOW,
            expect: self.expect.as_ref().map(ExpectArg::condition).transpose()?,
            timeout: Duration::from_millis(timeout_ms.into()),
        })
    }
}

/// What an action came to, as far as its answer tells.
pub struct Done<'a, S: Serialize, D: Serialize> {
    pub before: Option<&'a Observation>,
    pub hits: &'a [Hit],
    pub after: Option<&'a Result<After, Failure>>,
    pub dispatch: Dispatch,
    pub recovered: &'a [Strategy],
    /// What was named where no element and no place was.
    pub selector: Option<S>,
    pub details: Option<D>,
    /// Proven by other means than an expectation.
    pub verified: bool,
}

#[derive(Serialize)]
pub struct Nothing {}

impl<'a> Done<'a, Nothing, Nothing> {
    pub fn of<const N: usize>(acted: &'a Acted<N>) -> Done<'a, Nothing, Nothing> {
        Done::named(acted, None::<Nothing>)
    }
}

impl<'a, S: Serialize> Done<'a, S, Nothing> {
    pub fn named<const N: usize>(acted: &'a Acted<N>, selector: Option<S>) -> Done<'a, S, Nothing> {
        Done {
            before: acted.before.as_deref(),
            hits: &acted.hits,
            after: acted.after.as_ref(),
            dispatch: acted.dispatch,
            recovered: &acted.recovered,
            selector,
            details: None,
            verified: false,
        }
    }

    pub fn with_details<D: Serialize>(self, details: D, verified: bool) -> Done<'a, S, D> {
        let Done { before, hits, after, dispatch, recovered, selector, .. } = self;
        Done { before, hits, after, dispatch, recovered, selector, details: Some(details), verified }
    }
}

/// The envelope of every action (LC-06).
#[derive(Serialize)]
struct Facts<'a, S: Serialize, D: Serialize> {
    action_id: &'a str,
    action_type: &'a str,
    /// LC-01: verified and failed are said only with evidence.
    lifecycle_state: &'static str,
    /// The device took it; no more than that (LC-03).
    success: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    verdict: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    failure_code: Option<&'static str>,
    /// LC-05.
    #[serde(skip_serializing_if = "Option::is_none")]
    failure_reason: Option<&'static str>,
    /// The device's answer was lost: the verdict alone says that it took it.
    #[serde(skip_serializing_if = "Option::is_none")]
    dispatched: Option<&'static str>,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    held_before: bool,
    device: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    target: Option<TargetFacts<S>>,
    /// Where a gesture with two ends went to.
    #[serde(skip_serializing_if = "Option::is_none")]
    to: Option<TargetFacts<S>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    details: Option<D>,
    /// What had to be tried before it could be sent (RC-02).
    #[serde(skip_serializing_if = "Vec::is_empty")]
    recovered: Vec<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    observed_change: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    snapshot_revision: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    stability_state: Option<&'static str>,
    elapsed_ms: u64,
}

#[derive(Serialize)]
#[serde(untagged)]
enum TargetFacts<S: Serialize> {
    Place(PlaceFacts),
    Named { selector: S },
}

#[derive(Serialize)]
struct PlaceFacts {
    #[serde(rename = "elementId", skip_serializing_if = "Option::is_none")]
    element_id: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    role: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    label: Option<String>,
    point: [i32; 2],
    /// Where the description left a doubt; whole words on one element leave none.
    #[serde(skip_serializing_if = "Option::is_none")]
    confidence: Option<f64>,
    /// AC-09, where its kind tells.
    #[serde(skip_serializing_if = "Option::is_none")]
    expected_change: Option<&'static str>,
}

fn place(hit: &Hit, seen: Option<&Observation>) -> PlaceFacts {
    let point = [hit.point.x, hit.point.y];
    let (Some((id, target)), Some(seen)) = (&hit.target, seen) else {
        let nobody = PlaceFacts {
            element_id: None,
            role: None,
            label: None,
            point,
            confidence: None,
            expected_change: None,
        };
        return nobody;
    };
    let snapshot = &seen.reading.snapshot;
    let index = target.index as usize;
    let change = Some(target.expected_change).filter(|change| *change != ExpectedChange::Any);
    PlaceFacts {
        element_id: Some(id.to_string()),
        role: Some(tree::role_name(role::in_context(snapshot, index))).filter(|name| !name.is_empty()),
        label: label(snapshot, index).map(|label| label.text.into_owned()),
        point,
        confidence: Some(target.confidence).filter(|confidence| *confidence < SURE),
        expected_change: change.map(ExpectedChange::name),
    }
}

/// The envelope of an action, and below it what changed.
pub fn answer<S: Serialize, D: Serialize>(
    action: &Action,
    session: &Session,
    done: Done<'_, S, D>,
    progress: &Progress,
) -> Answer {
    let seen_after = done.after.and_then(|after| after.as_ref().ok());
    let verdict = seen_after.map_or(&Verdict::NotAsked, |after| &after.verdict);
    let contradicted = matches!(verdict, Verdict::Contradicted { .. });
    let mut places = done.hits.iter().map(|hit| TargetFacts::Place(place(hit, done.before)));
    let named = done.selector.map(|selector| TargetFacts::Named { selector });
    let facts = Facts {
        action_id: &action.id,
        action_type: action.name,
        lifecycle_state: match verdict {
            Verdict::Confirmed => "verified",
            Verdict::Contradicted { .. } => "failed",
            Verdict::NotAsked if done.verified => "verified",
            Verdict::NotAsked | Verdict::Undetermined { .. } => "pending_verification",
        },
        success: true,
        verdict: match verdict {
            Verdict::NotAsked => None,
            Verdict::Confirmed => Some("confirmed"),
            Verdict::Contradicted { .. } => Some("contradicted"),
            Verdict::Undetermined { .. } => Some("undetermined"),
        },
        failure_code: contradicted.then(|| ErrorCode::VerificationFailed.as_str()),
        failure_reason: seen_after.and_then(After::failure_reason).map(|reason| reason.as_str()),
        dispatched: (done.dispatch == Dispatch::Unknown).then_some("unknown"),
        held_before: seen_after.is_some_and(|after| after.held_before),
        device: session.id(),
        target: named.or_else(|| places.next()),
        to: places.next(),
        details: done.details,
        recovered: done.recovered.iter().map(|strategy| strategy.as_str()).collect(),
        observed_change: seen_after.and_then(|after| after.observed.as_str()),
        snapshot_revision: seen_after.map(|after| after.seen.revision),
        stability_state: seen_after.map(|after| after.stability.as_str()),
        elapsed_ms: progress.elapsed_ms(),
    };
    let mut lines = String::new();
    match done.after {
        None => {}
        Some(Err(failure)) => {
            lines.push_str(&format!("sent, but the screen could not be read afterwards: {failure}\n"));
        }
        Some(Ok(after)) => push_lines(&mut lines, done.before, after),
    }
    Answer { is_error: contradicted, ..Answer::json(&facts).with_lines(&lines) }
}

fn push_lines(lines: &mut String, before: Option<&Observation>, after: &After) {
    match &after.verdict {
        Verdict::Contradicted { observed } => {
            lines.push_str(&format!("expected was not seen in {} captures: {observed}\n", after.captures));
        }
        Verdict::Undetermined { why } => lines.push_str(&format!("not known whether it came true: {why}\n")),
        Verdict::NotAsked | Verdict::Confirmed => {}
    }
    let Some(before) = before else { return };
    if after.since.is_none() || !after.observed.is_relevant() {
        lines.push_str("nothing that counts changed on the screen\n");
        return;
    }
    let options = OutlineOptions::default();
    let [was, is] = [before, &after.seen].map(|seen| tree::outline(seen, &options));
    let found = changes(&was, &is, CHANGE_TOKENS_MAX);
    let screens = [before, &after.seen].map(|seen| seen.reading.snapshot.screen.as_ref());
    if let [Some(was), Some(is)] = screens
        && was != is
    {
        lines.push_str(&format!("screen {} -> {}\n", was.short_activity(), is.short_activity()));
    }
    lines.push_str(&found.text);
    if found.left_out > 0 {
        lines.push_str(&format!(
            "… {} more; get_ui_tree since_revision {}\n",
            found.left_out, before.revision
        ));
    }
    // What changed once has changed; only what changes again and again is moving.
    let moving: Vec<Moving> = after.moving.iter().filter(|moving| moving.times > 1).copied().collect();
    if !moving.is_empty() {
        lines.push_str(&format!("still moving: {}\n", moving_told(&moving, &after.seen)));
    }
}
