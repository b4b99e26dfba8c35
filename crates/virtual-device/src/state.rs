//! Everything that a phone remembers, behind one lock: parts with a task of their own, and what connects them.

mod apps;
mod connections;
mod display;
mod input;
mod install_sessions;
mod processes;
mod properties;
mod settings;
mod trust;

use std::collections::BTreeMap;

use bytes::Bytes;
use tokio::time::Instant;

use crate::app::geometry::Screen;
use crate::app::launcher;
use crate::app::ui::{USER_APPS_MAX, Ui};
use crate::clock::Clock;
use crate::config::{DumpFault, PhoneConfig};
use crate::faults::FaultInjector;
use crate::film::FilmRecorder;
use crate::fs::Fs;
use crate::logcat::{Buffer, Entry, Log};
use crate::network::Certificates;
use crate::packages::Packages;
use crate::panel::Panel;
use crate::random::Random;
use crate::replay::Replay;
use crate::shell::services::Services;
use crate::surface::{OutgoingRequest, Surface, SurfaceEvent, SystemEvent, Toast};
use crate::truth::{Happened, MadeRequest, Moment, Record, ShownToast, Truth};
use connections::Connections;
use display::Display;
use input::HeldFinger;
use install_sessions::InstallSessions;
use processes::Processes;
pub use settings::ENTRIES_MAX;
use settings::Settings;
use trust::Trust;

pub const SYSTEM_PID: u32 = 1523;
/// Longest clipboard text.
pub const CLIPBOARD_BYTES_MAX: usize = 1024 * 1024;
/// The stream of random numbers for tokens, noise and start times. Faults use the streams from 1 on.
const RANDOM_STREAM: u64 = 0;
/// Requests of apps that wait to be sent.
const REQUESTS_MAX: usize = 64;

pub struct State {
    pub config: PhoneConfig,
    pub clock: Clock,
    pub now: Instant,
    pub random: Random,
    pub surface: Box<dyn Surface>,
    pub display: Display,
    pub fs: Fs,
    pub packages: Packages,
    pub install_sessions: InstallSessions,
    pub processes: Processes,
    pub log: Log,
    pub settings: Settings,
    pub properties: BTreeMap<String, String>,
    pub services: Services,
    pub clipboard: String,
    pub trust: Trust,
    pub connections: Connections,
    /// Served verbatim instead of the surface's tree.
    pub fixed_tree: Option<Bytes>,
    /// One UiAutomation may be registered at a time.
    pub automation_busy: bool,
    pub panel: Panel,
    finger: Option<HeldFinger>,
    pub faults: FaultInjector,
    pub record: Record,
    pub film: FilmRecorder,
    requests: Vec<OutgoingRequest>,
    pub certificates: Certificates,
}

impl State {
    pub fn new(config: PhoneConfig) -> State {
        let now = Instant::now();
        let surface: Box<dyn Surface> = match &config.replay {
            Some(recording) => Box::new(Replay::new(recording.clone(), now)),
            None => Box::new(Ui::new(now, &config.apps, config.network.api(), config.platform)),
        };
        State::with_surface(config, surface, now)
    }

    /// Builds a phone around a surface; nothing after this knows which one it is.
    pub fn with_surface(config: PhoneConfig, surface: Box<dyn Surface>, now: Instant) -> State {
        let clock = Clock::start(now);
        let now_s = (clock.wall_ms(now) / 1000) as u32;
        let mut fs = Fs::new(now_s);
        let mut packages = Packages::new(&mut fs, now_s);
        let front = surface.front().0;
        if packages.get(front).is_none() {
            packages.add(front, false, Bytes::from_static(b"PK\x03\x04"), &mut fs, now_s);
        }
        for path in ["/dev/input/event0", "/dev/input/event1", crate::panel::PATH] {
            fs.add_device(path, crate::panel::mode(config.dev_input), now_s);
        }
        for (index, app) in config.apps.iter().enumerate() {
            let entry = Some(app.entry()).filter(|_| index < USER_APPS_MAX);
            packages.add_debuggable(app.package(), entry, &mut fs, now_s);
        }
        let physical_size = surface.native_size().unwrap_or((config.width, config.height));
        let certificates = Certificates::new(&config.system_certificates);
        let mut state = State {
            surface,
            display: Display::new(physical_size, config.density),
            fs,
            packages,
            install_sessions: InstallSessions::default(),
            processes: Processes::new(config.seed),
            log: Log::default(),
            settings: Settings::new(config.seed),
            properties: properties::properties(&config),
            services: Services::default(),
            clipboard: String::new(),
            trust: Trust::new(config.auth.clone()),
            connections: Connections::new(),
            fixed_tree: config.hierarchy.clone(),
            automation_busy: false,
            panel: Panel::default(),
            finger: None,
            faults: FaultInjector::new(config.faults, config.seed, now),
            record: Record::default(),
            film: FilmRecorder::new(config.film, config.reader, now),
            requests: Vec::new(),
            certificates,
            random: Random::new(config.seed, RANDOM_STREAM),
            clock,
            now,
            config,
        };
        state.boot();
        state
    }

