//! What every tool shares: the devices, the numbering of calls and actions.

mod ios;

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use mdm_android::adb::direct::Transport;
use mdm_android::adb::link;
use mdm_android::{Endpoint, HelperMode, Hub, HubConfig};
use mdm_build::process::Processes;
use mdm_core::port::DeviceSource;
use mdm_engine::Fleet;
use mdm_ios::idb::CompanionStarter;
pub use mdm_ios::route::Way;
use mdm_ios::source::{Attached, IosSource, SourceConfig};
use mdm_ios::wda::Runners;
use mdm_virtual_device::{IPhone, Phone};
use tokio::sync::Semaphore;

use crate::args::JsonObject;
use crate::audit::Audit;
use crate::caller::{Caller, Callers};
use crate::handles::Handles;
use crate::leases::Leases;
use crate::offer::Offer;
use crate::paths::Roots;
use crate::policy::Policy;
use crate::proxies::Proxies;
use crate::secrets::Secrets;
use crate::subscribe::Pollers;
use crate::tools::{self, Entry};
use crate::trace_file::TraceFile;

/// Calls at the same time, of all clients together; one more is told to come back.
const RUNNING_MAX: usize = 256;
/// The id under which the embedded phone is listed.
pub const VIRTUAL_ANDROID_ID: &str = "virtual-android";
pub const VIRTUAL_IOS_ID: &str = "virtual-ios";

pub struct App {
    pub fleet: Fleet,
    pub pollers: Pollers,
    /// What was typed as a secret by anyone who uses this process.
    pub secrets: Secrets,
    /// Which caller acts on which device.
    pub leases: Leases,
    /// The client of a process that has only one.
    pub own: Arc<Caller>,
    /// Clients that have no session.
    pub callers: Callers,
    /// Which tools there are for clients.
    pub offer: Offer,
    /// What whoever runs this server allows.
    pub policy: Policy,
    /// Where calls are written down.
    pub audit: Option<Audit>,
    /// Where the whole session is kept.
    pub trace_file: Option<Arc<TraceFile>>,
    /// Actions wait for rest unless they are told otherwise (LC-07).
    pub settles: bool,
    /// Secrets that are used by name.
    pub handles: Handles,
    /// Below which folders callers may name files.
    pub roots: Roots,
    /// The builds that run.
    pub processes: Processes,
    pub proxies: Proxies,
    /// The companions of simulators that this process started.
    pub companions: Option<Arc<CompanionStarter>>,
    /// WebDriverAgents on phones that this process started.
    pub runners: Arc<Runners>,
    /// Devices are found through an adb server, which is started if it does not run.
    pub adb_server: bool,
    /// Answers have the predecessor's form.
    pub compat: bool,
    /// Calls of all clients that are worked on.
    pub running: Semaphore,
    actions: AtomicU64,
    calls: AtomicU64,
    panics: AtomicU64,
}

/// Which devices this process drives.
#[derive(Default)]
pub struct Devices {
    pub phone: Option<Phone>,
    /// `HOST:PORT` of adbds that are reached without an adb server.
    pub addresses: Vec<String>,
    pub adb_server: bool,
    /// Whether a program of ours runs on Android devices.
    pub helper: HelperMode,
    /// The number of this process in the names of its files on devices; a random one by default.
    pub number: Option<u64>,
    /// Those of processes that were killed.
    pub killed: Vec<u64>,
    pub iphone: Option<EmbeddedIPhone>,
    pub ios: IosDevices,
}

/// How iPhones and simulators are found.
#[derive(Debug, Clone, Default)]
pub struct IosDevices {
    /// Companions of idb that run already: `HOST:PORT` or the path of a socket.
    pub idb: Vec<Named>,
    /// WebDriverAgents that run already.
    pub wda: Vec<Named>,
    /// `HOST:PORT` of a usbmuxd, or the path of its socket.
    pub usbmuxd: Option<String>,
    /// The bundle id of WebDriverAgent's runner where it has not its own name.
    pub wda_bundle: Option<String>,
    /// The program that runs simctl.
    pub xcrun: Option<PathBuf>,
    /// Look where this machine usually has them.
    pub usual_places: bool,
}

/// The embedded iPhone, and the faces of it that the product may use.
pub struct EmbeddedIPhone {
    pub phone: IPhone,
    pub ways: Vec<Way>,
}

/// An address, and the id of the device that is there where the user told it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Named {
    pub id: Option<String>,
    pub address: String,
}

/// Returns the Android devices that are reached without an adb server.
pub fn endpoints(phone: Option<Phone>, addresses: Vec<String>) -> Vec<Endpoint> {
    let mut endpoints = Vec::new();
    if let Some(phone) = phone {
        endpoints.push(Endpoint { id: VIRTUAL_ANDROID_ID.to_owned(), connector: phone_connector(phone) });
    }
    for address in addresses {
        endpoints.push(Endpoint { id: address.clone(), connector: link::tcp(address) });
    }
    endpoints
}

