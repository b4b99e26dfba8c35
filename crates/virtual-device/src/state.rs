//! Everything that a phone remembers, behind one lock.

use std::collections::BTreeMap;

use bytes::Bytes;
use tokio::time::{Duration, Instant};

use crate::app::geometry::Screen;
use crate::app::ui::{Gesture, Note, Toast, Ui};
use crate::app::{Values, keys, launcher, system, xml};
use crate::clock::Clock;
use crate::config::{Auth, DumpFault, PhoneConfig, Timing};
use crate::faults::{Due, Mischief, TapFate};
use crate::film::Film;
use crate::fs::Fs;
use crate::logcat::{Buffer, Entry, Log};
use crate::packages::Packages;
use crate::random::Random;
use crate::replay::Replay;
use crate::truth::{Applied, Record, ShownToast, Truth};

pub const SYSTEM_PID: u32 = 1523;
const SHELL_UID: u32 = 2000;
/// The stream of random numbers for tokens, noise and start times. Faults use the streams from 1 on.
const RANDOM_STREAM: u64 = 0;
/// By how much starts of processes differ.
const COLD_START_SPREAD_MS: u64 = 1400;
/// Longest clipboard text.
pub const CLIPBOARD_BYTES_MAX: usize = 1024 * 1024;
/// Settings and properties that clients may add.
pub const SETTINGS_MAX: usize = 1000;

pub struct State {
    pub config: PhoneConfig,
    pub clock: Clock,
    pub now: Instant,
    pub ui: Ui,
    /// In place of the apps, when a recording is played.
    pub replay: Option<Replay>,
    pub fs: Fs,
    pub log: Log,
    pub record: Record,
    /// Nothing unless it is asked for.
    pub film: Option<Film>,
    pub filmed_until: Instant,
    pub filmed_changes: u64,
    pub packages: Packages,
    pub size_override: Option<(u32, u32)>,
    pub density_override: Option<u32>,
    /// Quarter turns.
    pub rotation: u8,
    pub clipboard: String,
    pub hierarchy: Option<Bytes>,
    pub dump_fault: Option<DumpFault>,
    pub mischief: Mischief,
    /// What faults ask of the transports, which are not part of the state.
    pub due: Vec<Due>,
    /// Whom the phone trusted before a spell of trusting nobody.
    pub auth_before: Option<Auth>,
    /// One UiAutomation may be registered at a time.
    pub automation_busy: bool,
    pub pids: BTreeMap<String, u32>,
    next_pid: u32,
    /// Namespace/key to value.
    pub settings: BTreeMap<String, String>,
    /// What the services behind `cmd` remember.
    pub services: crate::shell::services::Services,
    pub properties: BTreeMap<String, String>,
    pub plugged: bool,
    pub connections: usize,
    /// Keys that a person accepted on the screen, by modulus.
    pub accepted_keys: Vec<mdm_wire::adb::auth::PublicKey>,
    pub processes: usize,
    /// Where and since when a finger is down, between two `motionevent`s.
    pub finger: Option<((i32, i32), Instant)>,
    pub panel: crate::panel::Panel,
    /// Bytes of install sessions that are not committed yet.
    pub sessions: BTreeMap<u32, Bytes>,
    pub random: Random,
}

