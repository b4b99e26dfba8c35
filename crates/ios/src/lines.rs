//! Puts lines together from pieces that end anywhere.

use std::collections::VecDeque;

use mdm_core::port::{LogBatch, LogEntry};

use crate::log::{is_heading, parse};

/// Bytes of a line that are kept; the rest of a longer one is dropped.
const LINE_BYTES_MAX: usize = 64 * 1024;

#[derive(Debug, Default)]
pub struct Lines {
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
                self.end_line();
            }
        }
    }

    fn end_line(&mut self) {
        let line = String::from_utf8_lossy(&self.part).trim_end_matches('\r').to_owned();
        self.part.clear();
        self.whole.push_back(line);
    }

    /// Takes the next whole line.
    pub fn pop(&mut self) -> Option<String> {
        self.whole.pop_front()
    }

    /// Takes what came after the last end of a line, as one.
    pub fn rest(&mut self) -> Option<String> {
        if !self.part.is_empty() {
            self.end_line();
        }
        self.pop()
    }

    /// Takes the whole lines as entries of the log.
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

    fn read(pieces: &[&[u8]]) -> Vec<String> {
        let mut lines = Lines::default();
        for piece in pieces {
            lines.push(piece);
        }
        let mut all: Vec<String> = std::iter::from_fn(|| lines.pop()).collect();
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
