//! Messages of DTX on a connection.

use std::io;

use mdm_wire::dtx::{Broken, HEAD_BYTES, Head, Message, Parts};
use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _};

/// Largest part that a client may send.
const PART_BYTES_MAX: usize = 4 * 1024 * 1024;

pub async fn read(stream: &mut (impl AsyncRead + Unpin)) -> io::Result<Message> {
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

pub async fn write(stream: &mut (impl AsyncWrite + Unpin), message: &Message) -> io::Result<()> {
    stream.write_all(&message.encode()).await?;
    stream.flush().await
}
