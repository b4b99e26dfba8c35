//! What else came of an action: an app that crashed (F44), a keyboard that was closed instead of a step back (F46), a
//! screen that did not turn, an app that is not there (F48).

use std::time::Duration;

use mdm_core::action::crash;
use mdm_core::action::event::Event;
use mdm_core::action::outcome::Verdict;
use mdm_core::action::request::{Act, Action};
use mdm_core::action::trace::Lifecycle;
use mdm_core::evidence::join::joined;
use mdm_core::evidence::related::{Span, related};
use mdm_core::evidence::signal::AppLog;
use mdm_core::failure::{Cause, Failure};
use mdm_core::intent::typing::focused_field;
use mdm_core::port::{CrashReport, DeviceErrorKind, DeviceEvent, Dispatch, Key, LogEntry, Orientation};
use mdm_core::screen::geometry::Size;

use super::Run;

/// Between two glances at what was last seen.
const GLANCE: Duration = Duration::from_millis(300);
/// Times that the reports are read while the screen is watched.
const READS_MAX: u32 = 3;
/// Looks at a screen that should turn, and the time between two of them. Turning takes less than a second.
const TURN_LOOKS_MAX: u32 = 4;
const TURN_PAUSE: Duration = Duration::from_millis(400);
/// Lines of the log that are told of an action that did not do what was expected, and the score that they need: an app's
/// own warnings have it, its chatter and other processes do not.
const LOG_LINES_MAX: usize = 3;
const TELLING: u8 = 45;

impl Run<'_> {
    /// Asks the device for a crash where what was seen suggests one.
    pub async fn note_crash(&mut self) {
        if self.outcome.crash.is_none() {
            let last = self.session.memory().tracker.last().cloned();
            let Some(app) = crash::suspect(&self.outcome, last.as_deref()) else { return };
            self.outcome.crash = self.crash_of(&app).await;
        }
        let Some(report) = &self.outcome.crash else { return };
        let (app, summary) = (report.app.clone(), report.summary());
        let mut book = self.session.crash_book();
        let number = book.note(report.clone(), self.session.now_ms());
        book.mark_told(number);
        drop(book);
        self.outcome.crash_number = Some(number);
        self.note(Event::Device(DeviceEvent::Crash { app, summary }));
        if self.outcome.verdict() != Verdict::Confirmed {
            self.note(Event::Reached(Lifecycle::Failed));
        }
    }

    /// Asks the log why what was expected did not come. A log that cannot be read in time explains nothing.
    pub async fn note_log(&mut self) {
        let unmet =
            matches!(self.outcome.verdict(), Verdict::Contradicted { .. } | Verdict::Undetermined { .. });
        let Some(sent) = self.outcome.sent.first().filter(|_| unmet && self.outcome.crash.is_none()) else {
            return;
        };
        let sent_ms = sent.at_ms;
        let app = self.session.newest_app();
        let Ok(read) = self.session.logs_now(app.as_deref(), self.progress).await else { return };
        let Some(device_now_ms) = read.now_ms else { return };
        let from_ms = device_now_ms.saturating_sub(self.session.now_ms().saturating_sub(sent_ms));
        let pids: Vec<u32> = read.app_pids.iter().chain(&read.past_pids).copied().collect();
        let entries = joined(read.entries);
        let span = Span { from_ms, to_ms: u64::MAX };
        let found = related(&entries, &AppLog { app: app.as_deref(), pids: &pids }, span, LOG_LINES_MAX);
        let telling = found.told.into_iter().filter(|told| told.signal.score >= TELLING);
        let after_ms = |entry: &LogEntry| entry.time_ms.unwrap_or(from_ms) - from_ms;
        self.outcome.log = telling.map(|told| (after_ms(told.entry), told.entry.clone())).collect();
    }

    /// Looks for a crash beside a watch that may use up all the time; never ends.
    pub async fn look_for_crash(&self, found: &mut Option<CrashReport>) {
        let Some(before) = &self.outcome.before else { return std::future::pending().await };
        let mut reads = 0;
        let mut read_at = None;
        while reads < READS_MAX && self.progress.pause("looking for a crash", GLANCE).await.is_ok() {
            let now = self.session.memory().tracker.last().cloned();
            let Some(now) = now.filter(|now| read_at != Some(now.revision)) else { continue };
            let Some(app) = crash::left(before, &now) else { continue };
            (reads, read_at) = (reads + 1, Some(now.revision));
            *found = self.crash_of(&app).await;
            if found.is_some() {
                break;
            }
        }
        std::future::pending().await
    }

    /// A report that cannot be read is none: the action has succeeded all the same.
    async fn crash_of(&self, app: &str) -> Option<CrashReport> {
        let sent_ms = self.outcome.sent.first().map_or(0, |sent| sent.at_ms);
        let reports = self.session.crashes(self.progress).await.ok()?;
        let sent_ms_ago = self.session.now_ms().saturating_sub(sent_ms);
        let book = self.session.crash_book();
        crash::caused(reports, app, sent_ms_ago, |report| book.is_told(report))
    }

    /// True if a step back will only close the keyboard. It is asked for only where a field has the focus.
    pub async fn back_closes_keyboard(&self, act: &Act) -> bool {
        if !matches!(act.action, Action::Back | Action::Key(Key::Back)) {
            return false;
        }
        let seen = self.outcome.before.clone().or_else(|| self.session.memory().tracker.last().cloned());
        seen.is_some_and(|seen| focused_field(&seen).is_some())
            && self.keyboard_is_shown().await == Some(true)
    }

    /// Reads back how the device is held: the app in front may insist on its own way. What cannot be read leaves it open.
    pub async fn check_turned(&mut self, wanted: Orientation) -> Result<(), Failure> {
        if wanted == Orientation::Auto {
            return Ok(());
        }
        let mut size = Size::default();
        for look in 0..TURN_LOOKS_MAX {
            if look > 0 && self.progress.pause("waiting for the screen to turn", TURN_PAUSE).await.is_err() {
                break;
            }
            let Ok(seen) = self.session.capture_now(self.progress).await else { return Ok(()) };
            size = seen.reading.snapshot.size;
            if size.width == size.height {
                return Ok(());
            }
            if (size.width > size.height) == (wanted == Orientation::Landscape) {
                if self.outcome.verdict() == Verdict::NotAsked {
                    self.note(Event::Reached(Lifecycle::Verified));
                }
                return Ok(());
            }
        }
        let message = format!(
            "the screen did not turn, it is {}x{}: the app in front or the device keeps its own orientation",
            size.width, size.height
        );
        Err(Failure::new(Cause::Contradicted, message).with_dispatch(Dispatch::Taken))
    }

    /// Refuses a launch that the device called a success although it does not have the app.
    pub async fn check_installed(&self, app: &str) -> Result<(), Failure> {
        match self.session.app_installed(app, self.progress).await {
            Ok(false) => {
                let message = format!("{app} is not installed on {}", self.session.id());
                let cause = Cause::Device(DeviceErrorKind::AppNotInstalled);
                Err(Failure::new(cause, message).with_dispatch(Dispatch::Refused))
            }
            _ => Ok(()),
        }
    }

    pub async fn keyboard_is_shown(&self) -> Option<bool> {
        self.session.keyboard_now(self.progress).await.ok().map(|place| place.is_some())
    }
}
