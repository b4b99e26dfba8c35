//! Every iPhone and simulator within reach: those that the user named, the simulators of this Mac, the phones of usbmuxd.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use futures_util::future::join_all;
use mdm_core::port::{
    Availability, Device, DeviceError, DeviceErrorKind, DeviceSource, Listed, PortFuture, SourceHealth,
};
use mdm_core::screen::snapshot::Platform;

use crate::connect;
use crate::device::{Backends, IosDevice, OneSimulator};
use crate::idb::{self, CompanionAddress, CompanionStarter, Idb};
use crate::real::{CoreDevice, RealDevice, RealDevices};
use crate::reports::ReportFolder;
use crate::route::Way;
use crate::simctl::{Simctl, Simulator, SimulatorState};
use crate::wda::{RunnerNews, RunnerStarter, Runners, WDA_PORT, Wda};

/// How long one may take to say who it is, before the others are listed without it.
const ANSWER_WAIT: Duration = Duration::from_secs(2);
/// Devices kept; a list longer than this is not a list of phones.
const DEVICES_MAX: usize = 256;

/// An iPhone whose backends were named by the user.
pub struct Attached {
    pub id: String,
    pub backends: Backends,
}

#[derive(Default)]
pub struct SourceConfig {
    pub attached: Vec<Attached>,
    /// The simulators of this Mac.
    pub simulators: Option<Simulators>,
    /// The usbmuxd of this machine, and what people call it.
    pub usbmuxd: Option<(RealDevices, String)>,
    /// Starts WebDriverAgent on phones where it is installed.
    pub runners: Arc<Runners>,
}

/// What reaches the simulators of a Mac.
pub struct Simulators {
    pub simctl: Simctl,
    /// Where idb notes its companions.
    pub companions: PathBuf,
    /// Where crash reports are.
    pub reports: Option<ReportFolder>,
    /// Starts companions where none runs; nothing if the program is not on this machine.
    pub starter: Option<Arc<CompanionStarter>>,
}

pub struct IosSource {
    attached: Vec<Arc<IosDevice>>,
    simulators: Option<KnownSimulators>,
    usbmuxd: Option<(RealDevices, String)>,
    runners: Arc<Runners>,
    /// One object for as long as a device stays connected.
    known: Mutex<BTreeMap<String, Arc<IosDevice>>>,
}

struct KnownSimulators {
    simctl: Arc<Simctl>,
    folder: PathBuf,
    reports: Option<ReportFolder>,
    starter: Option<Arc<CompanionStarter>>,
    /// Where the companion of each was when its device was made.
    addresses: Mutex<BTreeMap<String, Option<CompanionAddress>>>,
}

/// Whether one answers, and if not, why.
struct Probed {
    availability: Availability,
    why: Option<String>,
}

/// The devices that were found, and what stands in the way of the others.
#[derive(Default)]
struct Found {
    listed: Vec<Listed>,
    issues: Vec<String>,
    /// What is worth knowing of them.
    notes: Vec<String>,
}

/// A phone on a cable, and what is worth knowing of it.
struct Surveyed {
    device: Arc<IosDevice>,
    availability: Availability,
    note: Option<&'static str>,
}

impl IosSource {
    pub fn new(config: SourceConfig) -> IosSource {
        let device = |attached: Attached| Arc::new(IosDevice::new(attached.id, attached.backends));
        let simulators = config.simulators.map(|all| KnownSimulators {
            simctl: Arc::new(all.simctl),
            folder: all.companions,
            reports: all.reports,
            starter: all.starter,
            addresses: Mutex::default(),
        });
        IosSource {
            attached: config.attached.into_iter().map(device).collect(),
            simulators,
            usbmuxd: config.usbmuxd,
            runners: config.runners,
            known: Mutex::default(),
        }
    }

    async fn find_all(&self) -> Found {
        let (attached, simulators, phones) =
            tokio::join!(self.find_attached(), self.find_simulators(), self.find_phones());
        let mut found = Found::default();
        for part in [attached, simulators, phones] {
            for listed in part.listed {
                // What the user named is reached as they said.
                if found.listed.iter().all(|known| known.id != listed.id) && found.listed.len() < DEVICES_MAX
                {
                    found.listed.push(listed);
                }
            }
            found.issues.extend(part.issues);
            found.notes.extend(part.notes);
        }
        self.forget_others(&found.listed);
        found
    }

