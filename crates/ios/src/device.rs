//! The port of `mdm-core` over whatever reaches the iPhone.

mod apps;
mod crash_watch;
mod evidence;
mod hand;
mod input;
mod kept_log;
mod screen;
mod settings;

pub use screen::TREE_KEYS;

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use mdm_core::port::{
    AlertAnswer, AppCommand, AppDetails, AppReport, Capabilities, Capture, CrashReport, CrashSource, Device,
    DeviceError, DeviceErrorKind, DeviceInfo, Input, InstalledApp, LogRead, LogSource, NativeAction,
    NetworkCommand, NetworkReport, Picture, PortFuture, RawAnswer, SettingChange, SettingReport,
    SpokenScreen, Support,
};
use mdm_core::screen::geometry::{Point, Rect, Size};
use mdm_core::screen::snapshot::{Platform, Screen, Snapshot};

use crate::idb::{Idb, LeastLevel};
use crate::real::{CoreDevice, RealDevice};
use crate::reports::ReportFolder;
use crate::route::{Verb, Way, choose};
use crate::served;
use crate::simctl::Simctl;
use crate::wda::Wda;
use crash_watch::{CrashWatch, Watched};
use kept_log::KeptLog;

/// The programs that reach one iPhone. At least one is there.
#[derive(Default)]
pub struct Backends {
    pub idb: Option<Idb>,
    pub wda: Option<Wda>,
    pub simctl: Option<OneSimulator>,
    /// The services of a real phone.
    pub usb: Option<RealDevice>,
    /// The developer services of a real phone with iOS 17.4 or later.
    pub core: Option<CoreDevice>,
    /// What stands in the way of more on a real phone, each with what mends it.
    pub missing: Vec<String>,
}

/// A simulator of this Mac.
pub struct OneSimulator {
    pub simctl: Arc<Simctl>,
    pub udid: String,
    /// Where the Mac keeps crash reports.
    pub reports: Option<ReportFolder>,
}

pub struct IosDevice {
    id: String,
    backends: Backends,
    log: KeptLog,
    crashes: CrashWatch,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    info: Option<DeviceInfo>,
    size: Option<Size>,
    front: Front,
    /// Where the keyboard was in the last tree, unless something was sent since.
    keyboard: Option<Option<Rect>>,
    is_lost: bool,
    /// The log could not be followed; it is tried again when somebody asks for it.
    has_no_log: bool,
    /// The sliders of the last tree, in its order.
    sliders: Vec<u32>,
}

/// The app in front, as far as the trees tell it.
#[derive(Default)]
struct Front {
    /// The name at the top of the last tree of WebDriverAgent, and its bundle id.
    named: Option<(String, String)>,
    /// Processes and their bundle ids, as idb told them.
    by_pid: BTreeMap<u32, String>,
}

impl IosDevice {
    pub fn new(id: impl Into<String>, backends: Backends) -> IosDevice {
        IosDevice {
            id: id.into(),
            backends,
            log: KeptLog::default(),
            crashes: CrashWatch::default(),
            state: Mutex::default(),
        }
    }

    pub fn id(&self) -> &str {
        &self.id
    }

    /// Never held across a wait.
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn has(&self, way: Way) -> bool {
        match way {
            Way::Idb => self.backends.idb.is_some(),
            Way::Wda => self.backends.wda.is_some(),
            Way::Simctl => self.backends.simctl.is_some(),
            Way::Usb => self.backends.usb.is_some(),
            Way::CoreDevice => self.backends.core.is_some(),
            Way::Hid => self.backends.core.as_ref().is_some_and(|core| core.offered().hid),
            Way::Audit => self.backends.usb.is_some(),
        }
    }

    /// Somebody just saw that the phone is there.
    pub(crate) fn note_found(&self) {
        self.state().is_lost = false;
    }

    pub(crate) fn missing(&self) -> &[String] {
        &self.backends.missing
    }

    /// The program that serves a request.
    pub fn way(&self, verb: Verb) -> Result<Way, DeviceError> {
        choose(verb, |way| self.has(way)).map_err(|error| self.with_missing(error))
    }

    /// Adds what stands in the way to an error that comes of it.
    fn with_missing(&self, mut error: DeviceError) -> DeviceError {
        if !self.missing().is_empty() {
            error.detail.push_str(": ");
            error.detail.push_str(&self.missing().join("; "));
        }
        error
    }