    fn boot(&mut self) {
        self.processes.add("system_server", SYSTEM_PID);
        self.processes.add("com.android.systemui", 1801);
        self.processes.add(launcher::PACKAGE, 2044);
        let front = self.front().0.to_owned();
        self.pid_of(&front, self.now);
        self.system('I', "SystemServiceManager", "Starting phase 1000");
        self.system('I', "ActivityManager", "User 0 is now unlocked");
        self.system('I', "WindowManager", "Boot animation finished");
        self.noise(6, self.now);
    }

    pub fn reboot(&mut self) {
        let running: Vec<String> = self.processes.iter().map(|(name, _)| name.to_owned()).collect();
        for package in running {
            self.kill(&package, false);
        }
        self.processes.clear();
        self.log.clear(&Buffer::ALL);
        self.boot();
    }

    /// Logs lines from parts of the system that nobody asked about.
    pub fn noise(&mut self, lines: usize, at: Instant) {
        const LINES: [(char, &str, &str); 8] = [
            ('D', "BatteryService", "level:87, scale:100, status:2, health:2"),
            ('I', "chatty", "uid=1000(system) expire 3 lines"),
            ('W', "WifiHAL", "Get event 33"),
            ('D', "CompatChangeReporter", "Compat change id reported: 168419799; UID 10123; state: DISABLED"),
            ('V', "GraphicsEnvironment", "ANGLE GameManagerService for com.workbench: false"),
            ('I', "SurfaceFlinger", "refresh rate 60.00 Hz"),
            ('W', "Looper", "PerfMonitor doFrame : time=3ms vsyncFrame=0 latency=19ms"),
            ('D', "ConnectivityService", "NetReassign [no changes]"),
        ];
        for _ in 0..lines {
            let (priority, tag, message) = LINES[self.random.below(LINES.len())];
            self.log_line(Buffer::System, at, SYSTEM_PID, priority, tag, message);
        }
    }

    /// Logs a line of the system server.
    pub fn system(&mut self, priority: char, tag: &str, message: &str) {
        self.log_line(Buffer::System, self.now, SYSTEM_PID, priority, tag, message);
    }

    pub fn log_line(
        &mut self,
        buffer: Buffer,
        at: Instant,
        pid: u32,
        priority: char,
        tag: &str,
        message: &str,
    ) {
        self.log.push(Entry {
            sequence: 0,
            buffer,
            wall_ms: self.clock.wall_ms(at),
            uptime_ms: self.clock.uptime_ms(at),
            pid,
            tid: pid + u32::from(tag == "OkHttp" || tag.starts_with("okhttp")) * 17,
            priority,
            tag: tag.to_owned(),
            message: message.to_owned(),
        });
    }

    /// Lets everything happen that was due by `now`. Called whenever the lock is taken.
    pub fn advance(&mut self, now: Instant) {
        while let Some((at, due)) = self.faults.take_due(now) {
            self.now = at;
            self.advance_surface(at);
            self.apply_fault(due);
        }
        self.now = now;
        self.advance_surface(now);
        self.settle();
    }

    /// Turns what the surface reports into processes, log lines and requests.
    pub fn settle(&mut self) {
        for event in self.surface.settle(&self.display.screen()) {
            match event {
                SurfaceEvent::Log { at, package, priority, tag, message } => {
                    let pid = self.pid_of(&package, at);
                    self.log_line(Buffer::Main, at, pid, priority, &tag, &message);
                    if tag == "OkHttp" {
                        self.noise(2, at);
                    }
                }
                SurfaceEvent::Started { at, package, activity, within } => {
                    self.started(at, &package, &activity, within);
                }
                SurfaceEvent::Crashed { at, package, activity, exception, frames } => {
                    self.crashed(at, (&package, &activity), &exception, &frames);
                }
                SurfaceEvent::NotResponding { at, package, activity } => {
                    self.not_responding(at, (&package, &activity));
                }
                SurfaceEvent::Closed { at, package } => self.closed(at, &package),
                SurfaceEvent::Request(request) => {
                    self.record.request(MadeRequest {
                        at_ms: self.clock.uptime_ms(request.at),
                        package: request.package.to_owned(),
                        method: request.request.method.clone(),
                        url: request.request.url.clone(),
                        cause: request.cause,
                    });
                    if self.requests.len() < REQUESTS_MAX {
                        self.requests.push(request);
                    }
                }
            }
        }
    }