    async fn find_attached(&self) -> Found {
        let probed = join_all(self.attached.iter().map(|device| probe(device.reach()))).await;
        let mut found = Found::default();
        for (device, probed) in self.attached.iter().zip(probed) {
            found.listed.push(Listed { missing: probed.why.clone(), ..listed(device, probed.availability) });
            found.issues.extend(probed.why.map(|why| format!("{}: {why}", device.id())));
        }
        found
    }

    async fn find_simulators(&self) -> Found {
        let Some(simulators) = &self.simulators else { return Found::default() };
        let all = match simulators.simctl.list().await {
            Ok(all) => all,
            Err(error) => return Found { issues: vec![error.to_string()], ..Found::default() },
        };
        // What the user named is reached as they said, and needs no companion of ours.
        let is_named = |one: &Simulator| self.attached.iter().any(|device| device.id() == one.udid);
        let ours = |one: &Simulator| one.runtime.starts_with("iOS") && !is_named(one);
        let all: Vec<Simulator> = all.into_iter().filter(ours).collect();
        let companions = simulators.companions(&all).await;
        let mut found = Found::default();
        for (simulator, companion) in all.iter().zip(companions) {
            let udid = &simulator.udid;
            let (address, missing) = match companion {
                Ok(address) => (address, None),
                Err(missing) => (None, Some(missing)),
            };
            if simulators.has_moved(udid, &address) {
                self.forget(udid);
            }
            let device = self.known_or(udid, || Backends {
                idb: address.as_ref().map(|address| Idb::new(connector(address))),
                simctl: Some(OneSimulator {
                    simctl: Arc::clone(&simulators.simctl),
                    udid: udid.clone(),
                    reports: simulators.reports.clone(),
                }),
                ..Backends::default()
            });
            found.issues.extend(missing.as_ref().map(|why| format!("{udid} ({}): {why}", simulator.name)));
            found.listed.push(Listed { missing, ..listed(&device, availability(simulator)) });
        }
        found
    }

    async fn find_phones(&self) -> Found {
        let Some((phones, address)) = &self.usbmuxd else { return Found::default() };
        let all = match tokio::time::timeout(ANSWER_WAIT, phones.list()).await {
            Ok(Ok(all)) => all,
            Ok(Err(error)) => return Found { issues: vec![error.to_string()], ..Found::default() },
            Err(_) => {
                let issue = format!("usbmuxd at {address} does not answer");
                return Found { issues: vec![issue], ..Found::default() };
            }
        };
        self.runners.keep_only(&all.iter().map(|phone| phone.udid.as_str()).collect::<Vec<_>>());
        let surveyed = all.iter().map(|phone| self.find_phone(phones.device(&phone.udid)));
        let mut found = Found::default();
        for Surveyed { device, availability, note } in join_all(surveyed).await {
            let issue = Some(device.missing().join("; ")).filter(|issue| !issue.is_empty());
            let missing: Vec<&str> = issue.as_deref().into_iter().chain(note).collect();
            let missing = Some(missing.join("; ")).filter(|missing| !missing.is_empty());
            found.listed.push(Listed { missing, ..listed(&device, availability) });
            found.issues.extend(issue.map(|why| format!("{}: {why}", device.id())));
            found.notes.extend(note.map(|note| format!("{}: {note}", device.id())));
        }
        found
    }

    /// Looks at one phone: first whether it can be reached at all, then what it can do.
    async fn find_phone(&self, usb: RealDevice) -> Surveyed {
        let probed = probe(usb.check_trust()).await;
        let availability = probed.availability;
        let Some(why) = probed.why else {
            let (device, note) = self.survey(usb).await;
            device.note_found();
            return Surveyed { device, availability, note };
        };
        let udid = usb.udid().to_owned();
        self.forget(&udid);
        let backends = || Backends { usb: Some(usb), missing: vec![why], ..Backends::default() };
        Surveyed { device: self.known_or(&udid, backends), availability, note: None }
    }

