//! The port of `mdm-core` over adb.

use std::sync::Mutex;

use mdm_core::action::failure::{ErrorCode, Failure};
use mdm_core::port::{
    AppAction, AppReport, Capture, Device, DeviceInfo, Input, Key, LogRead, Orientation, Pixels, PortFuture,
    RawAnswer,
};
use mdm_core::screen::geometry::Rect;
use mdm_core::screen::snapshot::{Platform, Screen};

use crate::adb::shell::Output;
use crate::adb::{Adb, AdbError, Script};
use crate::capture::{self, FileNames};
use crate::text::{self, Typing};
use crate::{fingers, gesture, logs, pixels, screen};

/// Output of commands that answer in a few lines.
const SHORT_BYTES_MAX: usize = 64 * 1024;
const DUMPSYS_BYTES_MAX: usize = 4 * 1024 * 1024;
/// Files of interrupted captures that are remembered for removal.
const LEFTOVERS_MAX: usize = 16;
/// Exit code of our own scripts for "this app is not installed".
const NOT_INSTALLED: u8 = 21;

pub struct AndroidDevice {
    id: String,
    adb: Adb,
    files: FileNames,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    /// Read once per connection: what a phone is does not change while it is plugged in.
    info: Option<(u64, DeviceInfo)>,
    leftovers: Vec<String>,
}

impl AndroidDevice {
    /// `session` makes the names of this process's files on the device its own.
    pub fn new(id: impl Into<String>, adb: Adb, session: u64) -> AndroidDevice {
        AndroidDevice { id: id.into(), adb, files: FileNames::new(session), state: Mutex::default() }
    }

    pub fn adb(&self) -> &Adb {
        &self.adb
    }

