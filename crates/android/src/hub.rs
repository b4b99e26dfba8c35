//! Every Android device within reach: those of the adb server, and those named by address.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use mdm_core::port::{Availability, Device, DeviceSource, Listed, PortFuture, SourceHealth};
use mdm_core::screen::snapshot::Platform;
use mdm_wire::adb::host::DeviceLine;
use tokio::sync::watch;
use tokio::time::Instant;
use tokio_util::sync::{CancellationToken, DropGuard};

use crate::adb::key::HostKey;
use crate::adb::link::{Connector, Link};
use crate::adb::server::{AdbServer, Tracker};
use crate::adb::{Adb, AdbError, server_start};
use crate::device::AndroidDevice;

/// How soon after a failed start the adb program may be started again.
const START_AGAIN_AFTER: Duration = Duration::from_secs(30);
/// Devices kept from one adb server; a list longer than this is not a list of phones.
const DEVICES_MAX: usize = 256;

/// A device that is reached without an adb server.
pub struct Endpoint {
    pub id: String,
    pub connector: Connector,
}

pub struct HubConfig {
    /// `None` leaves adb servers alone.
    pub server: Option<AdbServer>,
    /// How to start that server when nobody listens.
    pub start: Option<StartServer>,
    pub endpoints: Vec<Endpoint>,
    pub key: HostKey,
    /// Makes the names of files on devices this process's own.
    pub session: u64,
}

#[derive(Debug, Clone)]
pub struct StartServer {
    pub adb: PathBuf,
    pub port: u16,
}

pub struct Hub {
    server: Option<AdbServer>,
    start: Option<StartServer>,
    session: u64,
    direct: Vec<(String, Arc<AndroidDevice>)>,
    tracking: tokio::sync::Mutex<Tracking>,
    known: Mutex<BTreeMap<String, Arc<AndroidDevice>>>,
}

#[derive(Default)]
struct Tracking {
    current: Option<Tracked>,
    start_failed_at: Option<Instant>,
}

struct Tracked {
    lines: watch::Receiver<Vec<DeviceLine>>,
    _stop: DropGuard,
}

impl Hub {
    pub fn new(config: HubConfig) -> Hub {
        let session = config.session;
        let direct = config.endpoints.into_iter().map(|endpoint| {
            let adb = Adb::direct(Link::new(endpoint.connector, config.key.clone()));
            let device = Arc::new(AndroidDevice::new(endpoint.id.clone(), adb, session));
            (endpoint.id, device)
        });
        Hub {
            direct: direct.collect(),
            server: config.server,
            start: config.start,
            session,
            tracking: tokio::sync::Mutex::default(),
            known: Mutex::default(),
        }
    }

    async fn list_all(&self) -> Vec<Listed> {
        let mut listed = Vec::new();
        // At the same time: an address where nobody listens takes seconds to say so.
        let probes = self.direct.iter().map(|(_, device)| tokio::spawn(direct_state(Arc::clone(device))));
        for ((id, device), probe) in self.direct.iter().zip(probes.collect::<Vec<_>>()) {
            let state = probe.await.unwrap_or(Availability::Offline);
            listed.push(self.listed(id, state, Arc::clone(device)));
        }
        let Some(server) = &self.server else { return listed };
        // Without a server there are simply no devices of a server; health() says why.
        let lines = self.server_lines(server).await.unwrap_or_default();
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        known.retain(|serial, _| lines.iter().any(|l| l.serial == *serial && l.state == "device"));
        let named = |serial: &str| self.direct.iter().any(|(id, _)| id == serial);
        for line in lines.iter().filter(|line| !named(&line.serial)).take(DEVICES_MAX) {
            let make = || {
                let adb = Adb::through_server(server.clone(), &line.serial);
                Arc::new(AndroidDevice::new(&line.serial, adb, self.session))
            };
            let availability = availability(&line.state);
            let device = match availability {
                Availability::Ready => Arc::clone(known.entry(line.serial.clone()).or_insert_with(make)),
                _ => make(),
            };
            listed.push(self.listed(&line.serial, availability, device));
        }
        listed
    }

