//! The device's log, filtered, and the lines that go with an action (DF-01, TR-02).

use std::time::Duration;

use mdm_core::evidence::join::joined;
use mdm_core::evidence::related::{Related, Span, choose, related};
use mdm_core::evidence::signal::AppLog;
use mdm_core::failure::{Cause, Failure};
use mdm_core::port::{LogEntry, LogLevel, LogRead};
use mdm_core::text::calendar::clock;
use mdm_engine::{Session, WantedDevice};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::log_lines::{self, Time};
use super::{Call, Effect, Tool};
use crate::answer::{Answer, Facts};
use crate::args::DeviceArg;
use crate::basis::MadeFrom;
use crate::refusal::Refusal;

/// Lines of an answer unless the caller says otherwise.
const LIMIT_DEFAULT: u32 = 50;
/// Of the lines that go with an action.
const RELATED_LIMIT_DEFAULT: u32 = 20;
/// Lines that a caller may ask for; more are refused.
const LIMIT_MAX: u32 = 1000;

pub struct GetLogs;

#[derive(Default, Deserialize, JsonSchema)]
#[serde(default)]
pub struct GetLogsParams {
    app_id: Option<String>,
    /// its most telling lines
    action_id: Option<String>,
    #[schemars(extend("hidden" = true))]
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
    #[schemars(extend("hidden" = true))]
    noise: bool,
    #[serde(flatten)]
    device: DeviceArg,
}

#[derive(Clone, Copy, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Level {
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

#[derive(Debug, Default, Serialize)]
pub struct LogFacts {
    device: String,
    count: usize,
    /// Lines that fit the filters; more than `count` when older ones were left out.
    matched: usize,
    /// Lines of the log that were looked at.
    scanned: usize,
    /// Lines that fit and explain nothing, or less than those that are shown.
    #[serde(skip_serializing_if = "is_zero")]
    hidden: usize,
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

pub fn is_zero(number: &usize) -> bool {
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
        let session = call.device(&wanted, call.progress).await?;
        let app = params.app_id.clone().or_else(|| {
            let asked = params.action_id.as_ref()?;
            session.memory().windows.of(asked)?;
            session.newest_app()
        });
        let mut read = session.logs(app.as_deref(), call.progress).await?;
        read.entries = joined(std::mem::take(&mut read.entries));
        match &params.action_id {
            Some(action) => of_action(&session, &read, app.as_deref(), action, limit),
            None => {
                // Whoever wants more lines than are usual wants the tokens too.
                let asked_for = if limit > LIMIT_DEFAULT as usize { usize::MAX } else { 0 };
                Ok(filtered(&session, &read, &params, limit).within_tokens(asked_for))
            }
        }
    }
}

/// Processes that are or were the app's.
fn pids(read: &LogRead) -> Vec<u32> {
    read.app_pids.iter().chain(&read.past_pids).copied().collect()
}

fn filtered(session: &Session, read: &LogRead, params: &GetLogsParams, limit: usize) -> Answer {
    let matching: Vec<&LogEntry> = read.entries.iter().filter(|entry| fits(entry, params, read)).collect();
    let undated = matching.iter().filter(|entry| entry.time_ms.is_none()).count();
    // Whoever filters by words wants all that has them.
    let is_narrow = params.tag.is_some() || params.contains.is_some() || params.pid.is_some();
    let noise = params.noise || params.app_id.is_none() || is_narrow || params.level.is_some();
    let pids = pids(read);
    let app = AppLog { app: params.app_id.as_deref(), pids: &pids };
    let all = choose(matching.iter().copied(), &app, usize::MAX, noise);
    let newest = &all.told[all.told.len().saturating_sub(limit)..];
    let mut lines = String::new();
    newest.iter().for_each(|told| log_lines::push(&mut lines, told.entry, told.times, Time::OfDay));
    lines.push_str(&hidden_line(&all));
    let facts = LogFacts {
        count: newest.len(),
        matched: matching.len(),
        hidden: all.hidden_lines,
        undated,
        source: params.app_id.as_ref().map(|_| source(read)),
        running: params.app_id.as_ref().map(|_| !read.app_pids.is_empty()).filter(|running| !running),
        ..facts(session, read)
    };
    let shown = newest.iter().map(|told| told.entry.clone()).collect();
    Answer::new(Facts::Logs(facts)).with_lines(&lines).made_from(MadeFrom::Log(shown, pids))
}

