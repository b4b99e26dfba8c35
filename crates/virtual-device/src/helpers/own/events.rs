//! What accessibility tells by itself: changes of content, windows, toasts.

use mdm_wire::helper::UiEvent;
use tokio::sync::watch;
use tokio::time::{Duration, Instant};

use crate::phone::Phone;
use crate::state::State;

/// Changes of one window within this time are one event.
const MERGED_WITHIN: Duration = Duration::from_millis(20);
/// A surface that is always due must not keep the helper awake.
const WAKE_LEAST: Duration = Duration::from_millis(1);
/// Events of one flood, which is a fault.
const FLOOD_EVENTS: u32 = 2_000;
/// The change that `AccessibilityEvent` calls a subtree.
const SUBTREE: u32 = 1;
const NO_WINDOW: i32 = -1;
const TOAST_CLASS: &str = "android.widget.Toast";

/// Changes that wait to be told together.
struct Pending {
    due: Instant,
    /// The phone's uptime at the last of them.
    last_ms: u64,
    merged: u32,
    scrolled: bool,
}

pub struct EventWatch {
    changed: watch::Receiver<u64>,
    told: Seen,
    pending: Option<Pending>,
    number: u32,
}

/// What was there when it was last looked.
struct Seen {
    changes: u64,
    toasts: usize,
    /// Package, activity and whether a dialog is shown: what makes another window.
    window: (String, String, bool),
    keyboard: bool,
}

impl Seen {
    fn now(state: &State) -> Seen {
        let windows = state.surface.windows(&state.screen());
        let (package, activity) = windows.focused;
        Seen {
            changes: state.surface.changes(state.now).count,
            toasts: state.surface.toasts().iter().filter(|toast| toast.from <= state.now).count(),
            window: (package.to_owned(), activity.to_owned(), windows.dialog.is_some()),
            keyboard: windows.keyboard,
        }
    }
}

impl EventWatch {
    /// Begins to listen; `number` is that of the last event before.
    pub fn start(phone: &Phone, number: u32) -> EventWatch {
        let changed = phone.change_watch();
        EventWatch { changed, told: phone.with(|state| Seen::now(state)), pending: None, number }
    }

    pub fn number(&self) -> u32 {
        self.number
    }

    /// Waits until there may be something to tell. May be dropped at any time.
    pub async fn wait(&mut self, phone: &Phone) {
        let next = phone.with(|state| state.surface.next_change(state.now));
        let next = next.map(|at| at.max(Instant::now() + WAKE_LEAST));
        let wake = self.pending.as_ref().map(|pending| pending.due).into_iter().chain(next).min();
        let changes = self.told.changes;
        if phone.with(|state| state.surface.changes(state.now).count) != changes && self.pending.is_none() {
            return;
        }
        self.changed.mark_unchanged();
        let sleep = async {
            match wake {
                Some(at) => tokio::time::sleep_until(at).await,
                None => std::future::pending().await,
            }
        };
        tokio::select! {
            biased;
            _ = self.changed.changed() => {}
            () = sleep => {}
        }
    }

    /// Returns what is to be told now.
    pub fn take(&mut self, phone: &Phone) -> Vec<UiEvent> {
        let mut events = Vec::new();
        phone.with(|state| self.look(state, &mut events));
        events
    }

    fn look(&mut self, state: &mut State, events: &mut Vec<UiEvent>) {
        let seen = Seen::now(state);
        if seen.window != self.told.window {
            events.push(self.event(state, UiEvent::WINDOW_STATE_CHANGED, 1, ""));
        }
        if seen.keyboard != self.told.keyboard {
            events.push(self.event(state, UiEvent::WINDOWS_CHANGED, 1, ""));
        }
        let toasts = state.surface.toasts().iter().skip(self.told.toasts);
        let said: Vec<String> =
            toasts.take(seen.toasts.saturating_sub(self.told.toasts)).map(|t| t.text.clone()).collect();
        for text in said {
            let event = self.event(state, UiEvent::NOTIFICATION_STATE_CHANGED, 1, &text);
            events.push(UiEvent { class: TOAST_CLASS.to_owned(), content_changes: 0, ..event });
        }
        let more = u32::try_from(seen.changes.saturating_sub(self.told.changes)).unwrap_or(u32::MAX);
        self.told = seen;
        if more > 0 {
            let due = state.now + MERGED_WITHIN;
            let scrolled = state.surface.is_moving();
            let last_ms = state.clock.uptime_ms(state.now);
            let pending = self.pending.get_or_insert(Pending { due, last_ms, merged: 0, scrolled });
            pending.last_ms = last_ms;
            pending.merged = pending.merged.saturating_add(more);
            pending.scrolled |= scrolled;
        }
        if let Some(pending) = self.pending.take_if(|pending| pending.due <= state.now) {
            let kinds = [(pending.scrolled, UiEvent::VIEW_SCROLLED, 1)];
            let kinds = kinds.into_iter().chain([(true, UiEvent::WINDOW_CONTENT_CHANGED, pending.merged)]);
            for (_, kind, merged) in kinds.filter(|(happened, ..)| *happened) {
                let event = self.event(state, kind, merged, "");
                events.push(UiEvent { uptime_ms: pending.last_ms, ..event });
            }
        }
    }

    /// Makes more events than a client can want, which is a fault.
    pub fn flood(&mut self, phone: &Phone) -> Vec<UiEvent> {
        phone.with(|state| {
            (0..FLOOD_EVENTS).map(|_| self.event(state, UiEvent::WINDOW_CONTENT_CHANGED, 1, "")).collect()
        })
    }

    /// Makes the event that says that no more is told from here on.
    pub fn ended(&mut self, phone: &Phone) -> UiEvent {
        let event = phone.with(|state| self.event(state, UiEvent::EVENTS_ENDED, 1, ""));
        UiEvent { window: NO_WINDOW, package: String::new(), class: String::new(), ..event }
    }

    fn event(&mut self, state: &State, kind: u32, merged: u32, text: &str) -> UiEvent {
        self.number = self.number.wrapping_add(1);
        UiEvent {
            number: self.number,
            uptime_ms: state.clock.uptime_ms(state.now),
            merged,
            kind,
            content_changes: if kind == UiEvent::WINDOW_CONTENT_CHANGED { SUBTREE } else { 0 },
            window: 0,
            package: state.front().0.to_owned(),
            class: "android.widget.FrameLayout".to_owned(),
            text: text.to_owned(),
        }
    }
}
