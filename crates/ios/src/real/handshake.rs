//! Services that use TLS to prove who is there, and go on without it.

use std::fmt;
use std::io;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, ready};

use idevice::pairing_file::PairingFile;
use idevice::{Idevice, IdeviceError, ReadWrite};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

use super::LABEL;

type Stream = Box<dyn ReadWrite>;

/// Bytes at the head of each record of TLS: its type, two of a version, two of its length.
const RECORD_HEAD_BYTES: usize = 5;
const RECORD_TYPES: std::ops::RangeInclusive<u8> = 20..=23;
/// Most bytes that are taken at once.
const CHUNK_BYTES: usize = 16 * 1024;

/// Makes the handshake and returns the connection without TLS, and what the phone has said on it already.
pub async fn prove(stream: Stream, record: &PairingFile) -> Result<(Stream, Vec<u8>), IdeviceError> {
    let records = Records { stream, head: Vec::new(), handed_out: 0, body_bytes: 0, is_over: false };
    let lent = Lent(Arc::new(Mutex::new(records)));
    let mut secure = Idevice::new(Box::new(lent.clone()), LABEL);
    secure.start_session(record, false).await?;
    // It says no goodbye, which the phone would take for a message.
    drop(secure);
    let Lent(records) = lent;
    match Arc::try_unwrap(records) {
        Ok(records) => {
            let records = records.into_inner().unwrap_or_else(PoisonError::into_inner);
            Ok((records.stream, records.head))
        }
        Err(_) => Err(IdeviceError::UnexpectedResponse("the connection is still in use".to_owned())),
    }
}

/// A connection that is lent to TLS for its handshake.
#[derive(Clone)]
struct Lent(Arc<Mutex<Records>>);

/// Hands out records of TLS and nothing else: the phone speaks at once after the handshake, and TLS reads whatever comes.
struct Records {
    stream: Stream,
    /// The head of a record as it comes, and how much of it was handed out.
    head: Vec<u8>,
    handed_out: usize,
    /// Bytes of the body that were not handed out.
    body_bytes: usize,
    /// What came is no record of TLS.
    is_over: bool,
}

impl Lent {
    fn records(&self) -> MutexGuard<'_, Records> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Records {
    /// Reads at most so many bytes.
    fn poll_some(&mut self, context: &mut Context<'_>, bytes: usize) -> Poll<io::Result<Vec<u8>>> {
        let mut chunk = vec![0; bytes];
        let mut read = ReadBuf::new(&mut chunk);
        ready!(Pin::new(&mut self.stream).poll_read(context, &mut read))?;
        let read = read.filled().len();
        chunk.truncate(read);
        Poll::Ready(Ok(chunk))
    }

    fn poll_record(&mut self, context: &mut Context<'_>, buffer: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        if self.body_bytes > 0 {
            let wanted = self.body_bytes.min(CHUNK_BYTES).min(buffer.remaining());
            let body = ready!(self.poll_some(context, wanted))?;
            self.body_bytes -= body.len();
            buffer.put_slice(&body);
            return Poll::Ready(Ok(()));
        }
        while self.head.len() < RECORD_HEAD_BYTES {
            let more = ready!(self.poll_some(context, RECORD_HEAD_BYTES - self.head.len()))?;
            if more.is_empty() {
                return Poll::Ready(Ok(()));
            }
            self.head.extend(more);
        }
        if !RECORD_TYPES.contains(&self.head[0]) {
            return self.wait_in_vain(context);
        }
        let rest = &self.head[self.handed_out..];
        let rest = &rest[..rest.len().min(buffer.remaining())];
        buffer.put_slice(rest);
        self.handed_out += rest.len();
        if self.handed_out == RECORD_HEAD_BYTES {
            self.body_bytes = u16::from_be_bytes([self.head[3], self.head[4]]).into();
            self.head.clear();
            self.handed_out = 0;
        }
        Poll::Ready(Ok(()))
    }

    /// A handshake that is over asks no second time.
    fn wait_in_vain(&mut self, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        if std::mem::replace(&mut self.is_over, true) {
            return Poll::Ready(Err(io::Error::other("the phone broke off the handshake")));
        }
        context.waker().wake_by_ref();
        Poll::Pending
    }
}

impl fmt::Debug for Lent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Lent")
    }
}

impl AsyncRead for Lent {
    fn poll_read(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        self.records().poll_record(context, buffer)
    }
}

impl AsyncWrite for Lent {
    fn poll_write(self: Pin<&mut Self>, context: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.records().stream).poll_write(context, bytes)
    }

    fn poll_flush(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.records().stream).poll_flush(context)
    }

    fn poll_shutdown(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.records().stream).poll_shutdown(context)
    }
}