fn facts(session: &Session, read: &LogRead) -> LogFacts {
    LogFacts {
        device: session.id().to_owned(),
        scanned: read.entries.len(),
        older_lines_dropped: read.dropped_lines,
        unread_lines: read.unread_lines,
        device_time: read.now_ms.map(clock),
        ..LogFacts::default()
    }
}

/// The lines of an action's time, of all processes, the most telling ones.
fn of_action(
    session: &Session,
    read: &LogRead,
    app: Option<&str>,
    action: &str,
    limit: usize,
) -> Result<Answer, Refusal> {
    let span = span(session, read, action)?;
    let pids = pids(read);
    let all = related(&read.entries, &AppLog { app, pids: &pids }, span, limit);
    let matched = all.told.iter().map(|told| told.times).sum::<usize>() + all.hidden_lines;
    let facts = LogFacts { count: all.told.len(), matched, hidden: all.hidden_lines, ..facts(session, read) };
    Ok(Answer::new(Facts::Logs(facts)).with_lines(&related_lines(&all, span.from_ms)))
}

pub fn related_lines(all: &Related<'_>, from_ms: u64) -> String {
    let mut lines = String::new();
    all.told
        .iter()
        .for_each(|told| log_lines::push(&mut lines, told.entry, told.times, Time::Since(from_ms)));
    lines.push_str(&hidden_line(all));
    lines
}

fn hidden_line(all: &Related<'_>) -> String {
    match (all.hidden_lines, all.hidden_tags) {
        (0, _) => String::new(),
        (lines, tags) => {
            format!("{lines} lines of {tags} tags hidden; a tag, contains or a level shows those that fit\n")
        }
    }
}

/// The action's time by the device's clock.
pub fn span(session: &Session, read: &LogRead, action: &str) -> Result<Span, Refusal> {
    let memory = session.memory();
    let Some((window, until_ms)) = memory.windows.of(action) else {
        let message =
            format!("no action {action:.80?} was sent to {}, or too many came after it", session.id());
        return Err(Refusal::argument(message, "use the action_id of an answer, or since_seconds"));
    };
    let Some(device_now_ms) = read.now_ms else {
        let message = "the device does not tell what its clock says";
        return Err(Failure::new(Cause::Unread, message).into());
    };
    let now_ms = session.now_ms();
    let on_device = |host_ms: u64| device_now_ms.saturating_sub(now_ms.saturating_sub(host_ms));
    let to_ms = until_ms.filter(|until| *until < now_ms).map_or(device_now_ms + 1000, on_device);
    Ok(Span { from_ms: on_device(window.sent_ms), to_ms })
}

fn limit(params: &GetLogsParams) -> Result<usize, Refusal> {
    let default = if params.action_id.is_some() { RELATED_LIMIT_DEFAULT } else { LIMIT_DEFAULT };
    let limit = params.limit.or(params.lines).unwrap_or(default);
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
        (Some(time), Some(now)) => now.saturating_sub(time) as f64 <= seconds * 1000.0,
        _ => true,
    };
    params.app_id.as_ref().is_none_or(of_app)
        && params.pid.is_none_or(|pid| entry.pid == Some(pid))
        && params.tag.as_ref().is_none_or(|tag| is_tagged(&entry.tag, tag))
        && params.level.is_none_or(|level| entry.level >= LogLevel::from(level))
        && params.contains.as_ref().is_none_or(|part| entry.message.contains(part.as_str()))
        && params.since_seconds.is_none_or(recent)
}

/// Of iOS a tag has two parts, `subsystem:category`; either the whole is asked for or the category.
fn is_tagged(tag: &str, asked: &str) -> bool {
    tag == asked || tag.rsplit_once(':').is_some_and(|(_, category)| category == asked)
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
        check(r#"{"since_seconds":9.9}"#, &line, &read, false);
        check(r#"{"app_id":"com.x"}"#, &line, &read, true);
        let stopped = LogRead { app_pids: vec![], ..read };
        check(r#"{"app_id":"com.x"}"#, &line, &stopped, false);
        let crashed = LogRead { past_pids: vec![7], ..stopped };
        check(r#"{"app_id":"com.x"}"#, &line, &crashed, true);
    }
}
