//! XPC objects and messages as RemoteXPC writes them.

use std::io;

const MESSAGE_MAGIC: u32 = 0x29b0_0b92;
const OBJECT_MAGIC: u32 = 0x4213_3742;
const OBJECT_VERSION: u32 = 5;
/// Bytes before a message's object: magic, flags, length, number.
const HEAD_BYTES: usize = 24;
/// Largest message, deepest object, and most objects of one message.
const MESSAGE_BYTES_MAX: usize = 16 * 1024 * 1024;
const DEPTH_MAX: usize = 32;
const OBJECTS_MAX: usize = 100_000;

/// Flags of a message.
pub const ALWAYS: u32 = 0x1;
pub const DATA: u32 = 0x100;
pub const WANTS_REPLY: u32 = 0x1_0000;
pub const REPLY: u32 = 0x2_0000;
pub const BEGINS: u32 = 0x40_0000;
/// What a client sends last when a connection begins.
pub const BEGUN: u32 = 0x201;

mod kind {
    pub const NULL: u32 = 0x1000;
    pub const BOOL: u32 = 0x2000;
    pub const INT: u32 = 0x3000;
    pub const UINT: u32 = 0x4000;
    pub const DOUBLE: u32 = 0x5000;
    pub const DATE: u32 = 0x7000;
    pub const DATA: u32 = 0x8000;
    pub const TEXT: u32 = 0x9000;
    pub const UUID: u32 = 0xa000;
    pub const ARRAY: u32 = 0xe000;
    pub const DICTIONARY: u32 = 0xf000;
}

#[derive(Debug, Clone, PartialEq)]
pub enum Xpc {
    Null,
    Bool(bool),
    Int(i64),
    Uint(u64),
    Double(f64),
    /// Nanoseconds since 1970.
    Date(u64),
    Data(Vec<u8>),
    Text(String),
    Uuid([u8; 16]),
    Array(Vec<Xpc>),
    Dictionary(Vec<(String, Xpc)>),
}

/// One message of a stream.
#[derive(Debug, Clone, PartialEq)]
pub struct Message {
    pub flags: u32,
    pub number: u64,
    pub body: Option<Xpc>,
}

impl Message {
    pub fn encode(&self) -> Vec<u8> {
        let mut body = Vec::new();
        if let Some(object) = &self.body {
            body.extend(OBJECT_MAGIC.to_le_bytes());
            body.extend(OBJECT_VERSION.to_le_bytes());
            object.write(&mut body);
        }
        let mut out = MESSAGE_MAGIC.to_le_bytes().to_vec();
        out.extend(self.flags.to_le_bytes());
        out.extend((body.len() as u64).to_le_bytes());
        out.extend(self.number.to_le_bytes());
        out.extend(body);
        out
    }

    /// Takes the first whole message from the front of what was received.
    pub fn take(received: &mut Vec<u8>) -> io::Result<Option<Message>> {
        if received.len() < HEAD_BYTES {
            return Ok(None);
        }
        let mut head = Reader { rest: received, objects: 0 };
        if head.u32()? != MESSAGE_MAGIC {
            return Err(io::Error::other("no message of XPC"));
        }
        let (flags, length, number) = (head.u32()?, head.u64()?, head.u64()?);
        let length = usize::try_from(length).unwrap_or(usize::MAX);
        if length > MESSAGE_BYTES_MAX {
            return Err(io::Error::other("a message that is too long"));
        }
        let Some(body) = received.get(HEAD_BYTES..HEAD_BYTES + length) else { return Ok(None) };
        let body = if body.is_empty() { None } else { Some(Xpc::decode(body)?) };
        received.drain(..HEAD_BYTES + length);
        Ok(Some(Message { flags, number, body }))
    }
}

impl Xpc {
    pub fn text(text: &str) -> Xpc {
        Xpc::Text(text.to_owned())
    }

    pub fn dictionary<const N: usize>(pairs: [(&str, Xpc); N]) -> Xpc {
        Xpc::Dictionary(pairs.into_iter().map(|(key, value)| (key.to_owned(), value)).collect())
    }

    pub fn get(&self, key: &str) -> Option<&Xpc> {
        let Xpc::Dictionary(pairs) = self else { return None };
        pairs.iter().find(|(name, _)| name == key).map(|(_, value)| value)
    }

