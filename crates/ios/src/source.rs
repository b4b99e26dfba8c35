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
use crate::idb::{self, CompanionAddress, Idb};
use crate::real::{RealDevice, RealDevices};
use crate::reports::ReportFolder;
use crate::route::Way;
use crate::simctl::{Simctl, Simulator, SimulatorState};
use crate::wda::Wda;

/// How long one may take to say who it is, before the others are listed without it.
const ANSWER_WAIT: Duration = Duration::from_secs(2);
/// Devices kept; a list longer than this is not a list of phones.
const DEVICES_MAX: usize = 256;
/// Where WebDriverAgent listens on a phone.
const WDA_PORT: u16 = 8100;

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
}

/// What reaches the simulators of a Mac.
pub struct Simulators {
    pub simctl: Simctl,
    /// Where idb notes its companions.
    pub companions: PathBuf,
    /// Where crash reports are.
    pub reports: Option<ReportFolder>,
}

pub struct IosSource {
    attached: Vec<Arc<IosDevice>>,
    simulators: Option<(Arc<Simctl>, PathBuf, Option<ReportFolder>)>,
    usbmuxd: Option<(RealDevices, String)>,
    /// One object for as long as a device stays connected.
    known: Mutex<BTreeMap<String, Arc<IosDevice>>>,
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
}

impl IosSource {
    pub fn new(config: SourceConfig) -> IosSource {
        let device = |attached: Attached| Arc::new(IosDevice::new(attached.id, attached.backends));
        let simulators = config.simulators.map(|all| (Arc::new(all.simctl), all.companions, all.reports));
        IosSource {
            attached: config.attached.into_iter().map(device).collect(),
            simulators,
            usbmuxd: config.usbmuxd,
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
        }
        self.forget_others(&found.listed);
        found
    }

    async fn find_attached(&self) -> Found {
        let probed = join_all(self.attached.iter().map(|device| probe(device))).await;
        let mut found = Found::default();
        for (device, probed) in self.attached.iter().zip(probed) {
            found.listed.push(listed(device, probed.availability));
            found.issues.extend(probed.why);
        }
        found
    }

