//! The streams of one transport. Both ends of adb multiplex in the same way, so the phone's daemon and the adb
//! server's face share this.

use std::collections::BTreeMap;
use std::io;

use bytes::{Bytes, BytesMut};
use mdm_wire::adb::frame::{Command, Frame};
use mdm_wire::adb::{PAYLOAD_BYTES_LEGACY, PAYLOAD_BYTES_MAX};
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt, DuplexStream, ReadHalf, WriteHalf};
use tokio::sync::{mpsc, oneshot};
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

use super::stream::{IN_CHUNKS, OUT_CHUNKS, Pump, Reader, StreamIds, StreamIo, Writer, bridge};

/// Streams that one transport may have open.
const STREAMS_MAX: usize = 256;
/// Frames that wait to be written.
const OUT_FRAMES: usize = 256;
/// Frames are written together up to this size.
const WRITE_BYTES: usize = 256 * 1024;
/// Streams that wait to be opened.
const OPEN_REQUESTS: usize = 16;
const READ_BYTES: usize = 64 * 1024;

/// A request on this side to open a stream to a service on the other.
pub struct OpenRequest {
    address: String,
    pipe: DuplexStream,
    answer: oneshot::Sender<bool>,
}

impl OpenRequest {
    fn accept(self, io: StreamIo) {
        if self.answer.send(true).is_ok() {
            tokio::spawn(bridge(io, self.pipe));
        }
    }

    fn refuse(self) {
        let _ = self.answer.send(false);
    }
}

/// Opens a stream over the transport that `requests` belongs to.
pub async fn open(
    requests: &mpsc::Sender<OpenRequest>,
    address: &str,
    buffer_bytes: usize,
) -> io::Result<DuplexStream> {
    let refused = || io::Error::new(io::ErrorKind::ConnectionRefused, "closed");
    let (ours, theirs) = tokio::io::duplex(buffer_bytes);
    let (answer, answered) = oneshot::channel();
    let request = OpenRequest { address: address.to_owned(), pipe: theirs, answer };
    requests.send(request).await.map_err(|_| refused())?;
    match answered.await {
        Ok(true) => Ok(ours),
        Ok(false) | Err(_) => Err(refused()),
    }
}

pub struct Mux<S> {
    reader: ReadHalf<S>,
    input: BytesMut,
    frames: mpsc::Sender<Frame>,
    writing: JoinHandle<()>,
    /// The sender that is given to whoever opens streams.
    pub requests: mpsc::Sender<OpenRequest>,
    opens: mpsc::Receiver<OpenRequest>,
    /// The channel for the id of each stream whose service has ended.
    done: mpsc::UnboundedSender<u32>,
    finished: mpsc::UnboundedReceiver<u32>,
    ended: CancellationToken,
    streams: BTreeMap<u32, Stream>,
    /// Streams that the other side has not answered yet.
    opening: BTreeMap<u32, OpenRequest>,
    next_id: u32,
    /// The largest payload that the other side takes in one frame, in bytes.
    pub payload_bytes_max: u32,
    /// True after the handshake; before it there are no streams.
    pub online: bool,
}

struct Stream {
    remote: u32,
    inbound: mpsc::Sender<Bytes>,
    okays: mpsc::Sender<()>,
    closed: CancellationToken,
}

impl Drop for Stream {
    fn drop(&mut self) {
        self.closed.cancel();
    }
}

