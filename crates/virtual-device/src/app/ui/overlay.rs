//! Windows of the system over the apps: its dialogs, the notification shade, toasts.

use tokio::time::{Duration, Instant};

use super::{Gesture, Ui, place_dialog};
use crate::app::geometry::Screen;
use crate::app::system::{self, SystemWindow};
use crate::app::widget::{Key, Widget};
use crate::config::Platform;
use crate::surface::{SurfaceEvent, Toast};
use crate::truth::Hit;

const SYSTEM_WINDOWS_MAX: usize = 8;
const TOASTS_MAX: usize = 1000;
const NOTICES_MAX: usize = 50;
const QUEUE_MAX: usize = 64;
const GRANTS_MAX: usize = 200;
/// The time of a short toast.
const TOAST_TIME: Duration = Duration::from_millis(2000);
/// Input that waits this long makes the system say that the app isn't responding.
const NOT_RESPONDING_AFTER: Duration = Duration::from_secs(5);
/// A second crash within this time is reported to the person; the first one is not.
const CRASH_AGAIN: Duration = Duration::from_secs(120);
/// A swipe that begins in the status bar pulls the shade down.
const STATUS_BAR_DP: i32 = 24;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Notification {
    pub package: &'static str,
    pub title: String,
    pub text: String,
}

/// An app whose main thread is stuck.
pub(super) struct BlockedApp {
    pub package: &'static str,
    pub until: Instant,
    /// Touches in the order in which they came. They find their widgets when the main thread gets to them.
    waiting: Vec<(Instant, Gesture, Screen)>,
    reported: bool,
}

impl BlockedApp {
    pub fn not_responding_at(&self) -> Option<Instant> {
        let (first, ..) = self.waiting.first()?;
        Some(*first + NOT_RESPONDING_AFTER).filter(|at| !self.reported && *at < self.until)
    }
}

impl Ui {
    /// Returns false while the main thread of the app in front is stuck and no system window lies over it.
    pub fn responds(&self) -> bool {
        self.system_window_open() || self.blocked.as_ref().is_none_or(|b| b.package != self.front().0)
    }

    pub fn show_system(&mut self, window: SystemWindow, now: Instant) {
        if self.system.len() < SYSTEM_WINDOWS_MAX && !self.system.contains(&window) {
            self.system.push(window);
            self.keyboard = false;
            self.changed(now);
        }
    }

    pub fn open_shade(&mut self, now: Instant) {
        self.show_system(SystemWindow::Shade, now);
    }

    pub fn close_shade(&mut self, now: Instant) {
        if self.system.contains(&SystemWindow::Shade) {
            self.system.retain(|window| *window != SystemWindow::Shade);
            self.changed(now);
        }
    }

    pub fn system_window_open(&self) -> bool {
        !self.system.is_empty()
    }

    pub fn asks_permission(&self) -> bool {
        matches!(self.system.last(), Some(SystemWindow::Permission { .. }))
    }

    pub(super) fn system_window(&self, screen: &Screen) -> Option<Widget> {
        let top = self.system.last()?;
        let mut widget = system::view(top, &self.notices, self.platform, screen);
        place_dialog(&mut widget, None, screen);
        widget.name_data(&format!("system window {top:?}"));
        Some(widget)
    }

    pub(super) fn swipe_shade(
        &mut self,
        from: (i32, i32),
        dy: i32,
        screen: &Screen,
        now: Instant,
    ) -> Option<Hit> {
        let open = self.system.last() == Some(&SystemWindow::Shade);
        if open && dy < 0 {
            self.close_shade(now);
        } else if !open && dy > 0 && from.1 < screen.px(STATUS_BAR_DP) {
            self.open_shade(now);
        } else {
            return None;
        }
        Some(Hit::named("notification shade"))
    }

    /// Handles Back on a window of the system; returns false when there is none.
    pub(super) fn cancel_system_window(&mut self, now: Instant) -> bool {
        let Some(top) = self.system.last().cloned() else { return false };
        match top {
            SystemWindow::Permission { .. } => self.answer_system_window(Key::of(system::DENY), now),
            // This dialog stays until it is answered.
            SystemWindow::NotResponding { .. } | SystemWindow::Locked => {}
            SystemWindow::Crashed { .. } | SystemWindow::Alert { .. } | SystemWindow::Shade => {
                self.system.pop();
            }
        }
        true
    }

