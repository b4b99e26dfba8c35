//! One device and the calls on it: queued, one at a time.

use std::sync::{Arc, Mutex, PoisonError};

use mdm_core::action::failure::{ErrorCode, Failure};
use mdm_core::action::trace::Journal;
use mdm_core::change::pace::Paces;
use mdm_core::change::tracker::{Observation, Tracker};
use mdm_core::identity::ElementId;
use mdm_core::port::{AppAction, AppReport, Capture, Device, DeviceInfo, Input, LogRead, Pixels, RawAnswer};
use mdm_core::screen::geometry::Rect;
use mdm_core::screen::snapshot::Screen;
use tokio::sync::MutexGuard;

use crate::act::Deed;
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
    /// The last actions (TR-01).
    pub journal: Journal,
    /// How its screens came to rest.
    pub(crate) paces: Paces,
    /// Of the capture that the tracker saw last.
    raw: Option<RawAnswer>,
    /// The last action, while nobody has waited for its effect.
    unsettled: Option<String>,
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

    pub async fn observe(&self, progress: &Progress) -> Result<Arc<Observation>, Failure> {
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

    pub(crate) async fn keyboard(&self, progress: &Progress) -> Result<Option<Rect>, Failure> {
        read_again(progress, "asking where the keyboard is", || self.device.keyboard()).await
    }

    /// Sends one input. It is never sent twice: a lost answer is reported as such.
    pub(crate) async fn send(&self, input: Input, progress: &Progress) -> Result<(), Failure> {
        self.memory().tracker.note_action();
        progress.race_effect("sending input", self.device.input(input)).await
    }

    /// One command with an effect, never sent twice.
    pub(crate) async fn perform(&self, deed: Deed, progress: &Progress) -> Result<AppReport, Failure> {
        match deed {
            Deed::Input(input) => self.send(input, progress).await.map(|()| AppReport::default()),
            Deed::App { action, app } => self.command(action, &app, progress).await,
            Deed::Restart { app } => {
                self.command(AppAction::Terminate, &app, progress).await?;
                self.command(AppAction::Start, &app, progress).await
            }
        }
    }

    async fn command(&self, action: AppAction, app: &str, progress: &Progress) -> Result<AppReport, Failure> {
        self.memory().tracker.note_action();
        progress.race_effect("commanding an app", self.device.app(action, app)).await
    }

    /// An action was sent, and nobody has waited for what comes of it (SY-16).
    pub(crate) fn note_unsettled(&self, action_id: &str) {
        let earlier = self.memory().unsettled.replace(action_id.to_owned());
        if earlier.is_some() {
            self.metrics.note(|counts| counts.premature += 1);
        }
    }

    pub(crate) fn note_settled(&self) {
        self.memory().unsettled = None;
    }

    /// The action that is verified now although nobody has waited since it was sent.
    pub fn premature(&self) -> Option<String> {
        let action = self.memory().unsettled.clone()?;
        self.metrics.note(|counts| counts.premature += 1);
        Some(action)
    }

    pub(crate) async fn turn(&self, progress: &Progress) -> Result<MutexGuard<'_, ()>, Failure> {
        progress.race("waiting for earlier calls on this device", async { Ok(self.turn.lock().await) }).await
    }

    pub(crate) async fn observe_now(&self, progress: &Progress) -> Result<Arc<Observation>, Failure> {
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
