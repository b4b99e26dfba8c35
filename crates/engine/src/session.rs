//! One device and the calls on it: queued, one at a time.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use mdm_core::action::event::Event;
use mdm_core::action::outcome::Outcome;
use mdm_core::action::request::{Command, Request};
use mdm_core::action::trace::TraceRing;
use mdm_core::change::pace::PaceHistory;
use mdm_core::change::tracker::{Observation, Tracker};
use mdm_core::evidence::crash_book::CrashBook;
use mdm_core::evidence::stream::Wanted;
use mdm_core::evidence::window::Windows;
use mdm_core::failure::{Cause, Failure};
use mdm_core::intent::watch::{Ending, Goal, HeardAround, Wait};
use mdm_core::port::{
    AppCommand, AppDetails, AppReport, Capabilities, Capture, Captured, CrashReport, Device, DeviceInfo,
    FileCommand, Heard, Input, InstalledApp, LogRead, NetworkCommand, NetworkReport, Picture, RawAnswer,
    SmallPicture, SpokenScreen,
};
use mdm_core::screen::geometry::{Point, Rect};
use mdm_core::screen::snapshot::{Platform, Screen, Snapshot};
use tokio::sync::MutexGuard;

use crate::background::Background;
use crate::clock::Clock;
use crate::crash_watch::Crashes;
use crate::log_streams::LogStreams;
use crate::metrics::{Counts, Metrics};
use crate::poll::{self, Counted, Turn};
use crate::progress::Progress;
use crate::read::read_again;
use crate::run;

pub struct Session {
    platform: Platform,
    id: Arc<str>,
    device: Arc<dyn Device>,
    clock: Clock,
    metrics: Metrics,
    /// Fair: callers get their turn in the order in which they came.
    turn: tokio::sync::Mutex<()>,
    memory: Mutex<Memory>,
    crashes: Crashes,
    /// Begun with the first call that goes to the device.
    crash_watch: OnceLock<Option<Background>>,
    log_streams: LogStreams,
}

/// A command that takes longer was held up by something else.
const SEND_MS_MAX: u64 = 600;
/// A gesture that begins later than this after it was aimed may meet another screen.
const AIM_MS_MAX: u64 = 1000;
/// Apps that are remembered as those that the caller works with.
const APPS_MAX: usize = 16;

/// A picture as the device gave it.
#[derive(Debug)]
pub enum Taken {
    Whole(Picture),
    Small(SmallPicture),
}

/// A picture with the screens that were read before and after it.
#[derive(Debug)]
pub struct FramedPicture {
    pub before: Arc<Observation>,
    pub picture: Taken,
    pub after: Arc<Observation>,
}

/// What the session knows of the screen so far.
#[derive(Debug, Clone, Default)]
pub struct Memory {
    pub tracker: Tracker,
    /// The last calls (TR-01).
    pub traces: TraceRing,
    /// When actions were sent (TR-02).
    pub windows: Windows,
    /// How its screens came to rest.
    pub(crate) paces: PaceHistory,
    /// The answer behind the capture that the tracker saw last.
    raw: Option<RawAnswer>,
    /// The last action, while nobody has waited for its effect.
    unsettled: Option<String>,
    /// Apps that were in front or were started; the newest last.
    apps: VecDeque<String>,
    /// How long the last read and the last command took.
    read_ms: u64,
    /// For how long the screen of the last read had rested, as the device says.
    pub rested_ms: u64,
    /// What it had told of its screen around the last read.
    pub heard: HeardAround,
    send_ms: Option<u64>,
}

impl Memory {
    fn note_app(&mut self, app: &str) {
        if self.apps.back().is_some_and(|last| last == app) {
            return;
        }
        self.apps.retain(|known| known != app);
        if self.apps.len() == APPS_MAX {
            self.apps.pop_front();
        }
        self.apps.push_back(app.to_owned());
    }
}

