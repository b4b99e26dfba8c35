//! The port: what the engine asks of a device, whatever protocol the driver speaks.
//!
//! Architecture invariant: drivers translate. Waiting, retrying and settling never live behind this trait.

use std::future::Future;
use std::pin::Pin;

use crate::error::Failure;
use crate::geometry::{Point, Size};
use crate::snapshot::{Screen, Snapshot};

pub type PortFuture<'a, T> = Pin<Box<dyn Future<Output = Result<T, Failure>> + Send + 'a>>;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Platform {
    Android,
    Ios,
}

impl Platform {
    pub fn as_str(self) -> &'static str {
        match self {
            Platform::Android => "android",
            Platform::Ios => "ios",
        }
    }
}

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
    /// Into whatever has the focus.
    Text(String),
    Back,
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

/// Which log lines to read.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct LogQuery {
    /// The newest lines, at most this many.
    pub lines_max: u32,
    /// Only lines of this app's process.
    pub app: Option<String>,
}

pub trait Device: Send + Sync {
    fn info(&self) -> PortFuture<'_, DeviceInfo>;
    fn snapshot(&self) -> PortFuture<'_, Snapshot>;
    fn screen(&self) -> PortFuture<'_, Screen>;
    fn screenshot(&self) -> PortFuture<'_, Pixels>;
    fn input(&self, input: Input) -> PortFuture<'_, ()>;
    fn app(&self, action: AppAction, app: &str) -> PortFuture<'_, ()>;
    fn app_installed(&self, app: &str) -> PortFuture<'_, bool>;
    /// Raw lines of the platform's log, oldest first.
    fn logs(&self, query: LogQuery) -> PortFuture<'_, Vec<String>>;
}
