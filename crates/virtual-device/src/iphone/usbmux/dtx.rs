//! DTX on a connection: calls of methods over numbered channels, in both directions, which Instruments, testmanagerd and
//! the accessibility audit speak.
//!
//! Whoever opened a channel writes its number as it is, the other side writes it negated.

use std::collections::BTreeMap;
use std::io;

use mdm_wire::dtx::{Argument, Broken, Content, HEAD_BYTES, Head, Message, Parts};
use mdm_wire::keyed_archive::CLASS;
use plist::Value;
use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _};

use super::plists::dictionary;

/// Largest part that a client may send.
const PART_BYTES_MAX: usize = 4 * 1024 * 1024;
const CHANNELS_MAX: usize = 64;
/// Opens a channel: its number, and who is wanted.
const OPEN: &str = "_requestChannelWithCode:identifier:";
const CAPABILITIES: &str = "_notifyOfPublishedCapabilities:";

/// Reads the next message, whose parts follow each other.
pub async fn read(stream: &mut (impl AsyncRead + Unpin + ?Sized)) -> io::Result<Message> {
    let broken = |Broken(what): Broken| io::Error::other(what);
    let mut parts = Parts::default();
    loop {
        let mut head = [0; HEAD_BYTES];
        stream.read_exact(&mut head).await?;
        let head = Head::decode(&head).map_err(broken)?;
        if head.body_bytes() > PART_BYTES_MAX {
            return Err(io::Error::other("a part that is too long"));
        }
        let mut body = vec![0; head.body_bytes()];
        stream.read_exact(&mut body).await?;
        if let Some(message) = parts.push(&head, &body).map_err(broken)? {
            return Ok(message);
        }
    }
}

/// The channels that a client opened.
#[derive(Default)]
pub struct Channels {
    names: BTreeMap<i32, String>,
}

impl Channels {
    /// Notes a channel that this call opens.
    pub fn note(&mut self, message: &Message) {
        if let Some((OPEN, [code, name])) = message.call()
            && let (Some(code), Some(name)) = (code.number(), name.object().and_then(Value::as_string))
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
    /// Greets with what is spoken here, as services do before anything is asked.
    pub async fn greet(stream: W, capabilities: Value) -> io::Result<Peer<W>> {
        let mut peer = Peer { stream, calls: 0 };
        peer.call(0, CAPABILITIES, vec![Argument::Object(capabilities)], false).await?;
        Ok(peer)
    }

    /// Opens a channel of ours, and returns the number of the call.
    pub async fn open(&mut self, channel: u32, name: &str) -> io::Result<u32> {
        self.call(0, OPEN, vec![Argument::Word(channel), Argument::Object(name.into())], true).await
    }

    /// Calls a method of the other side, and returns the number of the call.
    pub async fn call(
        &mut self,
        channel: i32,
        method: &str,
        arguments: Vec<Argument>,
        wants_reply: bool,
    ) -> io::Result<u32> {
        self.calls += 1;
        let content = Content::Call { method: method.to_owned(), arguments };
        let identifier = self.calls;
        self.write(&Message { identifier, conversation: 0, channel, wants_reply, content }).await?;
        Ok(identifier)
    }

    pub async fn reply(&mut self, to: &Message, content: Content) -> io::Result<()> {
        match to.wants_reply {
            true => self.write(&to.answer(content)).await,
            false => Ok(()),
        }
    }

    async fn write(&mut self, message: &Message) -> io::Result<()> {
        self.stream.write_all(&message.encode()).await?;
        self.stream.flush().await
    }
}

/// What Instruments and testmanagerd greet with.
pub fn capabilities() -> Value {
    dictionary([
        ("com.apple.private.DTXBlockCompression", 0_u64.into()),
        ("com.apple.private.DTXConnection", 1_u64.into()),
    ])
}

/// What a service says to a method that it does not have.
pub fn no_such_method(method: &str) -> Content {
    let words = format!("Unable to invoke '{method}' - it does not respond to the selector");
    error("DTXMessage", 1, dictionary([("NSLocalizedDescription", words.into())]))
}

/// What a call failed with.
pub fn error(domain: &str, code: i64, information: Value) -> Content {
    Content::Error(Some(dictionary([
        (CLASS, "NSError".into()),
        ("NSCode", code.into()),
        ("NSDomain", domain.into()),
        ("NSUserInfo", information),
    ])))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn calls_and_answers_are_read_as_they_were_written() {
        let mut bytes = Vec::new();
        let mut peer = Peer::greet(&mut bytes, capabilities()).await.unwrap();
        let opened = peer.open(1, "somebody").await.unwrap();
        let mut rest = bytes.as_slice();
        let greeting = read(&mut rest).await.unwrap();
        assert_eq!(greeting.call().map(|(method, _)| method), Some(CAPABILITIES));
        let open = read(&mut rest).await.unwrap();
        let mut channels = Channels::default();
        channels.note(&open);
        assert_eq!(channels.name(&Message { channel: 1, ..open.clone() }), "somebody");

        let mut bytes = Vec::new();
        let mut peer = Peer { stream: &mut bytes, calls: 0 };
        peer.reply(&open, Content::Answer(Some(true.into()))).await.unwrap();
        let answer = read(&mut bytes.as_slice()).await.unwrap();
        assert!(answer.answers(opened) && answer.call().is_none());
        assert_eq!(answer.content, Content::Answer(Some(true.into())));
    }

    #[tokio::test]
    async fn a_message_that_ends_early_or_is_too_long_is_refused() {
        let mut whole = Vec::new();
        Peer::greet(&mut whole, capabilities()).await.unwrap();
        let mut long = whole.clone();
        long[12..16].copy_from_slice(&u32::MAX.to_le_bytes());
        assert!(read(&mut long.as_slice()).await.is_err());
        for length in 0..whole.len() {
            assert!(read(&mut &whole[..length]).await.is_err(), "{length}");
        }
    }
}