    /// Sees in which ways a phone can be reached, what is missing, and what is worth knowing. It is another device when
    /// the ways or what is missing have changed.
    async fn survey(&self, usb: RealDevice) -> (Arc<IosDevice>, Option<&'static str>) {
        let udid = usb.udid().to_owned();
        let known = || self.known.lock().unwrap_or_else(PoisonError::into_inner).get(&udid).cloned();
        let runner = self.runners.of(&usb);
        let news = look_for_runner(&runner).await;
        let has_wda = news != Some(RunnerNews::NotInstalled);
        let note = news.as_ref().and_then(note);
        let has_failed = matches!(news, Some(RunnerNews::Failed(_)));
        if let Some(known) = known().filter(|known| known.has(Way::CoreDevice) && !has_failed)
            && known.has(Way::Wda) == has_wda
        {
            return (known, note);
        }
        let (core, mut missing) = match within(usb.core_device()).await {
            Some(Ok(core)) => (core, Vec::new()),
            Some(Err(error)) => (None, vec![error.to_string()]),
            None => (None, vec!["the tunnel to its developer services does not open".to_owned()]),
        };
        missing.extend(news.and_then(|news| without_wda(&news, core.as_ref())));
        let differs = |known: Arc<IosDevice>| {
            known.has(Way::CoreDevice) != core.is_some()
                || known.has(Way::Wda) != has_wda
                || known.missing() != missing
        };
        if known().is_some_and(differs) {
            self.forget(&udid);
        }
        let device = self.known_or(&udid, || {
            let wda = || Wda::started_by(Arc::clone(&runner), format!("port {WDA_PORT} of {udid}"));
            let usb = Some(usb.clone());
            Backends { wda: has_wda.then(wda), core, usb, missing, ..Backends::default() }
        });
        (device, note)
    }

    fn known_or(&self, id: &str, backends: impl FnOnce() -> Backends) -> Arc<IosDevice> {
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        let make = || Arc::new(IosDevice::new(id, backends()));
        Arc::clone(known.entry(id.to_owned()).or_insert_with(make))
    }

    /// Forgets a device that is reached in other ways now.
    fn forget(&self, id: &str) {
        self.known.lock().unwrap_or_else(PoisonError::into_inner).remove(id);
    }

    fn forget_others(&self, listed: &[Listed]) {
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        known.retain(|id, _| listed.iter().any(|listed| listed.id == *id));
    }
}

/// What is known of WebDriverAgent where it does not listen.
async fn look_for_runner(runner: &RunnerStarter) -> Option<RunnerNews> {
    if within(runner.listens()).await.unwrap_or(false) {
        return None;
    }
    // One that cannot be asked is not known to have it.
    Some(within(runner.look()).await.and_then(Result::ok).unwrap_or(RunnerNews::NotInstalled))
}

fn note(news: &RunnerNews) -> Option<&'static str> {
    match news {
        RunnerNews::Installed => {
            Some("WebDriverAgent is installed and does not run: the first call that needs it starts it")
        }
        RunnerNews::Starting => Some("WebDriverAgent is starting"),
        RunnerNews::Failed(_) | RunnerNews::NotInstalled => None,
    }
}

/// What a phone cannot do while WebDriverAgent is not there or could not be started.
fn without_wda(news: &RunnerNews, core: Option<&CoreDevice>) -> Option<String> {
    let lacks = match core.map(|core| core.offered().hid) {
        Some(true) => {
            "its elements cannot be found and touched; it speaks of its screen, shows pictures and takes touches by \
             coordinates"
        }
        Some(false) => {
            "its screen cannot be touched; it speaks of its screen and shows pictures, and apps start and end"
        }
        None => "its screen cannot be touched and no apps start; it speaks of its screen",
    };
    match news {
        RunnerNews::Installed | RunnerNews::Starting => None,
        RunnerNews::Failed(why) => {
            Some(format!("WebDriverAgent could not be started ({why}), and without it {lacks}"))
        }
        RunnerNews::NotInstalled => Some(format!(
            "without WebDriverAgent {lacks}. Start WebDriverAgent on it for more; once installed it is started by \
             itself"
        )),
    }
}

/// Waits for an answer, but not for long.
async fn within<T>(work: impl Future<Output = T>) -> Option<T> {
    tokio::time::timeout(ANSWER_WAIT, work).await.ok()
}

impl KnownSimulators {
    /// Where the companion of each simulator is: one that runs, or one that is started now. Nothing for those that are
    /// not booted; an error says what is missing.
    async fn companions(&self, all: &[Simulator]) -> Vec<Result<Option<CompanionAddress>, String>> {
        let folder = self.folder.clone();
        let running = tokio::task::spawn_blocking(move || idb::find_companions(&folder)).await;
        let running = running.unwrap_or_default();
        if let Some(starter) = &self.starter {
            let booted = all.iter().filter(|one| one.state == SimulatorState::Booted);
            starter.keep_only(&booted.map(|one| one.udid.as_str()).collect::<Vec<_>>());
        }
        let running = &running;
        let found = all.iter().map(|simulator| async move {
            if simulator.state != SimulatorState::Booted {
                return Ok(None);
            }
            let known = running.iter().find(|companion| companion.udid == simulator.udid);
            if let Some(known) = known
                && listens(&known.address).await
            {
                return Ok(Some(known.address.clone()));
            }
            self.start(&simulator.udid).await.map(Some)
        });
        join_all(found).await
    }