    fn listed(&self, id: &str, availability: Availability, device: Arc<AndroidDevice>) -> Listed {
        Listed {
            platform: Platform::Android,
            id: id.to_owned(),
            availability,
            device: device as Arc<dyn Device>,
        }
    }

    /// The newest list of the server, from a connection that is told of every change.
    async fn server_lines(&self, server: &AdbServer) -> Result<Vec<DeviceLine>, AdbError> {
        let mut tracking = self.tracking.lock().await;
        if let Some(tracked) = &tracking.current
            && tracked.lines.has_changed().is_ok()
        {
            return Ok(tracked.lines.borrow().clone());
        }
        tracking.current = None;
        let mut tracker = self.track(server, &mut tracking).await?;
        let first = tracker.next().await?;
        let (sender, lines) = watch::channel(first.clone());
        let stop = CancellationToken::new();
        tokio::spawn(stop.clone().run_until_cancelled_owned(follow(tracker, sender)));
        tracking.current = Some(Tracked { lines, _stop: stop.drop_guard() });
        Ok(first)
    }

    async fn track(&self, server: &AdbServer, tracking: &mut Tracking) -> Result<Tracker, AdbError> {
        let unreachable = match server.track().await {
            Err(AdbError::Unreachable(why)) => AdbError::Unreachable(why),
            other => return other,
        };
        let recently = tracking.start_failed_at.is_some_and(|at| at.elapsed() < START_AGAIN_AFTER);
        let Some(start) = self.start.as_ref().filter(|_| !recently) else { return Err(unreachable) };
        if let Err(error) = server_start::start_server(&start.adb, start.port).await {
            tracking.start_failed_at = Some(Instant::now());
            return Err(error);
        }
        server.track().await
    }

    async fn check(&self) -> SourceHealth {
        let mut health = SourceHealth::default();
        if let Some(server) = &self.server {
            match self.server_lines(server).await {
                Ok(_) => {
                    let version = server.query("host:version").await.unwrap_or_default();
                    health.available = true;
                    health.version = Some(format!("adb server protocol {version}"));
                }
                Err(error) if self.start.is_none() => health.issues.push(format!(
                    "{error}; adb was not found (ADB_PATH, ANDROID_SDK_ROOT, ANDROID_HOME, PATH): install Android \
                     platform-tools, or name a device with --device HOST:PORT"
                )),
                Err(error) => health.issues.push(error.to_string()),
            }
        }
        for (id, device) in &self.direct {
            match device.adb().features().await {
                Ok(_) => health.available = true,
                Err(error) => health.issues.push(format!("{id}: {error}")),
            }
        }
        health
    }
}

async fn direct_state(device: Arc<AndroidDevice>) -> Availability {
    match device.adb().features().await {
        Ok(_) => Availability::Ready,
        Err(AdbError::Unauthorized(_)) => Availability::Unauthorized,
        Err(_) => Availability::Offline,
    }
}

async fn follow(mut tracker: Tracker, sender: watch::Sender<Vec<DeviceLine>>) {
    // Ends with the connection; the closed channel then tells the next caller to connect again.
    while let Ok(lines) = tracker.next().await {
        if sender.send(lines).is_err() {
            return;
        }
    }
}

fn availability(state: &str) -> Availability {
    match state {
        "device" => Availability::Ready,
        "unauthorized" | "authorizing" => Availability::Unauthorized,
        "offline" | "connecting" => Availability::Offline,
        other => Availability::Other(other.to_owned()),
    }
}

impl DeviceSource for Hub {
    fn platform(&self) -> Platform {
        Platform::Android
    }

    fn list(&self) -> PortFuture<'_, Vec<Listed>> {
        Box::pin(async { Ok(self.list_all().await) })
    }

    fn health(&self) -> PortFuture<'_, SourceHealth> {
        Box::pin(async { Ok(self.check().await) })
    }
}
