//! What every action takes and answers beyond its own inputs: an expectation, settling, and what came of it.

use std::time::Duration;

use mdm_core::error::{ErrorCode, Failure};
use mdm_core::label::label;
use mdm_core::outline::{OutlineOptions, changes};
use mdm_core::role;
use mdm_core::tracker::Seen;
use mdm_engine::{Acted, After, Follow, Hit, Progress, Session, Verdict};
use serde::Serialize;

use crate::answer::Answer;
use crate::app::App;
use crate::expect::ExpectArg;
use crate::tree;

/// The quiet that counts as rest after an action.
const WINDOW: Duration = Duration::from_millis(250);
const TIMEOUT_MS: u32 = 5000;
const TIMEOUT_MS_MAX: u32 = 60_000;
/// Of the lines that say what changed: an action's answer stays short, get_ui_tree says the rest.
const CHANGE_TOKENS_MAX: usize = 120;

/// `settles`: whether this action does so unless told otherwise.
pub fn read(
    expect: Option<&ExpectArg>,
    settle: Option<bool>,
    timeout_ms: Option<u32>,
    settles: bool,
) -> Result<Follow, Failure> {
    let timeout_ms = timeout_ms.unwrap_or(TIMEOUT_MS);
    if !(1..=TIMEOUT_MS_MAX).contains(&timeout_ms) {
        return Err(Failure::new(
            ErrorCode::InvalidArgument,
            format!("timeout_ms = {timeout_ms} is not between 1 and {TIMEOUT_MS_MAX}"),
            "5000 is usual",
        ));
    }
    Ok(Follow {
        settle: settle.unwrap_or(settles),
        window: WINDOW,
        expect: expect.map(ExpectArg::condition).transpose()?,
        timeout: Duration::from_millis(timeout_ms.into()),
    })
}

#[derive(Serialize)]
struct Facts<'a> {
    action_id: String,
    action_type: &'a str,
    /// LC-01: verified and failed are said only with evidence.
    lifecycle_state: &'static str,
    /// The device took it; no more than that (LC-03).
    success: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    verdict: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    failure_code: Option<&'static str>,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    held_before: bool,
    device: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    target: Option<TargetFacts>,
    /// Where a gesture with two ends went to.
    #[serde(skip_serializing_if = "Option::is_none")]
    to: Option<TargetFacts>,
    #[serde(skip_serializing_if = "Option::is_none")]
    observed_change: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    snapshot_revision: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    stability_state: Option<&'static str>,
    elapsed_ms: u64,
}

#[derive(Serialize)]
struct TargetFacts {
    #[serde(rename = "elementId", skip_serializing_if = "Option::is_none")]
    element_id: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    role: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    label: Option<String>,
    point: [i32; 2],
    /// Below 1 where the description left a doubt.
    #[serde(skip_serializing_if = "Option::is_none")]
    confidence: Option<f64>,
}

fn target(hit: &Hit, seen: Option<&Seen>) -> TargetFacts {
    let point = [hit.point.x, hit.point.y];
    let (Some((id, target)), Some(seen)) = (&hit.target, seen) else {
        return TargetFacts { element_id: None, role: None, label: None, point, confidence: None };
    };
    let snapshot = &seen.reading.snapshot;
    let index = target.index as usize;
    TargetFacts {
        element_id: Some(id.to_string()),
        role: Some(tree::role_name(role::in_context(snapshot, index))).filter(|name| !name.is_empty()),
        label: label(snapshot, index).map(|label| label.text.into_owned()),
        point,
        confidence: Some(target.confidence).filter(|confidence| *confidence < 1.0),
    }
}

/// The envelope of an action, and below it what changed.
pub fn answer<const N: usize>(
    app: &App,
    action_type: &str,
    session: &Session,
    acted: &Acted<N>,
    progress: &Progress,
) -> Answer {
    let after = acted.after.as_ref();
    let seen_after = after.and_then(|after| after.as_ref().ok());
    let verdict = seen_after.map_or(&Verdict::NotAsked, |after| &after.verdict);
    let contradicted = matches!(verdict, Verdict::Contradicted { .. });
    let facts = Facts {
        action_id: app.action_id(action_type),
        action_type,
        lifecycle_state: match verdict {
            Verdict::Confirmed => "verified",
            Verdict::Contradicted { .. } => "failed",
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
        held_before: seen_after.is_some_and(|after| after.held_before),
        device: session.id(),
        target: acted.hits.first().map(|hit| target(hit, acted.before.as_deref())),
        to: acted.hits.get(1).map(|hit| target(hit, acted.before.as_deref())),
        observed_change: seen_after.and_then(|after| after.observed.as_str()),
        snapshot_revision: seen_after.map(|after| after.seen.revision),
        stability_state: seen_after.map(|after| after.stability.as_str()),
        elapsed_ms: progress.elapsed_ms(),
    };
    let mut lines = String::new();
    match after {
        None => {}
        Some(Err(failure)) => {
            lines.push_str(&format!("sent, but the screen could not be read afterwards: {failure}\n"));
        }
        Some(Ok(after)) => push_lines(&mut lines, acted.before.as_deref(), after, facts.elapsed_ms),
    }
    Answer { is_error: contradicted, ..Answer::json(&facts).with_lines(&lines) }
}

fn push_lines(lines: &mut String, before: Option<&Seen>, after: &After, elapsed_ms: u64) {
    match &after.verdict {
        Verdict::Contradicted { observed } => lines.push_str(&format!(
            "expected was not seen in {elapsed_ms} ms and {} captures: {observed}\n",
            after.captures
        )),
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
    for moving in &after.moving {
        lines.push_str(&format!("still moving: {}, {} times\n", moving.id, moving.times));
    }
}
