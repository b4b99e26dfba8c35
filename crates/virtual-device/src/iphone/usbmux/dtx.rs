//! DTX: calls of methods over numbered channels, in both directions, which Instruments and testmanagerd speak.
//!
//! Whoever opened a channel writes its number as it is, the other side writes it negated.

use std::collections::BTreeMap;
use std::io;

use plist::Value;
use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _};

use super::archive::{self, Object};

const MAGIC: u32 = 0x1f3d_5b79;
const HEAD_BYTES: u32 = 32;
const PAYLOAD_HEAD_BYTES: usize = 16;
const AUX_HEAD_BYTES: usize = 16;
const MESSAGE_BYTES_MAX: u32 = 4 * 1024 * 1024;
const PARTS_MAX: u16 = 1024;
const CHANNELS_MAX: usize = 64;
/// What the head of arguments begins with: the size of a buffer.
const AUX_BUFFER: u32 = 496;
/// Kinds of messages.
const DONE: u8 = 0;
const CALL: u8 = 2;
const OBJECT: u8 = 3;
const ERROR: u8 = 4;
/// Kinds of arguments; each has a key before it, which is empty.
const EMPTY_KEY: u32 = 10;
const TEXT: u32 = 1;
const ARCHIVE: u32 = 2;
const NUMBER: u32 = 3;
const LONG_NUMBER: u32 = 6;

/// Opens a channel: its number, and who is wanted.
const OPEN: &str = "_requestChannelWithCode:identifier:";
const CAPABILITIES: &str = "_notifyOfPublishedCapabilities:";

#[derive(Debug, Clone, PartialEq)]
pub struct Message {
    kind: u8,
    pub identifier: u32,
    conversation: u32,
    pub channel: i32,
    pub wants_reply: bool,
    /// The name of a method, or what was returned.
    pub payload: Option<Value>,
    pub arguments: Vec<Value>,
}

impl Message {
    /// The method that is called; nothing for an answer.
    pub fn method(&self) -> Option<&str> {
        let is_call = self.conversation == 0 && self.kind == CALL;
        self.payload.as_ref().filter(|_| is_call).and_then(Value::as_string)
    }

    /// True if this answers our call of this number.
    pub fn answers(&self, identifier: u32) -> bool {
        self.conversation % 2 == 1 && self.identifier == identifier
    }

    pub fn text(&self, index: usize) -> Option<&str> {
        self.arguments.get(index)?.as_string()
    }

    pub fn number(&self, index: usize) -> Option<u64> {
        self.arguments.get(index)?.as_unsigned_integer()
    }
}

/// An argument of a call of ours.
pub enum Argument {
    Word(u32),
    Object(Object),
}

pub enum Answer {
    Done,
    Object(Object),
    Error(Object),
}

/// Reads the next message, whose parts follow each other.
pub async fn read(stream: &mut (impl AsyncRead + Unpin + ?Sized)) -> io::Result<Message> {
    let broken = || io::Error::other("a broken message");
    let mut body = Vec::new();
    loop {
        if stream.read_u32_le().await? != MAGIC || stream.read_u32_le().await? != HEAD_BYTES {
            return Err(broken());
        }
        let (part, parts) = (stream.read_u16_le().await?, stream.read_u16_le().await?);
        let length = stream.read_u32_le().await?;
        let (identifier, conversation) = (stream.read_u32_le().await?, stream.read_u32_le().await?);
        let (channel, flags) = (stream.read_i32_le().await?, stream.read_u32_le().await?);
        let whole = u32::try_from(body.len()).unwrap_or(u32::MAX).saturating_add(length);
        if part >= parts || parts > PARTS_MAX || whole > MESSAGE_BYTES_MAX {
            return Err(broken());
        }
        // The first of several parts tells only the length of all.
        if parts > 1 && part == 0 {
            continue;
        }
        let start = body.len();
        body.resize(start + length as usize, 0);
        stream.read_exact(&mut body[start..]).await?;
        if part + 1 < parts {
            continue;
        }
        let aux = word(&body, 4).ok_or_else(broken)? as usize;
        let rest = body.get(PAYLOAD_HEAD_BYTES..).ok_or_else(broken)?;
        let (aux, payload) = rest.split_at_checked(aux).ok_or_else(broken)?;
        let payload = archive::read(payload);
        let arguments = arguments(aux.get(AUX_HEAD_BYTES..).unwrap_or_default());
        let wants_reply = flags & 1 == 1;
        let kind = body.first().copied().unwrap_or(DONE);
        return Ok(Message { kind, identifier, conversation, channel, wants_reply, payload, arguments });
    }
}