impl<S: AsyncRead + AsyncWrite + Send + 'static> Mux<S> {
    /// Starts a transport, which lives until `cut` is cancelled or the socket ends.
    pub fn new(socket: S, cut: &CancellationToken) -> Mux<S> {
        let (reader, writer) = tokio::io::split(socket);
        let ended = cut.child_token();
        let (frames, queue) = mpsc::channel(OUT_FRAMES);
        let writing = tokio::spawn(write_frames(writer, queue, ended.clone()));
        let (requests, opens) = mpsc::channel(OPEN_REQUESTS);
        let (done, finished) = mpsc::unbounded_channel();
        Mux {
            reader,
            input: BytesMut::new(),
            frames,
            writing,
            requests,
            opens,
            done,
            finished,
            ended,
            streams: BTreeMap::new(),
            opening: BTreeMap::new(),
            next_id: 1,
            payload_bytes_max: PAYLOAD_BYTES_LEGACY,
            online: false,
        }
    }

    /// Returns the next frame that does not belong to an open stream, or nothing when the transport has ended.
    pub async fn next(&mut self) -> Option<Frame> {
        let ended = self.ended.clone();
        tokio::select! {
            biased;
            () = ended.cancelled() => None,
            frame = self.receive() => frame,
        }
    }

    async fn receive(&mut self) -> Option<Frame> {
        loop {
            // Before the handshake the limit is that of the first protocol.
            let limit = if self.online { PAYLOAD_BYTES_MAX } else { PAYLOAD_BYTES_LEGACY };
            match Frame::decode(&mut self.input, limit) {
                Err(_) => return None,
                Ok(None) => self.input.reserve(READ_BYTES),
                Ok(Some(frame)) => match frame.command {
                    Command::Write if self.online => self.write(frame).await,
                    Command::Okay if self.online => self.okay(&frame),
                    Command::Close if self.online => self.close(&frame).await,
                    Command::Connect | Command::Auth | Command::Open => return Some(frame),
                    _ => {}
                },
            }
            if self.has_frame() {
                continue;
            }
            tokio::select! {
                biased;
                Some(local) = self.finished.recv() => {
                    if let Some(stream) = self.streams.remove(&local) {
                        self.send(Command::Close, local, stream.remote, Bytes::new()).await;
                    }
                }
                Some(request) = self.opens.recv() => self.open_to_peer(request).await,
                read = self.reader.read_buf(&mut self.input) => if matches!(read, Ok(0) | Err(_)) { return None },
            }
        }
    }

    /// Returns true if the input already holds a whole frame.
    fn has_frame(&self) -> bool {
        const LENGTH_AT: usize = 12;
        match self.input.get(LENGTH_AT..LENGTH_AT + 4) {
            Some(word) => {
                let length = word.iter().rev().fold(0usize, |sum, byte| (sum << 8) | usize::from(*byte));
                self.input.len() >= mdm_wire::adb::frame::HEADER_BYTES.saturating_add(length)
            }
            None => false,
        }
    }

    pub async fn send(&mut self, command: Command, arg0: u32, arg1: u32, payload: impl Into<Bytes>) {
        // A writer that is gone has cancelled the transport already.
        let _ = self.frames.send(Frame::new(command, arg0, arg1, payload)).await;
    }

    /// Closes all streams, because a new handshake begins.
    pub fn reset(&mut self) {
        self.streams.clear();
        self.opening.clear();
        self.online = false;
    }

    pub fn has_room(&self) -> bool {
        self.streams.len() + self.opening.len() < STREAMS_MAX
    }

    /// Answers an OPEN of the other side.
    pub async fn accept(&mut self, remote: u32) -> StreamIo {
        let local = self.free_id();
        let io = self.stream(StreamIds { local, remote });
        self.send(Command::Okay, local, remote, Bytes::new()).await;
        io
    }

    pub async fn end(self) {
        let Mux { ended, writing, .. } = self;
        ended.cancel();
        let _ = writing.await;
    }

    fn free_id(&mut self) -> u32 {
        loop {
            let id = self.next_id;
            self.next_id = self.next_id.checked_add(1).unwrap_or(1);
            if !self.streams.contains_key(&id) && !self.opening.contains_key(&id) {
                return id;
            }
        }
    }

    fn stream(&mut self, ids: StreamIds) -> StreamIo {
        let (inbound, inbound_end) = mpsc::channel(IN_CHUNKS);
        let (outbound, outbound_end) = mpsc::channel(OUT_CHUNKS);
        let (okays, okays_end) = mpsc::channel(IN_CHUNKS);
        let closed = self.ended.child_token();
        let pump = Pump {
            ids,
            outbound: outbound_end,
            okays: okays_end,
            frames: self.frames.clone(),
            payload_bytes_max: self.payload_bytes_max as usize,
            closed: closed.clone(),
        };
        let done = self.done.clone();
        tokio::spawn(async move {
            pump.run().await;
            let _ = done.send(ids.local);
        });
        self.streams.insert(ids.local, Stream { remote: ids.remote, inbound, okays, closed });
        let reader = Reader { ids, inbound: inbound_end, frames: self.frames.clone(), rest: BytesMut::new() };
        StreamIo { reader, writer: Writer(outbound) }
    }

    async fn write(&mut self, frame: Frame) {
        let (remote, local) = (frame.arg0, frame.arg1);
        let Some(stream) = self.streams.get(&local).filter(|s| s.remote == remote) else {
            return self.send(Command::Close, 0, remote, Bytes::new()).await;
        };
        match stream.inbound.try_send(frame.payload) {
            Ok(()) => {}
            // A service that does not read any more, such as a finished shell: its output still goes out.
            Err(mpsc::error::TrySendError::Closed(_)) => {
                self.send(Command::Okay, local, remote, Bytes::new()).await;
            }
            // The other side did not wait for its OKAY.
            Err(mpsc::error::TrySendError::Full(_)) => {
                self.streams.remove(&local);
                self.send(Command::Close, local, remote, Bytes::new()).await;
            }
        }
    }

    fn okay(&mut self, frame: &Frame) {
        let (remote, local) = (frame.arg0, frame.arg1);
        if let Some(request) = self.opening.remove(&local) {
            let io = self.stream(StreamIds { local, remote });
            return request.accept(io);
        }
        if let Some(stream) = self.streams.get(&local) {
            // More OKAYs than WRTEs are nonsense and are dropped.
            let _ = stream.okays.try_send(());
        }
    }

    async fn close(&mut self, frame: &Frame) {
        let local = frame.arg1;
        if let Some(request) = self.opening.remove(&local) {
            return request.refuse();
        }
        if let Some(stream) = self.streams.remove(&local) {
            self.send(Command::Close, local, stream.remote, Bytes::new()).await;
        }
    }

    async fn open_to_peer(&mut self, request: OpenRequest) {
        if !self.online || !self.has_room() {
            return request.refuse();
        }
        let local = self.free_id();
        self.send(Command::Open, local, 0, format!("{}\0", request.address)).await;
        self.opening.insert(local, request);
    }
}

async fn write_frames<S: AsyncWrite>(
    mut socket: WriteHalf<S>,
    mut queue: mpsc::Receiver<Frame>,
    ended: CancellationToken,
) {
    let write = async {
        let mut out = BytesMut::new();
        while let Some(frame) = queue.recv().await {
            frame.encode(&mut out);
            while out.len() < WRITE_BYTES
                && let Ok(frame) = queue.try_recv()
            {
                frame.encode(&mut out);
            }
            socket.write_all(&out).await?;
            socket.flush().await?;
            out.clear();
        }
        io::Result::Ok(())
    };
    tokio::select! {
        biased;
        () = ended.cancelled() => {}
        _ = write => ended.cancel(),
    }
}
