//! Messages of DTX, which developer services of an iPhone speak: a call of a method with its arguments, or the answer
//! to one. Names and objects are keyed archives.

use plist::Value;

use crate::keyed_archive::{archive, unarchive};

pub const HEAD_BYTES: usize = 32;
/// The longest message that is read. A picture of the screen has a few of these MiB.
pub const MESSAGE_BYTES_MAX: usize = 64 * 1024 * 1024;
const MAGIC: u32 = 0x1f3d_5b79;
const BODY_HEAD_BYTES: usize = 16;
const AUX_HEAD_BYTES: usize = 16;
/// What stands at the head of arguments.
const AUX_MAGIC: u64 = 0x1f0;
/// Arguments of one call; further ones are not read.
const ARGUMENTS_MAX: usize = 32;
/// Kinds of arguments; each has a key before it, which is empty.
const EMPTY_KEY: u32 = 10;
const TEXT: u32 = 1;
const ARCHIVE: u32 = 2;
const NUMBER: u32 = 3;
const LONG_NUMBER: u32 = 6;
/// Kinds of messages.
const DONE: u32 = 0;
const CALL: u32 = 2;
const OBJECT: u32 = 3;
const ERROR: u32 = 4;

/// What the bytes are not.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Broken(pub &'static str);

/// The head of a message, or of one of its parts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Head {
    part: u16,
    parts: u16,
    length: u32,
    pub identifier: u32,
    /// Counts the messages that belong together: 0 for a call, 1 for its answer.
    pub conversation: u32,
    pub channel: i32,
    pub wants_reply: bool,
}

impl Head {
    pub fn decode(bytes: &[u8; HEAD_BYTES]) -> Result<Head, Broken> {
        let word = |at: usize| word(bytes, at).unwrap_or_default();
        if word(0) != MAGIC || word(4) as usize != HEAD_BYTES {
            return Err(Broken("no message of DTX"));
        }
        let (part, parts) = (word(8) as u16, (word(8) >> 16) as u16);
        let head = Head {
            part,
            parts,
            length: word(12),
            identifier: word(16),
            conversation: word(20),
            channel: word(24).cast_signed(),
            wants_reply: word(28) & 1 == 1,
        };
        match (part < parts, head.length as usize <= MESSAGE_BYTES_MAX) {
            (true, true) => Ok(head),
            (false, _) => Err(Broken("a part that there is not")),
            (_, false) => Err(Broken("a message beyond all limits")),
        }
    }

    /// Bytes that follow this head. The first of several parts is its head alone.
    pub fn body_bytes(&self) -> usize {
        if self.is_announcement() { 0 } else { self.length as usize }
    }

    fn is_announcement(&self) -> bool {
        self.parts > 1 && self.part == 0
    }
}

#[derive(Debug, Clone, PartialEq)]
pub enum Argument {
    Number(u64),
    /// A number of 32 bits, as codes of channels are.
    Word(u32),
    Object(Value),
}

impl Argument {
    /// The number, however it was written.
    pub fn number(&self) -> Option<u64> {
        match self {
            Argument::Number(number) => Some(*number),
            Argument::Word(word) => Some(u64::from(*word)),
            Argument::Object(object) => object.as_unsigned_integer(),
        }
    }

    pub fn object(&self) -> Option<&Value> {
        match self {
            Argument::Object(object) => Some(object),
            Argument::Number(_) | Argument::Word(_) => None,
        }
    }
}

#[derive(Debug, Clone, PartialEq)]
pub enum Content {
    Call {
        method: String,
        arguments: Vec<Argument>,
    },
    /// The answer to a call; nothing where the method returns nothing.
    Answer(Option<Value>),
    /// The call failed.
    Error(Option<Value>),
    /// A message of a kind that is not read.
    Other,
}

#[derive(Debug, Clone, PartialEq)]
pub struct Message {
    pub identifier: u32,
    pub conversation: u32,
    pub channel: i32,
    pub wants_reply: bool,
    pub content: Content,
}

impl Message {
    /// The method that is called, with its arguments; nothing for an answer.
    pub fn call(&self) -> Option<(&str, &[Argument])> {
        match &self.content {
            Content::Call { method, arguments } if self.conversation == 0 => Some((method, arguments)),
            _ => None,
        }
    }

    /// True if this answers the call of this number.
    pub fn answers(&self, identifier: u32) -> bool {
        self.conversation % 2 == 1 && self.identifier == identifier
    }

    /// The answer to this call.
    pub fn answer(&self, content: Content) -> Message {
        Message {
            conversation: self.conversation.wrapping_add(1),
            wants_reply: false,
            content,
            ..self.clone()
        }
    }

