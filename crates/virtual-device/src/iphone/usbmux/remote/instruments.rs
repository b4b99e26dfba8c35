//! `dtservicehub`: the channels of Instruments over DTX, of which only the one for pictures is served.

use std::collections::BTreeMap;
use std::io;

use plist::{Dictionary, Uid, Value};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};

use crate::helpers::picture;
use crate::iphone::IPhone;
use crate::iphone::usbmux::Wire;
use crate::iphone::usbmux::plists::dictionary;

const MAGIC: u32 = 0x1f3d_5b79;
const HEAD_BYTES: u32 = 32;
const PAYLOAD_HEAD_BYTES: usize = 16;
const AUX_HEAD_BYTES: usize = 16;
const MESSAGE_BYTES_MAX: u32 = 4 * 1024 * 1024;
const CHANNELS_MAX: usize = 64;
/// Kinds of messages.
const DONE: u8 = 0;
const OBJECT: u8 = 3;
/// Kinds of arguments; each has a key before it, which is empty.
const EMPTY_KEY: u32 = 10;
const ARCHIVE: u32 = 2;
const NUMBER: u32 = 3;
const LONG_NUMBER: u32 = 6;
const PICTURES: &str = "com.apple.instruments.server.services.screenshot";

/// A call of a client.
struct Call {
    identifier: u32,
    conversation: u32,
    channel: i32,
    wants_reply: bool,
    method: String,
    arguments: Vec<Argument>,
}

#[derive(Debug, PartialEq, Eq)]
enum Argument {
    Number(u64),
    Text(String),
}

pub async fn serve(phone: &IPhone, mut stream: impl Wire) -> io::Result<()> {
    let mut channels: BTreeMap<i32, String> = BTreeMap::new();
    loop {
        let Some(call) = read(&mut stream).await? else { continue };
        if let ("_requestChannelWithCode:identifier:", [Argument::Number(code), Argument::Text(name)]) =
            (call.method.as_str(), call.arguments.as_slice())
            && channels.len() < CHANNELS_MAX
        {
            channels.insert(i32::try_from(*code).unwrap_or(0), name.clone());
        }
        let takes_picture = channels.get(&call.channel).is_some_and(|name| name == PICTURES)
            && call.method == "takeScreenshot";
        let object = takes_picture.then(|| Value::Data(picture::png(phone.phone()).to_vec()));
        if call.wants_reply {
            reply(&mut stream, &call, object).await?;
        }
    }
}

/// Reads one message of one part; other kinds of messages are none to answer.
async fn read(stream: &mut impl Wire) -> io::Result<Option<Call>> {
    let broken = || io::Error::other("a broken message");
    if stream.read_u32_le().await? != MAGIC || stream.read_u32_le().await? != HEAD_BYTES {
        return Err(broken());
    }
    let (part, parts) = (stream.read_u16_le().await?, stream.read_u16_le().await?);
    let length = stream.read_u32_le().await?;
    let (identifier, conversation) = (stream.read_u32_le().await?, stream.read_u32_le().await?);
    let (channel, wants_reply) = (stream.read_i32_le().await?, stream.read_u32_le().await? == 1);
    if (part, parts) != (0, 1) || length > MESSAGE_BYTES_MAX {
        return Err(broken());
    }
    let mut body = vec![0; length as usize];
    stream.read_exact(&mut body).await?;
    let aux = word(&body, 4).ok_or_else(broken)? as usize;
    let rest = body.get(PAYLOAD_HEAD_BYTES..).ok_or_else(broken)?;
    let (aux, payload) = rest.split_at_checked(aux).ok_or_else(broken)?;
    let Some(method) = unarchive(payload) else { return Ok(None) };
    let arguments = arguments(aux.get(AUX_HEAD_BYTES..).unwrap_or_default());
    Ok(Some(Call { identifier, conversation, channel, wants_reply, method, arguments }))
}

fn arguments(mut aux: &[u8]) -> Vec<Argument> {
    let mut found = Vec::new();
    let mut take = |count: usize| {
        let (taken, rest) = aux.split_at_checked(count)?;
        aux = rest;
        Some(taken)
    };
    while let Some(kind) = take(4).and_then(|bytes| word(bytes, 0)) {
        let argument = match kind {
            EMPTY_KEY => continue,
            NUMBER => take(4).and_then(|bytes| word(bytes, 0)).map(|word| Argument::Number(word.into())),
            LONG_NUMBER => take(8)
                .and_then(|bytes| bytes.try_into().ok())
                .map(|bytes| Argument::Number(u64::from_le_bytes(bytes))),
            ARCHIVE => {
                let length = take(4).and_then(|bytes| word(bytes, 0)).unwrap_or(0);
                take(length as usize).and_then(unarchive).map(Argument::Text)
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

/// The text that is the root of a keyed archive.
fn unarchive(bytes: &[u8]) -> Option<String> {
    let archive = plist::from_bytes::<Value>(bytes).ok()?.into_dictionary()?;
    let root = archive.get("$top")?.as_dictionary()?.get("root")?.as_uid()?.get();
    archive.get("$objects")?.as_array()?.get(usize::try_from(root).ok()?)?.as_string().map(str::to_owned)
}

fn archive(root: Value) -> io::Result<Vec<u8>> {
    let top: Dictionary = [("root".to_owned(), Value::Uid(Uid::new(1)))].into_iter().collect();
    let archive = dictionary([
        ("$archiver", "NSKeyedArchiver".into()),
        ("$objects", Value::Array(vec!["$null".into(), root])),
        ("$top", Value::Dictionary(top)),
        ("$version", 100_000_u64.into()),
    ]);
    let mut bytes = Vec::new();
    archive.to_writer_binary(&mut bytes).map_err(io::Error::other)?;
    Ok(bytes)
}

async fn reply(stream: &mut impl Wire, call: &Call, object: Option<Value>) -> io::Result<()> {
    let kind = if object.is_some() { OBJECT } else { DONE };
    let payload = object.map_or(Ok(Vec::new()), archive)?;
    let mut bytes = [MAGIC, HEAD_BYTES].map(u32::to_le_bytes).concat();
    bytes.extend([0_u16, 1].map(u16::to_le_bytes).concat());
    let length = (PAYLOAD_HEAD_BYTES + payload.len()) as u32;
    bytes.extend([length, call.identifier, call.conversation + 1].map(u32::to_le_bytes).concat());
    bytes.extend(call.channel.to_le_bytes());
    bytes.extend(0_u32.to_le_bytes());
    bytes.extend([kind, 0, 0, 0]);
    bytes.extend([0, payload.len() as u32, 0].map(u32::to_le_bytes).concat());
    bytes.extend(payload);
    stream.write_all(&bytes).await?;
    stream.flush().await
}
