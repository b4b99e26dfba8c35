//! What a fault does to the phone.

use bytes::Bytes;
use tokio::time::Instant;

use super::{Due, Fault};
use crate::app::system::SystemWindow;
use crate::app::{launcher, xml};
use crate::config::{Auth, DumpFault};
use crate::logcat::Buffer;
use crate::replay::Replay;
use crate::state::{SYSTEM_PID, State};
use crate::truth::{Applied, FaultEvent};

const LMKD_PID: u32 = 402;
/// What the system says to nobody in particular.
const ALERTS: [(&str, &str); 3] = [
    ("Storage space running out", "Some system functions may not work"),
    ("System update available", "Restart to finish installing the update"),
    ("Battery low", "15% remaining"),
];

impl State {
    /// A fault whose time has come, at `self.now`.
    pub fn misbehave(&mut self, due: Due) {
        match due {
            Due::Tap((x, y)) => self.touch(x, y),
            Due::SetClock(ms) => self.clock.set_by(ms),
            Due::Kill { foreground } => self.kill_for_memory(foreground),
            Due::Dialog(which) => self.interrupt(which),
            Due::Cut | Due::SpellBegins(_) | Due::SpellEnds(_) => self.due.push(due),
        }
    }

    /// The phone trusts no host, or those again that it trusted before.
    pub fn set_trust(&mut self, trusts: bool) {
        if !trusts {
            let before = std::mem::replace(&mut self.config.auth, Auth::Refuse);
            self.auth_before.get_or_insert(before);
        } else if let Some(before) = self.auth_before.take() {
            self.config.auth = before;
        }
    }

    /// A tap that reached the screen.
    pub fn touch(&mut self, x: i32, y: i32) {
        let screen = self.screen();
        let hit = match &mut self.replay {
            Some(replay) => replay.tap(x, y, self.now),
            None => self.ui.tap(x, y, &screen, self.now),
        };
        self.note_input(Applied::Tap { at: (x, y), hit });
        self.settle();
    }

    pub fn note_input(&mut self, input: Applied) {
        let at_ms = self.uptime_ms(self.now);
        self.film_input();
        self.record.input(input, at_ms);
    }

    pub fn uptime_ms(&self, at: Instant) -> u64 {
        self.clock.uptime(at).as_millis() as u64
    }

    pub fn fault_events(&self) -> Vec<FaultEvent> {
        let event = |(at, fault): &(Instant, Fault)| FaultEvent { at_ms: self.uptime_ms(*at), fault: *fault };
        self.mischief.events().map(event).collect()
    }

    /// When the screen last changed and accessibility heard of it.
    pub fn changed_at(&self) -> Instant {
        self.replay.as_ref().map_or_else(|| self.ui.changed_at(), Replay::changed_at)
    }

    /// Asked for by a test, or by chance.
    pub fn next_dump_fault(&mut self) -> Option<DumpFault> {
        let now = self.now;
        self.dump_fault.take().or_else(|| self.mischief.dump(now))
    }

    /// The tree that `uiautomator` sees.
    pub fn hierarchy(&self) -> Bytes {
        let screen = self.screen();
        if let Some(fixed) = &self.hierarchy {
            return fixed.clone();
        }
        match &self.replay {
            Some(replay) => replay.hierarchy(self.config.sdk),
            None => {
                Bytes::from(xml::write(&self.ui.active_window(&screen), self.ui.front().0, self.config.sdk))
            }
        }
    }

    /// No root: the app in front is stuck, or another is just being opened.
    pub fn is_rootless(&self) -> bool {
        self.mischief.is_rootless(self.now)
            || (self.replay.is_none() && (self.ui.is_opening() || !self.ui.responds()))
    }

    /// A dialog over whatever is shown. A recording shows what was recorded and nothing else.
    fn interrupt(&mut self, which: usize) {
        if self.replay.is_some() || self.ui.dialog_window(&self.screen()).is_some() {
            return;
        }
        let (title, message) = ALERTS[which % ALERTS.len()];
        self.ui.show_system(SystemWindow::Alert { title, message }, self.now);
        self.mischief.note(Fault::SystemDialog, self.now);
    }

    /// Ends the app in front, or else the first other one; without any, memory was found elsewhere.
    fn kill_for_memory(&mut self, foreground: bool) {
        let front = self.front().0.to_owned();
        let victim = self.packages.iter().map(|(name, _)| name).find(|name| {
            let idle = **name != launcher::PACKAGE && **name != "com.android.systemui";
            idle && self.pids.contains_key(*name) && (**name == front) == foreground
        });
        let Some(victim) = victim.cloned() else { return };
        let Some(pid) = self.pids.remove(&victim) else { return };
        self.mischief.note(Fault::LowMemory, self.now);
        self.ui.kill(&victim, false, self.now);
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
