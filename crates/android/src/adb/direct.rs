//! One connection to an adbd with many streams.

use std::collections::BTreeMap;
use std::io;
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, ready};
use std::time::Duration;

use bytes::{Buf, Bytes, BytesMut};
use mdm_wire::adb::banner::Banner;
use mdm_wire::adb::frame::{Command, Frame};
use mdm_wire::adb::{PAYLOAD_BYTES_MAX, VERSION_SKIP_CHECKSUM, WireError, auth};
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt, ReadBuf};
use tokio::sync::{mpsc, oneshot};
use tokio_util::sync::{CancellationToken, DropGuard};

use super::Features;
use super::error::AdbError;
use super::key::HostKey;

/// A byte stream in both directions: a TCP connection, or a pipe to a phone in this process.
pub trait Transport: AsyncRead + AsyncWrite + Unpin + Send {}
impl<T: AsyncRead + AsyncWrite + Unpin + Send> Transport for T {}

/// Streams that may be open on one connection.
const STREAMS_MAX: usize = 256;
/// Limit for each answer of the device during the handshake.
const HANDSHAKE_TIMEOUT: Duration = Duration::from_secs(3);
/// Unread frames that are kept per stream. The protocol allows one unacknowledged WRITE; a device that sends more loses
/// the stream.
const UNREAD_FRAMES_MAX: usize = 2;
/// Frames that wait to be written. A stream has at most one OPEN or WRITE, one OKAY and one CLOSE of them, so that only
/// a device that does not read, or answers what nobody asked, comes near it. It loses the connection (F62).
const UNSENT_FRAMES_MAX: usize = 4 * STREAMS_MAX;
/// Frames for streams that are not open, between two streams that are opened. An honest device sends a few, for streams
/// that were closed while its frame was on the way.
const STRAY_FRAMES_MAX: u32 = 1024;
/// A device that takes no byte for so long is stuck; the next call connects again.
const WRITE_STALL_MAX: Duration = Duration::from_secs(10);
/// Challenges of one handshake: one is answered with a signature, one with the public key.
const AUTH_FRAMES_MAX: u32 = 4;
/// Frames of this size let their reader run before the next frame is read.
const LARGE_FRAME_BYTES: usize = 16 * 1024;
/// Features of this client; a device uses only those that both sides have.
const FEATURES: &str = "shell_v2,cmd,stat_v2,ls_v2,fixed_push_mkdir,abb,abb_exec";

/// Local destinations that a device may connect to, from earlier `reverse` requests.
type ReverseTargets = Mutex<Vec<String>>;

pub struct Direct {
    shared: Arc<Shared>,
    _stop_tasks: DropGuard,
}

struct Shared {
    banner: Banner,
    payload_bytes_max: usize,
    outgoing: mpsc::Sender<Frame>,
    streams: Mutex<Streams>,
    ended: CancellationToken,
    /// The device broke the protocol, and so ended the connection.
    broke_rules: AtomicBool,
    reverse_targets: ReverseTargets,
}

#[derive(Default)]
struct Streams {
    next_id: u32,
    stray_frames: u32,
    open: BTreeMap<u32, Entry>,
}

struct Entry {
    data: mpsc::Sender<Bytes>,
    acks: mpsc::Sender<()>,
    /// Present until the device answers the OPEN.
    opened: Option<oneshot::Sender<u32>>,
}

impl Direct {
    /// Connects to the device and authenticates with `key` if the device asks for it.
    pub async fn handshake(mut io: Box<dyn Transport>, key: &HostKey) -> Result<Direct, AdbError> {
        let mut input = BytesMut::new();
        let banner = format!("host::features={FEATURES}");
        send(&mut io, Frame::new(Command::Connect, VERSION_SKIP_CHECKSUM, PAYLOAD_BYTES_MAX, banner)).await?;
        let (mut signed, mut offered) = (false, false);
        for _ in 0..=AUTH_FRAMES_MAX {
            let frame = match tokio::time::timeout(HANDSHAKE_TIMEOUT, receive(&mut io, &mut input)).await {
                Ok(frame) => frame?,
                // No answer after the public key means that nobody has accepted it on the screen.
                Err(_) if offered => {
                    return Err(AdbError::Unauthorized(
                        "the device has not accepted this computer's key".to_owned(),
                    ));
                }
                Err(_) => return Err(AdbError::Unreachable("the device does not answer".to_owned())),
            };
            match frame.command {
                Command::Connect => return Ok(Direct::start(io, input, &frame)),
                Command::Auth if frame.arg0 == auth::TOKEN && !offered => {
                    let signature = if signed { None } else { key.sign(&frame.payload).await };
                    signed = true;
                    let (kind, answer) = match signature {
                        Some(signature) => (auth::SIGNATURE, signature),
                        None => (auth::PUBLIC_KEY, key.public().await?),
                    };
                    offered = kind == auth::PUBLIC_KEY;
                    send(&mut io, Frame::new(Command::Auth, kind, 0, answer)).await?;
                }
                // It has all that there is; somebody may still accept the key on its screen.
                Command::Auth if frame.arg0 == auth::TOKEN => {}
                Command::StartTls => {
                    let text = "the device wants TLS (wireless debugging): pair it with `adb pair` and use the adb server";
                    return Err(AdbError::Unauthorized(text.to_owned()));
                }
                other => return Err(AdbError::Protocol(format!("{other:?} before the connection was made"))),
            }
        }
        Err(AdbError::Unauthorized("the device asks for a key again and again".to_owned()))
    }

