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
use crate::adb::server_start::{self, Environment};
use crate::adb::{Adb, AdbError};
use crate::device::AndroidDevice;
use crate::helper::HelperMode;
use crate::probe::{Answered, Probe};

/// How soon after a failed start the adb program may be started again.
const START_AGAIN_AFTER: Duration = Duration::from_secs(30);
/// Devices kept from one adb server; a list longer than this is not a list of phones.
const DEVICES_MAX: usize = 1024;

/// How long endpoints that answered wait for one that does not. Its connection goes on being made in the background.
const PROBE_WAIT: Duration = Duration::from_secs(1);
/// The same for one that did not answer the last time either.
const KNOWN_DEAD_WAIT: Duration = Duration::from_millis(20);

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
    /// What is wrong with how this was set up, told with the health.
    pub problems: Vec<String>,
}

impl HubConfig {
    /// Reads where the adb server, the adb program and the user's key are, as adb itself does.
    pub fn of_process(endpoints: Vec<Endpoint>, use_server: bool) -> HubConfig {
        let environment = Environment::of_process();
        let (address, port) = environment.server_address();
        let start = environment.find_adb().map(|adb| StartServer { adb, port });
        let problems = if use_server { environment.problems() } else { Vec::new() };
        let home = environment.home.unwrap_or_else(|| PathBuf::from("."));
        HubConfig {
            server: use_server.then(|| AdbServer::at(address)),
            start,
            endpoints,
            key: HostKey::of_user(&home),
            session: session_number(),
            problems,
        }
    }
}

