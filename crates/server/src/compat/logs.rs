//! The device's log, and logs that are followed.

use mdm_core::evidence::redact_log;
use mdm_core::port::{LogEntry, LogLevel};
use mdm_core::screen::snapshot::Platform;
use serde::Serialize;

use super::element::Number;
use super::parts::{Device, iso};
use super::{Block, Rendering};
use crate::answer::Facts;
use crate::basis::MadeFrom;

/// Lines of an answer unless the caller says otherwise.
const LINES: f64 = 50.0;
const FATAL: &str = "fatal exception";
/// The ends of the names of what Java throws.
const THROWN: &str = "Exception";

#[derive(Serialize)]
struct LogsJson {
    device: Device,
    result: LogResult,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct LogResult {
    count: usize,
    filtered: bool,
    crash_lines: Vec<EntryJson>,
    #[serde(skip_serializing_if = "Option::is_none")]
    source: Option<&'static str>,
    meta: Meta,
}

#[derive(Serialize)]
#[serde(untagged)]
enum Meta {
    #[serde(rename_all = "camelCase")]
    Android {
        pid_arg: Option<String>,
        app_id_provided: bool,
        filters: Filters,
        pid_explicit: bool,
    },
    #[serde(rename_all = "camelCase")]
    Ios {
        app_id_provided: bool,
        process_name_used: Option<String>,
        detected_pid: Option<u32>,
        filters: Filters,
        pid_explicit: bool,
    },
    Failed {
        error: String,
    },
    Nothing {},
}

#[derive(Serialize)]
struct Filters {
    #[serde(skip_serializing_if = "Option::is_none")]
    tag: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    level: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    contains: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    since_seconds: Option<Number>,
    limit: Number,
}

#[derive(Clone, Serialize)]
struct EntryJson {
    timestamp: Option<String>,
    level: &'static str,
    tag: String,
    pid: Option<u32>,
    message: String,
}

#[derive(Serialize)]
struct Lines {
    logs: Vec<EntryJson>,
}

impl EntryJson {
    fn of(entry: &LogEntry) -> EntryJson {
        EntryJson {
            timestamp: entry.time_ms.map(iso),
            level: level(entry.level),
            tag: entry.tag.clone(),
            pid: entry.pid,
            message: redact_log::line(&entry.message).into_owned(),
        }
    }
}

/// What the system calls fatal was an error.
pub fn level(level: LogLevel) -> &'static str {
    match level {
        LogLevel::Verbose => "VERBOSE",
        LogLevel::Debug => "DEBUG",
        LogLevel::Info => "INFO",
        LogLevel::Warn => "WARN",
        LogLevel::Error | LogLevel::Fatal => "ERROR",
    }
}

fn letter(level: LogLevel) -> &'static str {
    &self::level(level)[..1]
}

pub fn logs(r: &Rendering<'_>) -> Option<Vec<Block>> {
    let device = r.device.clone();
    let filtered = ["pid", "tag", "level", "contains", "since_seconds", "app_id"];
    let filtered = filtered.into_iter().any(|name| r.asked.get(name).is_some());
    let (entries, source, meta): (Vec<EntryJson>, _, _) = match (&r.answer.basis.made_from, r.refused()) {
        (MadeFrom::Log(entries, pids), _) => {
            let entries = entries.iter().map(EntryJson::of).collect();
            (entries, Some(source(r, pids)), meta(r, pids))
        }
        // A level that does not exist fitted no line.
        (_, Some(_)) if !r.has_known_level() => (Vec::new(), None, Meta::Nothing {}),
        (_, Some(failure)) if device.is_some() => {
            (Vec::new(), Some(source(r, &[])), Meta::Failed { error: failure.message })
        }
        _ => return None,
    };
    let is_crash = |entry: &&EntryJson| entry.message.to_lowercase().contains(FATAL);
    let result = LogResult {
        count: entries.len(),
        filtered,
        crash_lines: entries.iter().filter(is_crash).cloned().collect(),
        source,
        meta,
    };
    let told = matches!(result.meta, Meta::Nothing {}).then_some(false);
    let first = LogsJson { device: Device { app_installed: told, ..r.device_or_unknown() }, result };
    Some(vec![Block::json(&first), Block::json(&Lines { logs: entries })])
}