    fn start(io: Box<dyn Transport>, input: BytesMut, connect: &Frame) -> Direct {
        let (outgoing, frames) = mpsc::channel(UNSENT_FRAMES_MAX);
        let shared = Arc::new(Shared {
            banner: Banner::parse(&connect.payload),
            payload_bytes_max: connect.arg1.clamp(1, PAYLOAD_BYTES_MAX) as usize,
            outgoing,
            streams: Mutex::default(),
            ended: CancellationToken::new(),
            broke_rules: AtomicBool::new(false),
            reverse_targets: Mutex::default(),
        });
        let (reader, writer) = tokio::io::split(io);
        tokio::spawn(write_frames(writer, frames, shared.ended.clone()));
        tokio::spawn(read_frames(reader, input, Arc::clone(&shared)));
        let stop = shared.ended.clone().drop_guard();
        Direct { shared, _stop_tasks: stop }
    }

    pub fn is_alive(&self) -> bool {
        !self.shared.ended.is_cancelled()
    }

    /// True if the connection ended because the device broke the protocol.
    pub fn broke_rules(&self) -> bool {
        self.shared.broke_rules.load(Ordering::Relaxed)
    }

    pub fn features(&self) -> Features {
        Features::from_list(|name| self.shared.banner.has_feature(name))
    }

    /// Allows the device to open `target` (`tcp:N`) on this machine, for a reverse forward.
    pub fn allow_reverse(&self, target: &str) {
        let mut targets = lock(&self.shared.reverse_targets);
        if targets.len() < STREAMS_MAX && !targets.iter().any(|t| t == target) {
            targets.push(target.to_owned());
        }
    }

    pub async fn open(&self, service: &str) -> Result<DirectStream, AdbError> {
        let (opened, answer) = oneshot::channel();
        // From here on, dropping this future also closes the stream on the device.
        let mut stream = DirectStream::register(&self.shared, Some(opened))?;
        let mut payload = BytesMut::from(service.as_bytes());
        payload.extend_from_slice(b"\0");
        self.shared.send(Frame::new(Command::Open, stream.local, 0, payload));
        match answer.await {
            Ok(remote) => stream.remote = remote,
            Err(_) if self.is_alive() => {
                return Err(AdbError::Refused(format!("the device closed {}", service_name(service))));
            }
            Err(_) => return Err(AdbError::Lost("while a service was being opened".to_owned())),
        }
        Ok(stream)
    }
}

/// Returns the part before the first colon, because the rest may be long and may hold typed text.
fn service_name(service: &str) -> &str {
    service.split(':').next().unwrap_or(service)
}

impl Shared {
    fn send(&self, frame: Frame) {
        // A connection that has ended is detected by every stream itself.
        if let Err(mpsc::error::TrySendError::Full(_)) = self.outgoing.try_send(frame) {
            self.ended.cancel();
        }
    }

