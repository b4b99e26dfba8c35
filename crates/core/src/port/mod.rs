//! The port: what the engine asks of a device, whatever protocol the driver speaks.
//!
//! Architecture invariant: drivers translate. Waiting, retrying and settling never live behind this trait.

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;

use crate::action::failure::Failure;
use crate::screen::geometry::{Point, Rect, Size};
use crate::screen::snapshot::{Platform, Screen, Snapshot};

/// Stands for the bytes of a device's answer: equal only for equal bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RawAnswer(pub u64);

#[derive(Debug, Clone, PartialEq)]
pub enum Capture {
    /// The answer was the known one.
    Unchanged,
    New {
        raw: RawAnswer,
        snapshot: Snapshot,
    },
}

pub type PortFuture<'a, T> = Pin<Box<dyn Future<Output = Result<T, Failure>> + Send + 'a>>;

/// Facts that do not change while a connection lasts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DeviceInfo {
    pub platform: Platform,
    pub id: String,
    pub os_version: String,
    pub model: String,
    pub simulator: bool,
}

/// Whether a listed device can be used, and if not, why.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Availability {
    Ready,
    Unauthorized,
    Offline,
    /// The platform's own word for another state: recovery, sideload, no permissions, …
    Other(String),
}

impl Availability {
    pub fn as_str(&self) -> &str {
        match self {
            Availability::Ready => "device",
            Availability::Unauthorized => "unauthorized",
            Availability::Offline => "offline",
            Availability::Other(state) => state,
        }
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Input {
    Tap(Point),
    Swipe {
        from: Point,
        to: Point,
        duration_ms: u32,
    },
    LongPress {
        point: Point,
        duration_ms: u32,
    },
    DoubleTap(Point),
    /// Picks up what is under `from` by resting there for `hold_ms`, and lets it go at `to`. Without a rest it is a
    /// swipe.
    Drag {
        from: Point,
        to: Point,
        hold_ms: u32,
        duration_ms: u32,
    },
    /// Two fingers, each on its own side of `center`. Their distance goes from one length to the other; a driver may
    /// make both longer or shorter by the same factor, to be a pinch on its platform and to stay inside the target.
    Pinch {
        center: Point,
        within: Option<Rect>,
        from_px: u32,
        to_px: u32,
        duration_ms: u32,
    },
    /// Into whatever has the focus.
    Text(String),
    /// The last characters of whatever has the focus, from its end.
    Erase {
        characters: u32,
    },
    Back,
    Key(Key),
    /// Only when it is shown: nothing else may react.
    HideKeyboard,
    Orientation(Orientation),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Orientation {
    Portrait,
    Landscape,
    /// As the device is held.
    Auto,
}

/// A key that has a meaning of its own. Characters are typed as text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Key {
    Home,
    Back,
    Recents,
    Enter,
    /// Before the cursor.
    Delete,
    ForwardDelete,
    Tab,
    Space,
    Escape,
    Menu,
    Search,
    Power,
    Wakeup,
    Sleep,
    VolumeUp,
    VolumeDown,
    VolumeMute,
    DpadUp,
    DpadDown,
    DpadLeft,
    DpadRight,
    DpadCenter,
    PageUp,
    PageDown,
    MoveHome,
    MoveEnd,
    MediaPlayPause,
    Camera,
    /// By the number that Android gives it.
    Android(u16),
}

impl Key {
    /// Every key with its name, but for those that only have a number.
    pub const NAMED: [(&'static str, Key); 28] = [
        ("home", Key::Home),
        ("back", Key::Back),
        ("recents", Key::Recents),
        ("enter", Key::Enter),
        ("delete", Key::Delete),
        ("forward_delete", Key::ForwardDelete),
        ("tab", Key::Tab),
        ("space", Key::Space),
        ("escape", Key::Escape),
        ("menu", Key::Menu),
        ("search", Key::Search),
        ("power", Key::Power),
        ("wakeup", Key::Wakeup),
        ("sleep", Key::Sleep),
        ("volume_up", Key::VolumeUp),
        ("volume_down", Key::VolumeDown),
        ("volume_mute", Key::VolumeMute),
        ("dpad_up", Key::DpadUp),
        ("dpad_down", Key::DpadDown),
        ("dpad_left", Key::DpadLeft),
        ("dpad_right", Key::DpadRight),
        ("dpad_center", Key::DpadCenter),
        ("page_up", Key::PageUp),
        ("page_down", Key::PageDown),
        ("move_home", Key::MoveHome),
        ("move_end", Key::MoveEnd),
        ("media_play_pause", Key::MediaPlayPause),
        ("camera", Key::Camera),
    ];
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AppAction {
    Start,
    Terminate,
    ClearData,
}

/// Eight bits each of red, green, blue and alpha, row by row.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pixels {
    pub size: Size,
    pub rgba: Vec<u8>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum LogLevel {
    Verbose,
    Debug,
    Info,
    Warn,
    Error,
    Fatal,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LogEntry {
    /// By the device's clock, in milliseconds since 1970; `None` where the device gives no date we can trust.
    pub time_ms: Option<u64>,
    pub pid: Option<u32>,
    pub level: LogLevel,
    pub tag: String,
    pub message: String,
}

/// A piece of the platform's log, oldest first.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct LogRead {
    pub entries: Vec<LogEntry>,
    /// What the device's clock said when the log was read.
    pub now_ms: Option<u64>,
    /// The processes of the app that was asked about; empty when it does not run.
    pub app_pids: Vec<u32>,
    /// Older entries exist that were not read.
    pub more: bool,
}

/// What the platform told about an app command.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct AppReport {
    /// From the request to the first frame, as the platform measured it.
    pub launch_time_ms: Option<u64>,
}

/// A device that a source knows of, usable or not.
#[derive(Clone)]
pub struct Listed {
    pub platform: Platform,
    pub id: String,
    pub availability: Availability,
    /// Stays the same object for as long as the device stays connected.
    pub device: Arc<dyn Device>,
}

/// Where devices come from.
pub trait DeviceSource: Send + Sync {
    fn platform(&self) -> Platform;
    /// Usable or not, in a stable order.
    fn list(&self) -> PortFuture<'_, Vec<Listed>>;
    /// What stands between the user and a working device, each with what to do; empty when all is well.
    fn health(&self) -> PortFuture<'_, SourceHealth>;
}

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SourceHealth {
    pub available: bool,
    pub version: Option<String>,
    pub issues: Vec<String>,
}

pub trait Device: Send + Sync {
    fn info(&self) -> PortFuture<'_, DeviceInfo>;
    /// What is on the screen. An answer that is byte for byte the `known` one is not read again.
    fn snapshot(&self, known: Option<RawAnswer>) -> PortFuture<'_, Capture>;
    fn screen(&self) -> PortFuture<'_, Screen>;
    fn screenshot(&self) -> PortFuture<'_, Pixels>;
    /// What an on-screen keyboard takes of the screen, when it is shown and the device tells. Trees do not have it.
    fn keyboard(&self) -> PortFuture<'_, Option<Rect>>;
    fn input(&self, input: Input) -> PortFuture<'_, ()>;
    fn app<'a>(&'a self, action: AppAction, app: &'a str) -> PortFuture<'a, AppReport>;
    fn app_installed<'a>(&'a self, app: &'a str) -> PortFuture<'a, bool>;
    fn logs<'a>(&'a self, app: Option<&'a str>) -> PortFuture<'a, LogRead>;
}
