//! All that a device tells of one moment, for a report: screen, picture, log, crashes, what was done last (OB-02).

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use mdm_core::change::tracker::Observation;
use mdm_core::evidence::crash_book::Known;
use mdm_core::evidence::exchange::Exchange;
use mdm_core::evidence::join::joined;
use mdm_core::evidence::related::{Related, choose};
use mdm_core::evidence::signal::{AppLog, Kind};
use mdm_core::failure::Failure;
use mdm_core::meaning::label::label;
use mdm_core::outline::{Line, OutlineOptions, page};
use mdm_core::port::{LogEntry, LogRead, Picture};
use mdm_engine::{DebugParts, Session, WantedDevice};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::log_lines::{self, Time};
use super::{Call, Effect, Hints, Tool, network, screenshot};
use crate::answer::{Answer, Facts};
use crate::args::DeviceArg;
use crate::basis::{self, MadeFrom};
use crate::picture::{self, ScaledPicture, Wish};
use crate::refusal::Refusal;
use crate::tree::{self, TreeHead, TreeJson};

/// Tokens of the outline in a report; the rest is cut.
const OUTLINE_TOKENS_MAX: usize = 3000;
const LOG_LINES_DEFAULT: u32 = 20;
/// Lines of the log in a report; a caller that asks for more gets these.
const LOG_LINES_MAX: u32 = 1000;
/// Crashes in a report, the newest ones.
const CRASHES_MAX: usize = 3;
/// Requests that failed, the newest first.
const REQUESTS_MAX: usize = 5;
/// Possible actions in a report.
const ACTIONS_MAX: usize = 10;
/// Characters of the name of what can be acted on.
const NAME_CHARS_MAX: usize = 60;
/// Characters of the reason that a caller gives for a report.
const REASON_CHARS_MAX: usize = 500;

pub struct CaptureDebugSnapshot;

#[derive(Default, Deserialize, JsonSchema)]
#[serde(default)]
pub struct SnapshotParams {
    reason: Option<String>,
    app_id: Option<String>,
    /// new one to save it in
    folder: Option<PathBuf>,
    #[schemars(extend("hidden" = true))]
    include_logs: Option<bool>,
    #[schemars(extend("hidden" = true))]
    log_lines: Option<u32>,
    #[schemars(extend("hidden" = true))]
    session_id: Option<String>,
    #[serde(flatten)]
    device: DeviceArg,
}

#[derive(Debug, Serialize)]
pub struct SnapshotFacts {
    device: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<String>,
    timestamp: u64,
    took_ms: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    activity: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    fingerprint: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    ui_tree: Option<TreeHead>,
    semantic: Semantic,
    /// The newest action, and what came of it.
    #[serde(skip_serializing_if = "Option::is_none")]
    last_action: Option<LastAction>,
    #[serde(flatten)]
    errors: PartErrors,
}

/// What could not be read, each for itself.
#[derive(Debug, Default, Serialize)]
pub struct PartErrors {
    #[serde(skip_serializing_if = "Option::is_none")]
    ui_tree_error: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    screenshot_error: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    activity_error: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    logs_error: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    crashes_error: Option<String>,
}

#[derive(Debug, Default, Serialize)]
struct Semantic {
    #[serde(skip_serializing_if = "Option::is_none")]
    screen: Option<String>,
    loading: bool,
    error_logs: usize,
    crashes: usize,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    actions_available: Vec<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    warnings: Vec<&'static str>,
}

#[derive(Debug, Serialize)]
struct LastAction {
    action_id: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    lifecycle_state: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    ui_changed: Option<bool>,
}

impl Tool for CaptureDebugSnapshot {
    type Params = SnapshotParams;
    const NAME: &'static str = "capture_debug_snapshot";
    const DESCRIPTION: &'static str = "Screen, picture, log, requests and crashes of one moment.";
    const EFFECT: Effect = Effect::ReadOnly;
    const HINTS: Hints = Hints::WRITES_NEW_FILES;
    const TIMEOUT: Duration = Duration::from_secs(30);