impl Session {
    pub(crate) fn new(platform: Platform, id: &str, device: Arc<dyn Device>, clock: Clock) -> Session {
        Session {
            platform,
            id: id.into(),
            device,
            clock,
            metrics: Metrics::default(),
            turn: tokio::sync::Mutex::default(),
            memory: Mutex::default(),
            crashes: Crashes::default(),
            crash_watch: OnceLock::new(),
            log_streams: LogStreams::default(),
        }
    }

    /// The session of a device that was plugged in again: its revisions, ids and counts go on from where they were.
    pub(crate) fn succeeding(before: &Session, device: Arc<dyn Device>) -> Session {
        let mut session = Session::new(before.platform, &before.id, device, before.clock);
        session.crashes = before.crashes.clone();
        *session.memory() = before.memory().clone();
        session.metrics.set(before.wait_counts());
        session
    }

    pub fn platform(&self) -> Platform {
        self.platform
    }

    pub fn id(&self) -> &str {
        &self.id
    }

    pub(crate) fn drives(&self, device: &Arc<dyn Device>) -> bool {
        Arc::ptr_eq(&self.device, device)
    }

    pub(crate) fn is_connected(&self) -> bool {
        self.device.is_connected()
    }

    pub fn capabilities(&self) -> Capabilities {
        self.device.capabilities()
    }

    pub fn now_ms(&self) -> u64 {
        self.clock.now_ms()
    }

    /// Never held across a wait.
    pub fn memory(&self) -> std::sync::MutexGuard<'_, Memory> {
        self.memory.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub fn wait_counts(&self) -> Counts {
        self.metrics.read()
    }

    /// Performs one call: acts or waits, and says all that came of it, also when it was refused.
    pub async fn run(&self, request: Request, progress: &Progress) -> Outcome {
        run::run(self, request, progress).await
    }

    pub async fn info(&self, progress: &Progress) -> Result<DeviceInfo, Failure> {
        // Facts come from memory after the first time and disturb nobody, so they need no turn.
        read_again(progress, "reading what the device is", || self.device.info()).await
    }

    pub async fn app_installed(&self, app: &str, progress: &Progress) -> Result<bool, Failure> {
        progress.race_device("looking for the app", self.device.app_installed(app)).await
    }

    pub async fn observe(&self, progress: &Progress) -> Result<Arc<Observation>, Failure> {
        let _turn = self.turn(progress).await?;
        self.capture_now(progress).await
    }

    pub async fn screen(&self, progress: &Progress) -> Result<Screen, Failure> {
        let _turn = self.turn(progress).await?;
        self.screen_now(progress).await
    }

    pub async fn screenshot(&self, progress: &Progress) -> Result<Picture, Failure> {
        let _turn = self.turn(progress).await?;
        read_again(progress, "taking a screenshot", || self.device.screenshot()).await
    }

    /// Takes a picture between two reads of the screen, all in one turn: no call acts in between, and what is on the
    /// picture is on one of the two screens. `small`: the longest side and the quality of a picture that the device makes
    /// small, if that will do for the screen that was read first.
    pub async fn screenshot_between_reads(
        &self,
        small: impl FnOnce(&Observation) -> Option<(u32, u8)>,
        progress: &Progress,
    ) -> Result<FramedPicture, Failure> {
        let _turn = self.turn(progress).await?;
        let before = self.capture_now(progress).await?;
        let small = match small(&before) {
            Some((side_max, quality)) => {
                let taking = self.device.small_screenshot(side_max, quality);
                progress.race_device("taking a screenshot", taking).await?
            }
            None => None,
        };
        let picture = match small {
            Some(small) => Taken::Small(small),
            None => {
                Taken::Whole(read_again(progress, "taking a screenshot", || self.device.screenshot()).await?)
            }
        };
        let after = self.capture_now(progress).await?;
        Ok(FramedPicture { before, picture, after })
    }

    /// Takes a picture that the device itself makes small, where it can.
    pub async fn small_screenshot(
        &self,
        (side_max, quality): (u32, u8),
        progress: &Progress,
    ) -> Result<Option<SmallPicture>, Failure> {
        let _turn = self.turn(progress).await?;
        let taking = self.device.small_screenshot(side_max, quality);
        progress.race_device("taking a screenshot", taking).await
    }

