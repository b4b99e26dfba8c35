//! A direct connection that is opened on demand, and reopened after it was lost.

use std::future::Future;
use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use tokio::net::TcpStream;
use tokio::sync::Mutex;

use super::Features;
use super::direct::{Direct, DirectStream, Transport};
use super::error::AdbError;
use super::key::HostKey;

const CONNECT_TIMEOUT: Duration = Duration::from_secs(3);
type Connecting = Pin<Box<dyn Future<Output = io::Result<Box<dyn Transport>>> + Send>>;
/// Opens a new transport to the same device.
pub type Connector = Arc<dyn Fn() -> Connecting + Send + Sync>;

pub struct Link {
    connector: Connector,
    key: HostKey,
    current: Mutex<Option<Arc<Direct>>>,
    generation: AtomicU64,
}

/// Returns a connector to `host:port`.
pub fn tcp(address: String) -> Connector {
    Arc::new(move || {
        let address = address.clone();
        Box::pin(async move {
            let stream = TcpStream::connect(&address).await?;
            stream.set_nodelay(true)?;
            Ok(Box::new(stream) as Box<dyn Transport>)
        })
    })
}

impl Link {
    pub fn new(connector: Connector, key: HostKey) -> Link {
        Link { connector, key, current: Mutex::new(None), generation: AtomicU64::new(0) }
    }

    pub fn generation(&self) -> u64 {
        self.generation.load(Ordering::Relaxed)
    }

    /// True if there is a live connection. One that is being opened does not count yet.
    pub fn is_connected(&self) -> bool {
        self.current.try_lock().is_ok_and(|current| current.as_ref().is_some_and(|direct| direct.is_alive()))
    }

    pub async fn close(&self) {
        *self.current.lock().await = None;
    }

    pub async fn open(&self, service: &str) -> Result<DirectStream, AdbError> {
        self.connection().await?.open(service).await
    }

    pub async fn features(&self) -> Result<Features, AdbError> {
        Ok(self.connection().await?.features())
    }

    pub async fn allow_reverse(&self, target: &str) -> Result<(), AdbError> {
        self.connection().await?.allow_reverse(target);
        Ok(())
    }

    /// Returns the live connection, or opens a new one. If this fails, no request was sent.
    pub async fn connection(&self) -> Result<Arc<Direct>, AdbError> {
        let mut current = self.current.lock().await;
        if let Some(direct) = current.as_ref().filter(|d| d.is_alive()) {
            return Ok(Arc::clone(direct));
        }
        *current = None;
        let io = match tokio::time::timeout(CONNECT_TIMEOUT, (self.connector)()).await {
            Ok(Ok(io)) => io,
            Ok(Err(error)) => return Err(AdbError::Unreachable(error.to_string())),
            Err(_) => return Err(AdbError::Unreachable(format!("no answer in {CONNECT_TIMEOUT:?}"))),
        };
        let direct = Arc::new(Direct::handshake(io, &self.key).await?);
        self.generation.fetch_add(1, Ordering::Relaxed);
        *current = Some(Arc::clone(&direct));
        Ok(direct)
    }
}
