//! The port: what the engine asks of a device, whatever protocol the driver speaks.
//!
//! Architecture invariant: drivers translate. Waiting, retrying and settling never live behind these traits.
//!
//! What may not enter: what an element means, what an agent wants, words that name tools.

mod apps;
mod command;
mod crash;
mod error;
mod event;
mod info;
mod input;
mod log;
mod network;
mod picture;
mod setting;
mod spoken;

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;

use crate::screen::geometry::{Point, Rect};
use crate::screen::snapshot::{Platform, Screen, Snapshot};

pub use apps::{AppDetails, AppVersion, InstalledApp};
pub use command::{AlertAnswer, AppCommand, AppReport, Extra, FileCommand, NativeAction, OpenRequest};
pub use crash::{CrashKind, CrashReport, CrashSource, Frame, NOT_RESPONDING, THROWN_MAX, Thrown};
pub use error::{DeviceError, DeviceErrorKind, Dispatch};
pub use event::{DeviceEvent, Heard, Said, SaidKind};
pub use info::{Availability, Capabilities, DeviceInfo, Support};
pub use input::{Input, Key, Orientation};
pub use log::{LineCounts, LogBatch, LogEntry, LogLevel, LogRead, LogSource};
pub use network::{NetworkCommand, NetworkReport};
pub use picture::{Picture, PicturePrint, Pixels, SmallPicture};
pub use setting::{NightMode, Place, SettingChange, SettingReport};
pub use spoken::{SpokenItem, SpokenScreen};

/// A hash of the bytes of a device's answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RawAnswer(pub u64);

/// One reading of the screen.
#[derive(Debug, Clone, PartialEq)]
pub struct Capture {
    pub screen: Captured,
    /// For how long, up to the moment that the tree shows and since the reading began, the device saw that nothing changed.
    /// 0 if it does not tell.
    pub rested_ms: u64,
    /// What the device had told of when it began this reading, if it knows.
    pub told: Option<ToldBefore>,
}

/// What a device had told of before a moment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ToldBefore {
    /// Of the last thing, see [`Heard::number`].
    pub number: u64,
    /// How long ago the moment is, at the least.
    pub ago_ms: u64,
}

#[derive(Debug, Clone, PartialEq)]
pub enum Captured {
    /// The answer was the known one.
    Unchanged,
    New {
        raw: RawAnswer,
        snapshot: Snapshot,
    },
}

impl From<Captured> for Capture {
    /// Makes a reading of a device that tells nothing of rest.
    fn from(screen: Captured) -> Capture {
        Capture { screen, rested_ms: 0, told: None }
    }
}

pub type PortFuture<'a, T> = Pin<Box<dyn Future<Output = Result<T, DeviceError>> + Send + 'a>>;

/// A device that a source knows of, usable or not.
#[derive(Clone)]
pub struct Listed {
    pub platform: Platform,
    pub id: String,
    pub availability: Availability,
    /// What stands between the user and all that the device can do, and what mends it.
    pub missing: Option<String>,
    /// Stays the same object for as long as the device stays connected.
    pub device: Arc<dyn Device>,
}

/// Where devices come from. One that fails, or takes long, does so for its own devices only.
pub trait DeviceSource: Send + Sync {
    fn platform(&self) -> Platform;
    /// Lists all devices, usable or not, in a stable order.
    fn list(&self) -> PortFuture<'_, Vec<Listed>>;
    /// Looks for one device by its id and waits for no other.
    fn find<'a>(&'a self, id: &'a str) -> PortFuture<'a, Option<Listed>>;
    /// Says what stands between the user and a working device, each with what to do; nothing when all is well.
    fn health(&self) -> PortFuture<'_, SourceHealth>;
}

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SourceHealth {
    pub available: bool,
    pub version: Option<String>,
    pub issues: Vec<String>,
    /// What is worth knowing and stands in nobody's way.
    pub notes: Vec<String>,
}

/// One device. Methods with a default are verbs that not every driver has; `capabilities` says which it has.
pub trait Device: Send + Sync {
    fn info(&self) -> PortFuture<'_, DeviceInfo>;
    fn capabilities(&self) -> Capabilities;
    /// Tells whether the connection stood when it was last used, without asking the device.
    fn is_connected(&self) -> bool;
    /// Reads what is on the screen. An answer that is byte for byte the `known` one is not read again.
    fn snapshot(&self, known: Option<RawAnswer>) -> PortFuture<'_, Capture>;
    fn screen(&self) -> PortFuture<'_, Screen>;
    fn screenshot(&self) -> PortFuture<'_, Picture>;

