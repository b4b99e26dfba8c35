//! Peers that answer with given bytes, whatever they are asked.

use std::io::{self, Cursor};
use std::sync::{Arc, Mutex};

use mdm_ios::connect::{self, Connector, Transport};
use tokio::io::{AsyncReadExt, AsyncWriteExt, DuplexStream};

/// Stands between the connections in an input, and between the messages of one.
const CONNECTION_END: &[u8] = b"\n%%\n";
pub const MESSAGE_END: &[u8] = b"\n%\n";
const PIPE_BYTES: usize = 64 * 1024;
/// Connections and messages of one input.
const PARTS_MAX: usize = 32;

pub fn split<'a>(bytes: &'a [u8], end: &[u8]) -> Vec<&'a [u8]> {
    let mut parts = Vec::new();
    let mut rest = bytes;
    while parts.len() < PARTS_MAX {
        match rest.windows(end.len()).position(|window| window == end) {
            Some(at) => {
                parts.push(&rest[..at]);
                rest = &rest[at + end.len()..];
            }
            None => break,
        }
    }
    parts.push(rest);
    parts
}

/// A usbmuxd: each connection has said all that it says when it is opened. The first byte of a message tells its frame.
pub fn usbmuxd(bytes: &[u8]) -> Connector {
    let connections = split(bytes, CONNECTION_END).into_iter().rev();
    let said = connections
        .map(|connection| split(connection, MESSAGE_END).into_iter().flat_map(framed).collect::<Vec<u8>>());
    let left = Mutex::new(said.collect::<Vec<_>>());
    connect::pipe(move || {
        let said = left.lock().expect("no panic holds it").pop();
        let said = said.ok_or_else(|| io::Error::from(io::ErrorKind::ConnectionRefused))?;
        Ok(tokio::io::join(Cursor::new(said), tokio::io::sink()))
    })
}

fn framed(message: &[u8]) -> Vec<u8> {
    let Some((kind, body)) = message.split_first() else { return Vec::new() };
    let length = body.len() as u32;
    match kind {
        // Of usbmuxd: length, version, kind, number.
        b'u' => [&[length + 16, 1, 8, 1].map(u32::to_le_bytes).concat(), body].concat(),
        // Of lockdownd and its services.
        b'l' => [&length.to_be_bytes(), body].concat(),
        _ => message.to_vec(),
    }
}

/// A WebDriverAgent: each request gets the next answer. An answer that begins with `HTTP` is sent as it is.
pub fn web_driver_agent(bytes: &[u8]) -> Connector {
    let answers = split(bytes, MESSAGE_END).into_iter().rev().map(whole_answer).collect::<Vec<_>>();
    let left = Arc::new(Mutex::new(answers));
    Arc::new(move || {
        let (ours, theirs) = tokio::io::duplex(PIPE_BYTES);
        tokio::spawn(answer(theirs, Arc::clone(&left)));
        Box::pin(async move { Ok(Box::new(ours) as Box<dyn Transport>) })
    })
}

fn whole_answer(body: &[u8]) -> Vec<u8> {
    if body.starts_with(b"HTTP") {
        return body.to_vec();
    }
    let head = format!("HTTP/1.1 200 OK\r\nContent-Length: {}\r\n\r\n", body.len());
    [head.as_bytes(), body].concat()
}

async fn answer(mut pipe: DuplexStream, left: Arc<Mutex<Vec<Vec<u8>>>>) {
    let mut heard = [0; 4096];
    while let Ok(1..) = pipe.read(&mut heard).await {
        let next = left.lock().expect("no panic holds it").pop();
        let Some(next) = next else { return };
        if pipe.write_all(&next).await.is_err() {
            return;
        }
    }
}
