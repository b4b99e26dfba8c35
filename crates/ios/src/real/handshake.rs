//! Services that use TLS to prove who is there, and go on without it.

use std::fmt;
use std::io;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll};

use idevice::pairing_file::PairingFile;
use idevice::{Idevice, IdeviceError, ReadWrite};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

use super::LABEL;

type Stream = Box<dyn ReadWrite>;

/// Bytes at the head of each record of TLS; the last two are its length.
const RECORD_HEAD_BYTES: usize = 5;
/// Most bytes that are taken at once.
const CHUNK_BYTES: usize = 16 * 1024;

/// Makes the handshake and returns the connection without TLS.
pub async fn prove(stream: Stream, record: &PairingFile) -> Result<Stream, IdeviceError> {
    let records = Records { stream, head: [0; RECORD_HEAD_BYTES], head_bytes: 0, body_bytes: 0 };
    let lent = Lent(Arc::new(Mutex::new(records)));
    let mut secure = Idevice::new(Box::new(lent.clone()), LABEL);
    secure.start_session(record, false).await?;
    // It says no goodbye, which the phone would take for a message.
    drop(secure);
    let Lent(records) = lent;
    match Arc::try_unwrap(records) {
        Ok(records) => Ok(records.into_inner().unwrap_or_else(PoisonError::into_inner).stream),
        Err(_) => Err(IdeviceError::UnexpectedResponse("the connection is still in use".to_owned())),
    }
}

/// A connection that is lent to TLS for its handshake.
#[derive(Clone)]
struct Lent(Arc<Mutex<Records>>);

/// Hands out one record of TLS at a time: the phone speaks at once after the handshake, and what it says is not for TLS.
struct Records {
    stream: Stream,
    head: [u8; RECORD_HEAD_BYTES],
    /// Bytes of the head that were handed out, and bytes of the body that were not.
    head_bytes: usize,
    body_bytes: usize,
}

impl Lent {
    fn records(&self) -> MutexGuard<'_, Records> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Records {
    fn note(&mut self, read: &[u8]) {
        if self.body_bytes > 0 {
            self.body_bytes -= read.len();
            return;
        }
        self.head[self.head_bytes..self.head_bytes + read.len()].copy_from_slice(read);
        self.head_bytes += read.len();
        if self.head_bytes == RECORD_HEAD_BYTES {
            self.body_bytes = u16::from_be_bytes([self.head[3], self.head[4]]).into();
            self.head_bytes = 0;
        }
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
        let mut records = self.records();
        let wanted = match records.body_bytes {
            0 => RECORD_HEAD_BYTES - records.head_bytes,
            left => left.min(CHUNK_BYTES),
        };
        let mut chunk = vec![0; wanted.min(buffer.remaining())];
        let mut read = ReadBuf::new(&mut chunk);
        match Pin::new(&mut records.stream).poll_read(context, &mut read) {
            Poll::Ready(Ok(())) => {
                records.note(read.filled());
                buffer.put_slice(read.filled());
                Poll::Ready(Ok(()))
            }
            other => other,
        }
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