    /// Takes a picture whose longest side is at most this long, and which the device itself has made small. Nothing where it
    /// cannot do that.
    fn small_screenshot(&self, _side_max: u32, _quality: u8) -> PortFuture<'_, Option<SmallPicture>> {
        Box::pin(async { Ok(None) })
    }

    /// Tells where the on-screen keyboard is, when one is shown and the device tells. Trees do not have it.
    fn keyboard(&self) -> PortFuture<'_, Option<Rect>>;
    /// True while a toast is shown. Its text may be in no tree (F14).
    fn shows_toast(&self) -> PortFuture<'_, bool>;
    /// What the device has told by itself after the event of this number, as far as it was heard. Asks the device nothing.
    fn heard(&self, _after: u64) -> Heard {
        Heard::default()
    }

    /// Waits until the device tells something after the event of this number. Never ends where nothing is told
    /// ([`Capabilities::events`]).
    fn next_heard(&self, _after: u64) -> PortFuture<'_, Heard> {
        Box::pin(std::future::pending())
    }

    /// Refuses a text that could not be typed. Asked before anything is touched (F82).
    fn check_text<'a>(&'a self, text: &'a str) -> PortFuture<'a, ()>;
    fn input(&self, input: Input) -> PortFuture<'_, ()>;

    /// Sends an input that must not begin later than this from now. Where a device cannot be told so, an input that is on its
    /// way when the time is up may still arrive.
    fn input_within(&self, input: Input, _within_ms: u64) -> PortFuture<'_, ()> {
        self.input(input)
    }

    fn app<'a>(&'a self, command: &'a AppCommand) -> PortFuture<'a, AppReport>;
    fn app_installed<'a>(&'a self, app: &'a str) -> PortFuture<'a, bool>;
    fn logs<'a>(&'a self, app: Option<&'a str>) -> PortFuture<'a, LogRead>;

    /// Reads the newest reports of apps that crashed or do not respond, oldest first.
    fn crashes(&self) -> PortFuture<'_, Vec<CrashReport>> {
        Box::pin(async { Err(DeviceError::not_supported("tell of crashes")) })
    }

    /// Hears of crashes as they happen, from now on.
    fn follow_crashes(&self) -> PortFuture<'_, Box<dyn CrashSource>> {
        Box::pin(async { Err(DeviceError::not_supported("tell of crashes")) })
    }

    /// Follows the log from now on, or from a time of the device's clock on.
    fn follow_log(&self, _since_ms: Option<u64>) -> PortFuture<'_, Box<dyn LogSource>> {
        Box::pin(async { Err(DeviceError::not_supported("have its log followed")) })
    }

    /// The processes of an app that run.
    fn app_pids<'a>(&'a self, _app: &'a str) -> PortFuture<'a, Vec<u32>> {
        Box::pin(async { Err(DeviceError::not_supported("tell an app's processes")) })
    }

    /// Lists the apps: those that somebody installed, or all with those of the system.
    fn apps(&self, _with_system: bool) -> PortFuture<'_, Vec<InstalledApp>> {
        Box::pin(async { Err(DeviceError::not_supported("list its apps")) })
    }

    fn app_details<'a>(&'a self, _app: &'a str) -> PortFuture<'a, AppDetails> {
        Box::pin(async { Err(DeviceError::not_supported("tell of its apps")) })
    }

    /// Changes a setting and reads it back. An error if the device says something else afterwards.
    fn change<'a>(&'a self, _change: &'a SettingChange) -> PortFuture<'a, SettingReport> {
        Box::pin(async { Err(DeviceError::not_supported("change its settings")) })
    }

    fn files<'a>(&'a self, _command: &'a FileCommand) -> PortFuture<'a, ()> {
        Box::pin(async { Err(DeviceError::not_supported("copy files")) })
    }

    fn network<'a>(&'a self, _command: &'a NetworkCommand) -> PortFuture<'a, NetworkReport> {
        Box::pin(async { Err(DeviceError::not_supported("be sent to a proxy")) })
    }

    fn alert<'a>(&'a self, _answer: &'a AlertAnswer) -> PortFuture<'a, ()> {
        Box::pin(async { Err(DeviceError::not_supported("answer dialogs of the system by name")) })
    }

    fn act_natively<'a>(&'a self, _action: &'a NativeAction) -> PortFuture<'a, ()> {
        Box::pin(async { Err(DeviceError::not_supported("act on elements other than by touch")) })
    }

    /// The same with a time after which it must not begin any more, where a device can be told so.
    fn act_natively_within<'a>(&'a self, action: &'a NativeAction, _within_ms: u64) -> PortFuture<'a, ()> {
        self.act_natively(action)
    }

    /// Asks what is at a point of the screen: a tree of that one element, or nothing. It proves what a touch would land on
    /// where trees tell neither what lies in front nor the keyboard.
    fn element_at(&self, _point: Point) -> PortFuture<'_, Option<Snapshot>> {
        Box::pin(async { Err(DeviceError::not_supported("tell what is at a point")) })
    }

    /// Lists what the device speaks of its screen. It takes seconds and moves the focus of accessibility, so it is asked
    /// for once, by somebody who wants to read it, where there is no tree.
    fn spoken(&self) -> PortFuture<'_, SpokenScreen> {
        Box::pin(async { Err(DeviceError::not_supported("speak of its screen")) })
    }

    /// Lets go of the connection. The next call makes a new one.
    fn close(&self) -> PortFuture<'_, ()>;
}
