//! Error codes that agents and programs match on.

/// The code of a failure. The list is closed, because programs match on it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ErrorCode {
    InvalidArgument,
    PlatformNotSupported,
    NoDevice,
    DeviceNotFound,
    DeviceUnauthorized,
    DeviceOffline,
    AmbiguousDevice,
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
    /// Another caller works with the device.
    DeviceLeased,
    /// Whoever runs this program forbids it.
    PolicyDenied,
    /// A person had to agree and did not.
    NotConfirmed,
    BuildFailed,
    /// A program that is needed on this machine is not there.
    ToolMissing,
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
            ErrorCode::DeviceLeased => "DEVICE_LEASED",
            ErrorCode::PolicyDenied => "POLICY_DENIED",
            ErrorCode::NotConfirmed => "NOT_CONFIRMED",
            ErrorCode::BuildFailed => "BUILD_FAILED",
            ErrorCode::ToolMissing => "TOOL_MISSING",
            ErrorCode::InternalError => "INTERNAL_ERROR",
        }
    }

    /// True if the same call may succeed later although nothing else was changed.
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
                | ErrorCode::DeviceLeased
        )
    }
}
