//! The port of `mdm-core` over adb.

mod input;

use std::sync::{Arc, Mutex};

use mdm_core::port::{
    AppCommand, AppDetails, AppReport, Capabilities, Capture, CrashReport, CrashSource, Device, DeviceError,
    DeviceErrorKind, DeviceInfo, Dispatch, FileCommand, Heard, Input, InstalledApp, LogRead, LogSource,
    NativeAction, NetworkCommand, NetworkReport, Picture, PortFuture, RawAnswer, SettingChange,
    SettingReport, SmallPicture, Support,
};
use mdm_core::screen::geometry::{Rect, Scale};
use mdm_core::screen::snapshot::{Platform, Screen};
use mdm_wire::adb::host::DeviceLine;
use tokio::sync::watch;
use tokio::time::{Duration, Instant};

use crate::adb::shell::Output;
use crate::adb::{Adb, AdbError, Script};
use crate::apps::{check_app_id, not_installed};
use crate::capture::{self, DumpTimes, FileNames};
use crate::helper::{Helper, HelperMode};
use crate::{crash, gesture, log, network, pixels, screen};

/// Output of commands that answer in a few lines.
pub(crate) const SHORT_BYTES_MAX: usize = 64 * 1024;
/// Output of `dumpsys`, which lists everything.
pub(crate) const DUMPSYS_BYTES_MAX: usize = 4 * 1024 * 1024;
/// A tree of this size is read on a thread of its own, because it takes milliseconds in which others must be served.
const LARGE_TREE_BYTES: usize = 1024 * 1024;
/// Files of interrupted captures that are remembered for removal.
const LEFTOVERS_MAX: usize = 16;
/// Exit code of our own scripts for "this app is not installed".
const NOT_INSTALLED: u8 = 21;
/// Higher exit codes mean that a signal ended the command.
const SIGNALS: u8 = 128;
const PNG_START: &[u8] = b"\x89PNG";

pub struct AndroidDevice {
    pub(crate) id: String,
    pub(crate) adb: Adb,
    /// The adb server's list of devices, where the device is one of its.
    listed: Option<watch::Receiver<Vec<DeviceLine>>>,
    files: FileNames,
    pub(crate) helper: Helper,
    session: u64,
    /// Sessions of processes that were killed: what they left is removed before the first look.
    killed: Arc<[u64]>,
    state: Mutex<State>,
}

#[derive(Default)]
pub(crate) struct State {
    /// Read once per connection: what a phone is does not change while it is plugged in.
    info: Option<(u64, DeviceInfo)>,
    leftovers: Vec<String>,
    /// True once what killed processes left was removed.
    is_cleaned: bool,
    dumps: DumpTimes,
    /// True if the helper served the last input.
    pub is_input_helped: bool,
    /// The scales of the animations before they were switched off.
    pub animations: Option<[String; 3]>,
}

impl AndroidDevice {
    /// `session` makes the names of this process's files on the device its own.
    pub fn new(id: impl Into<String>, adb: Adb, session: u64) -> AndroidDevice {
        let files = FileNames::new(session);
        let helper = Helper::new(HelperMode::default(), session);
        let (killed, state) = (Arc::default(), Mutex::default());
        AndroidDevice { id: id.into(), adb, listed: None, files, helper, session, killed, state }
    }

    /// Names the sessions of processes that were killed.
    #[must_use]
    pub fn after_killed(self, killed: Arc<[u64]>) -> AndroidDevice {
        AndroidDevice { killed, ..self }
    }

    /// Says whether a program of ours may run on the device.
    #[must_use]
    pub fn with_helper(self, mode: HelperMode) -> AndroidDevice {
        AndroidDevice { helper: Helper::new(mode, self.session), ..self }
    }

    pub(crate) fn session(&self) -> u64 {
        self.session
    }

    /// Says why the shell is used although a helper was wanted.
    pub fn helper_note(&self) -> Option<String> {
        self.helper.why_not()
    }

    /// Names the list on which the device stands for as long as it is connected.
    #[must_use]
    pub fn listed_in(self, lines: watch::Receiver<Vec<DeviceLine>>) -> AndroidDevice {
        AndroidDevice { listed: Some(lines), ..self }
    }

    pub fn adb(&self) -> &Adb {
        &self.adb
    }

