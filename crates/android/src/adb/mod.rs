//! An async adb client, through the adb server's socket or directly to an adbd.

pub mod direct;
pub mod error;
pub mod forward;
pub mod install;
pub mod key;
pub mod link;
pub mod logcat;
pub mod script;
pub mod server;
pub mod server_start;
pub mod shell;
pub mod stream;
pub mod sync;

use std::sync::Arc;

use tokio::sync::OnceCell;

pub use error::AdbError;
pub use script::Script;
pub use stream::AdbStream;

use link::Link;
use server::AdbServer;

/// One device, reached over one route. Cheap to clone; every service gets its own stream.
#[derive(Clone)]
pub struct Adb {
    route: Arc<Route>,
}

enum Route {
    Server { server: AdbServer, serial: String, features: OnceCell<Features> },
    Direct(Link),
}

/// Features of the device's adbd.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Features {
    pub shell_v2: bool,
    pub stat_v2: bool,
    pub abb_exec: bool,
}

impl Features {
    pub(crate) fn from_list(has: impl Fn(&str) -> bool) -> Features {
        Features { shell_v2: has("shell_v2"), stat_v2: has("stat_v2"), abb_exec: has("abb_exec") }
    }
}

impl Adb {
    pub fn through_server(server: AdbServer, serial: impl Into<String>) -> Adb {
        Adb { route: Arc::new(Route::Server { server, serial: serial.into(), features: OnceCell::new() }) }
    }

    pub fn direct(link: Link) -> Adb {
        Adb { route: Arc::new(Route::Direct(link)) }
    }

    /// Opens a service such as `shell,v2,raw:id` or `sync:`.
    pub async fn open(&self, service: &str) -> Result<AdbStream, AdbError> {
        match &*self.route {
            Route::Server { server, serial, .. } => server.open(serial, service).await.map(AdbStream::Server),
            Route::Direct(link) => link.open(service).await.map(AdbStream::Direct),
        }
    }

    pub async fn features(&self) -> Result<Features, AdbError> {
        match &*self.route {
            Route::Server { server, serial, features } => {
                let read = || async {
                    let text = server.query(&format!("host-serial:{serial}:features")).await?;
                    Ok(Features::from_list(|name| text.split(',').any(|f| f.trim() == name)))
                };
                features.get_or_try_init(read).await.copied()
            }
            Route::Direct(link) => link.features().await,
        }
    }

    /// Counts the connections made so far. Facts read from the device stay valid while the count is the same. Through a
    /// server it is always zero, because the server owns the connection.
    pub fn generation(&self) -> u64 {
        match &*self.route {
            Route::Server { .. } => 0,
            Route::Direct(link) => link.generation(),
        }
    }

    /// True if there is a live connection. Through a server it is always false: only its device list has the state.
    pub fn is_connected(&self) -> bool {
        match &*self.route {
            Route::Server { .. } => false,
            Route::Direct(link) => link.is_connected(),
        }
    }

    /// Closes a direct connection; the next call opens a new one. A server's connection stays.
    pub async fn close(&self) {
        if let Route::Direct(link) = &*self.route {
            link.close().await;
        }
    }

    pub(crate) fn link(&self) -> Option<&Link> {
        match &*self.route {
            Route::Server { .. } => None,
            Route::Direct(link) => Some(link),
        }
    }
}
