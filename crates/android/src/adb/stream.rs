//! A stream to one service of a device, over either route.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll};

use bytes::{Bytes, BytesMut};
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;

use super::direct::DirectStream;
use super::error::AdbError;

pub enum AdbStream {
    Server(TcpStream),
    Direct(DirectStream),
}

impl AdbStream {
    /// Reads until the device closes the stream, but at most `bytes_max`. Returns true if there was more.
    pub async fn read_to_limit(&mut self, bytes_max: usize) -> Result<(Bytes, bool), AdbError> {
        let mut buffer = BytesMut::new();
        while buffer.len() <= bytes_max {
            if self.read_buf(&mut buffer).await.map_err(AdbError::lost)? == 0 {
                return Ok((buffer.freeze(), false));
            }
        }
        buffer.truncate(bytes_max);
        Ok((buffer.freeze(), true))
    }

    pub(crate) async fn read_array<const N: usize>(&mut self) -> Result<[u8; N], AdbError> {
        let mut bytes = [0u8; N];
        self.read_exact(&mut bytes).await.map_err(AdbError::lost)?;
        Ok(bytes)
    }

    pub(crate) async fn read_vec(&mut self, length: usize) -> Result<Vec<u8>, AdbError> {
        let mut bytes = vec![0u8; length];
        self.read_exact(&mut bytes).await.map_err(AdbError::lost)?;
        Ok(bytes)
    }
}

impl AsyncRead for AdbStream {
    fn poll_read(self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        match self.get_mut() {
            AdbStream::Server(stream) => Pin::new(stream).poll_read(cx, buf),
            AdbStream::Direct(stream) => Pin::new(stream).poll_read(cx, buf),
        }
    }
}

impl AsyncWrite for AdbStream {
    fn poll_write(self: Pin<&mut Self>, cx: &mut Context<'_>, data: &[u8]) -> Poll<io::Result<usize>> {
        match self.get_mut() {
            AdbStream::Server(stream) => Pin::new(stream).poll_write(cx, data),
            AdbStream::Direct(stream) => Pin::new(stream).poll_write(cx, data),
        }
    }

    fn poll_flush(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        match self.get_mut() {
            AdbStream::Server(stream) => Pin::new(stream).poll_flush(cx),
            AdbStream::Direct(stream) => Pin::new(stream).poll_flush(cx),
        }
    }

    fn poll_shutdown(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        match self.get_mut() {
            AdbStream::Server(stream) => Pin::new(stream).poll_shutdown(cx),
            AdbStream::Direct(stream) => Pin::new(stream).poll_shutdown(cx),
        }
    }
}
