//! The port of `mdm-core` over whatever reaches the iPhone.

use std::sync::Mutex;

use mdm_core::port::{
    AlertAnswer, AppCommand, AppReport, Capabilities, Capture, Device, DeviceError, DeviceErrorKind,
    DeviceInfo, Dispatch, Input, Key, LogRead, NightMode, OpenRequest, Picture, PortFuture, RawAnswer,
    SettingChange, SettingReport, Support,
};
use mdm_core::screen::geometry::{Rect, Scale, Size};
use mdm_core::screen::snapshot::{Defect, DefectKind, Limits, Platform, Screen, Snapshot};
use xxhash_rust::xxh3::xxh3_64;

use crate::gesture;
use crate::route::{Verb, Way, choose};
use crate::wda::{AppState, Path, Wda};
use crate::{picture, tree};

/// Deletes before the cursor, as a character that is typed.
const DELETE: &str = "\u{8}";
/// Characters that are deleted at once.
const ERASE_MAX: u32 = 10_000;
const APP_ID_CHARS_MAX: usize = 155;

/// The programs that reach one iPhone. At least one is there.
#[derive(Default)]
pub struct Backends {
    pub wda: Option<Wda>,
}

pub struct IosDevice {
    id: String,
    backends: Backends,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    info: Option<DeviceInfo>,
    size: Option<Size>,
    /// The name of the application in the last tree, and its bundle id.
    front: Option<(String, String)>,
    /// Where the keyboard was in the last tree, unless something was sent since.
    keyboard: Option<Option<Rect>>,
    is_lost: bool,
}

impl IosDevice {
    pub fn new(id: impl Into<String>, backends: Backends) -> IosDevice {
        IosDevice { id: id.into(), backends, state: Mutex::default() }
    }

    pub fn id(&self) -> &str {
        &self.id
    }