impl State {
    pub fn new(mut config: PhoneConfig) -> State {
        let clock = Clock::start();
        let now = Instant::now();
        let now_s = (clock.wall_ms(now) / 1000) as u32;
        let mut fs = Fs::new(now_s);
        let mut packages = Packages::new(&mut fs, now_s);
        let replay = config.replay.clone().map(|recording| {
            (config.width, config.height) = Replay::size(&recording);
            Replay::new(recording, now)
        });
        if let Some(replay) = &replay {
            packages.add(replay.package(), false, Bytes::from_static(b"PK\x03\x04"), &mut fs, now_s);
        }
        for path in ["/dev/input/event0", "/dev/input/event1", crate::panel::PATH] {
            fs.add_device(path, crate::panel::mode(config.dev_input), now_s);
        }
        for app in &config.apps {
            packages.add_debuggable(app.package(), &mut fs, now_s);
        }
        let mut state = State {
            ui: Ui::new(now, &config.apps, config.network.api()),
            replay,
            log: Log::default(),
            record: Record::default(),
            film: config.film.then(Film::default),
            filmed_until: now,
            // Unlike any number of changes, so that the first picture is taken.
            filmed_changes: u64::MAX,
            packages,
            fs,
            size_override: None,
            density_override: None,
            rotation: 0,
            clipboard: String::new(),
            hierarchy: config.hierarchy.clone(),
            dump_fault: None,
            mischief: Mischief::new(config.faults, config.seed, now),
            due: Vec::new(),
            auth_before: None,
            automation_busy: false,
            pids: BTreeMap::new(),
            next_pid: 3000 + (config.seed % 1000) as u32,
            settings: crate::shell::services::default_settings(config.seed),
            services: crate::shell::services::Services::default(),
            properties: properties(&config),
            plugged: true,
            connections: 0,
            accepted_keys: Vec::new(),
            processes: 0,
            finger: None,
            panel: crate::panel::Panel::default(),
            sessions: BTreeMap::new(),
            random: Random::new(config.seed, RANDOM_STREAM),
            clock,
            now,
            config,
        };
        state.boot();
        state
    }

    fn boot(&mut self) {
        self.pids.insert("system_server".to_owned(), SYSTEM_PID);
        self.pids.insert("com.android.systemui".to_owned(), 1801);
        self.pids.insert(launcher::PACKAGE.to_owned(), 2044);
        if let Some(package) = self.replay.as_ref().map(|r| r.package().to_owned()) {
            self.pid_of(&package, self.now);
        }
        self.system('I', "SystemServiceManager", "Starting phase 1000");
        self.system('I', "ActivityManager", "User 0 is now unlocked");
        self.system('I', "WindowManager", "Boot animation finished");
        self.noise(6, self.now);
    }

    pub fn reboot(&mut self) {
        for package in self.pids.keys().cloned().collect::<Vec<_>>() {
            self.kill(&package, false);
        }
        self.pids.clear();
        self.log.clear(&Buffer::ALL);
        self.boot();
    }