    /// Lists what the device speaks of its screen, where there is no tree.
    pub async fn spoken(&self, progress: &Progress) -> Result<SpokenScreen, Failure> {
        let _turn = self.turn(progress).await?;
        progress.race_device("listening to the screen", self.device.spoken()).await
    }

    /// Takes a picture in the turn that the caller has.
    pub async fn screenshot_now(&self, progress: &Progress) -> Result<Picture, Failure> {
        progress.race_device("taking a screenshot", self.device.screenshot()).await
    }

    /// Begins to listen for crashes, if it has not.
    pub(crate) fn watch_for_crashes(&self) {
        self.crash_watch.get_or_init(|| self.crashes.watch(Arc::clone(&self.device), self.clock));
    }

    /// Crashes that this machine knows of.
    pub fn crash_book(&self) -> std::sync::MutexGuard<'_, CrashBook> {
        self.crashes.book()
    }

    /// Reads the device's reports of crashes and returns what is known by then.
    pub async fn read_crashes(&self, progress: &Progress) -> Result<(), Failure> {
        let _turn = self.turn(progress).await?;
        self.note_crashes(progress).await
    }

    /// The same in the turn that the caller has.
    pub(crate) async fn note_crashes(&self, progress: &Progress) -> Result<(), Failure> {
        let reports = read_again(progress, "reading reports of crashes", || self.device.crashes()).await?;
        let now_ms = self.now_ms();
        let mut book = self.crash_book();
        for report in reports {
            book.note(report, now_ms);
        }
        Ok(())
    }

    /// True for an app that was in front or was started.
    pub(crate) fn works_with(&self, app: &str) -> bool {
        self.memory().apps.iter().any(|known| known == app)
    }

    /// The app that was in front or was started last.
    pub fn newest_app(&self) -> Option<String> {
        self.memory().apps.back().cloned()
    }

    pub fn log_streams(&self) -> &LogStreams {
        &self.log_streams
    }

    pub fn follow_log(&self, name: &str, wanted: Wanted, pids: &[u32]) -> bool {
        self.log_streams.start(name, wanted, pids, Arc::clone(&self.device))
    }

    pub async fn app_pids(&self, app: &str, progress: &Progress) -> Result<Vec<u32>, Failure> {
        progress.race_device("asking for the app's processes", self.device.app_pids(app)).await
    }

    /// Lists the apps of the device.
    pub async fn apps(&self, with_system: bool, progress: &Progress) -> Result<Vec<InstalledApp>, Failure> {
        let _turn = self.turn(progress).await?;
        read_again(progress, "listing apps", || self.device.apps(with_system)).await
    }

    pub async fn app_details(&self, app: &str, progress: &Progress) -> Result<AppDetails, Failure> {
        let _turn = self.turn(progress).await?;
        read_again(progress, "reading about an app", || self.device.app_details(app)).await
    }

    /// Copies a file, once: a copy that broke off is reported as such.
    pub async fn copy_file(&self, command: &FileCommand, progress: &Progress) -> Result<(), Failure> {
        let _turn = self.turn(progress).await?;
        progress.race_effect("copying a file", self.device.files(command)).await
    }

    pub async fn logs(&self, app: Option<&str>, progress: &Progress) -> Result<LogRead, Failure> {
        let _turn = self.turn(progress).await?;
        read_again(progress, "reading the log", || self.device.logs(app)).await
    }

    /// Reads the log in the turn that the caller has.
    pub(crate) async fn logs_now(&self, app: Option<&str>, progress: &Progress) -> Result<LogRead, Failure> {
        progress.race_device("reading the log", self.device.logs(app)).await
    }

    /// Reads or changes how the device reaches the network. It waits for no turn: the screen is not touched, and a setting
    /// must be put back although another call hangs.
    pub async fn network(
        &self,
        command: &NetworkCommand,
        progress: &Progress,
    ) -> Result<NetworkReport, Failure> {
        match command {
            NetworkCommand::Read => {
                read_again(progress, "reading the device's proxy", || self.device.network(command)).await
            }
            _ => progress.race_effect("changing the device's proxy", self.device.network(command)).await,
        }
    }

    /// Looks until the revision is another than the last one. Nobody asked for it, so how it went is not counted.
    pub async fn wait_for_another_revision(&self, progress: &Progress) -> Result<(), Failure> {
        let than = self.memory().tracker.last().map_or(0, |seen| seen.revision);
        let wait = Wait::new(Goal::Revision { than }, 0);
        let how = (Turn::TakenForEachLook, Counted::No);
        match poll::watch(self, &wait, None, how, progress).await?.ending {
            Ending::Unreadable(failure) => Err(failure),
            Ending::Reached | Ending::Timeout | Ending::TargetGone(_) => Ok(()),
        }
    }

    /// The action that is verified now although nobody has waited since it was sent (SY-16).
    pub fn premature(&self) -> Option<String> {
        let action = self.memory().unsettled.clone()?;
        self.metrics.record(&Event::Premature);
        Some(action)
    }

    pub(crate) async fn turn(&self, progress: &Progress) -> Result<MutexGuard<'_, ()>, Failure> {
        progress.race("waiting for earlier calls on this device", async { Ok(self.turn.lock().await) }).await
    }

    /// Reads the screen. For callers that hold the turn.
    pub(crate) async fn capture_now(&self, progress: &Progress) -> Result<Arc<Observation>, Failure> {
        let known = self.memory().raw;
        // The tree shows some moment between the beginning and the end of the read: it is as old as the beginning, to be
        // on the safe side (W31, F16).
        let (captured_at_ms, began) = (self.now_ms(), self.heard_number());
        let capture = read_again(progress, "reading the UI tree", || self.device.snapshot(known)).await?;
        let told = capture.told;
        let seen = self.take_in(capture, captured_at_ms)?;
        let ended = self.heard_number();
        let mut memory = self.memory();
        let now_ms = self.now_ms();
        memory.read_ms = now_ms.saturating_sub(captured_at_ms);
        let at_ms = told.map(|told| now_ms.saturating_sub(told.ago_ms).max(captured_at_ms));
        let began = told.map_or(began, |told| told.number);
        memory.heard = HeardAround { earlier: memory.heard.began, at_ms, began, ended };
        drop(memory);
        let changed = seen.diff.is_relevant();
        progress.tell(&self.id, captured_at_ms, || Event::Looked { revision: seen.revision, changed });
        Ok(seen)
    }

    fn take_in(&self, capture: Capture, captured_at_ms: u64) -> Result<Arc<Observation>, Failure> {
        let mut memory = self.memory();
        memory.rested_ms = capture.rested_ms;
        match capture.screen {
            Captured::New { raw, snapshot } => {
                memory.raw = Some(raw);
                if let Some(screen) = &snapshot.screen {
                    memory.note_app(&screen.app);
                }
                Ok(memory.tracker.observe(snapshot, captured_at_ms))
            }
            Captured::Unchanged => memory
                .tracker
                .observe_unchanged(captured_at_ms)
                .ok_or_else(|| Failure::new(Cause::Defect, "an unchanged screen that was never read")),
        }
    }

    pub(crate) async fn screen_now(&self, progress: &Progress) -> Result<Screen, Failure> {
        read_again(progress, "asking which screen is in front", || self.device.screen()).await
    }

    pub(crate) async fn element_at(
        &self,
        point: Point,
        progress: &Progress,
    ) -> Result<Option<Snapshot>, Failure> {
        read_again(progress, "asking what is at a point", || self.device.element_at(point)).await
    }

    pub(crate) async fn keyboard_now(&self, progress: &Progress) -> Result<Option<Rect>, Failure> {
        read_again(progress, "asking where the keyboard is", || self.device.keyboard()).await
    }

    pub(crate) async fn shows_toast(&self, progress: &Progress) -> Result<bool, Failure> {
        progress.race_device("looking for a toast", self.device.shows_toast()).await
    }

    /// What the device told by itself after the event of this number.
    pub(crate) fn heard(&self, after: u64) -> Heard {
        self.device.heard(after)
    }

    /// Counts the times in which something may have been told unheard.
    pub(crate) fn heard_gaps(&self) -> u64 {
        self.device.heard(u64::MAX).gaps
    }

    /// The number of the newest event that the device told.
    pub(crate) fn heard_number(&self) -> u64 {
        self.device.heard(u64::MAX).number
    }

    /// Waits until the device tells something; for ever where it tells nothing.
    pub(crate) async fn next_heard(&self, after: u64) -> Heard {
        match self.device.next_heard(after).await {
            Ok(heard) => heard,
            // Whoever waits looks by itself too, and its look will say what is wrong.
            Err(_) => std::future::pending().await,
        }
    }

    pub(crate) async fn crashes(&self, progress: &Progress) -> Result<Vec<CrashReport>, Failure> {
        progress.race_device("reading reports of crashes", self.device.crashes()).await
    }

    pub(crate) async fn check_text(&self, text: &str, progress: &Progress) -> Result<(), Failure> {
        progress.race_device("asking whether the text can be typed", self.device.check_text(text)).await
    }

    fn note_input(&self, command: &Command) {
        let mut memory = self.memory();
        memory.tracker.note_action();
        if let Command::App(AppCommand::Start { app }) = command {
            memory.note_app(app);
        }
        match command {
            Command::Input(Input::Swipe { from, to, .. } | Input::Scroll { from, to, .. }) => {
                memory.tracker.note_swipe(*from, *to)
            }
            Command::App(AppCommand::Terminate { .. } | AppCommand::ClearData { .. }) => {
                memory.tracker.note_end_of_app();
            }
            _ => {}
        }
    }

    /// Sends one command. It is never sent twice: a lost answer is reported as such.
    pub(crate) async fn send_now(
        &self,
        command: &Command,
        progress: &Progress,
    ) -> Result<AppReport, Failure> {
        self.note_input(command);
        let began_ms = self.now_ms();
        let left_ms = u64::try_from(progress.time_left().as_millis()).unwrap_or(u64::MAX);
        match command {
            Command::Input(input) => {
                let left_ms = if input.is_aimed() { left_ms.min(AIM_MS_MAX) } else { left_ms };
                let sending = self.device.input_within(input.clone(), left_ms);
                let sent = progress.race_effect("sending input", sending).await;
                self.memory().send_ms = Some(self.now_ms().saturating_sub(began_ms));
                sent.map(|()| AppReport::default())
            }
            Command::App(command) => {
                progress.race_effect("commanding an app", self.device.app(command)).await
            }
            Command::Set(change) => {
                let changed = progress.race_effect("changing a setting", self.device.change(change)).await;
                changed.map(|report| AppReport { setting: Some(report), ..AppReport::default() })
            }
            Command::Native(action) => {
                let acting = self.device.act_natively_within(action, left_ms);
                let done = progress.race_effect("setting a value", acting).await;
                done.map(|()| AppReport::default())
            }
        }
    }

    /// How long the device will probably take for a command. What is begun later than this before the deadline would
    /// have its effect after it (F5).
    pub(crate) fn send_ms(&self) -> u64 {
        let memory = self.memory();
        memory.send_ms.unwrap_or(memory.read_ms).min(SEND_MS_MAX)
    }

    /// Notes an action whose effect nobody has waited for. True if the one before was not waited for either (SY-16).
    pub(crate) fn note_unsettled(&self, action_id: &str) -> bool {
        self.memory().unsettled.replace(action_id.to_owned()).is_some()
    }

    pub(crate) fn metrics(&self) -> &Metrics {
        &self.metrics
    }

    pub(crate) fn note_settled(&self) {
        self.memory().unsettled = None;
    }

    /// Counts what happened and tells whoever listens.
    pub(crate) fn tell(&self, progress: &Progress, at_ms: u64, event: Event) {
        self.metrics.record(&event);
        progress.tell(&self.id, at_ms, || event);
    }
}
