//! The standard streams of a command.

use std::sync::{Arc, Mutex, PoisonError};

use bytes::{Bytes, BytesMut};
use tokio::sync::mpsc;

use crate::phone::Phone;

/// The largest output of `$(…)`.
const CAPTURE_BYTES_MAX: usize = 1024 * 1024;
/// The largest standard input that a command reads as a whole.
pub const INPUT_BYTES_MAX: usize = 256 * 1024 * 1024;
/// Chunks that a pipe holds.
pub const PIPE_CHUNKS: usize = 16;
/// Largest piece of output sent at once.
const CHUNK_BYTES: usize = 256 * 1024;

#[derive(Debug, Clone)]
pub struct Chunk {
    pub stderr: bool,
    pub data: Bytes,
}

/// Error: the reader of the output is gone (SIGPIPE).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BrokenPipe;

/// The exit code of a process that SIGPIPE ended.
pub const BROKEN_EXIT: u8 = 141;

#[derive(Clone)]
pub enum Output {
    Null,
    Channel { sender: mpsc::Sender<Chunk>, stderr: bool },
    File { phone: Phone, path: String },
    Capture(Arc<Mutex<Vec<u8>>>),
}

impl Output {
    pub async fn write(&self, data: impl Into<Bytes>) -> Result<(), BrokenPipe> {
        let mut data: Bytes = data.into();
        match self {
            Output::Null => Ok(()),
            Output::Channel { sender, stderr } => {
                while !data.is_empty() {
                    let piece = data.split_to(data.len().min(CHUNK_BYTES));
                    sender.send(Chunk { stderr: *stderr, data: piece }).await.map_err(|_| BrokenPipe)?;
                }
                Ok(())
            }
            Output::File { phone, path } => phone.with(|state| {
                let now = state.now_s();
                state.fs.append(path, &data, now).map_err(|_| BrokenPipe)
            }),
            Output::Capture(buffer) => {
                let mut buffer = buffer.lock().unwrap_or_else(PoisonError::into_inner);
                let room = CAPTURE_BYTES_MAX.saturating_sub(buffer.len());
                buffer.extend_from_slice(&data[..data.len().min(room)]);
                Ok(())
            }
        }
    }

    /// Resolves when nobody will ever read this output.
    pub async fn closed(&self) {
        match self {
            Output::Channel { sender, .. } => sender.closed().await,
            _ => std::future::pending().await,
        }
    }
}

#[derive(Clone)]
pub struct Input(Arc<tokio::sync::Mutex<Source>>);

struct Source {
    /// Bytes that are read before anything from the channel.
    pending: Bytes,
    receiver: Option<mpsc::Receiver<Chunk>>,
}

impl Input {
    fn new(pending: Bytes, receiver: Option<mpsc::Receiver<Chunk>>) -> Input {
        Input(Arc::new(tokio::sync::Mutex::new(Source { pending, receiver })))
    }

    pub fn empty() -> Input {
        Input::new(Bytes::new(), None)
    }

    pub fn bytes(data: Bytes) -> Input {
        Input::new(data, None)
    }

    pub fn channel(receiver: mpsc::Receiver<Chunk>) -> Input {
        Input::new(Bytes::new(), Some(receiver))
    }

    pub async fn next(&self) -> Option<Bytes> {
        let mut source = self.0.lock().await;
        if !source.pending.is_empty() {
            return Some(std::mem::take(&mut source.pending));
        }
        match &mut source.receiver {
            Some(receiver) => receiver.recv().await.map(|chunk| chunk.data),
            None => None,
        }
    }

    pub async fn read_all(&self) -> Bytes {
        self.read(INPUT_BYTES_MAX).await
    }

    /// Reads up to `wanted` bytes, fewer at the end of the input. Bytes beyond that are dropped.
    pub async fn read(&self, wanted: usize) -> Bytes {
        let mut all = BytesMut::new();
        while all.len() < wanted {
            let Some(chunk) = self.next().await else { break };
            all.extend_from_slice(&chunk);
        }
        all.truncate(wanted);
        all.freeze()
    }

    /// Reads one line without its end, or nothing at the end of the input. What follows can still be read.
    pub async fn line(&self) -> Option<String> {
        let mut all = BytesMut::new();
        loop {
            if let Some(at) = all.iter().position(|b| *b == b'\n') {
                let line = all.split_to(at);
                self.put_back(all.split_off(1).freeze()).await;
                return Some(String::from_utf8_lossy(&line).into_owned());
            }
            match self.next().await {
                Some(chunk) if all.len() < INPUT_BYTES_MAX => all.extend_from_slice(&chunk),
                _ => return (!all.is_empty()).then(|| String::from_utf8_lossy(&all).into_owned()),
            }
        }
    }

    async fn put_back(&self, rest: Bytes) {
        self.0.lock().await.pending = rest;
    }
}

#[derive(Clone)]
pub struct Io {
    pub stdin: Input,
    pub stdout: Output,
    pub stderr: Output,
}
