//! A direct connection that is opened on demand, and reopened after it was lost.

use std::future::Future;
use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use tokio::net::TcpStream;
use tokio::sync::Mutex;
use tokio::time::Instant;

use super::Features;
use super::direct::{Direct, DirectStream, Transport};
use super::error::AdbError;
use super::key::HostKey;

const CONNECT_TIMEOUT: Duration = Duration::from_secs(3);
/// A device that broke the protocol, or did not accept us, so many times in a row is left alone for a while: each
/// attempt costs the time of others.
const BAD_ENDS_MAX: u32 = 3;
const LEFT_ALONE: Duration = Duration::from_millis(500);
type Connecting = Pin<Box<dyn Future<Output = io::Result<Box<dyn Transport>>> + Send>>;
/// Opens a new transport to the same device.
pub type Connector = Arc<dyn Fn() -> Connecting + Send + Sync>;

pub struct Link {
    connector: Connector,
    key: HostKey,
    current: Mutex<Current>,
    generation: AtomicU64,
}

#[derive(Default)]
struct Current {
    direct: Option<Arc<Direct>>,
    /// Connections in a row that ended badly, and when and why the last one did.
    bad_ends: u32,
    last_bad_end: Option<BadEnd>,
}

struct BadEnd {
    at: Instant,
    unauthorized: bool,
    why: String,
}

impl Current {
    fn end_badly(&mut self, error: &AdbError) {
        let (unauthorized, why) = match error {
            AdbError::Unauthorized(why) => (true, why.clone()),
            AdbError::Unreachable(why) => (false, why.clone()),
            other => (false, other.to_string()),
        };
        self.bad_ends = self.bad_ends.saturating_add(1);
        self.last_bad_end = Some(BadEnd { at: Instant::now(), unauthorized, why });
    }

    /// Why no connection is tried now.
    fn left_alone(&self) -> Option<AdbError> {
        let last = self.last_bad_end.as_ref().filter(|_| self.bad_ends >= BAD_ENDS_MAX)?;
        let error = if last.unauthorized { AdbError::Unauthorized } else { AdbError::Unreachable };
        (last.at.elapsed() < LEFT_ALONE).then(|| error(last.why.clone()))
    }
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
        Link { connector, key, current: Mutex::default(), generation: AtomicU64::new(0) }
    }

    pub fn generation(&self) -> u64 {
        self.generation.load(Ordering::Relaxed)
    }

    /// True if there is a live connection. One that is being opened does not count yet.
    pub fn is_connected(&self) -> bool {
        self.current.try_lock().is_ok_and(|current| current.direct.as_ref().is_some_and(|d| d.is_alive()))
    }

    pub async fn close(&self) {
        self.current.lock().await.direct = None;
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
        if let Some(direct) = current.direct.as_ref().filter(|d| d.is_alive()) {
            return Ok(Arc::clone(direct));
        }
        match current.direct.take() {
            Some(ended) if ended.broke_rules() => {
                current.end_badly(&AdbError::Protocol("the device broke it".to_owned()))
            }
            // It worked, and will work again.
            Some(_) => current.bad_ends = 0,
            None => {}
        }
        if let Some(error) = current.left_alone() {
            return Err(error);
        }
        let io = match tokio::time::timeout(CONNECT_TIMEOUT, (self.connector)()).await {
            Ok(Ok(io)) => io,
            Ok(Err(error)) => return Err(AdbError::Unreachable(error.to_string())),
            Err(_) => return Err(AdbError::Unreachable(format!("no answer in {CONNECT_TIMEOUT:?}"))),
        };
        let direct = match Direct::handshake(io, &self.key).await {
            Ok(direct) => Arc::new(direct),
            Err(error) => {
                current.end_badly(&error);
                return Err(error);
            }
        };
        self.generation.fetch_add(1, Ordering::Relaxed);
        current.direct = Some(Arc::clone(&direct));
        Ok(direct)
    }
}
