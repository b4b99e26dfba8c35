//! The platform's log.

use super::PortFuture;

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum LogLevel {
    Verbose,
    Debug,
    Info,
    Warn,
    Error,
    Fatal,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LogEntry {
    /// By the device's clock, in milliseconds since 1970; `None` where the device gives no date we can trust.
    pub time_ms: Option<u64>,
    pub pid: Option<u32>,
    pub tid: Option<u32>,
    pub level: LogLevel,
    pub tag: String,
    pub message: String,
}

/// A piece of the platform's log, oldest first.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct LogRead {
    pub entries: Vec<LogEntry>,
    /// What the device's clock said when the log was read.
    pub now_ms: Option<u64>,
    /// The processes of the app that was asked about; empty when it does not run.
    pub app_pids: Vec<u32>,
    /// Processes that were the app's and are gone, as far as the log tells.
    pub past_pids: Vec<u32>,
    /// Older entries exist that were not read.
    pub more: bool,
    /// Older lines that came and were dropped, because the log was larger than the limit.
    pub dropped_lines: usize,
    /// Lines in a format that is not known.
    pub unread_lines: usize,
}

/// What became of the lines of a text: each is one of these.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct LineCounts {
    pub entries: usize,
    /// Lines without a head that go on with the message before them.
    pub continuations: usize,
    /// Headings of the program that wrote the log, and blank lines.
    pub markers: usize,
    /// Lines in a form that is not known.
    pub defects: usize,
}

impl LineCounts {
    pub fn lines(&self) -> usize {
        self.entries + self.continuations + self.markers + self.defects
    }
}

/// A piece of a log that is followed.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct LogBatch {
    pub entries: Vec<LogEntry>,
    /// Processes whose start the log tells, and whose they are.
    pub started: Vec<(u32, String)>,
    /// Lines in a format that is not known.
    pub unread_lines: usize,
}

/// A log that is followed; it ends with its connection.
pub trait LogSource: Send {
    /// Waits for the next entries; `None` when the device ended the log.
    fn next(&mut self) -> PortFuture<'_, Option<LogBatch>>;
}