    fn state(&self) -> std::sync::MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
    }

    async fn read_info(&self) -> Result<DeviceInfo, Failure> {
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
        })
    }

    async fn capture(&self, known: Option<RawAnswer>) -> Result<Capture, Failure> {
        let file = self.files.next();
        let leftovers = std::mem::take(&mut self.state().leftovers);
        let script = capture::script(&file, &leftovers);
        // Until the script has ended by itself, its file may still be there.
        let mut pending = Pending { device: self, files: leftovers };
        pending.files.push(file);
        let output = self.adb.shell(&script, capture::XML_BYTES_MAX).await.map_err(|e| self.failure(e))?;
        if !output.truncated {
            pending.files.clear();
        }
        capture::read(&output, known)
    }

    async fn type_text(&self, typed: &str) -> Result<(), Failure> {
        if typed.chars().count() > text::TEXT_CHARS_MAX {
            return Err(Failure::new(
                ErrorCode::InvalidArgument,
                format!("the text has more than {} characters", text::TEXT_CHARS_MAX),
                "type it in several calls",
            ));
        }
        match text::plan(typed) {
            Typing::Keys(script) => self.act(&script).await.map(drop),
            Typing::Paste => self.paste(typed).await,
        }
    }

    async fn paste(&self, typed: &str) -> Result<(), Failure> {
        let set = Script::new("cmd clipboard set text").arg(typed);
        let output = self.act(&set).await;
        let refused = match &output {
            Ok(output) => output.message().contains("No shell command implementation"),
            Err(failure) => failure.code == ErrorCode::ActionRejected,
        };
        if refused {
            return Err(Failure::new(
                ErrorCode::TextNotTypeable,
                "the text has characters that `input text` cannot type, and this device's shell cannot set the clipboard",
                "type only ASCII here, or install a keyboard that takes text from adb",
            ));
        }
        output?;
        self.act(&Script::new("input keyevent 279")).await.map(drop)
    }

    async fn drag(&self, script: &Script) -> Result<(), Failure> {
        let output = self.act_with_code(script).await?;
        match output.exit_code {
            0 => Ok(()),
            gesture::TOO_OLD => Err(gesture::cannot_hold()),
            _ => Err(rejected(&output)),
        }
    }

    async fn pinch(&self, pinch: &fingers::Pinch) -> Result<(), Failure> {
        let seen = self.run(&fingers::look(), SHORT_BYTES_MAX).await?.stdout_text();
        let panel = fingers::panel(&seen)
            .ok_or_else(|| gesture::one_finger_only("no touch screen under /dev/input can be written"))?;
        let display = fingers::display(&seen)
            .ok_or_else(|| gesture::one_finger_only("the device does not tell how its screen is turned"))?;
        let output = self.act_with_code(&fingers::play(&panel, &display, pinch)).await?;
        match output.exit_code {
            0 => Ok(()),
            fingers::NOT_TAKEN => Err(gesture::one_finger_only(&format!("{:.200}", output.message()))),
            _ => Err(rejected(&output)),
        }
    }

    async fn hide_keyboard(&self) -> Result<(), Failure> {
        let output = self.act_with_code(&gesture::hide_keyboard()).await?;
        match output.exit_code {
            0 => Ok(()),
            gesture::CANNOT_TELL => Err(gesture::keyboard_unknown()),
            _ => Err(rejected(&output)),
        }
    }

    async fn turn_screen(&self, wanted: Orientation) -> Result<(), Failure> {
        let size = self.run(&Script::new("wm size"), SHORT_BYTES_MAX).await?;
        let wide = gesture::is_naturally_wide(&size.stdout_text());
        self.act(&gesture::orientation(wanted, wide)).await.map(drop)
    }

    async fn start_app(&self, app: &str) -> Result<AppReport, Failure> {
        let resolve =
            Script::new("cmd package resolve-activity --brief -c android.intent.category.LAUNCHER").arg(app);
        let resolved = self.run(&resolve, SHORT_BYTES_MAX).await?.stdout_text();
        let component = resolved.lines().last().unwrap_or("").trim().to_owned();
        if !component.contains('/') {
            self.require_installed(app).await?;
            return Err(Failure::new(
                ErrorCode::ActionRejected,
                format!("{app} has no activity that a launcher could start"),
                "check the app id: it may be a service, a library or a test package",
            ));
        }
        let output = self.act(&Script::new("am start -W -n").arg(&component)).await?;
        let text = output.stdout_text();
        let value = |key: &str| text.lines().find_map(|line| line.trim().strip_prefix(key)).map(str::trim);
        match value("Status:") {
            Some("ok") => Ok(AppReport { launch_time_ms: value("TotalTime:").and_then(|t| t.parse().ok()) }),
            _ => Err(rejected(&output)),
        }
    }

    async fn clear_data(&self, app: &str) -> Result<AppReport, Failure> {
        let output = self.act(&installed_or_exit(app).then("; pm clear").arg(app)).await?;
        if output.stdout_text() == "Success" { Ok(AppReport::default()) } else { Err(rejected(&output)) }
    }

    async fn require_installed(&self, app: &str) -> Result<(), Failure> {
        self.act(&installed_or_exit(app)).await.map(drop).map_err(|failure| match failure.code {
            ErrorCode::AppNotInstalled => not_installed(app, &self.id),
            _ => failure,
        })
    }

    /// Raw pixels first: a phone takes far longer to make a PNG than to send what it has. Where the raw form is not
    /// understood the device makes the PNG.
    async fn take_screenshot(&self) -> Result<Pixels, Failure> {
        let raw = self.binary(&Script::new("screencap")).await?;
        let why = match pixels::from_raw(raw) {
            Ok(pixels) => return Ok(pixels),
            Err(why) => why,
        };
        let png = self.binary(&Script::new("screencap -p")).await?;
        pixels::from_png(&png).map_err(|also| {
            Failure::new(
                ErrorCode::ScreenshotUnavailable,
                format!("{why}; as PNG: {also}"),
                "try again; a screen that is off or protected cannot be captured",
            )
        })
    }

    async fn binary(&self, script: &Script) -> Result<Vec<u8>, Failure> {
        let features = self.adb.features().await.map_err(|e| self.failure(e))?;
        if !features.shell_v2 {
            let (bytes, _) =
                self.adb.exec(script, pixels::PIXELS_BYTES_MAX).await.map_err(|e| self.failure(e))?;
            return Ok(bytes.into());
        }
        let output = self.run(script, pixels::PIXELS_BYTES_MAX).await?;
        Ok(output.stdout.into())
    }

    /// A command that changes nothing: safe to lose.
    async fn run(&self, script: &Script, stdout_bytes_max: usize) -> Result<Output, Failure> {
        self.adb.shell(script, stdout_bytes_max).await.map_err(|e| self.failure(e))
    }

    /// A command with an effect. When the connection breaks after it was sent, nobody knows whether it happened.
    async fn act(&self, script: &Script) -> Result<Output, Failure> {
        let output = self.act_with_code(script).await?;
        match output.exit_code {
            0 => Ok(output),
            NOT_INSTALLED => Err(not_installed("the app", &self.id)),
            _ => Err(rejected(&output)),
        }
    }

    /// The same, for scripts whose exit codes have meanings of their own.
    async fn act_with_code(&self, script: &Script) -> Result<Output, Failure> {
        self.adb.shell(script, SHORT_BYTES_MAX).await.map_err(|error| match error {
            AdbError::Lost(_) => self.failure(error).with_unknown_dispatch(),
            _ => self.failure(error),
        })
    }

    fn failure(&self, error: AdbError) -> Failure {
        let id = &self.id;
        let (code, hint) = match &error {
            AdbError::Unreachable(_) | AdbError::Offline(_) => (
                ErrorCode::DeviceOffline,
                "check the cable or the address; list_devices shows what is connected",
            ),
            AdbError::Lost(_) => {
                (ErrorCode::ConnectionLost, "look at the screen before repeating anything: get_ui_tree")
            }
            AdbError::NotFound(_) => {
                (ErrorCode::DeviceNotFound, "it was unplugged; list_devices shows what is connected")
            }
            AdbError::Unauthorized(_) => (
                ErrorCode::DeviceUnauthorized,
                "accept the computer's key on the device's screen, then try again",
            ),
            AdbError::Refused(_) => (ErrorCode::ActionRejected, "the device does not offer this service"),
            AdbError::Protocol(_) => (ErrorCode::ProtocolError, "the device's adbd misbehaved; reconnect it"),
            AdbError::Unsendable(_) => (ErrorCode::InvalidArgument, "leave that character out"),
            AdbError::Local(_) => (ErrorCode::InternalError, "check files and ports on this machine"),
        };
        Failure::new(code, format!("{id}: {error}"), hint)
    }
}