/// Makes a number unlike that of any other process that uses the same device: the standard library's hasher is seeded
/// by the system.
fn session_number() -> u64 {
    use std::hash::{BuildHasher, RandomState};
    RandomState::new().hash_one(std::process::id())
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
    killed: Arc<[u64]>,
    helper: HelperMode,
    problems: Vec<String>,
    direct: Vec<Arc<Probe>>,
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
        Hub::with_helper(config, HelperMode::default())
    }

    /// The same, with a program of ours on the devices or without one.
    pub fn with_helper(config: HubConfig, helper: HelperMode) -> Hub {
        Hub::after_killed(config, helper, Arc::default())
    }

    /// The same after processes that were killed: what these sessions left on a device is removed when it is first read.
    pub fn after_killed(config: HubConfig, helper: HelperMode, killed: Arc<[u64]>) -> Hub {
        let session = config.session;
        let direct = config.endpoints.into_iter().map(|endpoint| {
            let adb = Adb::direct(Link::new(endpoint.connector, config.key.clone()));
            let device = AndroidDevice::new(endpoint.id.clone(), adb, session).with_helper(helper);
            let device = Arc::new(device.after_killed(Arc::clone(&killed)));
            Arc::new(Probe::new(endpoint.id, device))
        });
        Hub {
            direct: direct.collect(),
            server: config.server,
            start: config.start,
            session,
            killed: Arc::clone(&killed),
            helper,
            problems: config.problems,
            tracking: tokio::sync::Mutex::default(),
            known: Mutex::default(),
        }
    }

    /// Tries the helper on every device that can be used, and reports in lines, the device's id first.
    pub async fn examine_helpers(&self) -> Vec<(String, Vec<String>)> {
        let server = self.list_server().await;
        let known: Vec<(String, Arc<AndroidDevice>)> = {
            let known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
            let ready = server.iter().filter(|listed| listed.availability == Availability::Ready);
            ready.filter_map(|l| Some((l.id.clone(), Arc::clone(known.get(&l.id)?)))).collect()
        };
        let direct = self.direct.iter().map(|probe| (probe.id.clone(), Arc::clone(&probe.device)));
        let mut reports = Vec::new();
        for (id, device) in direct.chain(known) {
            let lines = device.examine_helper().await;
            reports.push((id, lines));
        }
        reports
    }

    async fn list_all(&self) -> Vec<Listed> {
        let states = self.probe_all().await;
        let direct = self.direct.iter().zip(states);
        let mut listed: Vec<Listed> =
            direct.map(|(probe, state)| listed_as(&probe.id, state.availability, &probe.device)).collect();
        listed.extend(self.list_server().await);
        listed
    }

    /// Asks all endpoints at the same time. One that does not answer keeps nobody waiting who did, and one that did not
    /// answer before hardly at all; alone, it is waited for, because only its answer says what is wrong with it.
    async fn probe_all(&self) -> Vec<Answered> {
        let patience = |probe: &Arc<Probe>| if probe.failed_before() { KNOWN_DEAD_WAIT } else { PROBE_WAIT };
        let now = Instant::now();
        let asked = self.direct.iter().map(|probe| (now + patience(probe), Box::pin(probe.ask())));
        let mut asked: Vec<_> = asked.collect();
        let mut answers = Vec::new();
        for (until, answer) in &mut asked {
            answers.push(tokio::time::timeout_at(*until, answer).await.ok());
        }
        let is_ready = |answer: &Answered| answer.availability == Availability::Ready;
        let any_ready = answers.iter().flatten().any(is_ready);
        let mut all = Vec::new();
        for (answer, (_, asked)) in answers.into_iter().zip(asked) {
            all.push(match answer {
                Some(answer) => answer,
                None if any_ready => {
                    Answered { availability: Availability::Offline, why: Some("no answer yet".to_owned()) }
                }
                None => asked.await,
            });
        }
        all
    }

    /// The devices of the adb server. Without a server there are simply none; `health` says why.
    async fn list_server(&self) -> Vec<Listed> {
        let Some(server) = &self.server else { return Vec::new() };
        let Ok(tracked) = self.server_lines(server).await else { return Vec::new() };
        let lines = tracked.borrow().clone();
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        known.retain(|serial, _| lines.iter().any(|l| l.serial == *serial && l.state == "device"));
        let named = |serial: &str| self.direct.iter().any(|probe| probe.id == serial);
        let mut listed = Vec::new();
        for line in lines.iter().filter(|line| !named(&line.serial)).take(DEVICES_MAX) {
            let make = || {
                let adb = Adb::through_server(server.clone(), &line.serial);
                let device = AndroidDevice::new(&line.serial, adb, self.session).with_helper(self.helper);
                let device = device.after_killed(Arc::clone(&self.killed));
                Arc::new(device.listed_in(tracked.clone()))
            };
            let availability = availability(&line.state);
            let device = match availability {
                Availability::Ready => Arc::clone(known.entry(line.serial.clone()).or_insert_with(make)),
                _ => make(),
            };
            listed.push(listed_as(&line.serial, availability, &device));
        }
        listed
    }

    async fn find_one(&self, id: &str) -> Option<Listed> {
        if let Some(probe) = self.direct.iter().find(|probe| probe.id == id) {
            return Some(listed_as(id, probe.ask().await.availability, &probe.device));
        }
        self.list_server().await.into_iter().find(|listed| listed.id == id)
    }

    /// The newest list of the server, from a connection that is told of every change.
    async fn server_lines(&self, server: &AdbServer) -> Result<watch::Receiver<Vec<DeviceLine>>, AdbError> {
        let mut tracking = self.tracking.lock().await;
        if let Some(tracked) = &tracking.current
            && tracked.lines.has_changed().is_ok()
        {
            return Ok(tracked.lines.clone());
        }
        tracking.current = None;
        let mut tracker = self.track(server, &mut tracking).await?;
        let first = tracker.next().await?;
        let (sender, lines) = watch::channel(first);
        let stop = CancellationToken::new();
        tokio::spawn(stop.clone().run_until_cancelled_owned(follow(tracker, sender)));
        tracking.current = Some(Tracked { lines: lines.clone(), _stop: stop.drop_guard() });
        Ok(lines)
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
        let mut health = SourceHealth { issues: self.problems.clone(), ..SourceHealth::default() };
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
        for (probe, answer) in self.direct.iter().zip(self.probe_all().await) {
            // With an adb server, adb is there when that is: a device with an address of its own needs none (F48).
            health.available |= self.server.is_none() && answer.availability == Availability::Ready;
            health.issues.extend(answer.why.map(|why| format!("{}: {why}", probe.id)));
        }
        health
    }
}

fn listed_as(id: &str, availability: Availability, device: &Arc<AndroidDevice>) -> Listed {
    let missing = device
        .helper_note()
        .map(|why| format!("the helper on the device is not used, so the shell is: {why}"));
    let device = Arc::clone(device) as Arc<dyn Device>;
    Listed { platform: Platform::Android, id: id.to_owned(), availability, missing, device }
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

    fn find<'a>(&'a self, id: &'a str) -> PortFuture<'a, Option<Listed>> {
        Box::pin(async move { Ok(self.find_one(id).await) })
    }

    fn health(&self) -> PortFuture<'_, SourceHealth> {
        Box::pin(async { Ok(self.check().await) })
    }
}