    /// Follows keys of dictionaries in each other.
    pub fn at(&self, path: &[&str]) -> Option<&Xpc> {
        path.iter().try_fold(self, |object, key| object.get(key))
    }

    pub fn as_text(&self) -> Option<&str> {
        let Xpc::Text(text) = self else { return None };
        Some(text)
    }

    pub fn as_data(&self) -> Option<&[u8]> {
        let Xpc::Data(data) = self else { return None };
        Some(data)
    }

    /// A number of either kind, where it is none below zero.
    pub fn as_number(&self) -> Option<u64> {
        match self {
            Xpc::Uint(number) => Some(*number),
            Xpc::Int(number) => u64::try_from(*number).ok(),
            _ => None,
        }
    }

    pub fn is_true(&self) -> bool {
        *self == Xpc::Bool(true)
    }

    fn decode(bytes: &[u8]) -> io::Result<Xpc> {
        let mut reader = Reader { rest: bytes, objects: 0 };
        if (reader.u32()?, reader.u32()?) != (OBJECT_MAGIC, OBJECT_VERSION) {
            return Err(io::Error::other("no object of XPC"));
        }
        reader.object(0)
    }

    fn write(&self, out: &mut Vec<u8>) {
        let word = |out: &mut Vec<u8>, word: u32| out.extend(word.to_le_bytes());
        match self {
            Xpc::Null => word(out, kind::NULL),
            Xpc::Bool(value) => {
                word(out, kind::BOOL);
                word(out, u32::from(*value));
            }
            Xpc::Int(value) => {
                word(out, kind::INT);
                out.extend(value.to_le_bytes());
            }
            Xpc::Uint(value) => {
                word(out, kind::UINT);
                out.extend(value.to_le_bytes());
            }
            Xpc::Double(value) => {
                word(out, kind::DOUBLE);
                out.extend(value.to_le_bytes());
            }
            Xpc::Date(value) => {
                word(out, kind::DATE);
                out.extend(value.to_le_bytes());
            }
            Xpc::Data(data) => {
                word(out, kind::DATA);
                word(out, data.len() as u32);
                padded(out, data);
            }
            Xpc::Text(text) => {
                word(out, kind::TEXT);
                word(out, text.len() as u32 + 1);
                padded(out, &[text.as_bytes(), &[0]].concat());
            }
            Xpc::Uuid(uuid) => {
                word(out, kind::UUID);
                out.extend(uuid);
            }
            Xpc::Array(items) => {
                word(out, kind::ARRAY);
                with_length(out, |out| {
                    word(out, items.len() as u32);
                    items.iter().for_each(|item| item.write(out));
                });
            }
            Xpc::Dictionary(pairs) => {
                word(out, kind::DICTIONARY);
                with_length(out, |out| {
                    word(out, pairs.len() as u32);
                    for (key, value) in pairs {
                        padded(out, &[key.as_bytes(), &[0]].concat());
                        value.write(out);
                    }
                });
            }
        }
    }
}

fn padded(out: &mut Vec<u8>, bytes: &[u8]) {
    out.extend(bytes);
    out.resize(out.len() + padding(bytes.len()), 0);
}

fn padding(length: usize) -> usize {
    length.next_multiple_of(4) - length
}

/// Writes something with its length in front.
fn with_length(out: &mut Vec<u8>, write: impl FnOnce(&mut Vec<u8>)) {
    let mut content = Vec::new();
    write(&mut content);
    out.extend((content.len() as u32).to_le_bytes());
    out.extend(content);
}

struct Reader<'a> {
    rest: &'a [u8],
    objects: usize,
}

