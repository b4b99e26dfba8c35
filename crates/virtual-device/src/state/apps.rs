//! Apps as processes: how they start, end and what the log says of it.

use std::fmt::Write as _;

use bytes::Bytes;
use tokio::time::{Duration, Instant};

use super::{SYSTEM_PID, State};
use crate::app::{Values, xml};
use crate::config::Timing;
use crate::logcat::Buffer;
use crate::surface::{InstalledApp, SystemEvent};

const SHELL_UID: u32 = 2000;
/// By how much the start times of processes differ.
const COLD_START_SPREAD_MS: u64 = 1400;
/// First release whose log lines name the launch mode and the outcome.
const LONG_START_LINES_SDK: u32 = 33;

/// Below every app's own frames: how the platform called it.
const PLATFORM_FRAMES: [&str; 9] = [
    "android.view.View.performClick(View.java:8083)",
    "android.view.View.-$$Nest$mperformClickInternal(Unknown Source:0)",
    "android.view.View$PerformClick.run(View.java:31549)",
    "android.os.Handler.handleCallback(Handler.java:995)",
    "android.os.Handler.dispatchMessage(Handler.java:103)",
    "android.os.Looper.loop(Looper.java:338)",
    "android.app.ActivityThread.main(ActivityThread.java:9067)",
    "java.lang.reflect.Method.invoke(Native Method)",
    "com.android.internal.os.ZygoteInit.main(ZygoteInit.java:932)",
];

impl State {
    /// Installs the files of one app. A process of the version before ends.
    pub fn install(&mut self, files: &[Bytes]) -> Result<String, String> {
        let (sdk, now_s) = (self.config.sdk, self.now_s());
        let name = self.packages.install(files, sdk, &mut self.fs, now_s)?;
        self.kill(&name, false);
        self.show_installed(&name);
        self.system('I', "PackageManager", &format!("Installed {name}"));
        Ok(name)
    }

    /// Gives an app from a file a screen, since its code cannot run here. Helpers of other clients have their own.
    pub fn show_installed(&mut self, package: &str) {
        let Some(found) = self.packages.get(package).filter(|found| found.manifest.entry.is_some()) else {
            return;
        };
        if crate::helpers::is_helper(package) {
            return;
        }
        let manifest = &found.manifest;
        let app = InstalledApp {
            package: package.to_owned(),
            label: manifest.label.clone().unwrap_or_else(|| package.to_owned()),
            version: format!("{} ({})", found.version_name, found.version_code),
            language: self.services.locales.get(package).cloned().unwrap_or_default(),
            activities: manifest.activities.clone(),
            entry: manifest.entry.clone().unwrap_or_default(),
        };
        self.surface.installed(&app, self.now);
    }

    /// Brings an app to the front; false when there is no such app or activity.
    pub fn launch(&mut self, package: &str, activity: Option<&str>) -> bool {
        self.surface.launch(package, activity, self.now)
    }

    pub(super) fn started(&mut self, at: Instant, package: &str, activity: &str, within: bool) {
        let component = format!("{package}/{activity}");
        let uid = self.packages.get(package).map_or(SHELL_UID, |p| p.uid);
        let line = if within {
            self.start_line(&format!("cmp={component}"), uid)
        } else {
            let main = "act=android.intent.action.MAIN cat=[android.intent.category.LAUNCHER] flg=0x10000000";
            self.start_line(&format!("{main} cmp={component}"), SHELL_UID)
        };
        self.log_line(Buffer::System, at, SYSTEM_PID, 'I', "ActivityTaskManager", &line);
        let cold = self.processes.pid(package).is_none();
        self.pid_of(package, at);
        self.faults.activity_opened(at);
        let ms = self.random.between(180, 380);
        let ms = match self.config.timing {
            Timing::Phone if !within => self.open_slowly(at, cold, ms),
            _ => ms,
        };
        let shown = format!("Displayed {component} for user 0: +{ms}ms");
        self.log_line(Buffer::System, at, SYSTEM_PID, 'I', "ActivityTaskManager", &shown);
    }

    /// Between two apps accessibility finds no window, for longest when a process must start.
    fn open_slowly(&mut self, at: Instant, cold: bool, ms: u64) -> u64 {
        let ms = if cold { 2 * ms + self.random.between(0, COLD_START_SPREAD_MS) } else { ms / 2 };
        let until = at + Duration::from_millis(ms);
        self.surface.system(SystemEvent::WindowDelayed { until }, at);
        ms
    }

    /// Returns the log line for the start of an activity.
    pub fn start_line(&self, intent: &str, uid: u32) -> String {
        if self.config.sdk < LONG_START_LINES_SDK {
            return format!("START u0 {{{intent}}} from uid {uid}");
        }
        let allowed = if uid == SHELL_UID { " (BAL_ALLOW_PERMISSION)" } else { "" };
        format!("START u0 {{{intent}}} with LAUNCH_MULTIPLE from uid {uid}{allowed} result code=0")
    }