fn arguments(mut aux: &[u8]) -> Vec<Value> {
    let mut found = Vec::new();
    let mut take = |count: usize| {
        let (taken, rest) = aux.split_at_checked(count)?;
        aux = rest;
        Some(taken)
    };
    while let Some(kind) = take(4).and_then(|bytes| word(bytes, 0)) {
        let argument = match kind & 0xff {
            EMPTY_KEY => continue,
            NUMBER => take(4).and_then(|bytes| word(bytes, 0)).map(|word| Value::from(u64::from(word))),
            LONG_NUMBER => take(8)
                .and_then(|bytes| bytes.try_into().ok())
                .map(|bytes| Value::from(u64::from_le_bytes(bytes))),
            TEXT | ARCHIVE => {
                let length = take(4).and_then(|bytes| word(bytes, 0)).unwrap_or(0);
                let bytes = take(length as usize).unwrap_or_default();
                match kind & 0xff {
                    TEXT => Some(String::from_utf8_lossy(bytes).into_owned().into()),
                    _ => archive::read(bytes),
                }
            }
            _ => None,
        };
        match argument {
            Some(argument) => found.push(argument),
            None => return found,
        }
    }
    found
}

fn word(bytes: &[u8], at: usize) -> Option<u32> {
    Some(u32::from_le_bytes(bytes.get(at..at + 4)?.try_into().ok()?))
}

/// The channels that a client opened.
#[derive(Default)]
pub struct Channels {
    names: BTreeMap<i32, String>,
}

impl Channels {
    /// Notes a channel that this call opens.
    pub fn note(&mut self, message: &Message) {
        if message.method() == Some(OPEN)
            && let (Some(code), Some(name)) = (message.number(0), message.text(1))
            && self.names.len() < CHANNELS_MAX
        {
            self.names.insert(i32::try_from(code).unwrap_or(0), name.to_owned());
        }
    }

    /// Whom a call is for; the connection itself has no name.
    pub fn name(&self, message: &Message) -> &str {
        self.names.get(&message.channel).map_or("", String::as_str)
    }
}

/// The writing half of a connection.
pub struct Peer<W> {
    stream: W,
    calls: u32,
}

impl<W: AsyncWrite + Unpin> Peer<W> {
    /// Greets, as both services do before anything is asked.
    pub async fn greet(stream: W) -> io::Result<Peer<W>> {
        let mut peer = Peer { stream, calls: 0 };
        let capabilities = Object::map([
            ("com.apple.private.DTXBlockCompression", Object::Number(0)),
            ("com.apple.private.DTXConnection", Object::Number(1)),
        ]);
        peer.call(0, CAPABILITIES, &[Argument::Object(capabilities)], false).await?;
        Ok(peer)
    }

    /// Opens a channel of ours, and returns the number of the call.
    pub async fn open(&mut self, channel: u32, name: &str) -> io::Result<u32> {
        let arguments = [Argument::Word(channel), Argument::Object(Object::text(name))];
        self.call(0, OPEN, &arguments, true).await
    }

    pub async fn call(
        &mut self,
        channel: i32,
        method: &str,
        arguments: &[Argument],
        wants_reply: bool,
    ) -> io::Result<u32> {
        self.calls += 1;
        let mut listed = Vec::new();
        for argument in arguments {
            listed.extend(EMPTY_KEY.to_le_bytes());
            match argument {
                Argument::Word(word) => listed.extend([NUMBER, *word].map(u32::to_le_bytes).concat()),
                Argument::Object(object) => {
                    let bytes = archive::write(object)?;
                    listed.extend([ARCHIVE, bytes.len() as u32].map(u32::to_le_bytes).concat());
                    listed.extend(bytes);
                }
            }
        }
        let mut aux = Vec::new();
        if !listed.is_empty() {
            aux.extend([AUX_BUFFER, 0, listed.len() as u32, 0].map(u32::to_le_bytes).concat());
            aux.extend(listed);
        }
        let payload = archive::write(&Object::text(method))?;
        let head = Head { identifier: self.calls, conversation: 0, channel, wants_reply, kind: CALL };
        self.send(&head, &aux, &payload).await?;
        Ok(self.calls)
    }

