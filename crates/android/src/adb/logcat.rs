//! Follows the device's log, line by line.

use std::collections::VecDeque;

use bytes::BytesMut;
use mdm_wire::adb::shell::Packet;

use super::shell::ShellStream;
use super::{Adb, AdbError, Script};

/// Limit of a line; longer ones are cut. logcat writes at most about 4 kB per message.
const LINE_BYTES_MAX: usize = 16 * 1024;

impl Adb {
    /// Follows the log. `script` is a `logcat` command without `-d`.
    pub async fn logcat(&self, script: &Script) -> Result<Logcat, AdbError> {
        Ok(Logcat {
            stream: self.shell_stream(script).await?,
            partial: BytesMut::new(),
            ready: VecDeque::new(),
        })
    }
}

pub struct Logcat {
    stream: ShellStream,
    /// The start of an incomplete line. Chunks end anywhere, even inside a character (W35).
    partial: BytesMut,
    ready: VecDeque<String>,
}

impl Logcat {
    /// Returns the next complete line; `None` if the device ended the stream.
    pub async fn next_line(&mut self) -> Result<Option<String>, AdbError> {
        loop {
            if let Some(line) = self.ready.pop_front() {
                return Ok(Some(line));
            }
            match self.stream.next().await? {
                Some(Packet::Stdout(data)) => self.split(&data),
                Some(Packet::Exit(_)) | None => return Ok(None),
                Some(_) => {}
            }
        }
    }

    fn split(&mut self, data: &[u8]) {
        for piece in data.split_inclusive(|b| *b == b'\n') {
            let room = LINE_BYTES_MAX - self.partial.len();
            self.partial.extend_from_slice(&piece[..piece.len().min(room)]);
            if piece.ends_with(b"\n") {
                let line = self.partial.split();
                let text = String::from_utf8_lossy(&line);
                self.ready.push_back(text.trim_end_matches(['\n', '\r']).to_owned());
            }
        }
    }
}