    pub(crate) fn state(&self) -> std::sync::MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
    }

    async fn read_info(&self) -> Result<DeviceInfo, DeviceError> {
        let script = Script::new("getprop ro.build.version.release; getprop ro.product.model; ")
            .then("getprop ro.kernel.qemu; getprop ro.boot.qemu");
        let output = self.run(&script, SHORT_BYTES_MAX).await?;
        let text = String::from_utf8_lossy(&output.stdout);
        let mut lines = text.lines().map(|line| line.trim().to_owned());
        let mut next = || lines.next().unwrap_or_default();
        Ok(DeviceInfo {
            platform: Platform::Android,
            id: self.id.clone(),
            os_version: next(),
            model: next(),
            simulator: next() == "1" || next() == "1",
            scale: Scale(1),
        })
    }

    /// Removes what killed processes of this program left on the device, once.
    async fn clean_after_killed(&self) {
        if self.killed.is_empty() || std::mem::replace(&mut self.state().is_cleaned, true) {
            return;
        }
        if self.adb.shell(&capture::cleaning(&self.killed), SHORT_BYTES_MAX).await.is_err() {
            // The device is not there; the next look tries again.
            self.state().is_cleaned = false;
        }
    }

    /// Reads the screen through the helper where there is one that is trusted.
    async fn read_screen(&self, known: Option<RawAnswer>) -> Result<Capture, DeviceError> {
        self.clean_after_killed().await;
        if let Some(link) = self.helper.link(self).await? {
            match self.helper.snapshot(&link, known.map(|RawAnswer(hash)| hash)).await {
                Err(error) if self.helper.falls_back(&error) => {}
                read => return Ok(read?),
            }
        }
        self.capture(known).await
    }

    /// Remembers a file of ours on the device for removal, until the guard's list is emptied.
    pub(crate) fn leaves(&self, file: String) -> Pending<'_> {
        Pending { device: self, files: vec![file] }
    }

    pub(crate) async fn capture(&self, known: Option<RawAnswer>) -> Result<Capture, DeviceError> {
        let file = self.files.next();
        let leftovers = std::mem::take(&mut self.state().leftovers);
        let script = capture::script(&file, &leftovers);
        // Until the script has ended by itself, its file may still be there.
        let mut pending = Pending { device: self, files: leftovers };
        pending.files.push(file);
        let began = Instant::now();
        let output = self.adb.shell(&script, capture::XML_BYTES_MAX).await.map_err(|e| self.error(e))?;
        let took = began.elapsed();
        if !output.truncated {
            pending.files.clear();
        }
        let screen = if output.stdout.len() < LARGE_TREE_BYTES {
            capture::read(&output, known)?
        } else {
            let read = tokio::task::spawn_blocking(move || capture::read(&output, known)).await;
            read.map_err(|error| DeviceError::new(DeviceErrorKind::TreeUnavailable, error.to_string()))??
        };
        let generation = self.adb.generation();
        Ok(Capture { screen, rested_ms: self.state().dumps.rested_ms(generation, took), told: None })
    }

    /// Raw pixels first: a phone takes far longer to make a PNG than to send what it has. Where the raw form is not
    /// understood the device makes the PNG.
    async fn take_screenshot(&self) -> Result<Picture, DeviceError> {
        let raw = self.binary(&Script::new("screencap"), pixels::PIXELS_BYTES_MAX).await?;
        let why = match pixels::from_raw(raw) {
            Ok(pixels) => return Ok(Picture::Raw(pixels)),
            Err(why) => why,
        };
        let png = self.binary(&Script::new("screencap -p"), pixels::PNG_BYTES_MAX).await?;
        if png.starts_with(PNG_START) {
            return Ok(Picture::Png(png));
        }
        let detail = format!("{why}; as PNG: {} bytes that are none", png.len());
        Err(DeviceError::new(DeviceErrorKind::ScreenshotUnavailable, detail))
    }

    /// The helper scales and encodes on the device. Whatever it cannot do is left to the other way.
    async fn take_small_screenshot(
        &self,
        side_max: u32,
        quality: u8,
    ) -> Result<Option<SmallPicture>, DeviceError> {
        let Some(link) = self.helper.link(self).await? else { return Ok(None) };
        Ok(self.helper.picture(&link, side_max, quality).await)
    }

    async fn follow(&self, script: &Script) -> Result<log::follow::Following, DeviceError> {
        self.adb.logcat(script).await.map(log::follow::Following::new).map_err(|e| self.error(e))
    }

    async fn binary(&self, script: &Script, bytes_max: usize) -> Result<Vec<u8>, DeviceError> {
        let features = self.adb.features().await.map_err(|e| self.error(e))?;
        let (bytes, too_long) = if features.shell_v2 {
            let output = self.run(script, bytes_max).await?;
            (output.stdout, output.truncated)
        } else {
            self.adb.exec(script, bytes_max).await.map_err(|e| self.error(e))?
        };
        if too_long {
            let detail = format!("the picture has more than {bytes_max} bytes, or no end");
            return Err(DeviceError::new(DeviceErrorKind::ScreenshotUnavailable, detail));
        }
        Ok(bytes.into())
    }

    /// A command that changes nothing: safe to lose.
    pub(crate) async fn run(&self, script: &Script, stdout_bytes_max: usize) -> Result<Output, DeviceError> {
        self.adb.shell(script, stdout_bytes_max).await.map_err(|e| self.error(e))
    }

    /// A command with an effect.
    pub(crate) async fn act(&self, script: &Script) -> Result<Output, DeviceError> {
        let output = self.act_with_code(script).await?;
        if output.exit_code == 0 { Ok(output) } else { Err(rejected(&output)) }
    }

    /// A command to an app that may not be installed, which its script says with an exit code of its own.
    pub(crate) async fn act_on_app(&self, app: &str, script: &Script) -> Result<Output, DeviceError> {
        let output = self.act_with_code(script).await?;
        match output.exit_code {
            0 => Ok(output),
            NOT_INSTALLED => Err(not_installed(app, &self.id)),
            _ => Err(rejected(&output)),
        }
    }

    /// A command with an effect, for scripts whose exit codes have meanings of their own.
    pub(crate) async fn act_with_code(&self, script: &Script) -> Result<Output, DeviceError> {
        let output =
            self.adb.shell(script, SHORT_BYTES_MAX).await.map_err(|error| self.effect_error(error))?;
        if output.truncated {
            let detail = format!("{}: the command wrote so much that its end was not awaited", self.id);
            let error = DeviceError::new(DeviceErrorKind::Protocol, detail);
            return Err(error.with_dispatch(Dispatch::Unknown));
        }
        Ok(output)
    }

    /// When the connection or the protocol breaks after a command was sent, nobody knows whether it happened (RC-04).
    pub(crate) fn effect_error(&self, error: AdbError) -> DeviceError {
        let dispatch = match error {
            AdbError::Lost(_) | AdbError::Protocol(_) => Dispatch::Unknown,
            AdbError::Refused(_) => Dispatch::Refused,
            _ => Dispatch::NotSent,
        };
        self.error(error).with_dispatch(dispatch)
    }

    pub(crate) fn error(&self, error: AdbError) -> DeviceError {
        let kind = match &error {
            AdbError::Unreachable(_) | AdbError::Offline(_) => DeviceErrorKind::Offline,
            AdbError::Lost(_) => DeviceErrorKind::ConnectionLost,
            AdbError::NotFound(_) => DeviceErrorKind::Gone,
            AdbError::Unauthorized(_) => DeviceErrorKind::Unauthorized,
            AdbError::Refused(_) => DeviceErrorKind::ServiceMissing,
            AdbError::Protocol(_) => DeviceErrorKind::Protocol,
            AdbError::Unsendable(_) => DeviceErrorKind::InvalidRequest,
            AdbError::Local(_) => DeviceErrorKind::Local,
        };
        DeviceError::new(kind, format!("{}: {error}", self.id))
    }
}

