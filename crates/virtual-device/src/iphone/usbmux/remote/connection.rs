//! The phone's end of a RemoteXPC connection: messages in frames of HTTP/2, on two streams.

use std::collections::{BTreeMap, VecDeque};
use std::io;

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};

use super::xpc::{self, Message, Xpc};
use crate::iphone::usbmux::Wire;

const PREFACE: &[u8] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";
/// Requests and announcements.
pub const ROOT: u32 = 1;
/// Answers to requests.
pub const ANSWERS: u32 = 3;
/// What remoted of a real phone grants.
const STREAMS_MAX: u32 = 100;
const WINDOW_BYTES: u32 = 1024 * 1024;
const WINDOW_DEFAULT: i64 = 65_535;
/// Largest frame that is sent, and that is taken.
const FRAME_BYTES: usize = 16_384;
const FRAME_BYTES_MAX: usize = 16 * 1024 * 1024;
/// Bytes of a message that is not whole, and messages that wait to be read.
const PENDING_BYTES_MAX: usize = 32 * 1024 * 1024;
const WAITING_MAX: usize = 10_000;

mod frame {
    pub const DATA: u8 = 0;
    pub const HEADERS: u8 = 1;
    pub const SETTINGS: u8 = 4;
    pub const PING: u8 = 6;
    pub const GO_AWAY: u8 = 7;
    pub const WINDOW_UPDATE: u8 = 8;
    pub const ACK: u8 = 1;
    pub const END_HEADERS: u8 = 4;
    pub const STREAMS_MAX: u16 = 3;
    pub const WINDOW_INITIAL: u16 = 4;
}

pub struct Connection<S> {
    stream: S,
    /// What of each stream's next message has come.
    partial: BTreeMap<u32, Vec<u8>>,
    waiting: VecDeque<(u32, Message)>,
    opened: Vec<u32>,
    /// Bytes that the client still takes: altogether, and on each stream.
    window: i64,
    windows: BTreeMap<u32, i64>,
    window_initial: i64,
    is_begun: bool,
    has_answers: bool,
}

impl<S: Wire> Connection<S> {
    /// Takes a client's greeting; the connection is ready when both of its streams are open.
    pub async fn accept(stream: S) -> io::Result<Connection<S>> {
        let mut connection = Connection {
            stream,
            partial: BTreeMap::new(),
            waiting: VecDeque::new(),
            opened: Vec::new(),
            window: WINDOW_DEFAULT,
            windows: BTreeMap::new(),
            window_initial: WINDOW_DEFAULT,
            is_begun: false,
            has_answers: false,
        };
        let mut preface = [0; PREFACE.len()];
        connection.stream.read_exact(&mut preface).await?;
        if preface != *PREFACE {
            return Err(io::Error::other("no HTTP/2"));
        }
        let mut settings = Vec::new();
        for (name, value) in [(frame::STREAMS_MAX, STREAMS_MAX), (frame::WINDOW_INITIAL, WINDOW_BYTES)] {
            settings.extend(name.to_be_bytes());
            settings.extend(value.to_be_bytes());
        }
        connection.write(frame::SETTINGS, 0, 0, &settings).await?;
        let more = WINDOW_BYTES - WINDOW_DEFAULT as u32;
        connection.write(frame::WINDOW_UPDATE, 0, 0, &more.to_be_bytes()).await?;
        while !connection.is_begun || !connection.has_answers {
            connection.pump().await?;
        }
        Ok(connection)
    }

    /// The next message with a body on the stream of requests.
    pub async fn next(&mut self) -> io::Result<(Message, Xpc)> {
        loop {
            while let Some((stream, mut message)) = self.waiting.pop_front() {
                let body = message.body.take().filter(|body| *body != Xpc::Dictionary(Vec::new()));
                if let (ROOT, Some(body)) = (stream, body) {
                    return Ok((message, body));
                }
            }
            self.pump().await?;
        }
    }

    pub async fn send(&mut self, stream: u32, message: &Message) -> io::Result<()> {
        if !self.opened.contains(&stream) {
            self.opened.push(stream);
            self.write(frame::HEADERS, frame::END_HEADERS, stream, &[]).await?;
        }
        let bytes = message.encode();
        for part in bytes.chunks(FRAME_BYTES) {
            let length = part.len() as i64;
            while self.window < length || self.window_of(stream) < length {
                self.pump().await?;
            }
            self.window -= length;
            *self.windows.entry(stream).or_insert(self.window_initial) -= length;
            self.write(frame::DATA, 0, stream, part).await?;
        }
        Ok(())
    }

    /// Answers a request with a dictionary.
    pub async fn answer(&mut self, request: &Message, body: Xpc) -> io::Result<()> {
        let flags = xpc::ALWAYS | xpc::DATA | xpc::REPLY;
        self.send(ANSWERS, &Message { flags, number: request.number, body: Some(body) }).await
    }

    /// Tells something on the stream of requests without being asked.
    pub async fn tell(&mut self, body: Xpc) -> io::Result<()> {
        let flags = xpc::ALWAYS | xpc::DATA;
        self.send(ROOT, &Message { flags, number: 1, body: Some(body) }).await
    }

