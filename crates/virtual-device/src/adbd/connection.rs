//! One transport: the handshake, and frames to and from its streams.

use std::collections::BTreeMap;
use std::io;

use bytes::{Bytes, BytesMut};
use mdm_wire::adb::banner::Banner;
use mdm_wire::adb::frame::{Command, Frame};
use mdm_wire::adb::{PAYLOAD_BYTES_LEGACY, PAYLOAD_BYTES_MAX, VERSION_SKIP_CHECKSUM, auth as wire_auth};
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt, WriteHalf};
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

use super::reverse::OpenRequest;
use super::stream::{IN_CHUNKS, Ids, OUT_CHUNKS, Pump, Reader, StreamIo, Writer};
use super::{FEATURES, auth, service};
use crate::phone::Phone;

/// Streams that one transport may have open.
const STREAMS_MAX: usize = 256;
/// Frames that wait to be written.
const OUT_FRAMES: usize = 256;
/// Frames are written together up to this size.
const WRITE_BYTES: usize = 256 * 1024;
/// Failed signatures before the transport is dropped.
const AUTH_TRIES_MAX: u32 = 64;
/// Connections from the phone that wait for the host.
const OPEN_REQUESTS: usize = 16;
const READ_BYTES: usize = 64 * 1024;

/// Speaks to one host until either side ends or `cut` is cancelled.
pub async fn serve<S>(phone: &Phone, socket: S, cut: CancellationToken)
where
    S: AsyncRead + AsyncWrite + Send + 'static,
{
    let (mut reader, writer) = tokio::io::split(socket);
    let ended = cut.child_token();
    let (frames, queue) = mpsc::channel(OUT_FRAMES);
    let writing = tokio::spawn(write_frames(writer, queue, ended.clone()));
    let (requests, opens) = mpsc::channel(OPEN_REQUESTS);
    let (done, finished) = mpsc::unbounded_channel();
    let mut connection = Connection {
        phone: phone.clone(),
        frames,
        requests,
        done,
        ended: ended.clone(),
        streams: BTreeMap::new(),
        opening: BTreeMap::new(),
        next_id: 1,
        payload_bytes_max: PAYLOAD_BYTES_LEGACY,
        token: [0; wire_auth::TOKEN_BYTES],
        tries: 0,
        online: false,
    };
    tokio::select! {
        biased;
        () = ended.cancelled() => {}
        () = connection.run(&mut reader, opens, finished) => {}
    }
    phone.reverse().forget(&connection.requests);
    ended.cancel();
    drop(connection);
    let _ = writing.await;
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

struct Connection {
    phone: Phone,
    frames: mpsc::Sender<Frame>,
    requests: mpsc::Sender<OpenRequest>,
    /// Streams whose service has ended report here, once each.
    done: mpsc::UnboundedSender<u32>,
    ended: CancellationToken,
    streams: BTreeMap<u32, Stream>,
    /// Streams that the phone opened and the host has not answered.
    opening: BTreeMap<u32, OpenRequest>,
    next_id: u32,
    payload_bytes_max: u32,
    token: [u8; wire_auth::TOKEN_BYTES],
    tries: u32,
    online: bool,
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

/// The transport must end.
struct Ended;

impl Connection {
    async fn run<R: AsyncRead + Unpin>(
        &mut self,
        reader: &mut R,
        mut opens: mpsc::Receiver<OpenRequest>,
        mut finished: mpsc::UnboundedReceiver<u32>,
    ) {
        let mut input = BytesMut::new();
        loop {
            // Before the handshake a peer gets only what a handshake needs.
            let limit = if self.online { PAYLOAD_BYTES_MAX } else { PAYLOAD_BYTES_LEGACY };
            match Frame::decode(&mut input, limit) {
                Err(_) => return,
                Ok(Some(frame)) => {
                    if self.handle(frame).await.is_err() {
                        return;
                    }
                    continue;
                }
                Ok(None) => input.reserve(READ_BYTES),
            }
            tokio::select! {
                biased;
                Some(local) = finished.recv() => {
                    if let Some(stream) = self.streams.remove(&local) {
                        self.send(Command::Close, local, stream.remote, Bytes::new()).await;
                    }
                }
                Some(request) = opens.recv() => self.open_to_host(request).await,
                read = reader.read_buf(&mut input) => if matches!(read, Ok(0) | Err(_)) { return },
            }
        }
    }

    async fn send(&self, command: Command, arg0: u32, arg1: u32, payload: impl Into<Bytes>) {
        // A writer that is gone has cancelled the transport already.
        let _ = self.frames.send(Frame::new(command, arg0, arg1, payload)).await;
    }

    async fn handle(&mut self, frame: Frame) -> Result<(), Ended> {
        match frame.command {
            Command::Connect => self.connect(frame).await,
            Command::Auth => self.auth(frame).await?,
            Command::Open if self.online => self.open(frame).await,
            Command::Write if self.online => self.write(frame).await,
            Command::Okay if self.online => self.okay(frame).await,
            Command::Close if self.online => self.close(frame).await,
            Command::Sync
            | Command::StartTls
            | Command::Open
            | Command::Write
            | Command::Okay
            | Command::Close => {}
        }
        Ok(())
    }

    async fn connect(&mut self, frame: Frame) {
        self.streams.clear();
        self.opening.clear();
        self.online = false;
        self.payload_bytes_max = frame.arg1.clamp(1, PAYLOAD_BYTES_MAX);
        if auth::needed(&self.phone) {
            self.ask().await;
        } else {
            self.go_online().await;
        }
    }

    async fn ask(&mut self) {
        self.token = auth::new_token(&self.phone);
        let token = Bytes::copy_from_slice(&self.token);
        self.send(Command::Auth, wire_auth::TOKEN, 0, token).await;
    }

    async fn go_online(&mut self) {
        self.online = true;
        let text = banner(&self.phone).encode();
        self.send(Command::Connect, VERSION_SKIP_CHECKSUM, PAYLOAD_BYTES_MAX, text).await;
    }

    async fn auth(&mut self, frame: Frame) -> Result<(), Ended> {
        if self.online || !auth::needed(&self.phone) {
            return Ok(());
        }
        match frame.arg0 {
            wire_auth::SIGNATURE => {
                self.tries += 1;
                if self.tries > AUTH_TRIES_MAX {
                    return Err(Ended);
                }
                if auth::signature_fits(&self.phone, &self.token, &frame.payload) {
                    self.go_online().await;
                } else {
                    self.ask().await;
                }
            }
            wire_auth::PUBLIC_KEY if auth::offer(&self.phone, &frame.payload) => self.go_online().await,
            _ => {}
        }
        Ok(())
    }

    async fn open(&mut self, frame: Frame) {
        let remote = frame.arg0;
        let name = String::from_utf8_lossy(&frame.payload);
        let name = name.strip_suffix('\0').unwrap_or(&name).to_owned();
        let service = service::find(&self.phone, &name, &self.requests);
        let Some(service) = service.filter(|_| remote != 0 && self.streams.len() < STREAMS_MAX) else {
            return self.send(Command::Close, 0, remote, Bytes::new()).await;
        };
        let (local, io) = self.new_stream(remote);
        self.send(Command::Okay, local, remote, Bytes::new()).await;
        let phone = self.phone.clone();
        // Detached on purpose: a program on the phone outlives the cable.
        tokio::spawn(async move { service.run(&phone, io).await });
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

    fn new_stream(&mut self, remote: u32) -> (u32, StreamIo) {
        let local = self.free_id();
        (local, self.stream(Ids { local, remote }))
    }

    fn stream(&mut self, ids: Ids) -> StreamIo {
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
                self.send(Command::Okay, local, remote, Bytes::new()).await
            }
            // The host did not wait for its OKAY.
            Err(mpsc::error::TrySendError::Full(_)) => {
                self.streams.remove(&local);
                self.send(Command::Close, local, remote, Bytes::new()).await;
            }
        }
    }

    async fn okay(&mut self, frame: Frame) {
        let (remote, local) = (frame.arg0, frame.arg1);
        if let Some(request) = self.opening.remove(&local) {
            let io = self.stream(Ids { local, remote });
            request.accept(io);
            return;
        }
        if let Some(stream) = self.streams.get(&local) {
            // More OKAYs than WRTEs are nonsense and are dropped.
            let _ = stream.okays.try_send(());
        }
    }

    async fn close(&mut self, frame: Frame) {
        let local = frame.arg1;
        if let Some(request) = self.opening.remove(&local) {
            return request.refuse();
        }
        if let Some(stream) = self.streams.remove(&local) {
            self.send(Command::Close, local, stream.remote, Bytes::new()).await;
        }
    }

    async fn open_to_host(&mut self, request: OpenRequest) {
        if !self.online || self.streams.len() + self.opening.len() >= STREAMS_MAX {
            return request.refuse();
        }
        let local = self.free_id();
        self.send(Command::Open, local, 0, format!("{}\0", request.address)).await;
        self.opening.insert(local, request);
    }
}

fn banner(phone: &Phone) -> Banner {
    let property = |key: &str| phone.with(|state| state.properties.get(key).cloned().unwrap_or_default());
    let pair = |key: &str| (key.to_owned(), property(key));
    Banner {
        kind: "device".to_owned(),
        properties: vec![pair("ro.product.name"), pair("ro.product.model"), pair("ro.product.device")],
        features: FEATURES.iter().map(|f| (*f).to_owned()).collect(),
    }
}