/// Puts the files of a capture that did not end back on the list for removal, also when its future is dropped.
pub(crate) struct Pending<'a> {
    device: &'a AndroidDevice,
    pub files: Vec<String>,
}

impl Drop for Pending<'_> {
    fn drop(&mut self) {
        let mut state = self.device.state();
        state.leftovers.append(&mut self.files);
        state.leftovers.truncate(LEFTOVERS_MAX);
    }
}

/// A command that was killed may have done its work before (F67).
pub(crate) fn rejected(output: &Output) -> DeviceError {
    let killed = output.exit_code > SIGNALS;
    let detail = format!("the device refused (exit code {}): {:.300}", output.exit_code, output.message());
    let dispatch = if killed { Dispatch::Unknown } else { Dispatch::Refused };
    DeviceError::new(DeviceErrorKind::Rejected, detail).with_dispatch(dispatch)
}

fn moment_in(ms: u64) -> Option<Instant> {
    Instant::now().checked_add(Duration::from_millis(ms))
}

/// What a service says that has no commands for the shell, such as the clipboard of AOSP.
pub(crate) const NO_SHELL_COMMANDS: &str = "No shell command implementation";

impl Device for AndroidDevice {
    fn info(&self) -> PortFuture<'_, DeviceInfo> {
        Box::pin(async {
            let known = self.state().info.clone();
            if let Some((_, info)) = known.filter(|(generation, _)| *generation == self.adb.generation()) {
                return Ok(info);
            }
            let info = self.read_info().await?;
            self.state().info = Some((self.adb.generation(), info.clone()));
            Ok(info)
        })
    }

    fn capabilities(&self) -> Capabilities {
        let helped = if self.helper.is_usable() { Support::Yes } else { Support::No };
        Capabilities {
            keys: Support::Yes,
            back: Support::Yes,
            // Whether the shell may write to the touch screen differs from phone to phone.
            pinch: if self.helper.is_usable() { Support::Yes } else { Support::Maybe },
            set_text: helped,
            native_actions: helped,
            hit_test: Support::No,
            toasts: helped,
            events: helped,
            clear_data: Support::Yes,
            log_stream: Support::Yes,
            install: Support::Yes,
            files: Support::Yes,
            links: Support::Yes,
            settings: Support::Yes,
            alerts: Support::No,
        }
    }

    fn is_connected(&self) -> bool {
        match &self.listed {
            None => self.adb.is_connected(),
            Some(lines) => {
                let here = |line: &DeviceLine| line.serial == self.id && line.state == "device";
                lines.has_changed().is_ok() && lines.borrow().iter().any(here)
            }
        }
    }

    fn snapshot(&self, known: Option<RawAnswer>) -> PortFuture<'_, Capture> {
        Box::pin(self.read_screen(known))
    }

    fn screen(&self) -> PortFuture<'_, Screen> {
        Box::pin(async {
            let output = self.run(&Script::new("dumpsys activity activities"), DUMPSYS_BYTES_MAX).await?;
            screen::parse(&String::from_utf8_lossy(&output.stdout)).ok_or_else(|| {
                let detail = "no activity is in front: the device is locked, booting or between two apps";
                DeviceError::new(DeviceErrorKind::NoWindow, detail)
            })
        })
    }

    fn small_screenshot(&self, side_max: u32, quality: u8) -> PortFuture<'_, Option<SmallPicture>> {
        Box::pin(self.take_small_screenshot(side_max, quality))
    }

    fn screenshot(&self) -> PortFuture<'_, Picture> {
        Box::pin(self.take_screenshot())
    }

    fn keyboard(&self) -> PortFuture<'_, Option<Rect>> {
        Box::pin(async move {
            if let Some(link) = self.helper.link(self).await? {
                match self.helper.keyboard(&link).await {
                    Err(error) if self.helper.falls_back(&error) => {}
                    known => return Ok(known?),
                }
            }
            let output = self.run(&gesture::keyboard(), SHORT_BYTES_MAX).await?;
            Ok(gesture::keyboard_place(&output.stdout_text()))
        })
    }

    fn shows_toast(&self) -> PortFuture<'_, bool> {
        Box::pin(async move {
            // The service ends with an error when it finds no such window, and says so in words.
            let windows = Script::new("dumpsys window windows | grep -F ' Toast}'");
            let output = self.adb.shell(&windows, SHORT_BYTES_MAX).await.map_err(|e| self.error(e))?;
            Ok(output.stdout_text().contains(" Toast}"))
        })
    }

    fn check_text<'a>(&'a self, text: &'a str) -> PortFuture<'a, ()> {
        Box::pin(self.find_text_typeable(text))
    }

    fn input(&self, input: Input) -> PortFuture<'_, ()> {
        Box::pin(self.send_input(input, None))
    }

    fn input_within(&self, input: Input, within_ms: u64) -> PortFuture<'_, ()> {
        Box::pin(self.send_input(input, moment_in(within_ms)))
    }

    fn act_natively<'a>(&'a self, action: &'a NativeAction) -> PortFuture<'a, ()> {
        Box::pin(self.perform(action, None))
    }

    fn act_natively_within<'a>(&'a self, action: &'a NativeAction, within_ms: u64) -> PortFuture<'a, ()> {
        Box::pin(self.perform(action, moment_in(within_ms)))
    }

    fn heard(&self, after: u64) -> Heard {
        self.helper.memory().after(after)
    }

    fn next_heard(&self, after: u64) -> PortFuture<'_, Heard> {
        Box::pin(async move {
            tokio::select! {
                biased;
                heard = self.helper.memory().next(after) => Ok(heard),
                () = self.helper.keep_listening() => std::future::pending().await,
            }
        })
    }

    fn app<'a>(&'a self, command: &'a AppCommand) -> PortFuture<'a, AppReport> {
        Box::pin(self.command_app(command))
    }

    fn app_installed<'a>(&'a self, app: &'a str) -> PortFuture<'a, bool> {
        Box::pin(async move {
            check_app_id(app)?;
            match self.require_installed(app).await {
                Ok(()) => Ok(true),
                Err(error) if error.kind == DeviceErrorKind::AppNotInstalled => Ok(false),
                Err(error) => Err(error),
            }
        })
    }

    fn logs<'a>(&'a self, app: Option<&'a str>) -> PortFuture<'a, LogRead> {
        Box::pin(async move {
            if let Some(app) = app {
                check_app_id(app)?;
            }
            let read = self.adb.shell_newest(&log::script(app), log::LOG_BYTES_MAX).await;
            log::read(&read.map_err(|e| self.error(e))?, app)
        })
    }

    fn crashes(&self) -> PortFuture<'_, Vec<CrashReport>> {
        Box::pin(async {
            let read = self.adb.shell_newest(&crash::script(), log::LOG_BYTES_MAX).await;
            log::read(&read.map_err(|e| self.error(e))?, None).map(|read| crash::reports(&read))
        })
    }

    fn follow_crashes(&self) -> PortFuture<'_, Box<dyn CrashSource>> {
        Box::pin(async {
            let lines = self.follow(&crash::follow_script()).await?;
            Ok(Box::new(crash::follow::FollowedCrashes::new(lines)) as Box<dyn CrashSource>)
        })
    }

    fn follow_log(&self, since_ms: Option<u64>) -> PortFuture<'_, Box<dyn LogSource>> {
        Box::pin(async move {
            Ok(Box::new(self.follow(&log::follow::script(since_ms)).await?) as Box<dyn LogSource>)
        })
    }

    fn app_pids<'a>(&'a self, app: &'a str) -> PortFuture<'a, Vec<u32>> {
        Box::pin(async move {
            check_app_id(app)?;
            let output = self.run(&Script::new("pidof").arg(app), SHORT_BYTES_MAX).await?;
            Ok(output.stdout_text().split_whitespace().filter_map(|pid| pid.parse().ok()).collect())
        })
    }

    fn apps(&self, with_system: bool) -> PortFuture<'_, Vec<InstalledApp>> {
        Box::pin(self.list_apps(with_system))
    }

    fn app_details<'a>(&'a self, app: &'a str) -> PortFuture<'a, AppDetails> {
        Box::pin(self.read_details(app))
    }

    fn change<'a>(&'a self, change: &'a SettingChange) -> PortFuture<'a, SettingReport> {
        Box::pin(self.change_setting(change))
    }

    fn files<'a>(&'a self, command: &'a FileCommand) -> PortFuture<'a, ()> {
        Box::pin(self.copy(command))
    }

    fn network<'a>(&'a self, command: &'a NetworkCommand) -> PortFuture<'a, NetworkReport> {
        Box::pin(network::command(self, command))
    }

    fn close(&self) -> PortFuture<'_, ()> {
        Box::pin(async {
            self.helper.stop().await;
            self.adb.close().await;
            Ok(())
        })
    }
}
