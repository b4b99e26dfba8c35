//! Crashes: which there were, and what one of them tells.

use std::path::PathBuf;
use std::time::Duration;

use mdm_core::evidence::crash_book::Known;
use mdm_core::port::{CrashKind, CrashReport, LineCounts, Thrown};
use mdm_core::text::quote::{push_name, push_quoted};
use mdm_engine::{Session, WantedDevice};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Call, Effect, Tool};
use crate::answer::{Answer, Facts};
use crate::args::DeviceArg;
use crate::log_file::LogFile;
use crate::refusal::Refusal;
use crate::symbols::{self, Named};

const TIMEOUT: Duration = Duration::from_secs(20);
/// Crashes that one answer lists, the newest ones.
const LISTED_MAX: usize = 20;
/// Characters of an exception's name, of its message and of a frame.
const PART_CHARS_MAX: usize = 400;
/// Frames of one exception that are shown besides the app's own, and those.
const FRAMES_MAX: usize = 5;
/// The app's own frames of one exception that are shown.
const OWN_FRAMES_MAX: usize = 12;

#[derive(Debug, Serialize)]
pub struct CrashFacts {
    device: String,
    id: String,
    app: String,
    kind: &'static str,
    exception: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    thread: Option<String>,
    #[serde(skip_serializing_if = "is_zero")]
    pid: u32,
    #[serde(skip_serializing_if = "Option::is_none")]
    age_seconds: Option<u64>,
    /// The action that was sent before it.
    #[serde(skip_serializing_if = "Option::is_none")]
    after_action: Option<String>,
    /// The first of the app's own code.
    #[serde(skip_serializing_if = "Option::is_none")]
    place: Option<String>,
}

#[derive(Debug, Serialize)]
pub struct CrashListFacts {
    device: String,
    count: usize,
}

/// What a file with a log or a report came to.
#[derive(Debug, Serialize)]
pub struct LogFileFacts {
    form: &'static str,
    lines: usize,
    entries: usize,
    continuations: usize,
    headings: usize,
    /// Lines that were not understood.
    defects: usize,
    crashes: usize,
}

impl LogFileFacts {
    pub fn new(file: &LogFile) -> LogFileFacts {
        let LineCounts { entries, continuations, markers, defects } = file.counts;
        LogFileFacts {
            form: file.form.as_str(),
            lines: file.counts.lines(),
            entries,
            continuations,
            headings: markers,
            defects,
            crashes: file.crashes.len(),
        }
    }
}

fn is_zero(number: &u32) -> bool {
    *number == 0
}

#[derive(Default, Deserialize, JsonSchema)]
#[serde(default)]
pub struct CrashParams {
    /// c3; default the newest
    id: Option<String>,
    app_id: Option<String>,
    /// only list them
    list: bool,
    /// mapping.txt, .so or dSYM
    symbols: Option<PathBuf>,
    #[serde(flatten)]
    device: DeviceArg,
}

pub struct GetCrash;

impl Tool for GetCrash {
    type Params = CrashParams;
    const NAME: &'static str = "get_crash";
    const DESCRIPTION: &'static str = "A crash or ANR: what, where, causes, the app's frames.";
    const EFFECT: Effect = Effect::ReadOnly;
    const TIMEOUT: Duration = TIMEOUT;

    async fn run(call: &Call<'_>, params: CrashParams) -> Result<Answer, Refusal> {
        let session = known_by(call, params.app_id.as_deref(), &params.device).await?;
        let fits = |known: &&Known| params.app_id.as_ref().is_none_or(|app| known.report.app == *app);
        if params.list {
            return Ok(list(&session, fits));
        }
        let number = params.id.as_deref().map(number).transpose()?;
        let known = {
            let book = session.crash_book();
            let mut all = book.all().rev().filter(fits);
            all.find(|known| number.is_none_or(|number| known.number == number)).cloned()
        };
        let Some(mut known) = known else { return Err(none(&session, &params)) };
        session.crash_book().mark_told(known.number);
        let mut problem = None;
        if let Some(file) = &params.symbols {
            let file = call.app.roots.readable(file)?;
            let named = name_frames(call, known.report, file).await?;
            (known.report, problem) = (named.report, named.problem);
        }
        let mut text = lines(&known.report);
        text.extend(problem.map(|problem| format!("symbols: {problem}\n")));
        Ok(Answer::new(Facts::Crash(Box::new(facts(&session, &known)))).with_lines(&text))
    }
}

/// On a thread of its own: a file with symbols may be large.
async fn name_frames(call: &Call<'_>, report: CrashReport, file: PathBuf) -> Result<Named, Refusal> {
    let work = tokio::task::spawn_blocking(move || symbols::name_frames(&report, &file));
    let done = call.progress.race("reading the symbols", async { Ok(work.await) }).await?;
    done.map_err(|error| Refusal::defect(error.to_string()))?
}

#[derive(Default, Deserialize, JsonSchema)]
#[serde(default)]
pub struct ListParams {
    app_id: Option<String>,
    #[serde(flatten)]
    device: DeviceArg,
}

pub struct ListCrashes;

impl Tool for ListCrashes {
    type Params = ListParams;
    const NAME: &'static str = "list_crashes";
    const DESCRIPTION: &'static str = "Crashes and ANRs, newest first.";
    const EFFECT: Effect = Effect::ReadOnly;
    const TIMEOUT: Duration = TIMEOUT;

