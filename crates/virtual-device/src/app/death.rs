//! How processes end badly, and what the log says of it.

use std::fmt::Write as _;

use tokio::time::Instant;

use crate::logcat::Buffer;
use crate::state::{SYSTEM_PID, State};

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
    pub(crate) fn crashed(
        &mut self,
        at: Instant,
        component: (&str, &str),
        exception: &str,
        frames: &[String],
    ) {
        let (package, activity) = component;
        let Some(pid) = self.pids.remove(package) else { return };
        let mut trace = format!("FATAL EXCEPTION: main\nProcess: {package}, PID: {pid}\n{exception}");
        for frame in frames.iter().map(String::as_str).chain(PLATFORM_FRAMES) {
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

    pub(crate) fn not_responding(&mut self, at: Instant, component: (&str, &str)) {
        let (package, activity) = component;
        let Some(pid) = self.pids.get(package).copied() else { return };
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

    /// A person chose "Close app".
    pub(crate) fn closed(&mut self, at: Instant, package: &str) {
        let Some(pid) = self.pids.remove(package) else { return };
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