    /// Returns the pid of the app's process, which is started if it is not running.
    pub(super) fn pid_of(&mut self, package: &str, at: Instant) -> u32 {
        if let Some(pid) = self.processes.pid(package) {
            return pid;
        }
        let pid = self.processes.next_pid();
        self.processes.add(package, pid);
        let uid = self.packages.get(package).map_or(0, |p| p.uid.saturating_sub(10_000));
        let line = format!("Start proc {pid}:{package}/u0a{uid} for next-top-activity {{{package}}}");
        self.log_line(Buffer::System, at, SYSTEM_PID, 'I', "ActivityManager", &line);
        pid
    }

    pub fn kill(&mut self, package: &str, clear_data: bool) {
        self.surface.kill(package, clear_data, self.now);
        if clear_data {
            self.fs.forget_private(package);
        }
        if let Some(pid) = self.processes.remove(package) {
            let stopping = format!("Force stopping {package} appid=10123 user=0: from pid 4242");
            self.system('I', "ActivityManager", &stopping);
            let killing = format!("Killing {pid}:{package}/u0a123 (adj 0): stop {package}");
            self.system('I', "ActivityManager", &killing);
        }
    }

    /// Writes what an app has saved where `run-as` finds it.
    pub fn save_private(&mut self, package: &str) {
        let preferences = preferences(&self.surface.saved(package));
        let now_s = self.now_s();
        self.fs.keep_private(package, preferences, now_s);
    }

    pub(super) fn crashed(
        &mut self,
        at: Instant,
        component: (&str, &str),
        exception: &str,
        frames: &[String],
    ) {
        let (package, activity) = component;
        let Some(pid) = self.processes.remove(package) else { return };
        let mut trace = format!("FATAL EXCEPTION: main\nProcess: {package}, PID: {pid}\n{exception}");
        // A trace of the real framework has its own frames of the platform.
        let is_whole = frames.iter().any(|frame| frame.starts_with("android."));
        let below = PLATFORM_FRAMES.into_iter().filter(|_| !is_whole);
        for frame in frames.iter().map(String::as_str).chain(below) {
            let _ = write!(trace, "\n\tat {frame}");
        }
        self.log_line(Buffer::Crash, at, pid, 'E', "AndroidRuntime", &trace);
        let (class, message) = exception.split_once(": ").unwrap_or((exception, ""));
        let place = frames.first().map_or("Unknown", String::as_str);
        let event = format!("[{pid},0,{package},551026246,{class},{message},{place},0]");
        self.log_line(Buffer::Events, at, SYSTEM_PID, 'I', "am_crash", &event);
        let finishing = format!("  Force finishing activity {package}/{activity}");
        self.log_line(Buffer::System, at, SYSTEM_PID, 'W', "ActivityTaskManager", &finishing);
        self.log_line(Buffer::Main, at, pid, 'I', "Process", &format!("Sending signal. PID: {pid} SIG: 9"));
        self.died(at, package, pid);
    }

    pub(super) fn not_responding(&mut self, at: Instant, component: (&str, &str)) {
        let (package, activity) = component;
        let Some(pid) = self.processes.pid(package) else { return };
        let reason = format!(
            "Input dispatching timed out ({package}/{package}{activity} is not responding. Waited 5001ms for MotionEvent)"
        );
        let event = format!("[0,{pid},{package},551026246,{reason}]");
        self.log_line(Buffer::Events, at, SYSTEM_PID, 'I', "am_anr", &event);
        let report = format!(
            "ANR in {package} ({package}/{activity})\nPID: {pid}\nReason: {reason}\nParent: {package}/{activity}\n\
             ErrorId: 5f0c1c1e-58a5-4f0e-9a55-{pid:012x}\nFrozen: false\nLoad: 2.31 / 1.12 / 0.5\n\
             CPU usage from 0ms to 5180ms later:\n  98% {pid}/{package}: 97% user + 1% kernel\n  \
             6% {SYSTEM_PID}/system_server: 4% user + 2% kernel"
        );
        self.log_line(Buffer::System, at, SYSTEM_PID, 'E', "ActivityManager", &report);
    }

    /// Ends an app because a person chose "Close app".
    pub(super) fn closed(&mut self, at: Instant, package: &str) {
        let Some(pid) = self.processes.remove(package) else { return };
        let uid = self.packages.get(package).map_or(0, |p| p.uid.saturating_sub(10_000));
        let line = format!("Killing {pid}:{package}/u0a{uid} (adj 0): user request after error");
        self.log_line(Buffer::System, at, SYSTEM_PID, 'I', "ActivityManager", &line);
        self.died(at, package, pid);
    }

    fn died(&mut self, at: Instant, package: &str, pid: u32) {
        let line = format!("Process {package} (pid {pid}) has died: fg  TOP ");
        self.log_line(Buffer::System, at, SYSTEM_PID, 'I', "ActivityManager", &line);
        let event = format!("[0,{pid},{package},0,2]");
        self.log_line(Buffer::Events, at, SYSTEM_PID, 'I', "am_proc_died", &event);
    }
}

/// Writes values as the platform stores preferences.
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
