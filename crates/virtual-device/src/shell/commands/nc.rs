//! `nc`: connects from the phone, for example to a reverse forward.

use bytes::BytesMut;
use tokio::io::{AsyncReadExt, AsyncWriteExt};

use super::super::io::BrokenPipe;
use super::Call;

const READ_BYTES: usize = 64 * 1024;

/// Runs until the other side ends; the end of the standard input is not passed on.
pub async fn nc(call: &Call<'_>) -> Result<u8, BrokenPipe> {
    let (_, words) = call.options();
    let [_host, port] = words.as_slice() else {
        call.io.stderr.write("nc: Need HOST PORT\n").await?;
        return Ok(1);
    };
    let Ok(socket) = call.phone.connect_from_device(&format!("tcp:{port}")).await else {
        call.io.stderr.write("nc: connect: Connection refused\n").await?;
        return Ok(1);
    };
    let (mut from, mut to) = tokio::io::split(socket);
    let sending = async {
        while let Some(data) = call.io.stdin.next().await {
            if to.write_all(&data).await.is_err() {
                break;
            }
        }
        std::future::pending::<()>().await;
    };
    let receiving = async {
        let mut buffer = BytesMut::with_capacity(READ_BYTES);
        while let Ok(1..) = from.read_buf(&mut buffer).await {
            call.io.stdout.write(buffer.split().freeze()).await?;
            buffer.reserve(READ_BYTES);
        }
        Ok(0)
    };
    tokio::select! {
        biased;
        () = call.io.stdout.closed() => Err(BrokenPipe),
        ended = receiving => ended,
        () = sending => Ok(0),
    }
}