    async fn start(&self, udid: &str) -> Result<CompanionAddress, String> {
        const LACKS: &str =
            "its screen can be read and touched once idb's companion or WebDriverAgent runs for it";
        match &self.starter {
            Some(starter) => {
                starter.companion(udid, ANSWER_WAIT).await.map_err(|why| format!("{LACKS}; {why}"))
            }
            None => Err(format!(
                "{LACKS}: install idb_companion, which is then started by itself (brew install \
                 facebook/fb/idb-companion), or name a WebDriverAgent with --wda"
            )),
        }
    }

    /// Notes where a companion is; true if it was elsewhere, or was not there.
    fn has_moved(&self, udid: &str, address: &Option<CompanionAddress>) -> bool {
        let mut addresses = self.addresses.lock().unwrap_or_else(PoisonError::into_inner);
        if addresses.len() > DEVICES_MAX {
            addresses.clear();
        }
        let before = addresses.insert(udid.to_owned(), address.clone());
        before.is_some_and(|before| before != *address)
    }
}

/// A socket or a note may be left of a companion that has ended.
async fn listens(address: &CompanionAddress) -> bool {
    let connected = tokio::time::timeout(ANSWER_WAIT, connector(address)()).await;
    connected.is_ok_and(|connected| connected.is_ok())
}

async fn probe(reach: impl Future<Output = Result<(), DeviceError>>) -> Probed {
    match tokio::time::timeout(ANSWER_WAIT, reach).await {
        Ok(Ok(())) => Probed { availability: Availability::Ready, why: None },
        Ok(Err(error)) => Probed { availability: availability_of(&error), why: Some(error.to_string()) },
        Err(_) => {
            let why = format!("no answer within {} s", ANSWER_WAIT.as_secs());
            Probed { availability: Availability::Offline, why: Some(why) }
        }
    }
}

fn availability_of(error: &DeviceError) -> Availability {
    match error.kind {
        DeviceErrorKind::Unauthorized => Availability::Unauthorized,
        _ => Availability::Offline,
    }
}

fn availability(simulator: &Simulator) -> Availability {
    match (&simulator.unavailable, &simulator.state) {
        (Some(_), _) => Availability::Other("unavailable".to_owned()),
        (None, SimulatorState::Booted) => Availability::Ready,
        (None, SimulatorState::Shutdown) => Availability::Other("shut down".to_owned()),
        (None, SimulatorState::Other(word)) => Availability::Other(word.to_lowercase()),
    }
}

fn connector(address: &CompanionAddress) -> connect::Connector {
    match address {
        CompanionAddress::Tcp(address) => connect::tcp(address.clone()),
        CompanionAddress::Unix(path) => connect::unix(path.clone()),
    }
}

fn listed(device: &Arc<IosDevice>, availability: Availability) -> Listed {
    let id = device.id().to_owned();
    let device = Arc::clone(device) as Arc<dyn Device>;
    Listed { platform: Platform::Ios, id, availability, missing: None, device }
}

impl DeviceSource for IosSource {
    fn platform(&self) -> Platform {
        Platform::Ios
    }

    fn list(&self) -> PortFuture<'_, Vec<Listed>> {
        Box::pin(async { Ok(self.find_all().await.listed) })
    }

    fn find<'a>(&'a self, id: &'a str) -> PortFuture<'a, Option<Listed>> {
        Box::pin(async move {
            if let Some(device) = self.attached.iter().find(|device| device.id() == id) {
                let probed = probe(device.reach()).await;
                return Ok(Some(Listed { missing: probed.why, ..listed(device, probed.availability) }));
            }
            Ok(self.find_all().await.listed.into_iter().find(|listed| listed.id == id))
        })
    }

    fn health(&self) -> PortFuture<'_, SourceHealth> {
        Box::pin(async {
            let found = self.find_all().await;
            let is_ready = |listed: &Listed| listed.availability == Availability::Ready;
            Ok(SourceHealth {
                available: found.listed.iter().any(is_ready),
                version: None,
                issues: found.issues,
                notes: found.notes,
            })
        })
    }
}
