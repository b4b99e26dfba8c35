//! Runs commands on the device, with exit code, stdout and stderr, within a size limit.

use bytes::{Bytes, BytesMut};
use mdm_wire::adb::shell::Packet;
use tokio::io::{AsyncReadExt, AsyncWriteExt};

use super::{Adb, AdbError, AdbStream, Script};

/// Limit of stderr that is kept; it is only read by people and by a few string tests.
const STDERR_BYTES_MAX: usize = 64 * 1024;
/// Size of one read. The buffer is reused after earlier packets are dropped.
const READ_BYTES: usize = 64 * 1024;

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Output {
    pub stdout: Bytes,
    /// Empty on devices that cannot separate it from stdout (before Android 7).
    pub stderr: Bytes,
    pub exit_code: u8,
    /// True if the command wrote more than the limit and was closed.
    pub truncated: bool,
}

impl Output {
    pub fn stdout_text(&self) -> String {
        String::from_utf8_lossy(&self.stdout).trim().to_owned()
    }

    /// Returns stderr if it has text, else stdout.
    pub fn message(&self) -> String {
        let stderr = String::from_utf8_lossy(&self.stderr).trim().to_owned();
        if stderr.is_empty() { self.stdout_text() } else { stderr }
    }
}

/// The end of an output that may be longer than is kept.
#[derive(Debug, Default)]
pub struct Newest {
    pub bytes: BytesMut,
    bytes_max: usize,
    /// Whole or cut lines before `bytes`.
    pub dropped_lines: usize,
}

impl Newest {
    pub fn new(bytes_max: usize) -> Newest {
        Newest { bytes_max, ..Newest::default() }
    }

    pub fn push(&mut self, data: &[u8]) {
        self.bytes.extend_from_slice(data);
        // Not with every packet: it moves all bytes that stay.
        if self.bytes.len() > self.bytes_max + self.bytes_max / 8 + READ_BYTES {
            self.drop_oldest();
        }
    }

    /// To be called once, after the last bytes.
    pub fn finish(&mut self) {
        self.drop_oldest();
    }

    /// Keeps whole lines, unless one line is larger than everything that is kept.
    fn drop_oldest(&mut self) {
        let Some(over) = self.bytes.len().checked_sub(self.bytes_max).filter(|over| *over > 0) else {
            return;
        };
        let rest = &self.bytes[over - 1..];
        let cut = memchr::memchr(b'\n', rest).map_or(over, |at| over + at);
        self.dropped_lines += memchr::memchr_iter(b'\n', &self.bytes[..cut]).count();
        self.bytes = BytesMut::from(&self.bytes[cut..]);
    }
}

impl Adb {
    /// Runs a script whose output may be long, and keeps the end of it. The output is lost if the command has no end.
    pub async fn shell_newest(&self, script: &Script, bytes_max: usize) -> Result<Newest, AdbError> {
        let mut newest = Newest::new(bytes_max);
        if self.features().await?.shell_v2 {
            let mut stream = self.shell_stream(script).await?;
            loop {
                match stream.next().await? {
                    Some(Packet::Stdout(data)) => newest.push(&data),
                    Some(Packet::Exit(_)) => break,
                    Some(_) => {}
                    None => return Err(AdbError::Lost("the command's exit code never came".to_owned())),
                }
            }
        } else {
            let mut stream = self.shell_output(script).await?;
            let mut buffer = BytesMut::with_capacity(READ_BYTES);
            while stream.read_buf(&mut buffer).await.map_err(AdbError::lost)? > 0 {
                newest.push(&buffer);
                buffer.clear();
            }
        }
        newest.finish();
        Ok(newest)
    }

    /// Runs a script and waits for its end. Output beyond `stdout_bytes_max` ends the command.
    pub async fn shell(&self, script: &Script, stdout_bytes_max: usize) -> Result<Output, AdbError> {
        if self.features().await?.shell_v2 {
            self.shell_v2(script, stdout_bytes_max).await
        } else {
            self.shell_v1(script, stdout_bytes_max).await
        }
    }

