//! The log of a simulator: its past, and what comes.

use std::collections::VecDeque;

use mdm_core::port::{DeviceError, DeviceErrorKind, LogBatch, LogEntry, LogSource, PortFuture};
use tokio::io::AsyncReadExt as _;

use super::process::Followed;
use crate::log::{is_heading, parse};

/// Bytes of a line that are kept.
const LINE_BYTES_MAX: usize = 64 * 1024;
const READ_BYTES: usize = 64 * 1024;

/// A log that is followed through a process; it ends when this is dropped.
#[derive(Debug)]
pub struct SimulatorLog {
    process: Followed,
    lines: Lines,
}

impl SimulatorLog {
    pub(super) fn new(process: Followed) -> SimulatorLog {
        SimulatorLog { process, lines: Lines::default() }
    }

    async fn next_batch(&mut self) -> Result<Option<LogBatch>, DeviceError> {
        let mut buffer = vec![0; READ_BYTES];
        loop {
            let read = self.process.stdout.read(&mut buffer).await;
            let count = read.map_err(|error| {
                DeviceError::new(DeviceErrorKind::ConnectionLost, format!("the log cannot be read: {error}"))
            })?;
            if count == 0 {
                return Ok(None);
            }
            self.lines.push(buffer.get(..count).unwrap_or_default());
            let batch = self.lines.take_batch();
            if !batch.entries.is_empty() || batch.unread_lines > 0 {
                return Ok(Some(batch));
            }
        }
    }
}

impl LogSource for SimulatorLog {
    fn next(&mut self) -> PortFuture<'_, Option<LogBatch>> {
        Box::pin(self.next_batch())
    }
}

/// Cuts bytes into lines. What is longer than a line may be is dropped up to its end.
#[derive(Debug, Default)]
pub(crate) struct Lines {
    part: Vec<u8>,
    whole: VecDeque<String>,
}

impl Lines {
    pub fn push(&mut self, bytes: &[u8]) {
        for piece in bytes.split_inclusive(|byte| *byte == b'\n') {
            let room = LINE_BYTES_MAX.saturating_sub(self.part.len());
            let text = piece.strip_suffix(b"\n").unwrap_or(piece);
            self.part.extend_from_slice(text.get(..room).unwrap_or(text));
            if piece.ends_with(b"\n") {
                let line = std::mem::take(&mut self.part);
                self.whole.push_back(String::from_utf8_lossy(&line).into_owned());
            }
        }
    }

    /// Takes the whole lines as entries.
    pub fn take_batch(&mut self) -> LogBatch {
        let mut batch = LogBatch::default();
        for line in self.whole.drain(..) {
            match parse(&line) {
                Some(entry) => batch.entries.push(entry),
                None if is_heading(&line) => {}
                None => continue_last(&mut batch, &line),
            }
        }
        batch
    }
}

/// A line without a head goes on with the message before it.
fn continue_last(batch: &mut LogBatch, line: &str) {
    match batch.entries.last_mut() {
        Some(LogEntry { message, .. }) if message.len() + line.len() < LINE_BYTES_MAX => {
            message.push('\n');
            message.push_str(line);
        }
        _ => batch.unread_lines += 1,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_that_come_in_pieces_are_joined_and_long_ones_cut() {
        let mut lines = Lines::default();
        lines.push(b"2024-01-02 10:11:12.123 Df Shop[1:2] fir");
        assert_eq!(lines.take_batch(), LogBatch::default());
        lines.push(b"st\n  more\nTimestamp   Ty\n2024-01-02 10:11:12.124 E  Shop[1:2] ");
        lines.push(&vec![b'x'; 2 * LINE_BYTES_MAX]);
        lines.push(b"\n");
        let batch = lines.take_batch();
        assert_eq!(batch.entries.len(), 2);
        assert_eq!(batch.entries[0].message, "first\n  more");
        assert!(batch.entries[1].message.len() < LINE_BYTES_MAX);
    }
}