fn source(r: &Rendering<'_>, pids: &[u32]) -> &'static str {
    match (r.asked.get("app_id"), pids, r.platform()) {
        (Some(_), [], Platform::Android) => "package",
        (Some(_), [], Platform::Ios) => "process",
        (Some(_), _, _) => "pid",
        (None, ..) => "broad",
    }
}

fn meta(r: &Rendering<'_>, pids: &[u32]) -> Meta {
    let text = |name: &str| r.asked.text(name).map(str::to_owned);
    let limit = r.asked.number("limit").or(r.asked.number("lines")).unwrap_or(LINES);
    let filters = Filters {
        tag: text("tag"),
        level: text("level"),
        contains: text("contains"),
        since_seconds: r.asked.number("since_seconds").map(Number),
        limit: Number(limit),
    };
    let (app_id_provided, pid_explicit) = (r.asked.get("app_id").is_some(), r.asked.get("pid").is_some());
    let pid = pids.first().copied().or(r.pid);
    match r.platform() {
        Platform::Android => {
            let given = r.asked.number("pid").map(|pid| pid.to_string());
            let pid_arg = pid.filter(|_| app_id_provided).map(|pid| pid.to_string()).or(given);
            Meta::Android { pid_arg, app_id_provided, filters, pid_explicit }
        }
        Platform::Ios => {
            let name = text("app_id").and_then(|id| id.rsplit('.').next().map(str::to_owned));
            Meta::Ios { app_id_provided, process_name_used: name, detected_pid: pid, filters, pid_explicit }
        }
    }
}

impl Rendering<'_> {
    fn has_known_level(&self) -> bool {
        let known = ["VERBOSE", "DEBUG", "INFO", "WARN", "ERROR"];
        self.asked.text("level").is_none_or(|level| known.iter().any(|k| k.eq_ignore_ascii_case(level)))
    }
}

#[derive(Serialize)]
struct Started {
    success: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    stream_started: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<&'static str>,
}

pub fn started(r: &Rendering<'_>) -> Option<Block> {
    let Facts::LogStream(facts) = &r.answer.facts else { return None };
    Some(Block::json(&match facts.is_running() {
        true => Started { success: true, stream_started: Some(true), error: None },
        // It is followed all the same, from when it runs.
        false => Started { success: false, stream_started: None, error: Some("app_not_running") },
    }))
}

#[derive(Serialize)]
struct Stopped {
    success: bool,
}

pub fn stopped(r: &Rendering<'_>) -> Option<Block> {
    matches!(r.answer.facts, Facts::LogStream(_)).then(|| Block::json(&Stopped { success: true }))
}

#[derive(Serialize)]
struct Entries {
    entries: Vec<StreamEntry>,
    crash_summary: CrashSummary,
}

#[derive(Serialize)]
struct StreamEntry {
    timestamp: String,
    level: &'static str,
    tag: String,
    message: String,
    #[serde(rename = "_iso")]
    iso: Option<String>,
    crash: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    exception: Option<String>,
}

#[derive(Default, Serialize)]
struct CrashSummary {
    crash_detected: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    exception: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    sample: Option<String>,
}

impl StreamEntry {
    fn of(entry: &LogEntry) -> StreamEntry {
        let iso = entry.time_ms.map(iso);
        let exception = exception(&entry.message);
        StreamEntry {
            // Month, day and time, as logcat writes them.
            timestamp: iso.as_ref().map_or_else(String::new, |iso| iso[5..23].replace('T', " ")),
            level: letter(entry.level),
            tag: entry.tag.clone(),
            message: redact_log::line(&entry.message).into_owned(),
            iso,
            crash: exception.is_some() || entry.message.to_lowercase().contains(FATAL),
            exception,
        }
    }
}

/// The first word that names something that Java throws.
fn exception(message: &str) -> Option<String> {
    let words = message.split(|c: char| !(c.is_alphanumeric() || matches!(c, '_' | '.' | '$')));
    let name = words.map(|word| word.rsplit('.').next().unwrap_or(word));
    name.into_iter().find(|word| word.ends_with(THROWN)).map(str::to_owned)
}

pub fn entries(r: &Rendering<'_>) -> Option<Block> {
    let entries = match &r.answer.basis.made_from {
        MadeFrom::Log(entries, _) => entries.iter().map(StreamEntry::of).collect(),
        _ if matches!(r.answer.facts, Facts::LogStream(_)) => Vec::new(),
        _ => return None,
    };
    let crash = entries.iter().find(|entry: &&StreamEntry| entry.crash);
    let crash_summary = crash.map_or_else(CrashSummary::default, |entry| CrashSummary {
        crash_detected: true,
        exception: entry.exception.clone(),
        sample: Some(entry.message.clone()),
    });
    Some(Block::json(&Entries { entries, crash_summary }))
}