    async fn run(call: &Call<'_>, params: SnapshotParams) -> Result<Answer, Refusal> {
        let log_lines = params.log_lines.unwrap_or(LOG_LINES_DEFAULT).clamp(1, LOG_LINES_MAX) as usize;
        let wanted = WantedDevice { app: params.app_id.clone(), ..params.device.wanted() };
        let session = call.device(&wanted, call.progress).await?;
        let app = params.app_id.clone().or_else(|| session.newest_app());
        let with_log = params.include_logs.unwrap_or(true);
        let known = || call.app.secrets.are_known();
        let (parts, taken) = session.debug_parts(app.as_deref(), with_log, known, call.progress).await?;
        let picture = match taken {
            Ok(taken) => shrink(call, &session, &parts, taken).await,
            Err(failure) => Err(failure),
        };
        let requests = network::known(call, &session, log_of(&parts));
        let moment = Moment { session: &session, parts: &parts, app: app.as_deref(), requests };
        let picture_failure = picture.as_ref().err().cloned();
        let mut answer = moment.answer(params.reason, picture, log_lines);
        if let Some(folder) = params.folder {
            save(call, &folder, &moment, &answer)?;
            answer = answer.with_news(&format!("saved in {}\n", folder.display()));
        }
        let mut entries = moment.entries();
        entries.drain(..entries.len().saturating_sub(log_lines));
        let basis = basis::Moment { parts, picture_failure, entries };
        Ok(answer.made_from(MadeFrom::Moment(Box::new(basis))))
    }
}

/// Writes everything into a folder that is not there yet: what is there already is nobody's report.
fn save(call: &Call<'_>, folder: &Path, moment: &Moment<'_>, answer: &Answer) -> Result<(), Refusal> {
    let folder = call.writable(folder)?;
    let wrong = |error: std::io::Error| {
        let hint = "name a folder that is not there yet, below one that is allowed";
        Refusal::argument(format!("{}: {error}", folder.display()), hint)
    };
    std::fs::create_dir(&folder).map_err(wrong)?;
    let redacted = |text: &str| call.app.secrets.redact_answer(text).into_owned();
    let mut files = vec![("snapshot.txt", redacted(&answer.text()).into_bytes())];
    if let Ok(seen) = &moment.parts.seen {
        let tree = TreeJson::new(TreeHead::new(None, seen), Arc::clone(seen), None);
        let json = serde_json::to_string_pretty(&tree).map_err(|error| Refusal::defect(error.to_string()))?;
        files.push(("tree.json", redacted(&json).into_bytes()));
    }
    files.extend(answer.image.as_ref().map(|image| ("screen.jpg", image.bytes.clone())));
    let mut log = String::new();
    moment.entries().iter().for_each(|entry| log_lines::push_whole(&mut log, entry));
    files.push(("log.txt", redacted(&log).into_bytes()));
    files.push(("network.har", redacted(&network::har(&moment.requests)?).into_bytes()));
    files.into_iter().try_for_each(|(name, bytes)| std::fs::write(folder.join(name), bytes)).map_err(wrong)
}

async fn shrink(
    call: &Call<'_>,
    session: &Session,
    parts: &DebugParts,
    taken: Picture,
) -> Result<ScaledPicture, Failure> {
    let scale = session.info(call.progress).await?.scale;
    let masks = screenshot::masks(&call.app.secrets, screens(call, parts)?, scale);
    // The longest side that is allowed is what the caller of a screenshot gets by default.
    let side = picture::side(None).map_err(|refusal| refusal.failure)?;
    let wish = Wish { side, masks, ..Wish::default() };
    call.progress.race("scaling the picture", picture::jpeg(taken, wish)).await
}

/// The screens on which the secrets of the picture stand. Where some are known, it is not shown without them (SE-06).
fn screens<'a>(call: &Call<'_>, parts: &'a DebugParts) -> Result<Vec<&'a Observation>, Failure> {
    let reads = [Some(&parts.seen), parts.seen_after.as_ref()].into_iter().flatten();
    if !call.app.secrets.are_known() {
        return Ok(reads.filter_map(|read| read.as_deref().ok()).collect());
    }
    let hidden = |failure: &Failure| {
        let message = format!("a secret may be on it, and where is not known: {}", failure.message);
        Failure { message, ..failure.clone() }
    };
    reads.map(|read| read.as_deref().map_err(hidden)).collect()
}

fn log_of(parts: &DebugParts) -> Option<&LogRead> {
    parts.log.as_ref()?.as_ref().ok()
}

struct Moment<'a> {
    session: &'a Session,
    parts: &'a DebugParts,
    app: Option<&'a str>,
    requests: Vec<Exchange>,
}

