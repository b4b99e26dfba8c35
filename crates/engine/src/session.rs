//! One device and the calls on it: queued, one at a time.

use std::sync::{Arc, Mutex, PoisonError};

use mdm_core::device::{
    AppAction, AppReport, Capture, Device, DeviceInfo, Input, LogRead, Pixels, RawAnswer,
};
use mdm_core::element::Role;
use mdm_core::error::{ErrorCode, Failure};
use mdm_core::identity::ElementId;
use mdm_core::pace::Paces;
use mdm_core::snapshot::{Screen, Snapshot};
use mdm_core::tracker::{Seen, Tracker};
use tokio::sync::MutexGuard;

use crate::clock::Clock;
use crate::metrics::Metrics;
use crate::observe::read_again;
use crate::progress::Progress;

pub struct Session {
    id: String,
    device: Arc<dyn Device>,
    pub(crate) clock: Clock,
    pub(crate) metrics: Metrics,
    /// Fair: callers get their turn in the order in which they came.
    turn: tokio::sync::Mutex<()>,
    memory: Mutex<Memory>,
}

/// What the session knows of the screen so far.
#[derive(Debug, Clone, Default)]
pub struct Memory {
    pub tracker: Tracker,
    /// How its screens came to rest.
    pub(crate) paces: Paces,
    /// Of the capture that the tracker saw last.
    raw: Option<RawAnswer>,
}

/// What a field held after a text was typed into it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ReadBack {
    /// The field's text holds what was typed.
    Seen { field: String },
    /// A secret field: only the number of its characters is known.
    Hidden { characters: usize },
    /// The field holds something else.
    Differs { field: String },
    /// No text field has the focus, so there is nothing to compare with.
    NoField,
    /// The text was typed, and then the screen could not be read.
    Unread { why: String },
}

impl Session {
    pub(crate) fn new(id: String, device: Arc<dyn Device>, clock: Clock, memory: Memory) -> Session {
        let metrics = Metrics::default();
        Session {
            id,
            device,
            clock,
            metrics,
            turn: tokio::sync::Mutex::default(),
            memory: Mutex::new(memory),
        }
    }

    pub fn id(&self) -> &str {
        &self.id
    }

    pub(crate) fn drives(&self, device: &Arc<dyn Device>) -> bool {
        Arc::ptr_eq(&self.device, device)
    }

    /// Never held across a wait.
    pub fn memory(&self) -> std::sync::MutexGuard<'_, Memory> {
        self.memory.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub async fn info(&self, progress: &Progress) -> Result<DeviceInfo, Failure> {
        // Facts come from memory after the first time and disturb nobody, so they need no turn.
        read_again(progress, "reading what the device is", || self.device.info()).await
    }

    pub async fn observe(&self, progress: &Progress) -> Result<Arc<Seen>, Failure> {
        let _turn = self.turn(progress).await?;
        self.observe_now(progress).await
    }

    pub async fn screen(&self, progress: &Progress) -> Result<Screen, Failure> {
        let _turn = self.turn(progress).await?;
        read_again(progress, "asking which screen is in front", || self.device.screen()).await
    }

    pub async fn screenshot(&self, progress: &Progress) -> Result<Pixels, Failure> {
        let _turn = self.turn(progress).await?;
        read_again(progress, "taking a screenshot", || self.device.screenshot()).await
    }

    pub async fn logs(&self, app: Option<&str>, progress: &Progress) -> Result<LogRead, Failure> {
        let _turn = self.turn(progress).await?;
        read_again(progress, "reading the log", || self.device.logs(app)).await
    }

    /// Sends one input. It is never sent twice: a lost answer is reported as such.
    pub async fn input(&self, input: Input, progress: &Progress) -> Result<(), Failure> {
        let _turn = self.turn(progress).await?;
        self.send(input, progress).await
    }

    pub(crate) async fn send(&self, input: Input, progress: &Progress) -> Result<(), Failure> {
        self.memory().tracker.note_action();
        progress.race_effect("sending input", self.device.input(input)).await
    }

    /// Types and then reads the focused field, in one turn.
    pub async fn type_text(&self, text: &str, progress: &Progress) -> Result<ReadBack, Failure> {
        let _turn = self.turn(progress).await?;
        self.send(Input::Text(text.to_owned()), progress).await?;
        // The text is in: a screen that cannot be read must not look like a text that can be typed again.
        Ok(match self.observe_now(progress).await {
            Ok(observed) => read_back(&observed.reading.snapshot, text),
            Err(failure) => ReadBack::Unread { why: failure.to_string() },
        })
    }