    async fn run(call: &Call<'_>, params: ListParams) -> Result<Answer, Refusal> {
        let session = known_by(call, params.app_id.as_deref(), &params.device).await?;
        Ok(list(&session, |known| params.app_id.as_ref().is_none_or(|app| known.report.app == *app)))
    }
}

/// The device's session, which knows the device's reports by then.
async fn known_by(
    call: &Call<'_>,
    app: Option<&str>,
    device: &DeviceArg,
) -> Result<std::sync::Arc<Session>, Refusal> {
    let wanted = WantedDevice { app: app.map(str::to_owned), ..device.wanted() };
    let session = call.device(&wanted, call.progress).await?;
    session.read_crashes(call.progress).await?;
    Ok(session)
}

/// `c3`.
fn number(id: &str) -> Result<u64, Refusal> {
    id.strip_prefix('c').and_then(|number| number.parse().ok()).ok_or_else(|| {
        Refusal::argument(format!("{id:.40?} is no id of a crash"), "ids look like c3; list:true shows them")
    })
}

fn none(session: &Session, params: &CrashParams) -> Refusal {
    let of = params.app_id.as_ref().map_or_else(String::new, |app| format!(" of {app:.100}"));
    let id = params.id.as_ref().map_or_else(String::new, |id| format!(" {id:.20}"));
    let message = format!("no crash{id}{of} is known of {}", session.id());
    Refusal::argument(message, "list:true shows which are known; get_logs has what apps wrote")
}

fn list(session: &Session, fits: impl Fn(&&Known) -> bool) -> Answer {
    let mut book = session.crash_book();
    let mut lines = String::new();
    let shown: Vec<Known> = book.all().rev().filter(|known| fits(known)).take(LISTED_MAX).cloned().collect();
    let count = book.all().filter(|known| fits(known)).count();
    for known in &shown {
        book.mark_told(known.number);
        let age = known.report.age_ms.map_or_else(String::new, |ms| format!(", {} s ago", ms / 1000));
        lines.push_str(&format!("{} {}{age}\n", known.id(), known.report.summary()));
    }
    Answer::new(Facts::CrashList(CrashListFacts { device: session.id().to_owned(), count }))
        .with_lines(&lines)
}

fn kind(kind: CrashKind) -> &'static str {
    match kind {
        CrashKind::Exception => "exception",
        CrashKind::Native => "native",
        CrashKind::NotResponding => "anr",
        CrashKind::Script => "script",
    }
}

fn facts(session: &Session, known: &Known) -> CrashFacts {
    let report = &known.report;
    let memory = session.memory();
    let after = report.age_ms.map(|age| session.now_ms().saturating_sub(age)).unwrap_or(known.noted_ms);
    CrashFacts {
        device: session.id().to_owned(),
        id: known.id(),
        app: report.app.clone(),
        kind: kind(report.kind),
        exception: report.exception().to_owned(),
        thread: report.thread.clone(),
        pid: report.pid,
        age_seconds: report.age_ms.map(|ms| ms / 1000),
        after_action: memory.windows.at(after).map(|window| window.action_id.clone()),
        place: report.place().map(|frame| frame.text.clone()),
    }
}

/// Each exception with its frames, the app's own marked.
pub fn lines(report: &CrashReport) -> String {
    let mut out = String::new();
    for (at, thrown) in report.thrown.iter().enumerate() {
        out.push_str(if at == 0 { "" } else { "caused by " });
        push_name(&mut out, &thrown.exception, PART_CHARS_MAX);
        if !thrown.message.is_empty() {
            out.push_str(": ");
            push_quoted(&mut out, &thrown.message, PART_CHARS_MAX);
        }
        out.push('\n');
        push_frames(&mut out, thrown);
    }
    out
}

fn push_frames(out: &mut String, thrown: &Thrown) {
    let (mut others, mut own, mut next) = (0, 0, 0);
    for frame in &thrown.frames {
        let shown = if frame.own { own < OWN_FRAMES_MAX } else { others < FRAMES_MAX };
        if !shown {
            continue;
        }
        push_gap(out, frame.index - next);
        next = frame.index + 1;
        if frame.own {
            own += 1
        } else {
            others += 1
        }
        out.push_str(if frame.own { "> " } else { "  " });
        push_name(out, &frame.text, PART_CHARS_MAX);
        out.push('\n');
    }
    push_gap(out, thrown.frame_count - next);
}

fn push_gap(out: &mut String, frames: u32) {
    if frames > 0 {
        out.push_str(&format!("  … {frames} more\n"));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_apps_own_frames_are_shown_however_deep_they_are() {
        let mut thrown = Thrown::new("java.lang.Error", "no");
        for depth in 0..100 {
            thrown.push_frame(&format!("androidx.X.y(X.kt:{depth})"), false);
            if depth == 50 {
                thrown.push_frame("com.example.Main.run(Main.kt:1)", true);
            }
        }
        let report = CrashReport {
            app: "com.example".to_owned(),
            pid: 1,
            kind: CrashKind::Exception,
            thread: None,
            thrown: vec![thrown, Thrown::new("x.Y", "")],
            time_ms: None,
            age_ms: None,
            images: Vec::new(),
        };
        assert_eq!(
            lines(&report),
            "java.lang.Error: \"no\"\n  androidx.X.y(X.kt:0)\n  androidx.X.y(X.kt:1)\n  androidx.X.y(X.kt:2)\n  \
             androidx.X.y(X.kt:3)\n  androidx.X.y(X.kt:4)\n  … 46 more\n> com.example.Main.run(Main.kt:1)\n  … 49 more\n\
             caused by x.Y\n"
        );
    }
}
