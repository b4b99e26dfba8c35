//! The adb server over a set of phones, as clients find it on port 5037.

mod forward;
mod link;
mod request;

use std::collections::BTreeMap;
use std::io;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::io::DuplexStream;
use tokio::net::TcpListener;
use tokio::sync::watch;

use crate::adbd::FEATURES;
use crate::phone::Phone;
use forward::Forwards;
use link::Link;

/// Client connections at a time.
const CLIENTS_MAX: usize = 256;
/// Phones that one server knows.
const DEVICES_MAX: usize = 1000;

/// Cheap to clone; all clones are the same server.
#[derive(Clone)]
pub struct AdbServer {
    inner: Arc<Inner>,
}

struct Inner {
    devices: Mutex<BTreeMap<String, Device>>,
    next_id: Mutex<u64>,
    /// Counts up whenever the list of devices changes.
    changed: watch::Sender<u64>,
    forwards: Forwards,
    clients: tokio::sync::Semaphore,
}

#[derive(Clone)]
struct Device {
    id: u64,
    /// `device`, `unauthorized`, `offline`, …
    state: String,
    phone: Phone,
    link: Link,
}

impl Default for AdbServer {
    fn default() -> AdbServer {
        AdbServer::new()
    }
}

impl AdbServer {
    pub fn new() -> AdbServer {
        AdbServer {
            inner: Arc::new(Inner {
                devices: Mutex::new(BTreeMap::new()),
                next_id: Mutex::new(1),
                changed: watch::Sender::new(0),
                forwards: Forwards::default(),
                clients: tokio::sync::Semaphore::new(CLIENTS_MAX),
            }),
        }
    }

    /// Plugs a phone in under a serial number, in place of whatever had it.
    pub fn add(&self, serial: &str, state: &str, phone: Phone) {
        phone.on_plug(self.inner.changed.clone());
        let id = {
            let mut next = lock(&self.inner.next_id);
            *next += 1;
            *next - 1
        };
        let device = Device { id, state: state.to_owned(), link: Link::new(phone.clone()), phone };
        let mut devices = self.devices();
        if devices.len() < DEVICES_MAX || devices.contains_key(serial) {
            devices.insert(serial.to_owned(), device);
        }
        drop(devices);
        self.announce();
    }

    pub fn remove(&self, serial: &str) {
        let gone = self.devices().remove(serial);
        if let Some(device) = gone {
            device.link.drop_transport();
            self.inner.forwards.remove_serial(serial);
        }
        self.announce();
    }

    pub fn set_state(&self, serial: &str, state: &str) {
        if let Some(device) = self.devices().get_mut(serial) {
            state.clone_into(&mut device.state);
        }
        self.announce();
    }

    /// Serves clients until the listener fails.
    pub async fn serve(&self, listener: TcpListener) -> io::Result<()> {
        loop {
            let (socket, _) = listener.accept().await?;
            socket.set_nodelay(true)?;
            let server = self.clone();
            tokio::spawn(async move {
                if let Ok(_permit) = server.inner.clients.try_acquire() {
                    request::serve(&server, socket).await;
                }
            });
        }
    }

    fn devices(&self) -> MutexGuard<'_, BTreeMap<String, Device>> {
        lock(&self.inner.devices)
    }

    fn announce(&self) {
        self.inner.changed.send_modify(|count| *count += 1);
    }

    /// Returns the lines of `devices` or `devices-l`. An unplugged phone is not listed.
    fn list(&self, long: bool) -> String {
        let mut out = String::new();
        for (serial, device) in self.devices().iter().filter(|(_, d)| d.phone.is_plugged()) {
            if long {
                let details =
                    if device.state == "device" { properties(&device.phone) } else { String::new() };
                out.push_str(&format!("{serial:<22} {}{details} transport_id:{}\n", device.state, device.id));
            } else {
                out.push_str(&format!("{serial}\t{}\n", device.state));
            }
        }
        out
    }

    /// Returns the device that a client means, or the server's error message. Without a serial it is the only device.
    fn pick(&self, serial: Option<&str>) -> Result<(String, Device), String> {
        let devices = self.devices();
        let mut present = devices.iter().filter(|(_, d)| d.phone.is_plugged());
        let found = match serial {
            Some(serial) => present
                .find(|(known, _)| *known == serial)
                .ok_or_else(|| format!("device '{serial}' not found"))?,
            None => {
                let first = present.next().ok_or("no devices/emulators found")?;
                if present.next().is_some() {
                    return Err("more than one device/emulator".to_owned());
                }
                first
            }
        };
        Ok((found.0.clone(), found.1.clone()))
    }

    /// Opens a service on a phone that is online.
    async fn open(&self, device: &Device, service: &str) -> Result<DuplexStream, String> {
        usable(device)?;
        device.link.open(service).await.map_err(|_| "closed".to_owned())
    }
}

/// Returns the server's error message for a device that is there but cannot be used.
fn usable(device: &Device) -> Result<(), String> {
    match device.state.as_str() {
        "device" | "recovery" | "sideload" => Ok(()),
        "unauthorized" => Err("device unauthorized.\nThis adb server's $ADB_VENDOR_KEYS is not set\n\
             Try 'adb kill-server' if that seems wrong.\n\
             Otherwise check for a confirmation dialog on your device."
            .to_owned()),
        "authorizing" => Err("device still authorizing".to_owned()),
        other => Err(format!("device {other}")),
    }
}

fn properties(phone: &Phone) -> String {
    let value = |key: &str| {
        let text = phone.with(|state| state.properties.get(key).cloned().unwrap_or_default());
        text.replace(|c: char| !c.is_ascii_alphanumeric() && c != '-' && c != '.', "_")
    };
    format!(
        " product:{} model:{} device:{}",
        value("ro.product.name"),
        value("ro.product.model"),
        value("ro.product.device")
    )
}

fn features() -> String {
    FEATURES.join(",")
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