    /// Lines from parts of the system that nobody asked about.
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
            uptime_ms: self.clock.uptime(at).as_millis() as u64,
            pid,
            tid: pid + u32::from(tag == "OkHttp" || tag.starts_with("okhttp")) * 17,
            priority,
            tag: tag.to_owned(),
            message: message.to_owned(),
        });
    }

    /// Called whenever the lock is taken: what was due has happened.
    pub fn advance(&mut self, now: Instant) {
        while let Some((at, due)) = self.mischief.take_due(now) {
            self.now = at;
            self.advance_ui(at);
            self.misbehave(due);
        }
        self.now = now;
        self.advance_ui(now);
        if let Some(replay) = &mut self.replay {
            replay.advance(now);
        }
        self.settle();
    }

    /// Turns what the window manager reported into processes and log lines.
    pub fn settle(&mut self) {
        for note in std::mem::take(&mut self.ui.notes) {
            match note {
                Note::Log { at, package, priority, tag, message } => {
                    let pid = self.pid_of(package, at);
                    self.log_line(Buffer::Main, at, pid, priority, tag, &message);
                    if tag == "OkHttp" {
                        self.noise(2, at);
                    }
                }
                Note::Started { at, package, activity, within } => {
                    self.started(at, &format!("{package}/{activity}"), package, within);
                }
                Note::Crashed { at, package, activity, exception, frames } => {
                    self.crashed(at, (package, activity), &exception, &frames);
                }
                Note::NotResponding { at, package, activity } => self.not_responding(at, (package, activity)),
                Note::Closed { at, package } => self.closed(at, package),
            }
        }
        let screen = self.screen();
        self.ui.clamp_scroll(&screen);
    }

    fn started(&mut self, at: Instant, component: &str, package: &str, within: bool) {
        let uid = self.packages.get(package).map_or(SHELL_UID, |p| p.uid);
        let line = if within {
            self.start_line(&format!("cmp={component}"), uid)
        } else {
            let main = "act=android.intent.action.MAIN cat=[android.intent.category.LAUNCHER] flg=0x10000000";
            self.start_line(&format!("{main} cmp={component}"), SHELL_UID)
        };
        self.log_line(Buffer::System, at, SYSTEM_PID, 'I', "ActivityTaskManager", &line);
        let cold = !self.pids.contains_key(package);
        self.pid_of(package, at);
        self.mischief.activity_opened(at);
        let ms = self.random.between(180, 380);
        let ms = match self.config.timing {
            Timing::Phone if !within => self.open_slowly(at, cold, ms),
            _ => ms,
        };
        let shown = format!("Displayed {component} for user 0: +{ms}ms");
        self.log_line(Buffer::System, at, SYSTEM_PID, 'I', "ActivityTaskManager", &shown);
    }

    /// Between two apps there is no window that accessibility could find, for longest when a process must start.
    fn open_slowly(&mut self, at: Instant, cold: bool, ms: u64) -> u64 {
        let ms = if cold { 2 * ms + self.random.between(0, COLD_START_SPREAD_MS) } else { ms / 2 };
        self.ui.opens_for(at, Duration::from_millis(ms));
        ms
    }

    /// The app's process, started if it is not running.
    fn pid_of(&mut self, package: &str, at: Instant) -> u32 {
        if let Some(pid) = self.pids.get(package) {
            return *pid;
        }
        let pid = self.take_pid();
        self.pids.insert(package.to_owned(), pid);
        let uid = self.packages.get(package).map_or(0, |p| p.uid.saturating_sub(10_000));
        let line = format!("Start proc {pid}:{package}/u0a{uid} for next-top-activity {{{package}}}");
        self.log_line(Buffer::System, at, SYSTEM_PID, 'I', "ActivityManager", &line);
        pid
    }

    pub fn take_pid(&mut self) -> u32 {
        self.next_pid = if self.next_pid > 32_000 { 3000 } else { self.next_pid + 7 };
        self.next_pid
    }

    pub fn kill(&mut self, package: &str, clear_data: bool) {
        self.ui.kill(package, clear_data, self.now);
        if clear_data {
            self.fs.forget_private(package);
        }
        if let Some(pid) = self.pids.remove(package) {
            self.system(
                'I',
                "ActivityManager",
                &format!("Force stopping {package} appid=10123 user=0: from pid 4242"),
            );
            self.system(
                'I',
                "ActivityManager",
                &format!("Killing {pid}:{package}/u0a123 (adj 0): stop {package}"),
            );
        }
    }

    /// Writes what an app has saved where `run-as` finds it.
    pub fn save_private(&mut self, package: &str) {
        let saved = self.ui.app(package).map(|app| app.saved()).unwrap_or_default();
        let now_s = self.now_s();
        self.fs.keep_private(package, preferences(&saved), now_s);
    }

    pub fn physical_size(&self) -> (u32, u32) {
        (self.config.width, self.config.height)
    }

    pub fn screen(&self) -> Screen {
        let (mut width, mut height) = self.size_override.unwrap_or_else(|| self.physical_size());
        if self.rotation % 2 == 1 {
            std::mem::swap(&mut width, &mut height);
        }
        Screen {
            width: width as i32,
            height: height as i32,
            density: self.density_override.unwrap_or(self.config.density),
            dark: self.ui.dark(),
            rotation: self.rotation,
        }
    }

    pub fn now_s(&self) -> u32 {
        (self.clock.wall_ms(self.now) / 1000) as u32
    }

    pub fn tap(&mut self, x: i32, y: i32) {
        match self.mischief.tap((x, y), self.now) {
            TapFate::Applied | TapFate::Double => self.touch(x, y),
            TapFate::Lost | TapFate::Late => {}
        }
    }

    pub fn swipe(&mut self, from: (i32, i32), to: (i32, i32), ms: u64) {
        let screen = self.screen();
        let hit = match &mut self.replay {
            Some(replay) => replay.swipe(from, to, ms, &screen, self.now),
            None => self.ui.swipe(from, to, ms, &screen, self.now),
        };
        self.note_input(Applied::Swipe { from, to, ms, hit });
        self.settle();
    }

    /// A long press that moves and lets go.
    pub fn drag_and_drop(&mut self, from: (i32, i32), to: (i32, i32), ms: u64) {
        let screen = self.screen();
        let hit = match &mut self.replay {
            Some(replay) => replay.swipe(from, to, ms, &screen, self.now),
            None => self.ui.gesture(&Gesture::drag(from, to, ms), &screen, self.now),
        };
        self.note_input(Applied::Swipe { from, to, ms, hit });
        self.settle();
    }

    /// Turns the screen, as `user_rotation` does: 0 is upright.
    pub fn set_rotation(&mut self, quarter_turns: u8) {
        if self.rotation != quarter_turns % 4 {
            self.rotation = quarter_turns % 4;
            self.ui.changed(self.now);
            self.settle();
        }
    }

    fn text_into(&mut self, text: &str) -> Option<String> {
        match &mut self.replay {
            Some(replay) => replay.type_text(text, self.now),
            None => self.ui.type_text(text, self.now).map(str::to_owned),
        }
    }

    pub fn type_text(&mut self, text: &str) {
        let into = self.text_into(text);
        self.note_input(Applied::Text { text: text.to_owned(), into });
        self.settle();
    }

    /// A finger comes down for a swipe that `swipe` will end.
    pub fn begin_swipe(&mut self, from: (i32, i32), to: (i32, i32), ms: u64) {
        if self.replay.is_none() {
            let screen = self.screen();
            self.ui.begin_drag(from, to, Duration::from_millis(ms), &screen, self.now);
        }
    }

    /// A key that is held until it repeats once.
    pub fn long_key(&mut self, code: u32) {
        let screen = self.screen();
        match code {
            // These are for the system: the assistant, and what Back does when it is let go.
            keys::HOME => self.note_input(Applied::Key { code }),
            keys::BACK => self.key(code),
            // A click comes when it is let go, unless it has become a long press.
            keys::ENTER | keys::DPAD_CENTER => {
                if self.replay.is_none() && self.ui.long_press_focused(&screen, self.now) {
                    self.note_input(Applied::Key { code });
                    self.settle();
                } else {
                    self.key(code);
                }
            }
            _ => {
                self.key(code);
                self.key(code);
            }
        }
    }

    pub fn key(&mut self, code: u32) {
        let screen = self.screen();
        if code == keys::PASTE {
            let text = self.clipboard.clone();
            let into = self.text_into(&text);
            self.note_input(Applied::Paste { text, into });
        } else {
            match &mut self.replay {
                Some(replay) => replay.key(code, self.now),
                None => self.ui.key(code, &screen, self.now),
            }
            self.note_input(Applied::Key { code });
        }
        self.settle();
    }

    /// The accessibility action of that name, on the field at a point.
    pub fn set_text(&mut self, at: (i32, i32), text: &str) -> bool {
        let screen = self.screen();
        let into = self.ui.set_text(at, text, &screen, self.now).map(str::to_owned);
        let done = into.is_some();
        self.note_input(Applied::Text { text: text.to_owned(), into });
        self.settle();
        done
    }

    pub fn select_all(&mut self) {
        match &mut self.replay {
            Some(replay) => replay.select_all(),
            None => self.ui.select_all(),
        }
        self.note_input(Applied::Key { code: keys::A });
    }

    /// Package and activity in front.
    pub fn front(&self) -> (&str, &str) {
        self.replay.as_ref().map_or_else(|| self.ui.front(), |replay| (replay.package(), replay.activity()))
    }

    /// Brings an app to the front; false when there is no such app or activity. A recording is always in front.
    pub fn launch(&mut self, package: &str, activity: Option<&str>) -> bool {
        match &self.replay {
            Some(replay) => replay.package() == package,
            None => self.ui.launch(package, activity, self.now),
        }
    }

    pub fn truth(&mut self) -> Truth {
        let screen = self.screen();
        let (package, activity) = self.front();
        let activity = format!("{package}/{activity}");
        let values = self.ui.values();
        Truth {
            inputs: self.record.inputs(),
            input_times_ms: self.record.input_times_ms(),
            last_change_ms: self.uptime_ms(self.changed_at()),
            last_visible_change_ms: self.uptime_ms(self.visible_at()),
            faults: self.fault_events(),
            fields: values.fields,
            switches: values.switches,
            sliders: values.sliders,
            commands: self.record.commands(),
            leftover_files: self.fs.files_below("/data/local/tmp"),
            activity,
            dialog_open: self.ui.dialog_window(&screen).is_some(),
            keyboard_shown: self.ui.keyboard_shown(),
            clipboard: self.clipboard.clone(),
            packages: self.packages.iter().map(|(name, _)| name.clone()).collect(),
            connections: self.connections,
            toasts: self.ui.toasts().iter().map(|toast| self.shown(toast)).collect(),
            replay: self.replay.as_ref().map(Replay::truth),
        }
    }

    fn visible_at(&self) -> Instant {
        match &self.replay {
            Some(replay) => replay.changed_at(),
            None => self.ui.visible_at(self.now),
        }
    }

    /// Package and activity that have the focus: a permission is asked for by an activity of another app.
    pub fn focused(&self) -> (&str, &str) {
        if self.replay.is_none() && self.ui.asks_permission() { system::GRANT } else { self.front() }
    }

    fn shown(&self, toast: &Toast) -> ShownToast {
        let ms = |at| self.clock.uptime(at).as_millis() as u64;
        ShownToast { text: toast.text.clone(), from_ms: ms(toast.from), until_ms: ms(toast.until) }
    }
}

