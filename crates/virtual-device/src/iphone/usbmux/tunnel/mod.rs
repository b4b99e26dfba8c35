//! CoreDeviceProxy: a tunnel of IPv6 packets to the services of iOS 17.4 and later.
//!
//! The client greets with JSON; after that every byte belongs to a packet. The phone's TCP is smoltcp's.

mod stack;

use std::io;
use std::net::Ipv6Addr;
use std::sync::{Arc, Mutex, PoisonError};

use serde_json::json;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _, DuplexStream};
use tokio::sync::mpsc;
use tokio::time::Instant;

use super::{Wire, remote};
use crate::iphone::IPhone;
use stack::Stack;

const MAGIC: &[u8; 8] = b"CDTunnel";
const PHONE_ADDRESS: Ipv6Addr = Ipv6Addr::new(0xfd58, 0x8c92, 0x8961, 0, 0, 0, 0, 1);
const CLIENT_ADDRESS: Ipv6Addr = Ipv6Addr::new(0xfd58, 0x8c92, 0x8961, 0, 0, 0, 0, 2);
const NETMASK: &str = "ffff:ffff:ffff:ffff::";
/// What a phone grants, and the least that IPv6 allows.
const MTU_BYTES: u64 = 16_000;
const MTU_BYTES_MIN: u64 = 1280;
/// Datagrams that wait to be sent.
const DATAGRAMS_MAX: usize = 64;
const PIPE_BYTES: usize = 256 * 1024;

/// One client's tunnel, as the services behind it see it.
#[derive(Debug)]
pub struct Tunnel {
    /// The media stream that the client watches; touches count only while it runs.
    watched: Mutex<Option<MediaStream>>,
    datagrams: mpsc::Sender<Datagram>,
}

/// A stream of the screen to a port of the client.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MediaStream {
    pub session: [u8; 16],
    pub port: u16,
    pub began: Instant,
}

/// Something that the phone sends over UDP.
#[derive(Debug)]
pub struct Datagram {
    pub to_port: u16,
    pub bytes: Vec<u8>,
}

impl Tunnel {
    /// A new tunnel, and what waits to be sent in it.
    pub fn new() -> (Tunnel, mpsc::Receiver<Datagram>) {
        let (datagrams, waiting) = mpsc::channel(DATAGRAMS_MAX);
        (Tunnel { watched: Mutex::default(), datagrams }, waiting)
    }

    pub fn watched(&self) -> Option<MediaStream> {
        self.watched.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    pub fn watch(&self, stream: Option<MediaStream>) {
        *self.watched.lock().unwrap_or_else(PoisonError::into_inner) = stream;
    }

    /// Sends a datagram, or loses it when too many wait, as networks do.
    pub fn send(&self, datagram: Datagram) {
        let _ = self.datagrams.try_send(datagram);
    }
}

pub fn phone_address() -> String {
    PHONE_ADDRESS.to_string()
}

pub async fn serve(phone: &IPhone, stream: &mut (impl Wire + ?Sized)) -> io::Result<()> {
    let mtu = greet(stream).await?;
    let (tunnel, waiting) = Tunnel::new();
    let tunnel = Arc::new(tunnel);
    let phone = phone.clone();
    let open = move |port: u16| {
        let target = remote::target(&phone, port)?;
        let (ours, theirs): (DuplexStream, DuplexStream) = tokio::io::duplex(PIPE_BYTES);
        // A client that breaks the protocol is hung up on.
        tokio::spawn(remote::serve(phone.clone(), Arc::clone(&tunnel), target, theirs));
        Some(ours)
    };
    Stack::new(PHONE_ADDRESS, CLIENT_ADDRESS, mtu).run(stream, open, waiting).await
}

/// Answers the client's greeting, and returns the largest packet.
async fn greet(stream: &mut (impl Wire + ?Sized)) -> io::Result<usize> {
    let mut magic = [0; MAGIC.len()];
    stream.read_exact(&mut magic).await?;
    if magic != *MAGIC {
        return Err(io::Error::other("no tunnel"));
    }
    let length = stream.read_u16().await?;
    let mut greeting = vec![0; length.into()];
    stream.read_exact(&mut greeting).await?;
    let greeting: serde_json::Value = serde_json::from_slice(&greeting)?;
    if greeting["type"] != "clientHandshakeRequest" {
        return Err(io::Error::other("no greeting"));
    }
    let mtu = greeting["mtu"].as_u64().unwrap_or(MTU_BYTES_MIN).clamp(MTU_BYTES_MIN, MTU_BYTES);
    let answer = json!({
        "clientParameters": { "address": CLIENT_ADDRESS.to_string(), "mtu": mtu, "netmask": NETMASK },
        "serverAddress": PHONE_ADDRESS.to_string(),
        "serverRSDPort": remote::DISCOVERY_PORT,
        "type": "serverHandshakeResponse",
    });
    let answer = serde_json::to_vec(&answer)?;
    let length = u16::try_from(answer.len()).map_err(io::Error::other)?;
    stream.write_all(&[MAGIC.as_slice(), &length.to_be_bytes(), &answer].concat()).await?;
    stream.flush().await?;
    usize::try_from(mtu).map_err(io::Error::other)
}
