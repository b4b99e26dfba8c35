//! The simulator's log, line by line as it is written.

use std::collections::VecDeque;

use mdm_core::port::DeviceError;
use mdm_wire::idb::{LogRequest, LogResponse};

use super::Idb;
use super::call::{Answers, Method};

/// Longest line; the rest of a longer one is dropped.
const LINE_BYTES_MAX: usize = 64 * 1024;

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

impl Idb {
    /// Follows the log from now on. A predicate is one of Apple's `log`. Dropping the result ends it.
    pub async fn log(&self, style: LogStyle, predicate: Option<&str>) -> Result<IdbLog, DeviceError> {
        const LOG: Method = Method::read("log", "follow the log");
        let mut arguments = vec!["--style", style.name(), "--level", "debug"];
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
            if let Some(line) = self.lines.whole.pop_front() {
                return Ok(Some(line));
            }
            match self.answers.next().await? {
                Some(answer) => self.lines.add(&answer.output),
                None => return Ok(self.lines.rest()),
            }
        }
    }
}

/// Puts lines together from pieces that end anywhere.
#[derive(Debug, Default)]
struct Lines {
    whole: VecDeque<String>,
    begun: Vec<u8>,
}

impl Lines {
    fn add(&mut self, piece: &[u8]) {
        for part in piece.split_inclusive(|byte| *byte == b'\n') {
            let (text, ends) = match part.split_last() {
                Some((b'\n', text)) => (text, true),
                _ => (part, false),
            };
            let room = LINE_BYTES_MAX.saturating_sub(self.begun.len());
            self.begun.extend_from_slice(&text[..text.len().min(room)]);
            if ends {
                self.end_line();
            }
        }
    }

    fn end_line(&mut self) {
        let line = String::from_utf8_lossy(&self.begun).trim_end_matches('\r').to_owned();
        self.begun.clear();
        self.whole.push_back(line);
    }

    /// What came after the last end of a line.
    fn rest(&mut self) -> Option<String> {
        if !self.begun.is_empty() {
            self.end_line();
        }
        self.whole.pop_front()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(pieces: &[&[u8]]) -> Vec<String> {
        let mut lines = Lines::default();
        for piece in pieces {
            lines.add(piece);
        }
        let mut all: Vec<String> = lines.whole.drain(..).collect();
        all.extend(lines.rest());
        all
    }

    #[test]
    fn lines_are_put_together_wherever_pieces_end() {
        let text = "eins\nzwei ä\r\n\ndrei".as_bytes();
        let expected = ["eins", "zwei ä", "", "drei"];
        for cut in 0..=text.len() {
            assert_eq!(read(&[&text[..cut], &text[cut..]]), expected);
        }
        let bytes: Vec<&[u8]> = text.chunks(1).collect();
        assert_eq!(read(&bytes), expected);
    }

    #[test]
    fn a_line_without_end_is_cut_off() {
        let long = vec![b'x'; LINE_BYTES_MAX + 10];
        let lines = read(&[&long, &long, b"\nnext\n"]);
        assert_eq!((lines[0].len(), lines[1].as_str()), (LINE_BYTES_MAX, "next"));
    }
}
