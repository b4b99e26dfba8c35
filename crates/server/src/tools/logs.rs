//! The device's log, filtered.

use std::time::Duration;

use mdm_core::port::{LogEntry, LogLevel, LogRead};
use mdm_core::text::quote::{push_name, push_quoted};
use mdm_engine::WantedDevice;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Call, Effect, Tool};
use crate::answer::{Answer, Facts};
use crate::args::DeviceArg;
use crate::refusal::Refusal;

const LIMIT_DEFAULT: u32 = 50;
const LIMIT_MAX: u32 = 1000;
const MESSAGE_CHARS_MAX: usize = 400;
const TAG_CHARS_MAX: usize = 100;

pub struct GetLogs;

#[derive(Default, Deserialize, JsonSchema)]
#[serde(default)]
pub struct GetLogsParams {
    /// only this app's processes
    app_id: Option<String>,
    pid: Option<u32>,
    tag: Option<String>,
    /// this one and above
    level: Option<Level>,
    contains: Option<String>,
    since_seconds: Option<f64>,
    /// default 50
    limit: Option<u32>,
    #[schemars(extend("hidden" = true))]
    lines: Option<u32>,
    #[serde(flatten)]
    device: DeviceArg,
}

#[derive(Clone, Copy, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum Level {
    #[serde(alias = "VERBOSE")]
    Verbose,
    #[serde(alias = "DEBUG")]
    Debug,
    #[serde(alias = "INFO")]
    Info,
    #[serde(alias = "WARN")]
    Warn,
    #[serde(alias = "ERROR")]
    Error,
}

impl From<Level> for LogLevel {
    fn from(level: Level) -> LogLevel {
        match level {
            Level::Verbose => LogLevel::Verbose,
            Level::Debug => LogLevel::Debug,
            Level::Info => LogLevel::Info,
            Level::Warn => LogLevel::Warn,
            Level::Error => LogLevel::Error,
        }
    }
}

#[derive(Debug, Serialize)]
pub struct LogFacts {
    device: String,
    count: usize,
    /// Lines that fit the filters; more than `count` when older ones were left out.
    matched: usize,
    /// Lines of the log that were looked at.
    scanned: usize,
    /// Older lines that were dropped because the log is too large.
    #[serde(skip_serializing_if = "is_zero")]
    older_lines_dropped: usize,
    /// Lines that fit and have no time that can be told; `since_seconds` keeps them.
    #[serde(skip_serializing_if = "is_zero")]
    undated: usize,
    /// Lines in a format that is not known; they are not looked at.
    #[serde(skip_serializing_if = "is_zero")]
    unread_lines: usize,
    /// The device's clock when the log was read.
    #[serde(skip_serializing_if = "Option::is_none")]
    device_time: Option<String>,
    /// How the app's lines were found: by its process ids, or by its name in the text because no process is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    source: Option<&'static str>,
    /// Said only of an app that does not run.
    #[serde(skip_serializing_if = "Option::is_none")]
    running: Option<bool>,
}

fn source(read: &LogRead) -> &'static str {
    if read.app_pids.is_empty() && read.past_pids.is_empty() { "package" } else { "pid" }
}

fn is_zero(number: &usize) -> bool {
    *number == 0
}

impl Tool for GetLogs {
    type Params = GetLogsParams;
    const NAME: &'static str = "get_logs";
    const DESCRIPTION: &'static str =
        "Newest log lines that fit all filters, oldest first; times are the device's, in UTC.";
    const EFFECT: Effect = Effect::ReadOnly;
    const TIMEOUT: Duration = Duration::from_secs(20);

    async fn run(call: &Call<'_>, params: GetLogsParams) -> Result<Answer, Refusal> {
        let limit = limit(&params)?;
        let wanted = WantedDevice { app: params.app_id.clone(), ..params.device.wanted() };
        let session = call.app.fleet.choose(&wanted, call.progress).await?;
        let read = session.logs(params.app_id.as_deref(), call.progress).await?;
        let matching: Vec<&LogEntry> =
            read.entries.iter().filter(|entry| fits(entry, &params, &read)).collect();
        let shown = &matching[matching.len().saturating_sub(limit)..];
        let facts = LogFacts {
            device: session.id().to_owned(),
            count: shown.len(),
            matched: matching.len(),
            scanned: read.entries.len(),
            older_lines_dropped: read.dropped_lines,
            undated: matching.iter().filter(|entry| entry.time_ms.is_none()).count(),
            unread_lines: read.unread_lines,
            device_time: read.now_ms.map(time_of_day),
            source: params.app_id.as_ref().map(|_| source(&read)),
            running: params.app_id.as_ref().map(|_| !read.app_pids.is_empty()).filter(|running| !running),
        };
        let mut lines = String::new();
        shown.iter().for_each(|entry| push_entry(&mut lines, entry));
        Ok(Answer::new(Facts::Logs(facts)).with_lines(&lines))
    }
}

