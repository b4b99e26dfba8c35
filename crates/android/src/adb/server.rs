//! A client of the local adb server: its device list, and streams to devices.

use std::time::Duration;

use mdm_wire::adb::host;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use super::error::AdbError;

const CONNECT_TIMEOUT: Duration = Duration::from_secs(2);

/// The address of an adb server. Every request uses a new connection, as the protocol requires.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AdbServer {
    pub address: String,
}

impl AdbServer {
    pub fn at(address: impl Into<String>) -> AdbServer {
        AdbServer { address: address.into() }
    }

    /// Sends a request and returns its answer, which is one text.
    pub async fn query(&self, request: &str) -> Result<String, AdbError> {
        let mut stream = self.request(request).await?;
        read_text(&mut stream).await
    }

    /// Opens a stream to a service of a device.
    pub async fn open(&self, serial: &str, service: &str) -> Result<TcpStream, AdbError> {
        // Nothing reaches the device before the service is requested.
        let mut stream = self.request(&format!("host:transport:{serial}")).await?;
        send(&mut stream, service).await?;
        Ok(stream)
    }

    /// Follows changes of the device list.
    pub async fn track(&self) -> Result<Tracker, AdbError> {
        Ok(Tracker { stream: self.request("host:track-devices-l").await? })
    }

    async fn request(&self, request: &str) -> Result<TcpStream, AdbError> {
        let connecting = tokio::time::timeout(CONNECT_TIMEOUT, TcpStream::connect(&self.address));
        let mut stream = match connecting.await {
            Ok(Ok(stream)) => stream,
            Ok(Err(error)) => {
                return Err(AdbError::Unreachable(format!("adb server {}: {error}", self.address)));
            }
            Err(_) => {
                return Err(AdbError::Unreachable(format!("adb server {} does not answer", self.address)));
            }
        };
        stream.set_nodelay(true).map_err(AdbError::lost)?;
        send(&mut stream, request).await?;
        Ok(stream)
    }
}

/// Yields the whole list of devices each time it changes.
pub struct Tracker {
    stream: TcpStream,
}

impl Tracker {
    pub async fn next(&mut self) -> Result<Vec<host::DeviceLine>, AdbError> {
        Ok(host::parse_devices(&read_text(&mut self.stream).await?))
    }
}

async fn send(stream: &mut TcpStream, request: &str) -> Result<(), AdbError> {
    let bytes = host::encode_text(request)?;
    stream.write_all(&bytes).await.map_err(AdbError::lost)?;
    let mut status = [0u8; 4];
    stream.read_exact(&mut status).await.map_err(AdbError::lost)?;
    match &status {
        host::OKAY => Ok(()),
        host::FAIL => Err(AdbError::from_server(read_text(stream).await?)),
        other => Err(AdbError::Protocol(format!("the adb server answered {other:02x?}"))),
    }
}

async fn read_text(stream: &mut TcpStream) -> Result<String, AdbError> {
    let mut prefix = [0u8; 4];
    stream.read_exact(&mut prefix).await.map_err(AdbError::lost)?;
    let mut text = vec![0u8; host::decode_length(&prefix)?];
    stream.read_exact(&mut text).await.map_err(AdbError::lost)?;
    Ok(String::from_utf8_lossy(&text).into_owned())
}
