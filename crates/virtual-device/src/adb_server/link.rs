//! The server's one transport to a phone.

use std::io;
use std::sync::{Arc, Mutex, PoisonError};

use mdm_wire::adb::banner::Banner;
use mdm_wire::adb::frame::Command;
use mdm_wire::adb::{PAYLOAD_BYTES_MAX, VERSION_SKIP_CHECKSUM};
use tokio::io::DuplexStream;
use tokio::net::TcpStream;
use tokio::sync::{mpsc, oneshot};
use tokio_util::sync::CancellationToken;

use crate::adbd::FEATURES;
use crate::adbd::mux::{Mux, OpenRequest, open};
use crate::adbd::stream::{StreamIo, bridge};
use crate::phone::Phone;

const STREAM_BYTES: usize = 256 * 1024;

#[derive(Clone)]
pub struct Link {
    phone: Phone,
    current: Arc<Mutex<Option<Transport>>>,
}

#[derive(Clone)]
struct Transport {
    requests: mpsc::Sender<OpenRequest>,
    ended: CancellationToken,
}

impl Link {
    pub fn new(phone: Phone) -> Link {
        Link { phone, current: Arc::new(Mutex::new(None)) }
    }

    /// Opens a service, over a new transport when there is none.
    pub async fn open(&self, service: &str) -> io::Result<DuplexStream> {
        let transport = match self.alive() {
            Some(transport) => transport,
            None => self.connect().await?,
        };
        open(&transport.requests, service, STREAM_BYTES).await
    }

    pub fn drop_transport(&self) {
        if let Some(transport) = self.slot().take() {
            transport.ended.cancel();
        }
    }

    fn slot(&self) -> std::sync::MutexGuard<'_, Option<Transport>> {
        self.current.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn alive(&self) -> Option<Transport> {
        self.slot().clone().filter(|t| !t.ended.is_cancelled() && !t.requests.is_closed())
    }

    async fn connect(&self) -> io::Result<Transport> {
        let socket = self.phone.connect_trusted()?;
        let ended = CancellationToken::new();
        let mux = Mux::new(socket, &ended);
        let transport = Transport { requests: mux.requests.clone(), ended: ended.clone() };
        let (online, is_online) = oneshot::channel();
        tokio::spawn(async move {
            run(mux, online).await;
            ended.cancel();
        });
        is_online.await.map_err(|_| io::Error::new(io::ErrorKind::ConnectionAborted, "no handshake"))?;
        *self.slot() = Some(transport.clone());
        Ok(transport)
    }
}

async fn run(mut mux: Mux<DuplexStream>, online: oneshot::Sender<()>) {
    let banner = Banner {
        kind: "host".to_owned(),
        properties: Vec::new(),
        features: FEATURES.iter().map(|f| (*f).to_owned()).collect(),
    };
    mux.send(Command::Connect, VERSION_SKIP_CHECKSUM, PAYLOAD_BYTES_MAX, banner.encode()).await;
    let mut online = Some(online);
    while let Some(frame) = mux.next().await {
        match frame.command {
            Command::Connect => {
                mux.payload_bytes_max = frame.arg1.clamp(1, PAYLOAD_BYTES_MAX);
                mux.online = true;
                if let Some(online) = online.take() {
                    let _ = online.send(());
                }
            }
            Command::Open if mux.online => {
                let address = String::from_utf8_lossy(&frame.payload).trim_end_matches('\0').to_owned();
                // Answered at once: a host port that refuses closes the stream a moment later.
                let io = mux.accept(frame.arg0).await;
                tokio::spawn(connect_host(address, io));
            }
            _ => {}
        }
    }
    mux.end().await;
}

/// The host's end of a reverse forward.
async fn connect_host(address: String, io: StreamIo) {
    let Some(port) = address.strip_prefix("tcp:").and_then(|p| p.parse::<u16>().ok()) else { return };
    let Ok(mut socket) = TcpStream::connect(("127.0.0.1", port)).await else { return };
    let (inner, mut outer) = tokio::io::duplex(STREAM_BYTES);
    tokio::spawn(bridge(io, inner));
    let _ = tokio::io::copy_bidirectional(&mut socket, &mut outer).await;
}