impl<'a> Reader<'a> {
    fn bytes(&mut self, count: usize) -> io::Result<&'a [u8]> {
        let (taken, rest) = self.rest.split_at_checked(count).ok_or_else(cut)?;
        self.rest = rest;
        Ok(taken)
    }

    fn array<const N: usize>(&mut self) -> io::Result<[u8; N]> {
        self.bytes(N)?.try_into().map_err(|_| cut())
    }

    fn u32(&mut self) -> io::Result<u32> {
        Ok(u32::from_le_bytes(self.array()?))
    }

    fn u64(&mut self) -> io::Result<u64> {
        Ok(u64::from_le_bytes(self.array()?))
    }

    /// Bytes of a given length, and those that fill them up to whole words.
    fn padded(&mut self) -> io::Result<&'a [u8]> {
        let length = self.u32()? as usize;
        let bytes = self.bytes(length)?;
        self.bytes(padding(length))?;
        Ok(bytes)
    }

    fn key(&mut self) -> io::Result<String> {
        let length = self.rest.iter().position(|byte| *byte == 0).ok_or_else(cut)?;
        let key = String::from_utf8_lossy(self.bytes(length)?).into_owned();
        self.bytes(1 + padding(length + 1))?;
        Ok(key)
    }

    fn object(&mut self, depth: usize) -> io::Result<Xpc> {
        self.objects += 1;
        if depth > DEPTH_MAX || self.objects > OBJECTS_MAX {
            return Err(io::Error::other("an object that is too large"));
        }
        Ok(match self.u32()? {
            kind::NULL => Xpc::Null,
            kind::BOOL => Xpc::Bool(self.u32()? & 0xff != 0),
            kind::INT => Xpc::Int(i64::from_le_bytes(self.array()?)),
            kind::UINT => Xpc::Uint(self.u64()?),
            kind::DOUBLE => Xpc::Double(f64::from_le_bytes(self.array()?)),
            kind::DATE => Xpc::Date(self.u64()?),
            kind::DATA => Xpc::Data(self.padded()?.to_vec()),
            kind::TEXT => {
                let text = self.padded()?;
                let text = text.strip_suffix(&[0]).unwrap_or(text);
                Xpc::Text(String::from_utf8_lossy(text).into_owned())
            }
            kind::UUID => Xpc::Uuid(self.array()?),
            kind::ARRAY => {
                let count = (self.u32()?, self.u32()?).1;
                Xpc::Array((0..count).map(|_| self.object(depth + 1)).collect::<io::Result<_>>()?)
            }
            kind::DICTIONARY => {
                let count = (self.u32()?, self.u32()?).1;
                let pair = |_| Ok((self.key()?, self.object(depth + 1)?));
                Xpc::Dictionary((0..count).map(pair).collect::<io::Result<_>>()?)
            }
            other => return Err(io::Error::other(format!("an object of the unknown kind {other:#x}"))),
        })
    }
}

fn cut() -> io::Error {
    io::Error::other("an object that is cut off")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_come_out_as_they_went_in_and_only_when_they_are_whole() {
        let body = Xpc::dictionary([
            ("text", Xpc::text("four")),
            ("data", Xpc::Data(vec![1, 2, 3, 4, 5])),
            (
                "list",
                Xpc::Array(vec![Xpc::Null, Xpc::Bool(true), Xpc::Int(-3), Xpc::Uint(7), Xpc::Double(0.5)]),
            ),
            ("uuid", Xpc::Uuid([9; 16])),
            ("date", Xpc::Date(12)),
        ]);
        let message = Message { flags: ALWAYS | DATA, number: 3, body: Some(body) };
        let bytes = message.encode();
        let mut received = bytes[..bytes.len() - 1].to_vec();
        assert_eq!(Message::take(&mut received).expect("good so far"), None);
        received.extend(&bytes[bytes.len() - 1..]);
        received.extend(&bytes);
        assert_eq!(Message::take(&mut received).expect("good"), Some(message.clone()));
        assert_eq!(Message::take(&mut received).expect("good"), Some(message));
        assert!(received.is_empty());
    }

    #[test]
    fn broken_messages_are_refused() {
        let nested = (0..DEPTH_MAX + 2).fold(Xpc::Null, |inner, _| Xpc::Array(vec![inner]));
        let mut deep = Message { flags: 1, number: 0, body: Some(nested) }.encode();
        assert!(Message::take(&mut deep).is_err());
        let mut long = Message { flags: 1, number: 0, body: None }.encode();
        long[8..16].copy_from_slice(&u64::MAX.to_le_bytes());
        assert!(Message::take(&mut long).is_err());
        let mut many = Message { flags: 1, number: 0, body: Some(Xpc::Array(Vec::new())) }.encode();
        let count = many.len() - 4;
        many[count..].copy_from_slice(&u32::MAX.to_le_bytes());
        assert!(Message::take(&mut many).is_err());
        assert!(Message::take(&mut vec![0; 24]).is_err());
    }
}
