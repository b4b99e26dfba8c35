//! The words between the script's program and the phone: a request, then pieces of output and the exit code.

use std::io;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};
use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _, ReadHalf, WriteHalf};

/// Largest request.
pub const REQUEST_BYTES_MAX: u32 = 1024 * 1024;
/// Most standard input that is taken.
pub const INPUT_BYTES_MAX: u32 = 4 * 1024 * 1024;
/// Largest piece of output.
pub const PIECE_BYTES_MAX: u32 = 64 * 1024 * 1024;

/// What the script was called with.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Request {
    pub arguments: Vec<String>,
    /// Where it was called: relative paths mean files there.
    pub folder: PathBuf,
}

/// The first byte of a piece that the phone sends; the length of four bytes and the content follow.
pub const STDOUT: u8 = 1;
pub const STDERR: u8 = 2;
/// The content is the exit code.
pub const EXIT: u8 = 3;
/// Asks for the standard input, which comes with its length in front.
pub const WANT_INPUT: u8 = 4;

/// The phone's end of one call.
pub struct Session<S> {
    reader: ReadHalf<S>,
    writer: WriteHalf<S>,
}

impl<S: AsyncRead + AsyncWrite> Session<S> {
    pub fn new(stream: S) -> Session<S> {
        let (reader, writer) = tokio::io::split(stream);
        Session { reader, writer }
    }

    pub async fn request(&mut self) -> io::Result<Request> {
        let bytes = self.sized(REQUEST_BYTES_MAX).await?;
        serde_json::from_slice(&bytes).map_err(io::Error::from)
    }

    pub async fn input(&mut self) -> io::Result<Vec<u8>> {
        self.piece(WANT_INPUT, &[]).await?;
        self.sized(INPUT_BYTES_MAX).await
    }

    pub async fn piece(&mut self, kind: u8, content: &[u8]) -> io::Result<()> {
        let length = u32::try_from(content.len()).ok().filter(|length| *length <= PIECE_BYTES_MAX);
        let length = length.ok_or_else(|| io::Error::other("too much output"))?;
        self.writer.write_u8(kind).await?;
        self.writer.write_u32(length).await?;
        self.writer.write_all(content).await?;
        self.writer.flush().await
    }

    /// Ends when the caller goes away.
    pub async fn gone(&mut self) {
        let mut rest = [0; 64];
        while self.reader.read(&mut rest).await.is_ok_and(|count| count > 0) {}
    }

    async fn sized(&mut self, most: u32) -> io::Result<Vec<u8>> {
        let length = self.reader.read_u32().await?;
        if length > most {
            return Err(io::Error::other("too long"));
        }
        let mut bytes = vec![0; length as usize];
        self.reader.read_exact(&mut bytes).await?;
        Ok(bytes)
    }
}