/// As the platform stores preferences.
fn preferences(saved: &Values) -> String {
    let mut out = "<?xml version='1.0' encoding='utf-8' standalone='yes' ?>\n<map>\n".to_owned();
    for (name, text) in &saved.fields {
        let mut open = "    <string".to_owned();
        xml::attribute(&mut open, "name", name);
        let text = text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;");
        out.push_str(&format!("{open}>{text}</string>\n"));
    }
    let flags = saved.switches.iter().map(|(name, flag)| ("boolean", name, flag.to_string()));
    let numbers = saved.sliders.iter().map(|(name, number)| ("float", name, format!("{number:?}")));
    for (kind, name, value) in flags.chain(numbers) {
        out.push_str(&format!("    <{kind}"));
        xml::attribute(&mut out, "name", name);
        xml::attribute(&mut out, "value", &value);
        out.push_str(" />\n");
    }
    out.push_str("</map>\n");
    out
}

fn properties(config: &PhoneConfig) -> BTreeMap<String, String> {
    let sdk = config.sdk.to_string();
    let density = config.density.to_string();
    let fingerprint =
        format!("generic/virtual/virtual:{}/VD1A.260302/1:user/release-keys", config.android_version);
    let serial = format!("VIRTUAL{:04}", config.seed % 10_000);
    let pairs: [(&str, &str); 28] = [
        ("dalvik.vm.heapsize", "512m"),
        ("gsm.operator.alpha", ""),
        ("init.svc.adbd", "running"),
        ("persist.sys.locale", "en-US"),
        ("persist.sys.timezone", "UTC"),
        // As on every emulator: a client that prefers real phones can tell.
        ("ro.boot.qemu", "1"),
        ("ro.boot.serialno", &serial),
        ("ro.build.characteristics", "default"),
        ("ro.build.fingerprint", &fingerprint),
        ("ro.build.id", "VD1A.260302"),
        ("ro.build.type", "user"),
        ("ro.build.version.codename", "REL"),
        ("ro.build.version.release", &config.android_version),
        ("ro.build.version.sdk", &sdk),
        ("ro.debuggable", "0"),
        ("ro.hardware", "virtual"),
        ("ro.product.brand", "generic"),
        ("ro.product.cpu.abi", "arm64-v8a"),
        ("ro.product.cpu.abilist", "arm64-v8a,armeabi-v7a"),
        ("ro.product.device", "virtual"),
        ("ro.product.locale", "en-US"),
        ("ro.product.manufacturer", "Virtual"),
        ("ro.product.model", &config.model),
        ("ro.product.name", "virtual_phone"),
        ("ro.secure", "1"),
        ("ro.serialno", &serial),
        ("ro.sf.lcd_density", &density),
        ("sys.boot_completed", "1"),
    ];
    pairs.into_iter().map(|(key, value)| (key.to_owned(), value.to_owned())).collect()
}