    /// Writes the message in one part.
    pub fn encode(&self) -> Vec<u8> {
        let (kind, arguments, payload) = match &self.content {
            Content::Call { method, arguments } => {
                (CALL, encode_arguments(arguments), archive(&method.as_str().into()))
            }
            Content::Answer(None) | Content::Other => (DONE, Vec::new(), Vec::new()),
            Content::Answer(Some(object)) => (OBJECT, Vec::new(), archive(object)),
            Content::Error(object) => (ERROR, Vec::new(), object.as_ref().map(archive).unwrap_or_default()),
        };
        let total = arguments.len() + payload.len();
        let mut bytes = [MAGIC, HEAD_BYTES as u32].map(u32::to_le_bytes).concat();
        bytes.extend([0_u16, 1].map(u16::to_le_bytes).concat());
        let length = (BODY_HEAD_BYTES + total) as u32;
        bytes.extend([length, self.identifier, self.conversation].map(u32::to_le_bytes).concat());
        bytes.extend(self.channel.to_le_bytes());
        bytes.extend(u32::from(self.wants_reply).to_le_bytes());
        bytes.extend([kind, arguments.len() as u32, total as u32, 0].map(u32::to_le_bytes).concat());
        bytes.extend(arguments);
        bytes.extend(payload);
        bytes
    }

    fn decode(head: &Head, body: &[u8]) -> Result<Message, Broken> {
        let broken = Broken("a message that ends early");
        let kind = word(body, 0).ok_or(broken)?;
        let arguments = word(body, 4).ok_or(broken)? as usize;
        let rest = body.get(BODY_HEAD_BYTES..).ok_or(broken)?;
        let (arguments, payload) = rest.split_at_checked(arguments).ok_or(broken)?;
        let content = match kind {
            CALL => match unarchive(payload) {
                Some(Value::String(method)) => {
                    Content::Call { method, arguments: decode_arguments(arguments) }
                }
                _ => Content::Other,
            },
            DONE => Content::Answer(None),
            OBJECT => Content::Answer(unarchive(payload)),
            ERROR => Content::Error(unarchive(payload)),
            // Such as compressed ones, which nobody sends who was not told that they are understood.
            _ => Content::Other,
        };
        let Head { identifier, conversation, channel, wants_reply, .. } = *head;
        Ok(Message { identifier, conversation, channel, wants_reply, content })
    }
}

/// Puts the parts of one message together. Parts of different messages are not mixed.
#[derive(Debug, Default)]
pub struct Parts {
    body: Vec<u8>,
    /// The number of the part that comes next, of a message in several parts.
    next: u16,
}

impl Parts {
    /// Takes a part with its body, and returns the message when it is whole.
    pub fn push(&mut self, head: &Head, body: &[u8]) -> Result<Option<Message>, Broken> {
        if head.part != self.next || self.body.len() + body.len() > MESSAGE_BYTES_MAX {
            return Err(Broken("parts that do not belong together"));
        }
        self.next = if head.part + 1 == head.parts { 0 } else { head.part + 1 };
        if head.parts == 1 {
            return Message::decode(head, body).map(Some);
        }
        self.body.extend_from_slice(body);
        if self.next != 0 {
            return Ok(None);
        }
        Message::decode(head, &std::mem::take(&mut self.body)).map(Some)
    }
}

fn encode_arguments(arguments: &[Argument]) -> Vec<u8> {
    if arguments.is_empty() {
        return Vec::new();
    }
    let mut content = Vec::new();
    for argument in arguments {
        content.extend(EMPTY_KEY.to_le_bytes());
        match argument {
            Argument::Number(number) => {
                content.extend(LONG_NUMBER.to_le_bytes());
                content.extend(number.to_le_bytes());
            }
            Argument::Word(word) => content.extend([NUMBER, *word].map(u32::to_le_bytes).concat()),
            Argument::Object(object) => {
                let object = archive(object);
                content.extend([ARCHIVE, object.len() as u32].map(u32::to_le_bytes).concat());
                content.extend(object);
            }
        }
    }
    let mut bytes = [AUX_MAGIC, content.len() as u64].map(u64::to_le_bytes).concat();
    bytes.extend(content);
    bytes
}