impl App {
    pub fn new(devices: Devices) -> App {
        let endpoints = endpoints(devices.phone, devices.addresses);
        let adb_server = devices.adb_server;
        let config = HubConfig::of_process(endpoints, adb_server);
        let config = HubConfig { session: devices.number.unwrap_or(config.session), ..config };
        let mut sources: Vec<Arc<dyn DeviceSource>> =
            vec![Arc::new(Hub::after_killed(config, devices.helper, devices.killed.into()))];
        let (mut companions, mut runners) = (None, Arc::default());
        if let Some(config) = ios::source(devices.iphone, &devices.ios) {
            companions = config.simulators.as_ref().and_then(|simulators| simulators.starter.clone());
            runners = Arc::clone(&config.runners);
            sources.push(Arc::new(IosSource::new(config)));
        }
        App { adb_server, companions, runners, ..App::with_sources(sources) }
    }

    pub fn with_source(source: Arc<dyn DeviceSource>) -> App {
        App::with_sources(vec![source])
    }

    fn with_sources(sources: Vec<Arc<dyn DeviceSource>>) -> App {
        App {
            fleet: Fleet::new(sources),
            pollers: Pollers::default(),
            secrets: Secrets::default(),
            leases: Leases::default(),
            own: Arc::new(Caller::own()),
            callers: Callers::default(),
            offer: Offer::default(),
            policy: Policy::default(),
            audit: None,
            trace_file: None,
            settles: true,
            handles: Handles::default(),
            roots: Roots::of_process(),
            processes: Processes::default(),
            proxies: Proxies::default(),
            companions: None,
            runners: Arc::default(),
            adb_server: false,
            compat: false,
            running: Semaphore::new(RUNNING_MAX),
            actions: AtomicU64::new(0),
            calls: AtomicU64::new(0),
            panics: AtomicU64::new(0),
        }
    }

    /// Drives iPhones in this process, each under its name.
    pub fn of_iphones(phones: &[(&str, EmbeddedIPhone)]) -> App {
        let attached = |(id, phone): &(&str, EmbeddedIPhone)| Attached {
            id: (*id).to_owned(),
            backends: ios::embedded(phone),
        };
        let attached = phones.iter().map(attached).collect();
        App::with_source(Arc::new(IosSource::new(SourceConfig { attached, ..SourceConfig::default() })))
    }

    /// Shares what is kept secret with the log.
    #[must_use]
    pub fn keeping(self, secrets: Secrets) -> App {
        App { secrets, ..self }
    }

    #[must_use]
    pub fn leasing(self, leases: Leases) -> App {
        App { leases, ..self }
    }

    /// Allows files below these folders and no others.
    #[must_use]
    pub fn allowing(self, roots: Roots) -> App {
        App { roots, ..self }
    }

    /// Keeps what must outlive this process in this folder.
    #[must_use]
    pub fn keeping_state_in(self, folder: std::path::PathBuf) -> App {
        App { proxies: Proxies::in_folder(Some(folder)), ..self }
    }

    #[must_use]
    pub fn offering(self, offer: Offer) -> App {
        App { offer, ..self }
    }

    /// Answers as the predecessor did.
    #[must_use]
    pub fn compatible(self, compat: bool) -> App {
        App { compat, ..self }
    }

    #[must_use]
    pub fn governed_by(self, policy: Policy) -> App {
        let devices = policy.clone();
        let fleet = self.fleet.admitting(Arc::new(move |id| devices.allows_device(id)));
        App { fleet, policy, ..self }
    }

    #[must_use]
    pub fn audited_by(self, audit: Option<Audit>) -> App {
        App { audit, ..self }
    }

    #[must_use]
    pub fn traced_in(self, file: Option<TraceFile>) -> App {
        App { trace_file: file.map(Arc::new), ..self }
    }

    #[must_use]
    pub fn settling(self, settles: bool) -> App {
        App { settles, ..self }
    }

    #[must_use]
    pub fn holding(self, handles: Handles) -> App {
        App { handles, ..self }
    }

    /// The tools that clients are told of.
    pub fn listed_tools(&self) -> impl Iterator<Item = &'static Entry> {
        tools::all().filter(|entry| self.offer.lists(entry.name))
    }

    /// True if this tool is offered and a call of it with these arguments needs no person's consent: what shows the same
    /// without a call may do so too.
    pub fn shows_freely(&self, tool: &str, arguments: &JsonObject) -> bool {
        let entry = self.offer.find(tool);
        entry.is_some_and(|entry| self.policy.question(entry, arguments).is_none())
    }

    /// Counts a defect that was caught.
    pub fn note_panic(&self) {
        self.panics.fetch_add(1, Ordering::Relaxed);
    }

    pub fn panics(&self) -> u64 {
        self.panics.load(Ordering::Relaxed)
    }

    /// The number of a call, never given twice; what happens outside of calls has the number 0.
    pub fn next_call(&self) -> u64 {
        self.calls.fetch_add(1, Ordering::Relaxed) + 1
    }

    /// `tap_1731650000123_7`: the kind, the time, and a number that is never given twice.
    pub fn action_id(&self, action_type: &str) -> String {
        let number = self.actions.fetch_add(1, Ordering::Relaxed) + 1;
        format!("{action_type}_{}_{number}", self.fleet.clock().now_ms())
    }
}

/// Each connection is a pipe to the phone in this process.
pub fn phone_connector(phone: Phone) -> link::Connector {
    Arc::new(move || {
        let connected = phone.connect();
        Box::pin(async move { Ok(Box::new(connected?) as Box<dyn Transport>) })
    })
}
