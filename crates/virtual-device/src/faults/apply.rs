//! What a fault does to the phone.

use super::{DueFault, Fault};
use crate::app::launcher;
use crate::logcat::Buffer;
use crate::state::{SYSTEM_PID, State};
use crate::surface::SystemEvent;

const LMKD_PID: u32 = 402;
/// Titles and messages of dialogs that the system shows without being asked.
const ALERTS: [(&str, &str); 3] = [
    ("Storage space running out", "Some system functions may not work"),
    ("System update available", "Restart to finish installing the update"),
    ("Battery low", "15% remaining"),
];

impl State {
    /// Applies a fault whose time has come, at `self.now`.
    pub fn apply_fault(&mut self, due: DueFault) {
        match due {
            DueFault::Tap(at) => self.apply_tap(at),
            DueFault::SetClock(ms) => self.clock.set_by(ms),
            DueFault::Kill { foreground } => self.kill_for_memory(foreground),
            DueFault::Dialog(which) => self.interrupt(which),
            DueFault::Transport(fault) => self.faults.add_transport_fault(fault),
        }
    }

    /// Shows a dialog over whatever is there, unless there is one already or the surface has no dialogs.
    fn interrupt(&mut self, which: usize) {
        let (title, message) = ALERTS[which % ALERTS.len()];
        let is_free = self.surface.windows(&self.screen()).dialog.is_none();
        if is_free && self.surface.system(SystemEvent::Alert { title, message }, self.now) {
            self.faults.note(Fault::SystemDialog, self.now);
        }
    }

    /// Ends the app in front, or else the first other one; does nothing when there is none.
    fn kill_for_memory(&mut self, foreground: bool) {
        let front = self.front().0.to_owned();
        let victim = self.packages.iter().map(|(name, _)| name).find(|name| {
            let idle = **name != launcher::PACKAGE && **name != "com.android.systemui";
            idle && self.processes.pid(name).is_some() && (**name == front) == foreground
        });
        let Some(victim) = victim.cloned() else { return };
        let Some(pid) = self.processes.remove(&victim) else { return };
        self.faults.note(Fault::LowMemory, self.now);
        self.surface.kill(&victim, false, self.now);
        let uid = self.packages.get(&victim).map_or(0, |package| package.uid);
        let (score, state) = if foreground { (0, "fg  TOP") } else { (900, "cch+5 CEM") };
        let line = format!(
            "Kill '{victim}' ({pid}), uid {uid}, oom_score_adj {score} to free 184320kB rss, 20480kB swap; \
             reason: low watermark is breached and swap is low"
        );
        self.log_line(Buffer::System, self.now, LMKD_PID, 'I', "lowmemorykiller", &line);
        let line = format!("Process {victim} (pid {pid}) has died: {state}");
        self.log_line(Buffer::System, self.now, SYSTEM_PID, 'I', "ActivityManager", &line);
    }
}