/// Reads as many arguments as can be understood. One that is nothing keeps its place as an empty text would not.
fn decode_arguments(bytes: &[u8]) -> Vec<Argument> {
    let mut rest = bytes.get(AUX_HEAD_BYTES..).unwrap_or_default();
    let mut take = |count: usize| {
        let (taken, after) = rest.split_at_checked(count)?;
        rest = after;
        Some(taken)
    };
    let mut found = Vec::new();
    while let Some(kind) = take(4).and_then(|bytes| word(bytes, 0)) {
        let argument = match kind & 0xff {
            EMPTY_KEY => continue,
            NUMBER => take(4).and_then(|bytes| word(bytes, 0)).map(Argument::Word),
            LONG_NUMBER => take(8)
                .and_then(|bytes| bytes.try_into().ok())
                .map(|bytes| Argument::Number(u64::from_le_bytes(bytes))),
            kind @ (TEXT | ARCHIVE) => {
                let length = take(4).and_then(|bytes| word(bytes, 0)).unwrap_or(0);
                let bytes = take(length as usize);
                let text = |bytes: &[u8]| Some(String::from_utf8_lossy(bytes).into_owned().into());
                bytes.and_then(if kind == TEXT { text } else { unarchive }).map(Argument::Object)
            }
            _ => None,
        };
        match argument {
            Some(argument) if found.len() < ARGUMENTS_MAX => found.push(argument),
            _ => break,
        }
    }
    found
}

fn word(bytes: &[u8], at: usize) -> Option<u32> {
    Some(u32::from_le_bytes(bytes.get(at..at + 4)?.try_into().ok()?))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn decode(bytes: &[u8]) -> Result<Option<Message>, Broken> {
        let (head, body) = bytes.split_first_chunk().expect("a head");
        Parts::default().push(&Head::decode(head)?, body)
    }

    fn call() -> Message {
        Message {
            identifier: 7,
            conversation: 0,
            channel: -3,
            wants_reply: true,
            content: Content::Call {
                method: "deviceInspectorSetMonitoredEventType:".to_owned(),
                arguments: vec![Argument::Object(2_u64.into()), Argument::Number(1 << 40)],
            },
        }
    }

    #[test]
    fn messages_are_read_as_they_were_written() {
        let call = call();
        assert_eq!(decode(&call.encode()), Ok(Some(call.clone())));
        for content in [
            Content::Answer(None),
            Content::Answer(Some("text".into())),
            Content::Error(Some("it failed".into())),
        ] {
            let answer = call.answer(content);
            assert_eq!((answer.identifier, answer.conversation, answer.wants_reply), (7, 1, false));
            assert_eq!(decode(&answer.encode()), Ok(Some(answer)));
        }
    }

    /// The shortest message of a real phone: the answer to a call that returns nothing.
    #[test]
    fn an_answer_that_is_nothing_has_the_bytes_of_a_real_one() {
        let mut real = vec![0x79, 0x5b, 0x3d, 0x1f, 32, 0, 0, 0, 0, 0, 1, 0, 16, 0, 0, 0, 39, 0, 0, 0, 1];
        real.resize(HEAD_BYTES + BODY_HEAD_BYTES, 0);
        let asked = Message { identifier: 39, channel: 0, ..call() };
        assert_eq!(asked.answer(Content::Answer(None)).encode(), real);
    }

    #[test]
    fn parts_are_put_together_and_others_refused() {
        let whole = call().encode();
        let body = &whole[HEAD_BYTES..];
        let head = |part: u16, parts: u16, length: usize| {
            let mut head = [0; HEAD_BYTES];
            head.copy_from_slice(&whole[..HEAD_BYTES]);
            head[8..10].copy_from_slice(&part.to_le_bytes());
            head[10..12].copy_from_slice(&parts.to_le_bytes());
            head[12..16].copy_from_slice(&(length as u32).to_le_bytes());
            Head::decode(&head)
        };
        let mut parts = Parts::default();
        let first = head(0, 3, body.len()).expect("a head");
        assert_eq!((first.body_bytes(), parts.push(&first, &[])), (0, Ok(None)));
        assert_eq!(parts.push(&head(1, 3, 20).expect("a head"), &body[..20]), Ok(None));
        let last = head(2, 3, body.len() - 20).expect("a head");
        assert_eq!(parts.push(&last, &body[20..]), Ok(Some(call())));
        assert!(parts.push(&last, &body[20..]).is_err(), "the end without its beginning");
        assert!(head(1, 1, 0).is_err() && head(0, 0, 0).is_err());
        assert!(head(0, 1, MESSAGE_BYTES_MAX + 1).is_err());
    }

    proptest! {
        #[test]
        fn hostile_bytes_are_never_a_panic(mut bytes in proptest::collection::vec(any::<u8>(), 32..300), at in 0..300_usize, byte: u8) {
            let _ = decode(&bytes);
            bytes[..8].copy_from_slice(&call().encode()[..8]);
            bytes[8..12].copy_from_slice(&[0, 0, 1, 0]);
            let _ = decode(&bytes);
            let mut near = call().encode();
            let at = at % near.len();
            near[at] = byte;
            let _ = decode(&near);
        }
    }
}