    pub async fn app(&self, action: AppAction, app: &str, progress: &Progress) -> Result<AppReport, Failure> {
        let _turn = self.turn(progress).await?;
        self.memory().tracker.note_action();
        progress.race_effect("commanding an app", self.device.app(action, app)).await
    }

    /// Terminates and starts in one turn, so that no other call sees the app gone.
    pub async fn restart(&self, app: &str, progress: &Progress) -> Result<AppReport, Failure> {
        let _turn = self.turn(progress).await?;
        self.memory().tracker.note_action();
        progress.race_effect("terminating an app", self.device.app(AppAction::Terminate, app)).await?;
        progress.race_effect("starting an app", self.device.app(AppAction::Start, app)).await
    }

    pub(crate) async fn turn(&self, progress: &Progress) -> Result<MutexGuard<'_, ()>, Failure> {
        progress.race("waiting for earlier calls on this device", async { Ok(self.turn.lock().await) }).await
    }

    pub(crate) async fn observe_now(&self, progress: &Progress) -> Result<Arc<Seen>, Failure> {
        let known = self.memory().raw;
        let capture = read_again(progress, "reading the UI tree", || self.device.snapshot(known)).await?;
        let captured_at_ms = self.clock.now_ms();
        let mut memory = self.memory();
        match capture {
            Capture::New { raw, snapshot } => {
                memory.raw = Some(raw);
                Ok(memory.tracker.observe(snapshot, captured_at_ms))
            }
            Capture::Unchanged => memory.tracker.unchanged(captured_at_ms).ok_or_else(|| {
                let hint = "this is a defect of the driver, please report it";
                Failure::new(ErrorCode::InternalError, "an unchanged screen that was never read", hint)
            }),
        }
    }
}

/// The answer to a name that no longer names anything (ID-02).
pub fn stale(id: ElementId) -> Failure {
    Failure::new(
        ErrorCode::StaleReference,
        format!("{id} is not on the screen, or can no longer be proven to be the same element"),
        "read the screen with get_ui_tree and use an id from there",
    )
}

fn read_back(snapshot: &Snapshot, typed: &str) -> ReadBack {
    let field = snapshot.elements.iter().find(|e| e.role == Role::TextField && e.state.focused == Some(true));
    let Some(field) = field else { return ReadBack::NoField };
    let text = field.text.as_deref().unwrap_or("");
    if field.password {
        return ReadBack::Hidden { characters: text.chars().count() };
    }
    let field = text.to_owned();
    if field.contains(typed) { ReadBack::Seen { field } } else { ReadBack::Differs { field } }
}

impl ReadBack {
    /// The failure to report when the field contradicts what was typed.
    pub fn contradiction(&self, typed: &str) -> Option<Failure> {
        let ReadBack::Differs { field } = self else { return None };
        Some(Failure::new(
            ErrorCode::VerificationFailed,
            format!("typed {typed:?}, but the focused field reads {field:?}"),
            "the field may format, limit or refuse input; read it with get_ui_tree before typing again",
        ))
    }
}

#[cfg(test)]
mod tests {
    use mdm_core::element::{Element, State};

    use super::*;

    fn screen(role: Role, text: &str, focused: bool, password: bool) -> Snapshot {
        let state = State { focused: Some(focused), ..State::default() };
        let field = Element { role, text: Some(text.into()), state, password, end: 1, ..Element::default() };
        Snapshot { elements: vec![field], ..Snapshot::default() }
    }

    #[test]
    fn what_the_field_holds_decides() {
        let field = |text: &str| screen(Role::TextField, text, true, false);
        assert_eq!(read_back(&field("to ada"), "ada"), ReadBack::Seen { field: "to ada".into() });
        let differs = read_back(&field("ad4"), "ada");
        assert_eq!(differs, ReadBack::Differs { field: "ad4".into() });
        let failure = differs.contradiction("ada").expect("LC-03: a contradiction is a failure");
        assert_eq!(failure.code, ErrorCode::VerificationFailed);
        assert_eq!(read_back(&screen(Role::TextField, "ada", false, false), "ada"), ReadBack::NoField);
        assert_eq!(read_back(&screen(Role::Text, "ada", true, false), "ada"), ReadBack::NoField);
    }

    #[test]
    fn a_secret_field_tells_only_its_length() {
        let secret = read_back(&screen(Role::TextField, "•••", true, true), "abc");
        assert_eq!(secret, ReadBack::Hidden { characters: 3 }, "ST-07");
        assert_eq!(secret.contradiction("abc"), None);
    }
}