    fn streams(&self) -> MutexGuard<'_, Streams> {
        lock(&self.streams)
    }

    fn handle(self: &Arc<Self>, frame: Frame) -> Result<(), WireError> {
        let (remote, local) = (frame.arg0, frame.arg1);
        match frame.command {
            Command::Okay => self.handle_okay(local, remote),
            Command::Write => match self.deliver(local, frame.payload) {
                Delivery::Taken => Ok(()),
                Delivery::TooMuch => {
                    self.send(Frame::new(Command::Close, local, remote, Bytes::new()));
                    Ok(())
                }
                Delivery::NobodyReads => {
                    self.send(Frame::new(Command::Close, local, remote, Bytes::new()));
                    self.streams().count_stray()
                }
            },
            Command::Close => {
                let mut streams = self.streams();
                if streams.open.remove(&local).is_some() { Ok(()) } else { streams.count_stray() }
            }
            Command::Open => self.accept_reverse(remote, &frame.payload),
            other => Err(WireError(format!("{other:?} in the middle of a connection"))),
        }
    }

    fn handle_okay(&self, local: u32, remote: u32) -> Result<(), WireError> {
        let mut streams = self.streams();
        let expected = streams.open.get_mut(&local).is_some_and(|entry| match entry.opened.take() {
            Some(opened) => opened.send(remote).is_ok(),
            None => entry.acks.try_send(()).is_ok(),
        });
        // A second OKAY for one WRITE is a fault of the device; a few of them are ignored.
        if expected { Ok(()) } else { streams.count_stray() }
    }

    fn deliver(&self, local: u32, payload: Bytes) -> Delivery {
        let mut streams = self.streams();
        let Some(entry) = streams.open.get(&local) else { return Delivery::NobodyReads };
        if entry.data.try_send(payload).is_ok() {
            return Delivery::Taken;
        }
        streams.open.remove(&local);
        Delivery::TooMuch
    }

    /// Accepts a connection from the device, if a reverse forward allows its target.
    fn accept_reverse(self: &Arc<Self>, remote: u32, payload: &[u8]) -> Result<(), WireError> {
        let target = String::from_utf8_lossy(payload).trim_end_matches('\0').to_owned();
        let allowed = lock(&self.reverse_targets).contains(&target);
        let stream = if allowed { DirectStream::register(self, None).ok() } else { None };
        let Some(mut stream) = stream else {
            self.send(Frame::new(Command::Close, 0, remote, Bytes::new()));
            return self.streams().count_stray();
        };
        stream.remote = remote;
        let shared = Arc::clone(self);
        tokio::spawn(async move {
            // If the target cannot be reached, dropping the stream closes it on the device.
            if let Ok(local) = super::forward::connect_target(&target).await {
                shared.send(Frame::new(Command::Okay, stream.local, remote, Bytes::new()));
                super::forward::pump(local, stream).await;
            }
        });
        Ok(())
    }
}

/// What became of the bytes that a device wrote to a stream.
enum Delivery {
    Taken,
    /// The device ignores flow control; the stream is closed.
    TooMuch,
    NobodyReads,
}

impl Streams {
    fn count_stray(&mut self) -> Result<(), WireError> {
        self.stray_frames += 1;
        if self.stray_frames <= STRAY_FRAMES_MAX {
            return Ok(());
        }
        Err(WireError(format!("{STRAY_FRAMES_MAX} frames for streams that are not open")))
    }
}

/// The client's end of one service. Dropping it closes the service on the device.
pub struct DirectStream {
    shared: Arc<Shared>,
    local: u32,
    remote: u32,
    data: mpsc::Receiver<Bytes>,
    acks: mpsc::Receiver<()>,
    pending: Bytes,
    may_write: bool,
}

impl DirectStream {
    fn register(
        shared: &Arc<Shared>,
        opened: Option<oneshot::Sender<u32>>,
    ) -> Result<DirectStream, AdbError> {
        let (data_sender, data) = mpsc::channel(UNREAD_FRAMES_MAX);
        let (acks_sender, acks) = mpsc::channel(1);
        let mut streams = shared.streams();
        if shared.ended.is_cancelled() {
            return Err(AdbError::Unreachable("the connection has ended".to_owned()));
        }
        if streams.open.len() >= STREAMS_MAX {
            return Err(AdbError::Refused(format!("{STREAMS_MAX} streams are open already")));
        }
        let local = loop {
            streams.next_id = streams.next_id.wrapping_add(1).max(1);
            if !streams.open.contains_key(&streams.next_id) {
                break streams.next_id;
            }
        };
        streams.stray_frames = 0;
        streams.open.insert(local, Entry { data: data_sender, acks: acks_sender, opened });
        drop(streams);
        let shared = Arc::clone(shared);
        Ok(DirectStream { shared, local, remote: 0, data, acks, pending: Bytes::new(), may_write: true })
    }
}

impl Drop for DirectStream {
    fn drop(&mut self) {
        let was_open = self.shared.streams().open.remove(&self.local).is_some();
        if was_open {
            self.shared.send(Frame::new(Command::Close, self.local, self.remote, Bytes::new()));
        }
    }
}