    async fn shell_v2(&self, script: &Script, stdout_bytes_max: usize) -> Result<Output, AdbError> {
        let mut stream = self.shell_stream(script).await?;
        let mut output = Output::default();
        let (mut stdout, mut stderr) = (BytesMut::new(), BytesMut::new());
        loop {
            match stream.next().await? {
                Some(Packet::Stdout(data)) => {
                    let room = stdout_bytes_max - stdout.len();
                    stdout.extend_from_slice(&data[..data.len().min(room)]);
                    output.truncated |= data.len() > room;
                }
                Some(Packet::Stderr(data)) => {
                    let room = STDERR_BYTES_MAX - stderr.len();
                    stderr.extend_from_slice(&data[..data.len().min(room)]);
                }
                Some(Packet::Exit(code)) => {
                    output.exit_code = code;
                    break;
                }
                Some(_) => {}
                // Without an exit code the result of the command is unknown.
                None => return Err(AdbError::Lost("the command's exit code never came".to_owned())),
            }
            if output.truncated {
                break;
            }
        }
        output.stdout = stdout.freeze();
        output.stderr = stderr.freeze();
        Ok(output)
    }

    /// Runs a script on old devices, which have one stream and no exit code. An added last line has the exit code and
    /// proves that the output is complete.
    async fn shell_v1(&self, script: &Script, stdout_bytes_max: usize) -> Result<Output, AdbError> {
        const MARK: &str = "mdm-exit:";
        let wrapped = Script::new("( ").append(script).then(" ); r=$?; echo; echo mdm-exit:$r");
        let text = wrapped.as_str().ok_or(UNSENDABLE)?;
        let mut stream = self.open(&format!("shell:{text}")).await?;
        let (bytes, truncated) = stream.read_to_limit(stdout_bytes_max).await?;
        if truncated {
            return Ok(Output { stdout: bytes, truncated, ..Output::default() });
        }
        let tail = bytes.len().saturating_sub(MARK.len() + 8);
        let lost = || AdbError::Lost("the command's exit code never came".to_owned());
        let end = String::from_utf8_lossy(&bytes[tail..]).into_owned();
        let code = end.rsplit_once(MARK).and_then(|(_, code)| code.trim().parse().ok()).ok_or_else(lost)?;
        let mark = memchr::memmem::rfind(&bytes, MARK.as_bytes()).ok_or_else(lost)?;
        let line_end = if bytes[..mark].ends_with(b"\r\n") { 2 } else { 1 };
        Ok(Output {
            stdout: bytes.slice(..mark.saturating_sub(line_end)),
            exit_code: code,
            ..Output::default()
        })
    }

    /// Starts a script and returns a stream of its packets.
    pub async fn shell_stream(&self, script: &Script) -> Result<ShellStream, AdbError> {
        let text = script.as_str().ok_or(UNSENDABLE)?;
        let stream = self.open(&format!("shell,v2,raw:{text}")).await?;
        Ok(ShellStream { stream, input: BytesMut::new() })
    }

    /// The output of a script on a device whose shell writes nothing else.
    pub async fn shell_output(&self, script: &Script) -> Result<AdbStream, AdbError> {
        let text = script.as_str().ok_or(UNSENDABLE)?;
        self.open(&format!("shell:{text}")).await
    }

    /// Runs a script and returns its raw output without an exit code, for binary data on old devices.
    pub async fn exec(&self, script: &Script, bytes_max: usize) -> Result<(Bytes, bool), AdbError> {
        let text = script.as_str().ok_or(UNSENDABLE)?;
        self.open(&format!("exec:{text}")).await?.read_to_limit(bytes_max).await
    }
}

const UNSENDABLE: AdbError = AdbError::Unsendable("text with a NUL character cannot be sent to a device");

pub struct ShellStream {
    stream: AdbStream,
    input: BytesMut,
}

impl ShellStream {
    /// Writes to the command's standard input, which stays open for as long as this stream.
    pub async fn write_stdin(&mut self, data: &[u8]) -> Result<(), AdbError> {
        let mut out = BytesMut::new();
        Packet::Stdin(Bytes::copy_from_slice(data)).encode(&mut out);
        self.stream.write_all(&out).await.map_err(AdbError::lost)?;
        self.stream.flush().await.map_err(AdbError::lost)
    }

    /// Returns the next packet; `None` if the device closed the stream.
    pub async fn next(&mut self) -> Result<Option<Packet>, AdbError> {
        loop {
            if let Some(packet) = Packet::decode(&mut self.input)? {
                return Ok(Some(packet));
            }
            self.input.reserve(READ_BYTES);
            if self.stream.read_buf(&mut self.input).await.map_err(AdbError::lost)? == 0 {
                return Ok(None);
            }
        }
    }
}