/// Puts the files of a capture that did not end back on the list for removal, also when its future is dropped.
struct Pending<'a> {
    device: &'a AndroidDevice,
    files: Vec<String>,
}

impl Drop for Pending<'_> {
    fn drop(&mut self) {
        let mut state = self.device.state();
        state.leftovers.append(&mut self.files);
        state.leftovers.truncate(LEFTOVERS_MAX);
    }
}

fn installed_or_exit(app: &str) -> Script {
    Script::new("pm path").arg(app).then(" >/dev/null 2>&1 || exit 21")
}

fn not_installed(app: &str, device: &str) -> Failure {
    Failure::new(
        ErrorCode::AppNotInstalled,
        format!("{app} is not installed on {device}"),
        "check the app id, or install the app first",
    )
}

fn rejected(output: &Output) -> Failure {
    Failure::new(
        ErrorCode::ActionRejected,
        format!("the device refused (exit code {}): {:.300}", output.exit_code, output.message()),
        "read the message: the command arrived and the device said no",
    )
}

/// Names outside this alphabet cannot be packages; saying so beats whatever the device would answer.
fn check_app_id(app: &str) -> Result<(), Failure> {
    let allowed = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-');
    if !app.is_empty() && app.len() <= 255 && app.chars().all(allowed) && !app.starts_with('-') {
        return Ok(());
    }
    Err(Failure::new(
        ErrorCode::InvalidArgument,
        format!("{app:?} is not an Android package name"),
        "a package name looks like com.example.app",
    ))
}

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

    fn snapshot(&self, known: Option<RawAnswer>) -> PortFuture<'_, Capture> {
        Box::pin(self.capture(known))
    }

    fn screen(&self) -> PortFuture<'_, Screen> {
        Box::pin(async {
            let output = self.run(&Script::new("dumpsys activity activities"), DUMPSYS_BYTES_MAX).await?;
            screen::parse(&String::from_utf8_lossy(&output.stdout)).ok_or_else(|| {
                Failure::new(
                    ErrorCode::NoRootWindow,
                    "no activity is in front: the device is locked, booting or between two apps",
                    "try again in a moment; capture_screenshot shows what is there",
                )
            })
        })
    }

    fn screenshot(&self) -> PortFuture<'_, Pixels> {
        Box::pin(self.take_screenshot())
    }

    fn keyboard(&self) -> PortFuture<'_, Option<Rect>> {
        Box::pin(async move {
            let output = self.run(&gesture::keyboard(), SHORT_BYTES_MAX).await?;
            Ok(gesture::keyboard_place(&output.stdout_text()))
        })
    }

    fn input(&self, input: Input) -> PortFuture<'_, ()> {
        Box::pin(async move {
            let script = match input {
                Input::Text(typed) => return self.type_text(&typed).await,
                Input::HideKeyboard => return self.hide_keyboard().await,
                Input::Orientation(wanted) => return self.turn_screen(wanted).await,
                Input::Tap(point) => gesture::tap(point),
                Input::DoubleTap(point) => gesture::double_tap(point),
                Input::Swipe { from, to, duration_ms } => gesture::swipe(from, to, duration_ms),
                Input::LongPress { point, duration_ms } => gesture::swipe(point, point, duration_ms),
                Input::Drag { from, to, hold_ms, duration_ms } => {
                    return self.drag(&gesture::drag(from, to, hold_ms, duration_ms)).await;
                }
                Input::Pinch { center, within, from_px, to_px, duration_ms } => {
                    let pinch = fingers::Pinch { center, within, from_px, to_px, duration_ms };
                    return self.pinch(&pinch).await;
                }
                Input::Back => gesture::press(Key::Back),
                Input::Key(key) => gesture::press(key),
                Input::Erase { characters } => gesture::erase(characters),
            };
            self.act(&script).await.map(drop)
        })
    }

    fn app<'a>(&'a self, action: AppAction, app: &'a str) -> PortFuture<'a, AppReport> {
        Box::pin(async move {
            check_app_id(app)?;
            let done = match action {
                AppAction::Start => self.start_app(app).await,
                AppAction::Terminate => {
                    let script = installed_or_exit(app).then("; am force-stop").arg(app);
                    self.act(&script).await.map(|_| AppReport::default())
                }
                AppAction::ClearData => self.clear_data(app).await,
            };
            done.map_err(|failure| match failure.code {
                ErrorCode::AppNotInstalled => not_installed(app, &self.id),
                _ => failure,
            })
        })
    }

    fn app_installed<'a>(&'a self, app: &'a str) -> PortFuture<'a, bool> {
        Box::pin(async move {
            check_app_id(app)?;
            match self.require_installed(app).await {
                Ok(()) => Ok(true),
                Err(failure) if failure.code == ErrorCode::AppNotInstalled => Ok(false),
                Err(failure) => Err(failure),
            }
        })
    }

    fn logs<'a>(&'a self, app: Option<&'a str>) -> PortFuture<'a, LogRead> {
        Box::pin(async move {
            if let Some(app) = app {
                check_app_id(app)?;
            }
            let output = self.run(&logs::script(app), logs::LOG_BYTES_MAX).await?;
            Ok(logs::read(&output.stdout))
        })
    }
}