impl AsyncRead for DirectStream {
    fn poll_read(self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        let this = self.get_mut();
        while this.pending.is_empty() {
            match ready!(this.data.poll_recv(cx)) {
                Some(bytes) => {
                    // Acknowledged only when read, so that a fast device cannot fill our memory.
                    this.shared.send(Frame::new(Command::Okay, this.local, this.remote, Bytes::new()));
                    this.pending = bytes;
                }
                // A lost connection must not look like the end of the output.
                None if this.shared.ended.is_cancelled() => {
                    return Poll::Ready(Err(io::ErrorKind::ConnectionReset.into()));
                }
                None => return Poll::Ready(Ok(())),
            }
        }
        let count = this.pending.len().min(buf.remaining());
        buf.put_slice(&this.pending[..count]);
        this.pending.advance(count);
        if this.pending.is_empty() {
            // An empty slice would still keep the whole frame in memory.
            this.pending = Bytes::new();
        }
        Poll::Ready(Ok(()))
    }
}

impl AsyncWrite for DirectStream {
    fn poll_write(self: Pin<&mut Self>, cx: &mut Context<'_>, data: &[u8]) -> Poll<io::Result<usize>> {
        let this = self.get_mut();
        if !this.may_write {
            match ready!(this.acks.poll_recv(cx)) {
                Some(()) => this.may_write = true,
                None => return Poll::Ready(Err(io::ErrorKind::BrokenPipe.into())),
            }
        }
        let count = data.len().min(this.shared.payload_bytes_max);
        if count > 0 {
            let payload = Bytes::copy_from_slice(&data[..count]);
            this.shared.send(Frame::new(Command::Write, this.local, this.remote, payload));
            this.may_write = false;
        }
        Poll::Ready(Ok(count))
    }

    fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    /// Does nothing, because adb has no half-close: dropping the stream closes it.
    fn poll_shutdown(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }
}

async fn write_frames(
    mut writer: tokio::io::WriteHalf<Box<dyn Transport>>,
    mut frames: mpsc::Receiver<Frame>,
    ended: CancellationToken,
) {
    let mut batch = Vec::new();
    let mut buffer = BytesMut::new();
    loop {
        let received = tokio::select! {
            biased;
            () = ended.cancelled() => 0,
            count = frames.recv_many(&mut batch, STREAMS_MAX) => count,
        };
        if received == 0 {
            break;
        }
        buffer.clear();
        batch.drain(..).for_each(|frame| frame.encode(&mut buffer));
        let sending = tokio::time::timeout(WRITE_STALL_MAX, async {
            writer.write_all(&buffer).await?;
            writer.flush().await
        });
        let sent = tokio::select! {
            biased;
            () = ended.cancelled() => break,
            sent = sending => sent,
        };
        if !matches!(sent, Ok(Ok(()))) {
            break;
        }
    }
    ended.cancel();
}

async fn read_frames(
    mut reader: tokio::io::ReadHalf<Box<dyn Transport>>,
    mut input: BytesMut,
    shared: Arc<Shared>,
) {
    loop {
        match Frame::decode(&mut input, PAYLOAD_BYTES_MAX) {
            Ok(Some(frame)) => {
                let is_large = frame.payload.len() >= LARGE_FRAME_BYTES;
                if shared.handle(frame).is_err() {
                    shared.broke_rules.store(true, Ordering::Relaxed);
                    break;
                }
                if is_large {
                    // The stream's reader frees the frame now, so that the next one reuses its memory. New pages for
                    // every frame cost more than copying its bytes.
                    tokio::task::yield_now().await;
                }
                continue;
            }
            Ok(None) => {}
            Err(_) => {
                shared.broke_rules.store(true, Ordering::Relaxed);
                break;
            }
        }
        let count = tokio::select! {
            biased;
            () = shared.ended.cancelled() => break,
            count = reader.read_buf(&mut input) => count,
        };
        if !matches!(count, Ok(1..)) {
            break;
        }
    }
    // `ended` is set before the streams end, so that their readers can see the reason.
    shared.ended.cancel();
    shared.streams().open.clear();
}

async fn send(io: &mut Box<dyn Transport>, frame: Frame) -> Result<(), AdbError> {
    let mut bytes = BytesMut::new();
    frame.encode(&mut bytes);
    io.write_all(&bytes).await.map_err(|e| AdbError::Unreachable(e.to_string()))?;
    io.flush().await.map_err(|e| AdbError::Unreachable(e.to_string()))
}

async fn receive(io: &mut Box<dyn Transport>, input: &mut BytesMut) -> Result<Frame, AdbError> {
    loop {
        if let Some(frame) = Frame::decode(input, PAYLOAD_BYTES_MAX)? {
            return Ok(frame);
        }
        match io.read_buf(input).await {
            Ok(0) => return Err(AdbError::Unreachable("the device closed the connection".to_owned())),
            Ok(_) => {}
            Err(error) => return Err(AdbError::Unreachable(error.to_string())),
        }
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    // No code panics while holding a lock; even then the maps would be valid.
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