    /// The program that serves a request, to be asked.
    fn server(&self, verb: Verb) -> Result<Server<'_>, DeviceError> {
        let way = self.way(verb)?;
        served::note(way);
        let server = match way {
            Way::Idb => self.backends.idb.as_ref().map(Server::Idb),
            Way::Wda => self.backends.wda.as_ref().map(Server::Wda),
            Way::Simctl => self.backends.simctl.as_ref().map(Server::Simctl),
            Way::Usb | Way::Audit => self.backends.usb.as_ref().map(Server::Usb),
            Way::CoreDevice | Way::Hid => self.backends.core.as_ref().map(Server::Core),
        };
        server.ok_or_else(|| DeviceError::not_supported(verb.as_str()))
    }

    /// Notes whether the connection stood.
    fn noted<T>(&self, result: Result<T, DeviceError>) -> Result<T, DeviceError> {
        let lost = |error: &DeviceError| match error.kind {
            DeviceErrorKind::Offline | DeviceErrorKind::ConnectionLost | DeviceErrorKind::Gone => true,
            // Somebody may bring what is missing before the next call, so that one looks again. A phone that can be
            // touched is used as it is.
            DeviceErrorKind::NotSupported => !self.missing().is_empty() && !self.has(Way::Hid),
            _ => false,
        };
        self.state().is_lost = result.as_ref().is_err_and(lost);
        result.map_err(|error| error.on(Platform::Ios))
    }

    /// Asks whether the phone is there, with the cheapest question that it answers.
    pub(crate) async fn reach(&self) -> Result<(), DeviceError> {
        let reached = match (&self.backends.idb, &self.backends.wda, &self.backends.usb) {
            (_, _, Some(usb)) => usb.check_trust().await,
            (Some(idb), ..) => idb.describe().await.map(drop),
            (None, Some(wda), None) => wda.status().await.map(drop),
            (None, None, None) => Ok(()),
        };
        self.noted(reached)
    }
}