    fn state(&self) -> std::sync::MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
    }

    fn has(&self, way: Way) -> bool {
        match way {
            Way::Wda => self.backends.wda.is_some(),
            Way::Idb | Way::Simctl | Way::Usb => false,
        }
    }

    /// The program that serves a request.
    pub fn way(&self, verb: Verb) -> Result<Way, DeviceError> {
        choose(verb, |way| self.has(way))
    }

    fn wda(&self, verb: Verb) -> Result<&Wda, DeviceError> {
        self.way(verb)?;
        self.backends.wda.as_ref().ok_or_else(|| DeviceError::not_supported(verb.as_str()))
    }

    /// Notes whether the connection stood.
    fn noted<T>(&self, result: Result<T, DeviceError>) -> Result<T, DeviceError> {
        let lost = |error: &DeviceError| {
            matches!(
                error.kind,
                DeviceErrorKind::Offline | DeviceErrorKind::ConnectionLost | DeviceErrorKind::Gone
            )
        };
        self.state().is_lost = result.as_ref().is_err_and(lost);
        result
    }

    /// Asks whether the phone is there, with the cheapest question that it answers.
    pub(crate) async fn reach(&self) -> Result<(), DeviceError> {
        let wda = self.wda(Verb::Tree)?;
        self.noted(wda.status().await).map(drop)
    }

    async fn read_info(&self) -> Result<DeviceInfo, DeviceError> {
        if let Some(info) = self.state().info.clone() {
            return Ok(info);
        }
        let wda = self.wda(Verb::Tree)?;
        let status = wda.status().await?;
        let device = wda.device().await?;
        let scale = wda.screen().await?.scale;
        let info = DeviceInfo {
            platform: Platform::Ios,
            id: self.id.clone(),
            os_version: status.os.version,
            model: device.model.or(device.name).unwrap_or_else(|| "iPhone".to_owned()),
            simulator: status.ios.is_some_and(|ios| ios.simulator_version.is_some()),
            scale: Scale(if scale.is_finite() { scale.round().clamp(1.0, 10.0) as u32 } else { 1 }),
        };
        self.state().info = Some(info.clone());
        Ok(info)
    }

    async fn capture(&self, known: Option<RawAnswer>) -> Result<Capture, DeviceError> {
        let wda = self.wda(Verb::Tree)?;
        let read = wda.tree().await?;
        let raw = RawAnswer(xxh3_64(&read.bytes));
        if known == Some(raw) {
            return Ok(Capture::Unchanged);
        }
        let mut snapshot = tree::parse(&read.bytes, &Limits::default());
        if read.is_cut {
            let detail = "the tree is deeper than the system tells; what is below was left out".to_owned();
            snapshot.defects.push(Defect { kind: DefectKind::LimitReached, offset: 0, detail });
        }
        self.name_app(&mut snapshot, wda).await?;
        let mut state = self.state();
        state.size = Some(snapshot.size).filter(|size| *size != Size::default());
        state.keyboard = Some(keyboard_in(&snapshot));
        drop(state);
        Ok(Capture::New { raw, snapshot })
    }

    /// Adds the bundle id of the app in front, which WebDriverAgent does not write into its trees. It is asked for again
    /// when another name stands at the top.
    async fn name_app(&self, snapshot: &mut Snapshot, wda: &Wda) -> Result<(), DeviceError> {
        let name = tree::application_name(snapshot);
        let known = self.state().front.clone().filter(|(known, _)| *known == name);
        let bundle = match known {
            Some((_, bundle)) => bundle,
            None => wda.active_app().await?.bundle_id,
        };
        self.state().front = Some((name, bundle.clone()));
        tree::set_app(snapshot, &bundle);
        Ok(())
    }

    async fn screen_size(&self) -> Result<Size, DeviceError> {
        let known = self.state().size;
        match known {
            Some(size) => Ok(size),
            None => {
                self.capture(None).await?;
                let no_size = || {
                    DeviceError::new(DeviceErrorKind::TreeUnavailable, "the tree does not tell the screen's size")
                };
                self.state().size.ok_or_else(no_size)
            }
        }
    }

    async fn send(&self, input: Input) -> Result<(), DeviceError> {
        self.state().keyboard = None;
        match input {
            Input::Text(text) => self.wda(Verb::Text)?.type_keys(&text).await,
            Input::Erase { characters, .. } => {
                let text = DELETE.repeat(characters.min(ERASE_MAX) as usize);
                self.wda(Verb::Text)?.type_keys(&text).await
            }
            Input::Key(key) => self.press(key).await,
            Input::HideKeyboard => self.wda(Verb::HideKeyboard)?.dismiss_keyboard().await,
            Input::Orientation(wanted) => self.wda(Verb::Turn)?.turn(wanted).await,
            touch => {
                let wda = self.wda(Verb::Touch)?;
                wda.perform(self.fingers(touch).await?).await
            }
        }
    }

    /// Writes a touch as the paths of its fingers.
    async fn fingers(&self, touch: Input) -> Result<Vec<Path>, DeviceError> {
        let one = |path: Path| Ok(vec![path]);
        match touch {
            Input::Tap(at) => one(Path::down(at).wait(gesture::TAP_MS).up()),
            Input::DoubleTap(at) => {
                let tap = || Path::down(at).wait(gesture::TAP_MS).up();
                one(tap().wait(gesture::DOUBLE_TAP_GAP_MS).then(tap()))
            }
            Input::LongPress { point, duration_ms } => one(Path::down(point).wait(duration_ms).up()),
            Input::Swipe { from, to, duration_ms } => one(Path::down(from).move_to(to, duration_ms).up()),
            Input::Drag { from, to, hold_ms, duration_ms } => {
                let held = Path::down(from).wait(hold_ms);
                one(held.move_to(to, duration_ms).wait(gesture::DROP_REST_MS).up())
            }
            Input::Pinch { center, within, from_px, to_px, duration_ms } => {
                let screen = self.screen_size().await?.rect();
                let within = within.unwrap_or(screen);
                let paths = gesture::pinch_paths(center, within, from_px, to_px);
                Ok(paths.map(|(from, to)| Path::down(from).move_to(to, duration_ms).up()).to_vec())
            }
            Input::Back => {
                let (from, to) = gesture::edge_swipe(self.screen_size().await?);
                one(Path::down(from).move_to(to, gesture::EDGE_SWIPE_MS).up())
            }
            _ => Err(DeviceError::not_supported("be touched like that")),
        }
    }

    async fn press(&self, key: Key) -> Result<(), DeviceError> {
        let typed = match key {
            Key::Enter => "\n",
            Key::Tab => "\t",
            Key::Space => " ",
            Key::Delete => DELETE,
            _ => "",
        };
        if !typed.is_empty() {
            return self.wda(Verb::Text)?.type_keys(typed).await;
        }
        let wda = self.wda(Verb::Button)?;
        match key {
            Key::Home => wda.home().await,
            Key::VolumeUp => wda.press_button("volumeUp").await,
            Key::VolumeDown => wda.press_button("volumeDown").await,
            Key::Power | Key::Sleep => wda.lock(true).await,
            Key::Wakeup => wda.lock(false).await,
            Key::Back => wda.perform(self.fingers(Input::Back).await?).await,
            Key::Recents => {
                let (from, to) = gesture::switcher_swipe(self.screen_size().await?);
                let path = Path::down(from).move_to(to, gesture::SWITCHER_MS);
                wda.perform(vec![path.wait(gesture::SWITCHER_REST_MS).up()]).await
            }
            _ => Err(DeviceError::not_supported("press this key: iPhones have none like it")),
        }
    }

    async fn command_app(&self, command: &AppCommand) -> Result<AppReport, DeviceError> {
        if let Some(app) = command.app() {
            check_app_id(app)?;
        }
        self.state().keyboard = None;
        match command {
            AppCommand::Start { app } => {
                let wda = self.wda(Verb::Launch)?;
                wda.launch(app).await?;
                if wda.app_state(app).await? == AppState::NotInstalledOrUnknown {
                    return Err(not_installed(app, &self.id));
                }
            }
            AppCommand::Terminate { app } => self.wda(Verb::Terminate)?.terminate(app).await?,
            AppCommand::Open(OpenRequest { link: Some(link), app, activity: None, extras })
                if extras.is_empty() =>
            {
                self.wda(Verb::OpenLink)?.open_url(link, app.as_deref()).await?;
            }
            AppCommand::Open(_) => {
                let detail = "iPhones open links (a `scheme://…` of the app); they have no screens by name";
                return Err(DeviceError::new(DeviceErrorKind::InvalidRequest, detail));
            }
            AppCommand::Install { .. } | AppCommand::Uninstall { .. } => self.way(Verb::Install).map(drop)?,
            AppCommand::Permit { .. } => self.way(Verb::Permit).map(drop)?,
            AppCommand::ClearData { .. } => {
                let detail = "iOS cannot delete the data of an app that stays installed: remove it and install it again";
                return Err(DeviceError::new(DeviceErrorKind::NotSupported, detail));
            }
        }
        Ok(AppReport::default())
    }

    async fn change_setting(&self, change: &SettingChange) -> Result<SettingReport, DeviceError> {
        let done = |after: &str| SettingReport { before: None, after: Some(after.to_owned()) };
        match change {
            SettingChange::DarkMode(mode) => {
                let dark = match mode {
                    NightMode::On => true,
                    NightMode::Off => false,
                    NightMode::Auto => {
                        return Err(DeviceError::not_supported("be told to follow the time of day"));
                    }
                };
                self.wda(Verb::DarkMode)?.set_dark(dark).await?;
                Ok(done(if dark { "on" } else { "off" }))
            }
            SettingChange::Location(place) => {
                let place = place.map(|place| (place.latitude, place.longitude));
                self.wda(Verb::Location)?.set_location(place).await?;
                Ok(SettingReport { before: None, after: None })
            }
            SettingChange::Clipboard(text) => {
                self.wda(Verb::Clipboard)?.set_clipboard(text).await?;
                Ok(SettingReport { before: None, after: None })
            }
            other => {
                let detail = format!("iPhones do not let programs change {}", other.name());
                Err(DeviceError::new(DeviceErrorKind::NotSupported, detail))
            }
        }
    }
}