    fn window_of(&mut self, stream: u32) -> i64 {
        *self.windows.entry(stream).or_insert(self.window_initial)
    }

    /// Reads one frame and does what it asks for.
    async fn pump(&mut self) -> io::Result<()> {
        let mut head = [0; 9];
        self.stream.read_exact(&mut head).await?;
        let [a, b, c, kind, flags, s0, s1, s2, s3] = head;
        let length = u32::from_be_bytes([0, a, b, c]) as usize;
        let stream = u32::from_be_bytes([s0, s1, s2, s3]) & 0x7fff_ffff;
        if length > FRAME_BYTES_MAX {
            return Err(io::Error::other("a frame that is too long"));
        }
        let mut body = vec![0; length];
        self.stream.read_exact(&mut body).await?;
        match kind {
            frame::DATA => self.data(stream, &body).await,
            frame::SETTINGS if flags & frame::ACK == 0 => {
                self.apply_settings(&body);
                self.write(frame::SETTINGS, frame::ACK, 0, &[]).await
            }
            frame::WINDOW_UPDATE => {
                let more = i64::from(word(&body).unwrap_or(0) & 0x7fff_ffff);
                match stream {
                    0 => self.window += more,
                    ROOT | ANSWERS => *self.windows.entry(stream).or_insert(self.window_initial) += more,
                    // Nothing is sent on others.
                    _ => {}
                }
                Ok(())
            }
            frame::PING if flags & frame::ACK == 0 => self.write(frame::PING, frame::ACK, 0, &body).await,
            frame::GO_AWAY => Err(io::ErrorKind::ConnectionAborted.into()),
            _ => Ok(()),
        }
    }

    fn apply_settings(&mut self, body: &[u8]) {
        for setting in body.chunks_exact(6) {
            let (name, value) = setting.split_at(2);
            if name == frame::WINDOW_INITIAL.to_be_bytes() {
                let initial = i64::from(word(value).unwrap_or(0));
                let change = initial - self.window_initial;
                self.window_initial = initial;
                self.windows.values_mut().for_each(|window| *window += change);
            }
        }
    }

    async fn data(&mut self, stream: u32, bytes: &[u8]) -> io::Result<()> {
        if !bytes.is_empty() {
            let more = (bytes.len() as u32).to_be_bytes();
            self.write(frame::WINDOW_UPDATE, 0, 0, &more).await?;
            self.write(frame::WINDOW_UPDATE, 0, stream, &more).await?;
        }
        // Other streams carry files, of which there are none.
        if ![ROOT, ANSWERS].contains(&stream) {
            return Ok(());
        }
        let partial = self.partial.entry(stream).or_default();
        partial.extend_from_slice(bytes);
        if partial.len() > PENDING_BYTES_MAX {
            return Err(io::Error::other("a message that is too long"));
        }
        while let Some(message) = self.partial.get_mut(&stream).map_or(Ok(None), Message::take)? {
            self.greet(stream, &message).await?;
            if self.waiting.len() >= WAITING_MAX {
                return Err(io::Error::other("too many messages"));
            }
            self.waiting.push_back((stream, message));
        }
        Ok(())
    }

    /// Each message of a client's greeting is answered with one of its kind.
    async fn greet(&mut self, stream: u32, message: &Message) -> io::Result<()> {
        let plain = |flags: u32, body: Option<Xpc>| Message { flags, number: 0, body };
        if stream == ANSWERS && message.flags & xpc::BEGINS != 0 {
            self.has_answers = true;
            return self.send_greeting(ANSWERS, plain(xpc::BEGINS | xpc::ALWAYS, None)).await;
        }
        if stream == ROOT && message.flags == xpc::BEGUN {
            self.is_begun = true;
            return self.send_greeting(ROOT, plain(xpc::BEGUN, None)).await;
        }
        if stream == ROOT && !self.is_begun && message.flags == xpc::ALWAYS {
            return self.send_greeting(ROOT, plain(xpc::ALWAYS, Some(Xpc::Dictionary(Vec::new())))).await;
        }
        Ok(())
    }

    /// A greeting is small enough that nothing has to be read before it is sent.
    async fn send_greeting(&mut self, stream: u32, message: Message) -> io::Result<()> {
        if !self.opened.contains(&stream) {
            self.opened.push(stream);
            self.write(frame::HEADERS, frame::END_HEADERS, stream, &[]).await?;
        }
        let bytes = message.encode();
        self.window -= bytes.len() as i64;
        *self.windows.entry(stream).or_insert(self.window_initial) -= bytes.len() as i64;
        self.write(frame::DATA, 0, stream, &bytes).await
    }

    async fn write(&mut self, kind: u8, flags: u8, stream: u32, body: &[u8]) -> io::Result<()> {
        let mut bytes = (body.len() as u32).to_be_bytes()[1..].to_vec();
        bytes.extend([kind, flags]);
        bytes.extend(stream.to_be_bytes());
        bytes.extend(body);
        self.stream.write_all(&bytes).await?;
        self.stream.flush().await
    }
}

fn word(bytes: &[u8]) -> Option<u32> {
    Some(u32::from_be_bytes(bytes.get(..4)?.try_into().ok()?))
}
