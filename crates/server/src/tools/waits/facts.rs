//! The answers of waits: the same facts for all of them, then lines for agents to read.

use mdm_core::change::settle::Stability;
use mdm_core::change::tracker::Observation;
use mdm_core::failure::{Cause, ErrorCode, Failure};
use mdm_core::intent::scope::Scope;
use mdm_core::intent::watch::{Ending, MovingElement, WatchReport};
use mdm_core::outline::{OutlineOptions, changes};
use serde::Serialize;

use super::{ChangeFacts, ElementFacts, ScreenChangeFacts};
use crate::answer::Gist;
use crate::refusal::Refusal;
use crate::tree::{self, LoadingFacts};

/// Token limit of the lines that list the changes.
const LINES_TOKENS_MAX: usize = 300;

pub fn never_read() -> ErrorJson {
    ErrorJson {
        code: ErrorCode::Timeout.as_str(),
        message: "time was up before the screen could be read once".to_owned(),
        hint: Some("wait longer; get_system_status tells whether the device answers".to_owned()),
    }
}

/// Facts that all waits report (SY-11).
#[derive(Debug, Serialize)]
pub struct WaitFacts {
    pub device: String,
    pub success: bool,
    pub status: &'static str,
    pub reason: &'static str,
    pub timeout: bool,
    pub change_detected: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub observed_change: Option<&'static str>,
    pub stabilized: bool,
    pub stability_state: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rested_ms: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub snapshot_revision: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub captured_at_ms: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub snapshot_freshness_ms: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub loading_state: Option<LoadingFacts>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub elapsed_ms: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub window: Option<WindowFacts>,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub partial: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<ErrorJson>,
    #[serde(flatten)]
    pub own: OwnFacts,
}

/// Facts that only one kind of wait reports.
#[derive(Debug, Serialize)]
#[serde(untagged)]
pub enum OwnFacts {
    Element(ElementFacts),
    Change(Box<ChangeFacts>),
    ScreenChange(ScreenChangeFacts),
}

/// The stability window that was used, and the one that the screen's history suggests (SY-19).
#[derive(Debug, Serialize)]
pub struct WindowFacts {
    pub used_ms: u64,
    /// Absent while too little is known about this screen.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub suggested_ms: Option<u64>,
    /// Number of times that this screen became stable before.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rests: Option<usize>,
}

#[derive(Debug, Serialize)]
pub struct ErrorJson {
    pub code: &'static str,
    pub message: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hint: Option<String>,
}

impl ErrorJson {
    fn of(failure: Failure) -> ErrorJson {
        let refusal = Refusal::from(failure);
        ErrorJson {
            code: refusal.failure.code().as_str(),
            message: refusal.failure.message.clone(),
            hint: Some(refusal.hint.text().to_owned()),
        }
    }
}

impl WaitFacts {
    pub fn gist(&self) -> Gist {
        let words = [Some(self.status), self.observed_change, Some(self.stability_state)];
        Gist { failed: !self.success, words: words.into_iter().flatten().collect() }
    }

    pub fn new(device: &str, waited: &WatchReport, reached: &'static str, own: OwnFacts) -> WaitFacts {
        let (status, reason) = match waited.ending {
            Ending::Reached => ("success", reached),
            Ending::Timeout => ("timeout", "timeout"),
            Ending::TargetGone(_) => ("failed", "target_gone"),
            Ending::Unreadable(_) => ("failed", "hierarchy_unavailable"),
        };
        let error = match &waited.ending {
            Ending::Unreadable(failure) => Some(ErrorJson::of(failure.clone())),
            Ending::TargetGone(id) => {
                let message = format!("{id} is not on the screen any more");
                Some(ErrorJson::of(Failure::new(Cause::StaleElement, message)))
            }
            Ending::Timeout if waited.seen.is_none() => Some(never_read()),
            _ => None,
        };
        let seen = waited.seen.as_deref();
        WaitFacts {
            device: device.to_owned(),
            success: waited.is_success(),
            status,
            reason,
            timeout: waited.ending == Ending::Timeout,
            change_detected: waited.change_detected,
            observed_change: waited.observed.as_str().filter(|_| waited.observed.is_relevant()),
            stabilized: waited.is_stable(),
            stability_state: waited.stability_word(),
            rested_ms: waited.rested_ms,
            snapshot_revision: seen.map(|seen| seen.revision),
            captured_at_ms: seen.map(|seen| seen.captured_at_ms),
            snapshot_freshness_ms: seen.map(|_| waited.freshness_ms),
            loading_state: seen.and_then(LoadingFacts::of),
            elapsed_ms: Some(waited.elapsed_ms),
            window: None,
            partial: seen.is_some_and(|seen| seen.reading.snapshot.is_partial()),
            error,
            own,
        }
    }

