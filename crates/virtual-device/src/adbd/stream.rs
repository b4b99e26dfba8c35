//! One stream of a transport: flow control between a service and the host.

use bytes::{Buf, Bytes, BytesMut};
use mdm_wire::adb::frame::{Command, Frame};
use tokio::io::{AsyncReadExt, AsyncWriteExt, DuplexStream};
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

/// Chunks of a service's output that the host has not taken yet.
pub const OUT_CHUNKS: usize = 4;
/// Frames that a host may send without waiting for an OKAY before the stream is closed.
pub const IN_CHUNKS: usize = 8;
/// Bytes that a bridge reads at once.
const BRIDGE_BYTES: usize = 64 * 1024;

/// Error: the other side is gone.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Closed;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct StreamIds {
    pub local: u32,
    pub remote: u32,
}

/// The two halves of a stream that a service uses.
pub struct StreamIo {
    pub reader: Reader,
    pub writer: Writer,
}

/// Reads what the host wrote, and acknowledges it when the service has taken it.
pub struct Reader {
    pub ids: StreamIds,
    pub inbound: mpsc::Receiver<Bytes>,
    pub frames: mpsc::Sender<Frame>,
    pub rest: BytesMut,
}

impl Reader {
    /// Returns the next bytes, or nothing when the host has closed the stream.
    pub async fn next(&mut self) -> Option<Bytes> {
        if !self.rest.is_empty() {
            return Some(self.rest.split().freeze());
        }
        self.receive().await
    }

    async fn receive(&mut self) -> Option<Bytes> {
        let data = self.inbound.recv().await?;
        let okay = Frame::new(Command::Okay, self.ids.local, self.ids.remote, Bytes::new());
        // A transport that just ended says so at the next receive.
        let _ = self.frames.send(okay).await;
        Some(data)
    }

    /// Reads exactly `length` bytes; the caller has bounded it.
    pub async fn exact(&mut self, length: usize) -> Result<Bytes, Closed> {
        while self.rest.len() < length {
            let more = self.receive().await.ok_or(Closed)?;
            self.rest.extend_from_slice(&more);
        }
        Ok(self.rest.split_to(length).freeze())
    }
}

#[derive(Clone)]
pub struct Writer(pub mpsc::Sender<Bytes>);

impl Writer {
    pub async fn write(&self, data: impl Into<Bytes>) -> Result<(), Closed> {
        let data = data.into();
        if data.is_empty() {
            return Ok(());
        }
        self.0.send(data).await.map_err(|_| Closed)
    }
}

/// Carries a service's output to the host: one WRTE in flight, the next one after its OKAY.
pub struct Pump {
    pub ids: StreamIds,
    pub outbound: mpsc::Receiver<Bytes>,
    pub okays: mpsc::Receiver<()>,
    pub frames: mpsc::Sender<Frame>,
    pub payload_bytes_max: usize,
    pub closed: CancellationToken,
}

impl Pump {
    /// Runs until the service has ended and all its output is sent, or the host has closed the stream. It does not
    /// wait for the last WRTE to be acknowledged: some clients never do that.
    pub async fn run(mut self) {
        let closed = self.closed.clone();
        tokio::select! {
            biased;
            () = closed.cancelled() => {}
            _ = self.carry() => {}
        }
    }

    async fn carry(&mut self) -> Result<(), Closed> {
        let mut in_flight = false;
        while let Some(mut data) = self.outbound.recv().await {
            while data.has_remaining() {
                if in_flight {
                    self.okays.recv().await.ok_or(Closed)?;
                }
                let piece = data.split_to(data.len().min(self.payload_bytes_max));
                let frame = Frame::new(Command::Write, self.ids.local, self.ids.remote, piece);
                self.frames.send(frame).await.map_err(|_| Closed)?;
                in_flight = true;
            }
        }
        Ok(())
    }
}

/// Joins a stream with a byte pipe until either side ends.
pub async fn bridge(mut io: StreamIo, pipe: DuplexStream) {
    let (mut from, mut to) = tokio::io::split(pipe);
    let inward = async {
        while let Some(data) = io.reader.next().await {
            if to.write_all(&data).await.is_err() {
                break;
            }
        }
    };
    let outward = async {
        let mut buffer = BytesMut::with_capacity(BRIDGE_BYTES);
        while let Ok(1..) = from.read_buf(&mut buffer).await {
            if io.writer.write(buffer.split().freeze()).await.is_err() {
                break;
            }
            buffer.reserve(BRIDGE_BYTES);
        }
    };
    tokio::select! {
        biased;
        () = outward => {}
        () = inward => {}
    }
}