/// A program that was chosen for a request.
enum Server<'a> {
    Idb(&'a Idb),
    Wda(&'a Wda),
    Simctl(&'a OneSimulator),
    Usb(&'a RealDevice),
    Core(&'a CoreDevice),
}

/// The answer of an arm that the table of routes does not lead to.
fn wrong_way(verb: Verb) -> DeviceError {
    DeviceError::not_supported(verb.as_str())
}

impl Device for IosDevice {
    fn network<'a>(&'a self, _command: &'a NetworkCommand) -> PortFuture<'a, NetworkReport> {
        let detail = "iPhones do not let programs set their proxy: a simulator uses its Mac's, a phone the one in its \
                      Wi-Fi settings. Requests are also told from the log";
        Box::pin(async move { Err(DeviceError::new(DeviceErrorKind::NotSupported, detail)) })
    }

    fn info(&self) -> PortFuture<'_, DeviceInfo> {
        Box::pin(async { self.noted(self.read_info().await) })
    }

    fn capabilities(&self) -> Capabilities {
        // A phone that lacks something says so itself when it is asked.
        let without = if self.missing().is_empty() { Support::No } else { Support::Maybe };
        let can = |verb: Verb| if self.way(verb).is_ok() { Support::Yes } else { without };
        Capabilities {
            keys: can(Verb::Button),
            // A swipe from the edge goes back only where the app lets it.
            back: if self.way(Verb::Touch).is_ok() { Support::Maybe } else { without },
            pinch: can(Verb::Touch),
            set_text: Support::No,
            native_actions: can(Verb::SetValue),
            // Neither program tells what lies in front; only idb can be asked.
            hit_test: if self.has(Way::Idb) { Support::Yes } else { Support::No },
            toasts: Support::No,
            events: Support::No,
            clear_data: Support::No,
            log_stream: can(Verb::FollowLog),
            install: can(Verb::Install),
            files: Support::No,
            links: can(Verb::OpenLink),
            settings: can(Verb::Location),
            alerts: can(Verb::AnswerAlert),
        }
    }

    fn is_connected(&self) -> bool {
        !self.state().is_lost
    }

    fn snapshot(&self, known: Option<RawAnswer>) -> PortFuture<'_, Capture> {
        Box::pin(async move { self.noted(self.capture(known).await) })
    }

    fn screen(&self) -> PortFuture<'_, Screen> {
        Box::pin(async { self.noted(self.read_screen().await) })
    }

    fn spoken(&self) -> PortFuture<'_, SpokenScreen> {
        Box::pin(async {
            let spoken = match self.server(Verb::Spoken)? {
                Server::Usb(usb) => usb.spoken().await,
                _ => Err(wrong_way(Verb::Spoken)),
            };
            self.noted(spoken)
        })
    }

    fn screenshot(&self) -> PortFuture<'_, Picture> {
        Box::pin(async { self.noted(self.take_picture().await) })
    }

    fn keyboard(&self) -> PortFuture<'_, Option<Rect>> {
        Box::pin(async { self.noted(self.find_keyboard().await) })
    }

    fn shows_toast(&self) -> PortFuture<'_, bool> {
        // iOS has none: what apps draw in their place is in their trees.
        Box::pin(async { Ok(false) })
    }

    fn check_text<'a>(&'a self, text: &'a str) -> PortFuture<'a, ()> {
        Box::pin(async move { self.noted(self.find_text_typeable(text).await) })
    }

    fn input(&self, input: Input) -> PortFuture<'_, ()> {
        Box::pin(async move { self.noted(self.send(input).await) })
    }

    fn app<'a>(&'a self, command: &'a AppCommand) -> PortFuture<'a, AppReport> {
        Box::pin(async move { self.noted(self.command_app(command).await) })
    }

    fn app_installed<'a>(&'a self, app: &'a str) -> PortFuture<'a, bool> {
        Box::pin(async move { self.noted(self.is_installed(app).await) })
    }

    fn logs<'a>(&'a self, app: Option<&'a str>) -> PortFuture<'a, LogRead> {
        Box::pin(async move { self.noted(self.read_log(app).await) })
    }

    fn crashes(&self) -> PortFuture<'_, Vec<CrashReport>> {
        Box::pin(async { self.noted(self.read_crashes().await) })
    }

    fn follow_crashes(&self) -> PortFuture<'_, Box<dyn CrashSource>> {
        Box::pin(async {
            let watched = match self.server(Verb::Crashes)? {
                Server::Idb(idb) => Watched::Companion(idb.clone()),
                Server::Usb(usb) => Watched::Phone(usb.clone()),
                Server::Simctl(OneSimulator { udid, reports: Some(folder), .. }) => {
                    Watched::Folder { folder: folder.clone(), udid: udid.clone() }
                }
                Server::Simctl(_) | Server::Wda(_) | Server::Core(_) => return Err(wrong_way(Verb::Crashes)),
            };
            Ok(Box::new(self.crashes.follow(watched)) as Box<dyn CrashSource>)
        })
    }

    fn follow_log(&self, _since_ms: Option<u64>) -> PortFuture<'_, Box<dyn LogSource>> {
        Box::pin(async { self.noted(self.open_log(LeastLevel::Debug).await) })
    }

    fn app_pids<'a>(&'a self, app: &'a str) -> PortFuture<'a, Vec<u32>> {
        Box::pin(async move { self.noted(self.read_pids(app).await) })
    }

    fn apps(&self, with_system: bool) -> PortFuture<'_, Vec<InstalledApp>> {
        Box::pin(async move { self.noted(self.list_apps(with_system).await) })
    }

    fn app_details<'a>(&'a self, app: &'a str) -> PortFuture<'a, AppDetails> {
        Box::pin(async move { self.noted(self.read_details(app).await) })
    }

    fn change<'a>(&'a self, change: &'a SettingChange) -> PortFuture<'a, SettingReport> {
        Box::pin(async move { self.noted(self.change_setting(change).await) })
    }

    fn act_natively<'a>(&'a self, action: &'a NativeAction) -> PortFuture<'a, ()> {
        Box::pin(async move { self.noted(self.set_natively(action).await) })
    }

    fn element_at(&self, point: Point) -> PortFuture<'_, Option<Snapshot>> {
        Box::pin(async move { self.noted(self.hit(point).await) })
    }

    fn alert<'a>(&'a self, answer: &'a AlertAnswer) -> PortFuture<'a, ()> {
        Box::pin(async move {
            self.state().keyboard = None;
            match self.server(Verb::AnswerAlert)? {
                Server::Wda(wda) => self.noted(wda.answer_alert(answer).await),
                _ => Err(wrong_way(Verb::AnswerAlert)),
            }
        })
    }

    fn close(&self) -> PortFuture<'_, ()> {
        Box::pin(async {
            self.log.stop();
            if let Some(wda) = &self.backends.wda {
                wda.close().await;
            }
            if let Some(idb) = &self.backends.idb {
                idb.close().await;
            }
            if let Some(core) = &self.backends.core {
                core.close().await;
            }
            Ok(())
        })
    }
}
