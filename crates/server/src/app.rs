//! What every tool shares: the devices and the numbering of actions.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use mdm_android::adb::direct::Transport;
use mdm_android::adb::key::HostKey;
use mdm_android::adb::link;
use mdm_android::adb::server::AdbServer;
use mdm_android::adb::server_start::Environment;
use mdm_android::{Endpoint, Hub, HubConfig, StartServer};
use mdm_core::port::DeviceSource;
use mdm_engine::{Action, Fleet, Follow};
use mdm_virtual_device::Phone;

/// The id under which the embedded phone is listed.
pub const VIRTUAL_ANDROID_ID: &str = "virtual-android";
const ADB_SERVER_PORT: u16 = 5037;

pub struct App {
    pub fleet: Fleet,
    actions: AtomicU64,
}

/// Which devices this process drives.
#[derive(Default)]
pub struct Devices {
    pub phone: Option<Phone>,
    /// `HOST:PORT` of adbds that are reached without an adb server.
    pub addresses: Vec<String>,
    pub adb_server: bool,
}

impl App {
    pub fn new(devices: Devices) -> App {
        App::with_source(Arc::new(Hub::new(hub_config(devices))))
    }

    pub fn with_source(source: Arc<dyn DeviceSource>) -> App {
        App { fleet: Fleet::new(vec![source]), actions: AtomicU64::new(0) }
    }

    /// An action of the pipeline, with a name of its own.
    pub fn action(&self, name: &'static str, follow: Follow) -> Action {
        Action { id: self.action_id(name), name, follow, scroll: false }
    }

    /// `tap_1731650000123_7`: the kind, the time, and a number that is never given twice.
    pub fn action_id(&self, action_type: &str) -> String {
        let number = self.actions.fetch_add(1, Ordering::Relaxed) + 1;
        format!("{action_type}_{}_{number}", self.fleet.clock().now_ms())
    }
}

fn hub_config(devices: Devices) -> HubConfig {
    let environment = Environment::of_process();
    let home = environment.home.clone().unwrap_or_else(|| PathBuf::from("."));
    let mut endpoints = Vec::new();
    if let Some(phone) = devices.phone {
        endpoints.push(Endpoint { id: VIRTUAL_ANDROID_ID.to_owned(), connector: phone_connector(phone) });
    }
    for address in devices.addresses {
        endpoints.push(Endpoint { id: address.clone(), connector: link::tcp(address) });
    }
    let (address, port) = adb_server_address();
    let start = environment.find_adb().map(|adb| StartServer { adb, port });
    HubConfig {
        server: devices.adb_server.then(|| AdbServer::at(address)),
        start,
        endpoints,
        key: HostKey::of_user(&home),
        session: session_number(),
    }
}

/// Each connection is a pipe to the phone in this process.
pub fn phone_connector(phone: Phone) -> link::Connector {
    Arc::new(move || {
        let connected = phone.connect();
        Box::pin(async move { Ok(Box::new(connected?) as Box<dyn Transport>) })
    })
}

/// As adb itself reads it: `ADB_SERVER_SOCKET`, else `ANDROID_ADB_SERVER_ADDRESS` and `ANDROID_ADB_SERVER_PORT`, else
/// the usual place.
fn adb_server_address() -> (String, u16) {
    let variable = |name: &str| std::env::var(name).ok().filter(|value| !value.is_empty());
    if let Some(socket) = variable("ADB_SERVER_SOCKET").as_deref().and_then(|s| s.strip_prefix("tcp:")) {
        let (host, port) = socket.rsplit_once(':').unwrap_or(("127.0.0.1", socket));
        if let Ok(port) = port.parse() {
            return (format!("{host}:{port}"), port);
        }
    }
    let port = variable("ANDROID_ADB_SERVER_PORT").and_then(|p| p.parse().ok()).unwrap_or(ADB_SERVER_PORT);
    let host = variable("ANDROID_ADB_SERVER_ADDRESS").unwrap_or_else(|| "127.0.0.1".to_owned());
    (format!("{host}:{port}"), port)
}

/// Unlike any other process that uses the same device: the standard library's hasher is seeded by the system.
fn session_number() -> u64 {
    use std::hash::{BuildHasher, RandomState};
    RandomState::new().hash_one(std::process::id())
}
