//! The port: what the engine asks of a device, whatever protocol the driver speaks.
//!
//! Architecture invariant: drivers translate. Waiting, retrying and settling never live behind these traits.
//!
//! What may not enter: what an element means, what an agent wants, words that name tools.

mod command;
mod crash;
mod error;
mod event;
mod info;
mod input;
mod log;
mod network;
mod picture;

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;

use crate::screen::geometry::Rect;
use crate::screen::snapshot::{Platform, Screen, Snapshot};

pub use command::{AlertAnswer, AppCommand, AppReport, FileCommand, NativeAction};
pub use crash::{CrashReport, NOT_RESPONDING};
pub use error::{DeviceError, DeviceErrorKind, Dispatch};
pub use event::{DeviceEvent, EventSource};
pub use info::{Availability, Capabilities, DeviceInfo, Support};
pub use input::{Input, Key, Orientation};
pub use log::{LogEntry, LogLevel, LogRead};
pub use network::{NetworkCommand, NetworkReport};
pub use picture::{Picture, PicturePrint, Pixels};

/// A hash of the bytes of a device's answer.
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

pub type PortFuture<'a, T> = Pin<Box<dyn Future<Output = Result<T, DeviceError>> + Send + 'a>>;

/// A device that a source knows of, usable or not.
#[derive(Clone)]
pub struct Listed {
    pub platform: Platform,
    pub id: String,
    pub availability: Availability,
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
    /// Tells where the on-screen keyboard is, when one is shown and the device tells. Trees do not have it.
    fn keyboard(&self) -> PortFuture<'_, Option<Rect>>;
    /// True while a toast is shown. Its text may be in no tree (F14).
    fn shows_toast(&self) -> PortFuture<'_, bool>;
    /// Refuses a text that could not be typed. Asked before anything is touched (F82).
    fn check_text<'a>(&'a self, text: &'a str) -> PortFuture<'a, ()>;
    fn input(&self, input: Input) -> PortFuture<'_, ()>;
    fn app<'a>(&'a self, command: &'a AppCommand) -> PortFuture<'a, AppReport>;
    fn app_installed<'a>(&'a self, app: &'a str) -> PortFuture<'a, bool>;
    fn logs<'a>(&'a self, app: Option<&'a str>) -> PortFuture<'a, LogRead>;

    /// Reads the newest reports of apps that crashed or do not respond, oldest first.
    fn crashes(&self) -> PortFuture<'_, Vec<CrashReport>> {
        Box::pin(async { Err(DeviceError::not_supported("tell of crashes")) })
    }

    /// Follows what the device tells by itself, from now on.
    fn events(&self) -> PortFuture<'_, Box<dyn EventSource>> {
        Box::pin(async { Err(DeviceError::not_supported("tell of what happens on it")) })
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

    /// Lets go of the connection. The next call makes a new one.
    fn close(&self) -> PortFuture<'_, ()>;
}
