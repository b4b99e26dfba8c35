//! Why something did not work, in a form that an agent can act on.

use std::borrow::Cow;
use std::fmt;

use crate::action::recover::Recovery;

/// Closed list: the code is what programs match on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ErrorCode {
    InvalidArgument,
    PlatformNotSupported,
    NoDevice,
    DeviceNotFound,
    DeviceUnauthorized,
    DeviceOffline,
    AmbiguousDevice,
    AdbUnavailable,
    ConnectionLost,
    ProtocolError,
    Timeout,
    Cancelled,
    AppNotInstalled,
    ActionRejected,
    UiNotIdle,
    NoRootWindow,
    UiTreeUnavailable,
    ScreenshotUnavailable,
    TextNotTypeable,
    VerificationFailed,
    ExpectStateMismatch,
    StaleReference,
    ElementNotFound,
    AmbiguousTarget,
    ElementNotInteractable,
    /// Scrolling moved nothing: the end was reached.
    NavigationNoChange,
    ControlConvergenceFailed,
    InternalError,
}

impl ErrorCode {
    pub fn as_str(self) -> &'static str {
        match self {
            ErrorCode::InvalidArgument => "INVALID_ARGUMENT",
            ErrorCode::PlatformNotSupported => "PLATFORM_NOT_SUPPORTED",
            ErrorCode::NoDevice => "NO_DEVICE",
            ErrorCode::DeviceNotFound => "DEVICE_NOT_FOUND",
            ErrorCode::DeviceUnauthorized => "DEVICE_UNAUTHORIZED",
            ErrorCode::DeviceOffline => "DEVICE_OFFLINE",
            ErrorCode::AmbiguousDevice => "AMBIGUOUS_DEVICE",
            ErrorCode::AdbUnavailable => "ADB_UNAVAILABLE",
            ErrorCode::ConnectionLost => "CONNECTION_LOST",
            ErrorCode::ProtocolError => "PROTOCOL_ERROR",
            ErrorCode::Timeout => "TIMEOUT",
            ErrorCode::Cancelled => "CANCELLED",
            ErrorCode::AppNotInstalled => "APP_NOT_INSTALLED",
            ErrorCode::ActionRejected => "ACTION_REJECTED",
            ErrorCode::UiNotIdle => "UI_NOT_IDLE",
            ErrorCode::NoRootWindow => "NO_ROOT_WINDOW",
            ErrorCode::UiTreeUnavailable => "UI_TREE_UNAVAILABLE",
            ErrorCode::ScreenshotUnavailable => "SCREENSHOT_UNAVAILABLE",
            ErrorCode::TextNotTypeable => "TEXT_NOT_TYPEABLE",
            ErrorCode::StaleReference => "STALE_REFERENCE",
            ErrorCode::ElementNotFound => "ELEMENT_NOT_FOUND",
            ErrorCode::AmbiguousTarget => "AMBIGUOUS_TARGET",
            ErrorCode::ElementNotInteractable => "ELEMENT_NOT_INTERACTABLE",
            ErrorCode::VerificationFailed => "VERIFICATION_FAILED",
            ErrorCode::ExpectStateMismatch => "EXPECT_STATE_MISMATCH",
            ErrorCode::NavigationNoChange => "NAVIGATION_NO_CHANGE",
            ErrorCode::ControlConvergenceFailed => "CONTROL_CONVERGENCE_FAILED",
            ErrorCode::InternalError => "INTERNAL_ERROR",
        }
    }

    /// Whether the same call may succeed later without anything else being changed first.
    pub fn retryable(self) -> bool {
        matches!(
            self,
            ErrorCode::DeviceOffline
                | ErrorCode::ConnectionLost
                | ErrorCode::Timeout
                | ErrorCode::UiNotIdle
                | ErrorCode::NoRootWindow
                | ErrorCode::UiTreeUnavailable
                | ErrorCode::ScreenshotUnavailable
                | ErrorCode::ElementNotFound
        )
    }
}

/// How far a command with side effects got before it failed.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Dispatch {
    /// The device did not act on it, so it may be sent again.
    #[default]
    NotApplied,
    /// It left this machine and no answer came back: only a look at the screen can tell.
    Unknown,
}

/// What happened (code, message), and what to do next (hint, candidates).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Failure {
    pub code: ErrorCode,
    pub message: String,
    pub hint: Cow<'static, str>,
    /// What could have been meant: device ids, element descriptions.
    pub candidates: Vec<String>,
    pub dispatch: Dispatch,
    /// What was tried before this was said.
    pub recovery: Option<Box<Recovery>>,
    /// Of the action that it ended, where one was begun.
    pub action_id: Option<Box<str>>,
}

impl Failure {
    pub fn new(code: ErrorCode, message: impl Into<String>, hint: impl Into<Cow<'static, str>>) -> Failure {
        Failure {
            code,
            message: message.into(),
            hint: hint.into(),
            candidates: Vec::new(),
            dispatch: Dispatch::NotApplied,
            recovery: None,
            action_id: None,
        }
    }

    pub fn with_candidates(mut self, candidates: Vec<String>) -> Failure {
        self.candidates = candidates;
        self
    }

    /// A command whose fate is unknown must never be repeated blindly (RC-04).
    pub fn with_unknown_dispatch(mut self) -> Failure {
        self.dispatch = Dispatch::Unknown;
        self
    }

    pub fn retryable(&self) -> bool {
        self.code.retryable() && self.dispatch == Dispatch::NotApplied
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {} ({})", self.code.as_str(), self.message, self.hint)
    }
}

impl std::error::Error for Failure {}
