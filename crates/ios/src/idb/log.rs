//! The simulator's log, line by line as it is written.

use mdm_core::port::{DeviceError, LogBatch, LogSource, PortFuture};
use mdm_wire::idb::{LogRequest, LogResponse};

use super::Idb;
use super::call::{Answers, Method};
use crate::lines::Lines;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LogStyle {
    /// One JSON object a line: the only style that tells subsystem, category and thread apart.
    Ndjson,
    Compact,
    Syslog,
    Default,
}

impl LogStyle {
    fn name(self) -> &'static str {
        match self {
            LogStyle::Ndjson => "ndjson",
            LogStyle::Compact => "compact",
            LogStyle::Syslog => "syslog",
            LogStyle::Default => "default",
        }
    }
}

/// What of the log is told: a simulator writes thousands of lines for debugging in a second.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LeastLevel {
    Info,
    Debug,
}

impl LeastLevel {
    fn name(self) -> &'static str {
        match self {
            LeastLevel::Info => "info",
            LeastLevel::Debug => "debug",
        }
    }
}

impl Idb {
    /// Follows the log from now on. A predicate is one of Apple's `log`. Dropping the result ends it.
    pub async fn log(
        &self,
        style: LogStyle,
        least: LeastLevel,
        predicate: Option<&str>,
    ) -> Result<IdbLog, DeviceError> {
        const LOG: Method = Method::read("log", "follow the log");
        let mut arguments = vec!["--style", style.name(), "--level", least.name()];
        arguments.extend(predicate.into_iter().flat_map(|predicate| ["--predicate", predicate]));
        let request = LogRequest { arguments: arguments.into_iter().map(str::to_owned).collect(), source: 0 };
        Ok(IdbLog { answers: self.follow(LOG, request).await?, lines: Lines::default() })
    }
}

/// A log that is followed.
pub struct IdbLog {
    answers: Answers<LogResponse>,
    lines: Lines,
}

impl IdbLog {
    /// Waits for the next line; nothing when the companion has ended the log. May be dropped while it waits: no line is
    /// lost by that.
    pub async fn next_line(&mut self) -> Result<Option<String>, DeviceError> {
        loop {
            if let Some(line) = self.lines.pop() {
                return Ok(Some(line));
            }
            match self.answers.next().await? {
                Some(answer) => self.lines.push(&answer.output),
                None => return Ok(self.lines.rest()),
            }
        }
    }

    /// Waits for the next entries; nothing when the companion has ended the log.
    pub async fn next_batch(&mut self) -> Result<Option<LogBatch>, DeviceError> {
        while let Some(answer) = self.answers.next().await? {
            self.lines.push(&answer.output);
            let batch = self.lines.take_batch();
            if !batch.entries.is_empty() || batch.unread_lines > 0 {
                return Ok(Some(batch));
            }
        }
        Ok(None)
    }
}

impl LogSource for IdbLog {
    fn next(&mut self) -> PortFuture<'_, Option<LogBatch>> {
        Box::pin(self.next_batch())
    }
}