    async fn find_simulators(&self) -> Found {
        let Some((simctl, companions, reports)) = &self.simulators else { return Found::default() };
        let all = match simctl.list().await {
            Ok(all) => all,
            Err(error) => return Found { issues: vec![error.to_string()], ..Found::default() },
        };
        let folder = companions.clone();
        let running = tokio::task::spawn_blocking(move || idb::find_companions(&folder)).await;
        let running = running.unwrap_or_default();
        let mut found = Found::default();
        for simulator in all.iter().filter(|simulator| simulator.runtime.starts_with("iOS")) {
            let companion = running.iter().find(|companion| companion.udid == simulator.udid);
            self.forget_if(&simulator.udid, |known| known.has(Way::Idb) != companion.is_some());
            let device = self.known_or(&simulator.udid, || Backends {
                idb: companion.map(|companion| Idb::new(connector(&companion.address))),
                simctl: Some(OneSimulator {
                    simctl: Arc::clone(simctl),
                    udid: simulator.udid.clone(),
                    reports: reports.clone(),
                }),
                ..Backends::default()
            });
            found.listed.push(listed(&device, availability(simulator)));
            if companion.is_none() && simulator.state == SimulatorState::Booted {
                found.issues.push(format!(
                    "{} ({}): its screen can be read and touched once idb or WebDriverAgent runs for it: \
                     idb_companion --udid {} --grpc-domain-sock /tmp/idb/{}_companion.sock, or --wda URL",
                    simulator.udid, simulator.name, simulator.udid, simulator.udid
                ));
            }
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
        let surveyed = join_all(all.iter().map(|phone| self.survey(phones.device(&phone.udid)))).await;
        let probed = join_all(surveyed.iter().map(|(device, _)| probe(device))).await;
        let mut found = Found::default();
        for ((device, missing), probed) in surveyed.iter().zip(probed) {
            // What a phone lacks matters only if it can be reached.
            let is_ready = probed.availability == Availability::Ready;
            if is_ready {
                found.issues.extend(missing.iter().cloned());
            }
            found.listed.push(listed(device, probed.availability));
            found.issues.extend(probed.why);
        }
        found
    }

    /// Sees in which ways a phone can be reached, and what is missing. WebDriverAgent is taken to be there, so that
    /// errors say to start it, unless the phone can be touched without it.
    async fn survey(&self, usb: RealDevice) -> (Arc<IosDevice>, Vec<String>) {
        let udid = usb.udid().to_owned();
        let known = self.known.lock().unwrap_or_else(PoisonError::into_inner).get(&udid).cloned();
        let listens = within(usb.connector(WDA_PORT)()).await.is_some_and(|opened| opened.is_ok());
        if let Some(known) = known.filter(|known| known.has(Way::CoreDevice))
            && known.has(Way::Wda) == (!known.has(Way::Hid) || listens)
        {
            let missing = if listens { Vec::new() } else { vec![without_wda(&known)] };
            return (known, missing);
        }
        let (core, mut missing) = match within(usb.core_device()).await {
            Some(Ok(core)) => (core, Vec::new()),
            Some(Err(error)) => (None, vec![format!("{udid}: {error}")]),
            None => (None, vec![format!("{udid}: the tunnel to its developer services does not open")]),
        };
        let has_hid = core.as_ref().is_some_and(|core| core.offered().hid);
        let has_wda = !has_hid || listens;
        self.forget_if(&udid, |known| {
            known.has(Way::CoreDevice) != core.is_some() || known.has(Way::Wda) != has_wda
        });
        let device = self.known_or(&udid, || {
            let wda = || Wda::new(usb.connector(WDA_PORT), format!("port {WDA_PORT} of {udid}"));
            Backends { wda: has_wda.then(wda), core, usb: Some(usb.clone()), ..Backends::default() }
        });
        if !listens {
            missing.push(without_wda(&device));
        }
        (device, missing)
    }

    fn known_or(&self, id: &str, backends: impl FnOnce() -> Backends) -> Arc<IosDevice> {
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        let make = || Arc::new(IosDevice::new(id, backends()));
        Arc::clone(known.entry(id.to_owned()).or_insert_with(make))
    }

    /// Forgets a device that is reached in other ways now.
    fn forget_if(&self, id: &str, is_outdated: impl Fn(&IosDevice) -> bool) {
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        if known.get(id).is_some_and(|device| is_outdated(device)) {
            known.remove(id);
        }
    }

    fn forget_others(&self, listed: &[Listed]) {
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        known.retain(|id, _| listed.iter().any(|listed| listed.id == *id));
    }
}

/// What a phone cannot do while nothing listens where WebDriverAgent would.
fn without_wda(device: &IosDevice) -> String {
    let lacks = match (device.has(Way::Hid), device.has(Way::CoreDevice)) {
        (true, _) => "its elements cannot be read; it shows pictures and takes touches by coordinates",
        (false, true) => {
            "its screen can be neither read nor touched; it shows pictures, and apps start and end"
        }
        (false, false) => "its screen can be neither read nor touched, and no apps start",
    };
    format!("{}: without WebDriverAgent {lacks}. Start WebDriverAgent on it for more", device.id())
}

/// Waits for an answer, but not for long.
async fn within<T>(work: impl Future<Output = T>) -> Option<T> {
    tokio::time::timeout(ANSWER_WAIT, work).await.ok()
}

async fn probe(device: &IosDevice) -> Probed {
    match tokio::time::timeout(ANSWER_WAIT, device.reach()).await {
        Ok(Ok(())) => Probed { availability: Availability::Ready, why: None },
        Ok(Err(error)) => {
            Probed { availability: availability_of(&error), why: Some(format!("{}: {error}", device.id())) }
        }
        Err(_) => {
            let why = format!("{}: no answer within {} s", device.id(), ANSWER_WAIT.as_secs());
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
    Listed { platform: Platform::Ios, id, availability, device: Arc::clone(device) as Arc<dyn Device> }
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
                return Ok(Some(listed(device, probe(device).await.availability)));
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
            })
        })
    }
}
