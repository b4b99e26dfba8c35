//! Follows the device's log, line by line.

use bytes::{Bytes, BytesMut};
use mdm_wire::adb::shell::Packet;
use memchr::memchr_iter;
use tokio::io::AsyncReadExt;

use super::shell::ShellStream;
use super::stream::AdbStream;
use super::{Adb, AdbError, Script};

/// Limit of a line; longer ones are cut. logcat writes at most about 4 kB per message.
const LINE_BYTES_MAX: usize = 16 * 1024;
const READ_BYTES: usize = 64 * 1024;

impl Adb {
    /// Follows the log. `script` is a `logcat` command without `-d`.
    pub async fn logcat(&self, script: &Script) -> Result<Logcat, AdbError> {
        let output = if self.features().await?.shell_v2 {
            Followed::Packets(self.shell_stream(script).await?)
        } else {
            Followed::Bytes(self.shell_output(script).await?)
        };
        Ok(Logcat { output, lines: Lines::default() })
    }
}

enum Followed {
    Packets(ShellStream),
    /// Of a device whose shell writes nothing but its output.
    Bytes(AdbStream),
}

pub struct Logcat {
    output: Followed,
    lines: Lines,
}

impl Logcat {
    /// Waits for more of the log and hands out the lines that are complete by then; false if the device ended the log.
    pub async fn next(&mut self, mut each: impl FnMut(&str)) -> Result<bool, AdbError> {
        loop {
            let Some(data) = self.data().await? else { return Ok(false) };
            if self.lines.split(&data, &mut each) {
                return Ok(true);
            }
        }
    }

    async fn data(&mut self) -> Result<Option<Bytes>, AdbError> {
        match &mut self.output {
            Followed::Packets(stream) => loop {
                match stream.next().await? {
                    Some(Packet::Stdout(data)) => return Ok(Some(data)),
                    Some(Packet::Exit(_)) | None => return Ok(None),
                    Some(_) => {}
                }
            },
            Followed::Bytes(stream) => {
                let mut buffer = BytesMut::with_capacity(READ_BYTES);
                let read = stream.read_buf(&mut buffer).await.map_err(AdbError::lost)?;
                Ok((read > 0).then(|| buffer.freeze()))
            }
        }
    }
}

#[derive(Default)]
struct Lines {
    /// The start of an incomplete line. Chunks end anywhere, even inside a character (W35).
    partial: BytesMut,
}

impl Lines {
    /// True if a line was complete.
    fn split(&mut self, data: &[u8], each: &mut impl FnMut(&str)) -> bool {
        let mut from = 0;
        for end in memchr_iter(b'\n', data) {
            let piece = &data[from..end];
            if self.partial.is_empty() && piece.len() <= LINE_BYTES_MAX {
                hand_out(piece, each);
            } else {
                self.keep(piece);
                hand_out(&self.partial, each);
                self.partial.clear();
            }
            from = end + 1;
        }
        self.keep(&data[from..]);
        from > 0
    }

    fn keep(&mut self, piece: &[u8]) {
        let room = LINE_BYTES_MAX - self.partial.len();
        self.partial.extend_from_slice(&piece[..piece.len().min(room)]);
    }
}

fn hand_out(line: &[u8], each: &mut impl FnMut(&str)) {
    let line = line.strip_suffix(b"\r").unwrap_or(line);
    each(&String::from_utf8_lossy(line));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_whole_wherever_the_pieces_end() {
        // W35
        let text = "one\r\nzwei ä\n\ndrei 😀\nrest";
        for size in 1..text.len() {
            let (mut lines, mut seen) = (Lines::default(), Vec::new());
            for piece in text.as_bytes().chunks(size) {
                lines.split(piece, &mut |line: &str| seen.push(line.to_owned()));
            }
            assert_eq!(seen, ["one", "zwei ä", "", "drei 😀"], "pieces of {size}");
        }
    }

    #[test]
    fn a_line_without_an_end_is_cut() {
        let (mut lines, mut seen) = (Lines::default(), Vec::new());
        for _ in 0..100 {
            lines.split(&[b'x'; 1000], &mut |line: &str| seen.push(line.len()));
        }
        assert_eq!(lines.partial.len(), LINE_BYTES_MAX, "SE-07");
        lines.split(b"y\nshort\n", &mut |line: &str| seen.push(line.len()));
        assert_eq!(seen, [LINE_BYTES_MAX, 5]);
    }
}