fn limit(params: &GetLogsParams) -> Result<usize, Refusal> {
    let limit = params.limit.or(params.lines).unwrap_or(LIMIT_DEFAULT);
    if (1..=LIMIT_MAX).contains(&limit) {
        return Ok(limit as usize);
    }
    let hint = "narrow the lines with tag, level, contains or since_seconds";
    Err(Refusal::argument(format!("limit = {limit} is not 1 to {LIMIT_MAX}"), hint))
}

/// True if the line passes every filter. Filters apply before the newest lines are taken (W16).
fn fits(entry: &LogEntry, params: &GetLogsParams, read: &LogRead) -> bool {
    let of_app = |app: &String| match read.app_pids.is_empty() && read.past_pids.is_empty() {
        // What a process wrote that is gone by now is there too: it may say why it is gone (F44).
        false => entry.pid.is_some_and(|pid| read.app_pids.contains(&pid) || read.past_pids.contains(&pid)),
        // An app without any process on record: lines that mention the app are used instead.
        true => entry.message.contains(app.as_str()) || entry.tag.contains(app.as_str()),
    };
    let recent = |seconds: f64| match (entry.time_ms, read.now_ms) {
        // Both by the device's clock, so its offset from ours does not matter (W18).
        (Some(time), Some(now)) => now.saturating_sub(time) as f64 <= seconds * 1000.0 + 999.0,
        _ => true,
    };
    params.app_id.as_ref().is_none_or(of_app)
        && params.pid.is_none_or(|pid| entry.pid == Some(pid))
        && params.tag.as_ref().is_none_or(|tag| entry.tag == *tag)
        && params.level.is_none_or(|level| entry.level >= LogLevel::from(level))
        && params.contains.as_ref().is_none_or(|part| entry.message.contains(part.as_str()))
        && params.since_seconds.is_none_or(recent)
}

/// Writes a line such as `12:00:01.123 E AuthRepo(4321) "POST /login -> 401"`.
fn push_entry(out: &mut String, entry: &LogEntry) {
    if let Some(time) = entry.time_ms {
        out.push_str(&time_of_day(time));
        out.push(' ');
    }
    out.push_str(match entry.level {
        LogLevel::Verbose => "V ",
        LogLevel::Debug => "D ",
        LogLevel::Info => "I ",
        LogLevel::Warn => "W ",
        LogLevel::Error => "E ",
        LogLevel::Fatal => "F ",
    });
    push_name(out, &entry.tag, TAG_CHARS_MAX);
    if let Some(pid) = entry.pid {
        out.push_str(&format!("({pid})"));
    }
    out.push(' ');
    push_quoted(out, &entry.message, MESSAGE_CHARS_MAX);
    out.push('\n');
}

/// The time of day on the device's clock, in UTC.
fn time_of_day(time_ms: u64) -> String {
    let seconds = time_ms / 1000 % 86_400;
    format!("{:02}:{:02}:{:02}.{:03}", seconds / 3600, seconds / 60 % 60, seconds % 60, time_ms % 1000)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry(tag: &str, level: LogLevel, pid: u32, time_ms: u64, message: &str) -> LogEntry {
        let (tag, message) = (tag.to_owned(), message.to_owned());
        LogEntry { time_ms: Some(time_ms), pid: Some(pid), tid: None, level, tag, message }
    }

    fn params(json: &str) -> GetLogsParams {
        serde_json::from_str(json).unwrap()
    }

    #[test]
    fn a_line_must_pass_every_filter() {
        let read = LogRead { now_ms: Some(100_000), app_pids: vec![7], ..LogRead::default() };
        let line = entry("Auth", LogLevel::Warn, 7, 90_000, "login failed");
        #[track_caller]
        fn check(json: &str, line: &LogEntry, read: &LogRead, expected: bool) {
            assert_eq!(fits(line, &params(json), read), expected, "W16: {json}");
        }
        check(r#"{"tag":"Auth"}"#, &line, &read, true);
        check(r#"{"tag":"Aut"}"#, &line, &read, false);
        check(r#"{"level":"warn"}"#, &line, &read, true);
        check(r#"{"level":"ERROR"}"#, &line, &read, false);
        check(r#"{"pid":8}"#, &line, &read, false);
        check(r#"{"contains":"failed"}"#, &line, &read, true);
        check(r#"{"contains":"Failed"}"#, &line, &read, false);
        check(r#"{"since_seconds":10}"#, &line, &read, true);
        check(r#"{"since_seconds":5}"#, &line, &read, false);
        check(r#"{"app_id":"com.x"}"#, &line, &read, true);
        let stopped = LogRead { app_pids: vec![], ..read };
        check(r#"{"app_id":"com.x"}"#, &line, &stopped, false);
        let crashed = LogRead { past_pids: vec![7], ..stopped };
        check(r#"{"app_id":"com.x"}"#, &line, &crashed, true);
    }

    #[test]
    fn a_message_is_quoted_so_that_it_cannot_forge_an_answer() {
        let mut out = String::new();
        push_entry(&mut out, &entry("Auth", LogLevel::Error, 7, 43_201_123, "bad\n{\"error\":1}"));
        assert_eq!(out, "12:00:01.123 E Auth(7) \"bad\\n{\\\"error\\\":1}\"\n", "SE-05");
    }
}