    /// Adds the window that was used, if the caller asked for an adaptive one.
    pub fn paced(mut self, adaptive: Option<bool>, waited: &WatchReport) -> WaitFacts {
        self.window = (adaptive == Some(true)).then(|| WindowFacts {
            used_ms: waited.window_ms,
            suggested_ms: waited.pace.map(|pace| pace.window_ms),
            rests: waited.pace.map(|pace| pace.rests),
        });
        self
    }
}

pub fn push_changes(out: &mut String, base: &Observation, now: &Observation, lens: &Scope) {
    let options = |seen: &Observation| OutlineOptions {
        root: lens.target.and_then(|id| seen.index_of(id)),
        ..OutlineOptions::default()
    };
    let screens = [base, now].map(|seen| seen.reading.snapshot.screen.as_ref());
    if let [Some(was), Some(is)] = screens
        && was != is
    {
        out.push_str(&format!("screen {} -> {}\n", was.component(), is.component()));
    }
    let found =
        changes(&tree::outline(base, &options(base)), &tree::outline(now, &options(now)), LINES_TOKENS_MAX);
    out.push_str(&found.text);
    if found.left_out > 0 {
        out.push_str(&format!("… {} more: get_ui_tree\n", found.left_out));
    }
}

/// Explains a timeout by what changed on the screen, if anything did.
pub fn push_moving(out: &mut String, waited: &WatchReport) {
    if waited.ending != Ending::Timeout {
        return;
    }
    let Some(seen) = waited.seen.as_deref() else { return };
    if waited.changes == 0 {
        out.push_str(&format!("nothing that matters changed in {} captures\n", waited.captures));
        return;
    }
    if waited.stability == Stability::Stabilizing && !waited.change_detected {
        out.push_str("other things changed, but nothing of the expected kind\n");
        return;
    }
    if waited.moving.is_empty() {
        return;
    }
    out.push_str(&format!("still moving: {}\n", describe_moving(&waited.moving, seen)));
    let ids: Vec<String> = waited.moving.iter().map(|moving| format!("\"{}\"", moving.id)).collect();
    out.push_str(&format!(
        "hint: wait on a part (scope: subtree, target: an id), or ignore: [{}]\n",
        ids.join(",")
    ));
}

/// Describes each as `e12 text "00:41" (4 changes, every 1000 ms)`.
pub fn describe_moving(moving: &[MovingElement], seen: &Observation) -> String {
    let outline = tree::outline(seen, &OutlineOptions::default());
    let describe = |moving: &MovingElement| {
        let line = outline.lines.iter().find(|line| line.id == moving.id);
        // A container without words has no line of its own, but its descendants have.
        let held = seen.index_of(moving.id).map(|index| seen.reading.range(index as u32));
        let inner =
            || outline.lines.iter().find(|line| held.as_ref().is_some_and(|h| h.contains(&line.index)));
        let shown = match line {
            Some(line) => line.text.clone(),
            None => inner().map_or("(gone)".to_owned(), |line| format!("(around {} {})", line.id, line.text)),
        };
        let every = moving.every_ms.map(|ms| format!(", every {ms} ms")).unwrap_or_default();
        let plural = if moving.times == 1 { "" } else { "s" };
        format!("{} {shown} ({} change{plural}{every})", moving.id, moving.times)
    };
    let all: Vec<String> = moving.iter().map(describe).collect();
    all.join(", ")
}