    /// Returns the requests of apps that must be sent now.
    pub fn take_requests(&mut self) -> Vec<OutgoingRequest> {
        std::mem::take(&mut self.requests)
    }

    pub fn screen(&self) -> Screen {
        self.display.screen()
    }

    pub fn now_s(&self) -> u32 {
        (self.clock.wall_ms(self.now) / 1000) as u32
    }

    /// Turns the screen, as `user_rotation` does: 0 is upright.
    pub fn set_rotation(&mut self, quarter_turns: u8) {
        if self.display.rotate(quarter_turns) {
            self.surface.system(SystemEvent::ConfigurationChanged, self.now);
            self.settle();
        }
    }

    /// Returns false when the settings provider refuses.
    pub fn put_setting(&mut self, namespace: &str, key: &str, value: &str) -> bool {
        let done = self.settings.put(namespace, key, value);
        let turns = self.settings.get("system", "user_rotation").and_then(|turns| turns.parse().ok());
        // There is no sensor: with free rotation the screen stays as it is.
        if done
            && namespace == "system"
            && matches!(key, "user_rotation" | "accelerometer_rotation")
            && let Some(turns) = turns.filter(|turns| *turns < 4 && self.settings.rotation_is_locked())
        {
            self.set_rotation(turns);
        }
        if done && (namespace, key) == ("system", "font_scale") {
            let scale = value.parse::<f32>().ok().filter(|scale| (0.25..=5.0).contains(scale)).unwrap_or(1.0);
            let thousandths = (scale * 1000.0).round() as u32;
            self.surface.system(SystemEvent::FontScale { thousandths }, self.now);
            self.settle();
        }
        done
    }

    /// Returns package and activity in front.
    pub fn front(&self) -> (&str, &str) {
        self.surface.front()
    }

    pub fn keyboard_shown(&self) -> bool {
        self.surface.windows(&self.screen()).keyboard
    }

    /// Returns when the screen last changed and accessibility heard of it.
    pub fn changed_at(&self) -> Instant {
        self.surface.changes(self.now).reported_at
    }

    /// Returns the tree that `uiautomator` sees.
    pub fn hierarchy(&self) -> Bytes {
        match &self.fixed_tree {
            Some(fixed) => fixed.clone(),
            None => self.surface.hierarchy(&self.screen(), self.config.sdk),
        }
    }

    /// Returns the fault for the next dump: one that a test asked for, or one by chance.
    pub fn next_dump_fault(&mut self) -> Option<DumpFault> {
        self.faults.next_dump(self.now)
    }

    /// True if accessibility finds no root: the app in front is stuck, or another is just being opened.
    pub fn is_rootless(&self) -> bool {
        let windows = self.surface.windows(&self.screen());
        self.faults.is_rootless(self.now) || windows.opening || !windows.responding
    }

    pub fn moment(&self) -> Moment {
        self.record.moment(self.faults.events(&self.clock).len())
    }

    pub fn since(&self, moment: &Moment) -> Happened {
        let faults = self.faults.events(&self.clock).split_off(moment.faults);
        Happened { faults, ..self.record.since(moment) }
    }

    pub fn toasts(&self) -> Vec<ShownToast> {
        self.surface.toasts().iter().map(|toast| self.shown(toast)).collect()
    }

    pub fn truth(&mut self) -> Truth {
        let (package, activity) = self.front();
        let activity = format!("{package}/{activity}");
        let windows = self.surface.windows(&self.screen());
        let changes = self.surface.changes(self.now);
        let surface = self.surface.truth();
        Truth {
            inputs: self.record.inputs(),
            input_times_ms: self.record.input_times_ms(),
            last_change_ms: self.clock.uptime_ms(changes.reported_at),
            last_visible_change_ms: self.clock.uptime_ms(changes.visible_at),
            faults: self.faults.events(&self.clock),
            fields: surface.values.fields,
            switches: surface.values.switches,
            sliders: surface.values.sliders,
            commands: self.record.commands(),
            argvs: self.record.argvs(),
            leftover_files: self.fs.files_below("/data/local/tmp"),
            activity,
            dialog_open: windows.dialog.is_some(),
            keyboard_shown: windows.keyboard,
            clipboard: self.clipboard.clone(),
            packages: self.packages.iter().map(|(name, _)| name.clone()).collect(),
            connections: self.connections.count(),
            toasts: self.toasts(),
            requests: self.record.requests(),
            replay: surface.replay,
            framework: surface.framework,
        }
    }

    fn shown(&self, toast: &Toast) -> ShownToast {
        let ms = |at| self.clock.uptime_ms(at);
        ShownToast { text: toast.text.clone(), from_ms: ms(toast.from), until_ms: ms(toast.until) }
    }
}