    pub(super) fn answer_system_window(&mut self, key: Key, now: Instant) {
        let Some(top) = self.system.last().cloned() else { return };
        self.changed(now);
        match (top, key.name) {
            (SystemWindow::Shade, system::CLEAR_ALL) => self.notices.clear(),
            (SystemWindow::Shade, system::NOTICE) => {
                let target = self.notices.get(key.index as usize).map(|notice| notice.package);
                self.close_shade(now);
                if let Some(package) = target {
                    self.notices.remove(key.index as usize);
                    self.launch(package, None, now);
                }
            }
            (SystemWindow::Shade | SystemWindow::Locked, _) => {}
            (SystemWindow::Permission { package, name, .. }, answer) => {
                self.system.pop();
                let granted = answer != system::DENY;
                if granted && self.granted.len() < GRANTS_MAX {
                    self.granted.push((package, name));
                }
                self.with_app(package, now, |app, context| app.permission(name, granted, context));
            }
            (SystemWindow::NotResponding { package, .. }, system::CLOSE) => {
                self.system.pop();
                self.events.push(SurfaceEvent::Closed { at: now, package: package.into() });
                self.kill(package, false, now);
            }
            (SystemWindow::NotResponding { .. }, _) => {
                self.system.pop();
                // Input that is still in the queue begins to wait again.
                if let Some(blocked) = &mut self.blocked {
                    blocked.reported = false;
                    blocked.waiting.iter_mut().for_each(|(at, ..)| *at = now);
                }
            }
            (SystemWindow::Crashed { .. } | SystemWindow::Alert { .. }, _) => {
                self.system.pop();
            }
        }
    }

    pub(super) fn ask_permission(
        &mut self,
        package: &'static str,
        name: &'static str,
        question: &'static str,
        now: Instant,
    ) {
        if self.granted.contains(&(package, name)) {
            self.with_app(package, now, |app, context| app.permission(name, true, context));
        } else {
            let label = self.app(package).map_or("", |app| app.label());
            self.show_system(SystemWindow::Permission { package, name, question, label }, now);
        }
    }

    /// Shows a toast after those that are still waiting.
    pub(super) fn show_toast(&mut self, text: String, now: Instant) {
        let from = self.toasts.last().map_or(now, |last| last.until.max(now));
        if self.toasts.len() < TOASTS_MAX {
            self.toasts.push(Toast { text, from, until: from + TOAST_TIME });
        }
    }

    /// Returns the toast on the screen.
    pub fn toast(&self, now: Instant) -> Option<&Toast> {
        self.toasts.iter().rev().find(|toast| toast.from <= now && now < toast.until)
    }

    pub(super) fn post_notice(&mut self, package: &'static str, title: String, text: String) {
        if self.notices.len() < NOTICES_MAX {
            self.notices.push(Notification { package, title, text });
        }
    }

    pub(super) fn block(&mut self, package: &'static str, until: Instant) {
        self.blocked = Some(BlockedApp { package, until, waiting: Vec::new(), reported: false });
    }

    /// Queues a touch for the app in front if its main thread is stuck, and returns the widget that is there now.
    /// Returns nothing if it is not stuck.
    pub(super) fn wait_in_queue(
        &mut self,
        gesture: &Gesture,
        screen: &Screen,
        now: Instant,
    ) -> Option<Option<Hit>> {
        if self.responds() {
            return None;
        }
        let window = self.top_window(screen);
        let wanted = |w: &Widget| w.flags.clickable || w.appearance.slider().is_some();
        let hit = window.hit(gesture.from.0, gesture.from.1, &wanted).map(Hit::of);
        if let Some(blocked) = self.blocked.as_mut().filter(|blocked| blocked.waiting.len() < QUEUE_MAX) {
            blocked.waiting.push((now, *gesture, *screen));
        }
        Some(hit)
    }

    pub(super) fn unblock(&mut self, now: Instant) {
        let Some(blocked) = self.blocked.take() else { return };
        let package = blocked.package;
        self.system.retain(|w| !matches!(w, SystemWindow::NotResponding { package: p, .. } if *p == package));
        self.changed(now);
        for (_, gesture, screen) in blocked.waiting {
            self.gesture(&gesture, &screen, now);
        }
    }

    pub(super) fn not_responding(&mut self, now: Instant) {
        let Some(blocked) = &mut self.blocked else { return };
        blocked.reported = true;
        // An app of iOS that is stuck is just stuck.
        if self.platform == Platform::Ios {
            return;
        }
        let package = blocked.package;
        let activity = self.front().1;
        let label = self.app(package).map_or("", |app| app.label());
        self.events.push(SurfaceEvent::NotResponding {
            at: now,
            package: package.into(),
            activity: activity.into(),
        });
        self.show_system(SystemWindow::NotResponding { package, label }, now);
    }

    pub(super) fn crash(
        &mut self,
        package: &'static str,
        exception: String,
        frames: Vec<String>,
        now: Instant,
    ) {
        let activity = self.front().1;
        let label = self.app(package).map_or("", |app| app.label());
        self.events.push(SurfaceEvent::Crashed {
            at: now,
            package: package.into(),
            activity: activity.into(),
            exception,
            frames,
        });
        self.kill(package, false, now);
        let before = self.crashes.insert(package, now);
        // iOS says nothing of a crash: the app is gone.
        let told = self.platform == Platform::Android;
        if told && before.is_some_and(|before| now.saturating_duration_since(before) < CRASH_AGAIN) {
            self.show_system(SystemWindow::Crashed { package, label }, now);
        }
    }
}