    pub async fn reply(&mut self, to: &Message, answer: &Answer) -> io::Result<()> {
        if !to.wants_reply {
            return Ok(());
        }
        let (kind, payload) = match answer {
            Answer::Done => (DONE, Vec::new()),
            Answer::Object(object) => (OBJECT, archive::write(object)?),
            Answer::Error(object) => (ERROR, archive::write(object)?),
        };
        let head = Head {
            identifier: to.identifier,
            conversation: to.conversation.wrapping_add(1),
            channel: to.channel,
            wants_reply: false,
            kind,
        };
        self.send(&head, &[], &payload).await
    }

    async fn send(&mut self, head: &Head, aux: &[u8], payload: &[u8]) -> io::Result<()> {
        let rest = (aux.len() + payload.len()) as u32;
        let mut bytes = [MAGIC, HEAD_BYTES].map(u32::to_le_bytes).concat();
        bytes.extend([0_u16, 1].map(u16::to_le_bytes).concat());
        let length = PAYLOAD_HEAD_BYTES as u32 + rest;
        bytes.extend([length, head.identifier, head.conversation].map(u32::to_le_bytes).concat());
        bytes.extend(head.channel.to_le_bytes());
        bytes.extend(u32::from(head.wants_reply).to_le_bytes());
        bytes.extend([head.kind, 0, 0, 0]);
        bytes.extend([aux.len() as u32, rest, 0].map(u32::to_le_bytes).concat());
        bytes.extend(aux);
        bytes.extend(payload);
        self.stream.write_all(&bytes).await?;
        self.stream.flush().await
    }
}

struct Head {
    identifier: u32,
    conversation: u32,
    channel: i32,
    wants_reply: bool,
    kind: u8,
}

/// What a service says to a method that it does not have.
pub fn no_such_method(method: &str) -> Answer {
    let words = format!("Unable to invoke '{method}' - it does not respond to the selector");
    Answer::Error(Object::error("DTXMessage", 1, [("NSLocalizedDescription", Object::Text(words))]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn calls_and_answers_are_read_as_they_were_written() {
        let mut bytes = Vec::new();
        let mut peer = Peer::greet(&mut bytes).await.unwrap();
        let opened = peer.open(1, "somebody").await.unwrap();
        let mut rest = bytes.as_slice();
        let greeting = read(&mut rest).await.unwrap();
        assert_eq!((greeting.method(), greeting.wants_reply), (Some(CAPABILITIES), false));
        let open = read(&mut rest).await.unwrap();
        assert_eq!((open.method(), open.number(0), open.text(1)), (Some(OPEN), Some(1), Some("somebody")));
        let mut channels = Channels::default();
        channels.note(&open);
        assert_eq!(channels.name(&Message { channel: 1, ..open.clone() }), "somebody");

        let mut bytes = Vec::new();
        let mut peer = Peer { stream: &mut bytes, calls: 0 };
        peer.reply(&open, &Answer::Object(Object::Bool(true))).await.unwrap();
        let answer = read(&mut bytes.as_slice()).await.unwrap();
        assert!(answer.answers(opened) && answer.method().is_none());
        assert_eq!(answer.payload, Some(true.into()));
    }

    #[tokio::test]
    async fn parts_are_put_together_and_nonsense_is_refused() {
        let mut whole = Vec::new();
        Peer::greet(&mut whole).await.unwrap();
        let body = &whole[HEAD_BYTES as usize..];
        let head = |part: u16, length: usize| {
            let mut head = whole[..HEAD_BYTES as usize].to_vec();
            head[8..10].copy_from_slice(&part.to_le_bytes());
            head[10..12].copy_from_slice(&3_u16.to_le_bytes());
            head[12..16].copy_from_slice(&(length as u32).to_le_bytes());
            head
        };
        let (first, second) = body.split_at(40);
        let parts =
            [&head(0, body.len())[..], &head(1, first.len()), first, &head(2, second.len()), second].concat();
        assert_eq!(read(&mut parts.as_slice()).await.unwrap(), read(&mut whole.as_slice()).await.unwrap());

        let mut long = whole.clone();
        long[12..16].copy_from_slice(&u32::MAX.to_le_bytes());
        assert!(read(&mut long.as_slice()).await.is_err());
        for length in 0..whole.len() {
            assert!(read(&mut &whole[..length]).await.is_err(), "{length}");
        }
    }
}
