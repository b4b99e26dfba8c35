//! What a driver says when something did not work. Words for agents are made elsewhere.

use std::fmt;

use crate::screen::snapshot::Platform;

/// How far a command with side effects got before it failed.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub enum Dispatch {
    /// It never left this machine.
    #[default]
    NotSent,
    /// The device answered that it did not do it.
    Refused,
    /// The device did it, or a part of it.
    Taken,
    /// It was sent and no answer came back: only a look at the screen can tell.
    Unknown,
}

impl Dispatch {
    pub fn as_str(self) -> &'static str {
        match self {
            Dispatch::NotSent => "not_sent",
            Dispatch::Refused => "refused",
            Dispatch::Taken => "taken",
            Dispatch::Unknown => "unknown",
        }
    }

    /// True if sending the same again cannot do anything twice (RC-04).
    pub fn is_safe_to_repeat(self) -> bool {
        matches!(self, Dispatch::NotSent | Dispatch::Refused)
    }
}

/// Why a driver could not do what was asked. A closed list, so that every driver means the same by one word.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum DeviceErrorKind {
    /// No connection could be made.
    Offline,
    /// It is not connected any more.
    Gone,
    Unauthorized,
    /// The connection broke while an answer was awaited.
    ConnectionLost,
    /// The device broke its protocol.
    Protocol,
    /// The device understood and said no.
    Rejected,
    /// It could not begin in time, so it was not done: the screen that it was meant for may have changed.
    TooLate,
    /// The device's daemon does not offer the service.
    ServiceMissing,
    /// The device, or this way to reach it, cannot do it at all.
    NotSupported,
    /// Nothing tells whether a keyboard is shown.
    KeyboardUnknown,
    AppNotInstalled,
    /// The app has nothing that a launcher could start.
    AppNotLaunchable,
    /// What was asked is malformed for this platform.
    InvalidRequest,
    /// The screen never came to rest, so the platform gave no tree.
    NotIdle,
    /// No window is in front, or the tree was empty.
    NoWindow,
    /// Another program holds the only connection to the accessibility service.
    TreeBusy,
    TreeUnavailable,
    ScreenshotUnavailable,
    TextNotTypeable,
    /// A file or port of this machine could not be used.
    Local,
}

/// A driver's error: the kind for programs, the detail for people, and what became of the command.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DeviceError {
    pub kind: DeviceErrorKind,
    pub detail: String,
    pub dispatch: Dispatch,
    /// What mends it may differ between platforms. Drivers of which there is only one need not say.
    pub platform: Option<Platform>,
}

impl DeviceError {
    /// An error of a command that was not sent, or that has no effect.
    pub fn new(kind: DeviceErrorKind, detail: impl Into<String>) -> DeviceError {
        DeviceError { kind, detail: detail.into(), dispatch: Dispatch::NotSent, platform: None }
    }

    #[must_use]
    pub fn with_dispatch(self, dispatch: Dispatch) -> DeviceError {
        DeviceError { dispatch, ..self }
    }

    #[must_use]
    pub fn on(self, platform: Platform) -> DeviceError {
        DeviceError { platform: Some(platform), ..self }
    }

    /// The default answer of verbs that a driver does not have.
    pub fn not_supported(what: &str) -> DeviceError {
        DeviceError::new(DeviceErrorKind::NotSupported, format!("this device cannot {what}"))
    }
}

impl fmt::Display for DeviceError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.detail)
    }
}

impl std::error::Error for DeviceError {}