impl Moment<'_> {
    fn answer(
        &self,
        reason: Option<String>,
        picture: Result<ScaledPicture, Failure>,
        log_lines: usize,
    ) -> Answer {
        let seen = self.parts.seen.as_ref().ok();
        let entries = self.entries();
        let pids = self.pids();
        let telling = choose(entries.iter(), &AppLog { app: self.app, pids: &pids }, log_lines, false);
        let crashes: Vec<Known> = self.session.crash_book().all().rev().take(CRASHES_MAX).cloned().collect();
        let semantic = self.semantic(&telling, crashes.len());
        let facts = SnapshotFacts {
            device: self.session.id().to_owned(),
            reason: reason.map(|reason| reason.chars().take(REASON_CHARS_MAX).collect()),
            timestamp: self.parts.began_ms,
            took_ms: self.parts.ended_ms - self.parts.began_ms,
            activity: self.parts.screen.as_ref().ok().and_then(|screen| screen.name.clone()),
            fingerprint: seen.map(|seen| seen.fingerprint.to_string()),
            ui_tree: seen.map(|seen| TreeHead::new(None, seen)),
            semantic,
            last_action: self.last_action(),
            errors: self.errors(picture.as_ref().err()),
        };
        let lines = self.lines(seen.map(AsRef::as_ref), &telling, &crashes);
        let answer = Answer::new(Facts::Snapshot(Box::new(facts))).with_lines(&lines);
        match picture {
            Ok(picture) => answer.with_image(picture.image),
            Err(_) => answer,
        }
    }

    fn log(&self) -> Option<&LogRead> {
        log_of(self.parts)
    }

    fn entries(&self) -> Vec<LogEntry> {
        self.log().map_or_else(Vec::new, |read| joined(read.entries.clone()))
    }

    fn pids(&self) -> Vec<u32> {
        self.log()
            .map_or_else(Vec::new, |read| read.app_pids.iter().chain(&read.past_pids).copied().collect())
    }

    fn errors(&self, picture: Option<&Failure>) -> PartErrors {
        let said = |failure: &Failure| failure.message.clone();
        let parts = self.parts;
        PartErrors {
            ui_tree_error: parts.seen.as_ref().err().map(said),
            screenshot_error: picture.map(said),
            activity_error: parts.screen.as_ref().err().map(said),
            logs_error: parts.log.as_ref().and_then(|log| log.as_ref().err()).map(said),
            crashes_error: parts.crashes.as_ref().err().map(said),
        }
    }

    fn semantic(&self, telling: &Related<'_>, crashes: usize) -> Semantic {
        let seen = self.parts.seen.as_ref().ok();
        let is_error = |kind: Kind| matches!(kind, Kind::Error | Kind::Crash | Kind::NotResponding);
        let mut warnings = Vec::new();
        if seen.is_none() {
            warnings.push("ui tree unavailable");
        }
        if self.parts.screen.is_err() {
            warnings.push("activity unavailable");
        }
        let error_logs = telling.told.iter().filter(|told| is_error(told.signal.kind)).count();
        if error_logs > 0 {
            warnings.push("error signals present in logs");
        }
        Semantic {
            screen: seen.and_then(|seen| seen.reading.snapshot.screen.as_ref()?.name.clone()),
            loading: seen.is_some_and(|seen| seen.loading().is_some()),
            error_logs,
            crashes,
            actions_available: seen.map_or_else(Vec::new, |seen| actions(seen)),
            warnings,
        }
    }

    fn last_action(&self) -> Option<LastAction> {
        let memory = self.session.memory();
        let window = memory.windows.last()?;
        let trace = memory.traces.find(&window.action_id);
        Some(LastAction {
            action_id: window.action_id.clone(),
            lifecycle_state: trace
                .and_then(|trace| trace.transitions.last())
                .map(|(state, _)| state.as_str()),
            ui_changed: trace.and_then(|trace| trace.ui_changed),
        })
    }

    fn lines(&self, seen: Option<&Observation>, telling: &Related<'_>, crashes: &[Known]) -> String {
        let mut out = String::new();
        for known in crashes {
            out.push_str(&format!("! {} {}\n", known.id(), known.report.summary()));
        }
        if let Some(seen) = seen {
            let lines = tree::outline(seen, &OutlineOptions::default());
            let page = page(&lines, OUTLINE_TOKENS_MAX, 1);
            out.push_str(&page.text);
            if page.left_out > 0 {
                out.push_str(&format!("… {} more lines; get_ui_tree has them\n", page.left_out));
            }
        }
        let failed = self.requests.iter().filter(|request| request.has_failed());
        for request in failed.rev().take(REQUESTS_MAX) {
            out.push_str("request: ");
            network::push_exchange(&mut out, request, false);
        }
        for told in &telling.told {
            out.push_str("log: ");
            log_lines::push(&mut out, told.entry, told.times, Time::OfDay);
        }
        if telling.hidden_lines > 0 {
            let (lines, tags) = (telling.hidden_lines, telling.hidden_tags);
            out.push_str(&format!("log: {lines} lines of {tags} tags hidden\n"));
        }
        out
    }
}

/// Names of what can be acted on.
fn actions(seen: &Observation) -> Vec<String> {
    let lines = tree::outline(seen, &OutlineOptions::default());
    let named = |line: &Line| {
        let name = label(&seen.reading.snapshot, line.index as usize)?;
        Some(name.text.chars().take(NAME_CHARS_MAX).collect::<String>())
    };
    lines.lines.iter().filter(|line| line.is_target).filter_map(named).take(ACTIONS_MAX).collect()
}