/// Finds the on-screen keyboard, which is in the trees of iOS.
fn keyboard_in(snapshot: &Snapshot) -> Option<Rect> {
    let shown = |bounds: Rect| bounds.intersection(snapshot.size.rect()).filter(|shown| !shown.is_empty());
    let is_keyboard = |class: &str| class == "Keyboard" || class == "XCUIElementTypeKeyboard";
    snapshot.elements.iter().filter(|e| is_keyboard(&e.class)).find_map(|e| shown(e.bounds))
}

/// Refuses what cannot be a bundle id.
pub(crate) fn check_app_id(app: &str) -> Result<(), DeviceError> {
    let allowed = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '-' | '_');
    if !app.is_empty() && app.len() <= APP_ID_CHARS_MAX && app.chars().all(allowed) && !app.starts_with('-') {
        return Ok(());
    }
    let detail = format!("{app:.60?} is not a bundle id such as com.example.app");
    Err(DeviceError::new(DeviceErrorKind::InvalidRequest, detail))
}

fn not_installed(app: &str, id: &str) -> DeviceError {
    let detail = format!("{app} is not installed on {id}");
    DeviceError::new(DeviceErrorKind::AppNotInstalled, detail).with_dispatch(Dispatch::Refused)
}

impl Device for IosDevice {
    fn info(&self) -> PortFuture<'_, DeviceInfo> {
        Box::pin(async { self.noted(self.read_info().await) })
    }

    fn capabilities(&self) -> Capabilities {
        let can = |verb: Verb| if self.way(verb).is_ok() { Support::Yes } else { Support::No };
        Capabilities {
            keys: can(Verb::Button),
            // A swipe from the edge goes back only where the app lets it.
            back: if self.way(Verb::Touch).is_ok() { Support::Maybe } else { Support::No },
            pinch: can(Verb::Touch),
            set_text: Support::No,
            native_actions: can(Verb::SetValue),
            toasts: Support::No,
            events: Support::No,
            clear_data: Support::No,
            log_stream: can(Verb::FollowLog),
            install: can(Verb::Install),
            files: Support::No,
            links: can(Verb::OpenLink),
            settings: can(Verb::DarkMode),
            alerts: can(Verb::AnswerAlert),
        }
    }

    fn is_connected(&self) -> bool {
        !self.state().is_lost
    }

    fn snapshot(&self, known: Option<RawAnswer>) -> PortFuture<'_, Capture> {
        Box::pin(async move { self.noted(self.capture(known).await) })
    }

    fn screen(&self) -> PortFuture<'_, Screen> {
        Box::pin(async {
            let app = self.noted(self.wda(Verb::Tree)?.active_app().await)?;
            Ok(Screen { app: app.bundle_id, name: None })
        })
    }

    fn screenshot(&self) -> PortFuture<'_, Picture> {
        Box::pin(async {
            let png = self.noted(self.wda(Verb::Picture)?.screenshot().await)?;
            picture::decode(png).await
        })
    }

    fn keyboard(&self) -> PortFuture<'_, Option<Rect>> {
        Box::pin(async {
            let known = self.state().keyboard;
            match known {
                Some(keyboard) => Ok(keyboard),
                None => {
                    self.capture(None).await?;
                    Ok(self.state().keyboard.flatten())
                }
            }
        })
    }

    fn shows_toast(&self) -> PortFuture<'_, bool> {
        // iOS has none: what apps draw in their place is in their trees.
        Box::pin(async { Ok(false) })
    }

    fn check_text<'a>(&'a self, _text: &'a str) -> PortFuture<'a, ()> {
        Box::pin(async { self.way(Verb::Text).map(drop) })
    }

    fn input(&self, input: Input) -> PortFuture<'_, ()> {
        Box::pin(async move { self.noted(self.send(input).await) })
    }

    fn app<'a>(&'a self, command: &'a AppCommand) -> PortFuture<'a, AppReport> {
        Box::pin(async move { self.noted(self.command_app(command).await) })
    }

    fn app_installed<'a>(&'a self, app: &'a str) -> PortFuture<'a, bool> {
        Box::pin(async move {
            check_app_id(app)?;
            let state = self.noted(self.wda(Verb::Launch)?.app_state(app).await)?;
            Ok(state != AppState::NotInstalledOrUnknown)
        })
    }

    fn logs<'a>(&'a self, _app: Option<&'a str>) -> PortFuture<'a, LogRead> {
        Box::pin(async move {
            self.way(Verb::ReadLog)?;
            Err(DeviceError::not_supported(Verb::ReadLog.as_str()))
        })
    }

    fn change<'a>(&'a self, change: &'a SettingChange) -> PortFuture<'a, SettingReport> {
        Box::pin(async move { self.noted(self.change_setting(change).await) })
    }

    fn alert<'a>(&'a self, answer: &'a AlertAnswer) -> PortFuture<'a, ()> {
        Box::pin(async move {
            let wda = self.wda(Verb::AnswerAlert)?;
            self.noted(wda.answer_alert(answer).await)
        })
    }

    fn close(&self) -> PortFuture<'_, ()> {
        Box::pin(async {
            if let Some(wda) = &self.backends.wda {
                wda.close().await;
            }
            Ok(())
        })
    }
}
