//! Property lists with their length in front, as lockdownd and its services send them.

use std::io;

use plist::{Dictionary, Value};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};

use super::Wire;

/// Largest message that is taken.
const MESSAGE_BYTES_MAX: u32 = 4 * 1024 * 1024;

pub async fn read(stream: &mut (impl Wire + ?Sized)) -> io::Result<Value> {
    let length = stream.read_u32().await?;
    if length > MESSAGE_BYTES_MAX {
        return Err(io::Error::other("a message that is too long"));
    }
    let mut bytes = vec![0; length as usize];
    stream.read_exact(&mut bytes).await?;
    plist::from_bytes(&bytes).map_err(io::Error::other)
}

pub async fn read_dictionary(stream: &mut (impl Wire + ?Sized)) -> io::Result<Dictionary> {
    read(stream).await?.into_dictionary().ok_or_else(|| io::Error::other("no dictionary"))
}

pub async fn write(stream: &mut (impl Wire + ?Sized), value: &Value) -> io::Result<()> {
    let mut bytes = Vec::new();
    value.to_writer_xml(&mut bytes).map_err(io::Error::other)?;
    send(stream, &bytes).await
}

pub async fn write_binary(stream: &mut (impl Wire + ?Sized), value: &Value) -> io::Result<()> {
    let mut bytes = Vec::new();
    value.to_writer_binary(&mut bytes).map_err(io::Error::other)?;
    send(stream, &bytes).await
}

async fn send(stream: &mut (impl Wire + ?Sized), bytes: &[u8]) -> io::Result<()> {
    let length = u32::try_from(bytes.len()).map_err(io::Error::other)?;
    stream.write_all(&[length.to_be_bytes().as_slice(), bytes].concat()).await?;
    stream.flush().await
}

/// Makes a dictionary of pairs.
pub fn dictionary<const N: usize>(pairs: [(&str, Value); N]) -> Value {
    Value::Dictionary(pairs.into_iter().map(|(key, value)| (key.to_owned(), value)).collect())
}

pub fn text<'a>(request: &'a Dictionary, key: &str) -> Option<&'a str> {
    request.get(key).and_then(Value::as_string)
}
