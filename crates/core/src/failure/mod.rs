//! Why something did not work, as data: a cause for programs, a sentence for people, what became of the command.
//!
//! What may not enter: advice. What to do next depends on the tools at hand, so the server adds it by the cause.

mod code;

use std::fmt;

use crate::port::{DeviceError, DeviceErrorKind, Dispatch};
use crate::screen::snapshot::Platform;

pub use code::ErrorCode;

/// What went wrong, in more detail than the code that agents match on. Every cause has one code.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Cause {
    /// A driver said so.
    Device(DeviceErrorKind),

    // Which device is meant.
    PlatformUnknown,
    NoDevice,
    DeviceNotFound,
    DeviceUnauthorized,
    DeviceOffline,
    AmbiguousDevice,

    // Whether the caller may.
    /// Another caller works with the device.
    Leased,
    Forbidden,
    /// A person had to agree and did not.
    NotConfirmed,

    // The call itself.
    InvalidArgument,
    Timeout,
    Cancelled,
    /// Time was up before the screen could be read.
    Unread,
    /// A defect of this program.
    Defect,

    // Which element is meant.
    StaleElement,
    StaleRevision,
    UnknownRevision,
    NotFound,
    /// Nothing matches, and these candidates are near.
    NotFoundButNear,
    /// Nothing matches, and the app is behind a dialog of the system.
    BehindSystemDialog,
    /// Nothing matches, because the tree has nothing to read or tap: the app draws the screen itself.
    OnlyDrawn,
    /// Nothing matches in the part of the tree that could be read.
    TreeDamaged,
    /// Nothing matches in what the way of reading tells.
    Untold,
    /// Nothing matches, because the phone is locked.
    Locked,
    AmbiguousTarget,

    // Whether it can be acted on.
    OutOfSight,
    Disabled,
    Covered,
    UnderKeyboard,
    Doubtful,
    /// A text with nothing at its place that reacts to a tap.
    OnlyShows,
    Moving,

    // Typing.
    NotATextField,
    FocusNotTaken,
    NothingFocused,
    NothingToClear,
    TooMuchToClear,
    FieldDiffers,

    // Adjusting.
    NotAdjustable,
    AmbiguousControl,
    NoValueShown,
    OutsideRange,
    ControlOutOfSight,
    ControlDisabled,
    ControlCovered,
    ButtonOutOfReach,
    ValueGone,
    ValueUnstable,
    BetweenSteps,
    EndOfTrack,
    NoReaction,
    TouchesExhausted,

    // Scrolling.
    NothingScrolls,
    DoesNotScroll,
    ContainerNotFound,
    AmbiguousContainer,
    NoRoomToScroll,
    ScrollsExhausted,
    EndReached,
    ScreenLeft,

    // Building on this machine.
    BuildFailed,
    /// A program that the build needs is not there.
    ToolMissing,
    /// The build ended well, and what it made cannot be installed or is not one file.
    NoArtifact,

    // Verifying.
    Contradicted,
    StateMismatch,
    Unverified,
}

impl Cause {
    pub fn code(self) -> ErrorCode {
        match self {
            Cause::Device(kind) => device_code(kind),
            Cause::PlatformUnknown => ErrorCode::PlatformNotSupported,
            Cause::NoDevice => ErrorCode::NoDevice,
            Cause::DeviceNotFound => ErrorCode::DeviceNotFound,
            Cause::DeviceUnauthorized => ErrorCode::DeviceUnauthorized,
            Cause::DeviceOffline => ErrorCode::DeviceOffline,
            Cause::AmbiguousDevice => ErrorCode::AmbiguousDevice,
            Cause::Leased => ErrorCode::DeviceLeased,
            Cause::Forbidden => ErrorCode::PolicyDenied,
            Cause::NotConfirmed => ErrorCode::NotConfirmed,
            Cause::InvalidArgument | Cause::UnknownRevision | Cause::OutsideRange => {
                ErrorCode::InvalidArgument
            }
            Cause::Timeout | Cause::Unread => ErrorCode::Timeout,
            Cause::Cancelled => ErrorCode::Cancelled,
            Cause::Defect => ErrorCode::InternalError,
            Cause::StaleElement | Cause::StaleRevision => ErrorCode::StaleReference,
            Cause::NotFound
            | Cause::NotFoundButNear
            | Cause::BehindSystemDialog
            | Cause::OnlyDrawn
            | Cause::Locked
            | Cause::NothingToClear
            | Cause::NothingScrolls
            | Cause::ContainerNotFound
            | Cause::EndReached
            | Cause::ScrollsExhausted => ErrorCode::ElementNotFound,
            Cause::TreeDamaged | Cause::Untold => ErrorCode::UiTreeUnavailable,
            Cause::AmbiguousTarget | Cause::AmbiguousControl | Cause::AmbiguousContainer => {
                ErrorCode::AmbiguousTarget
            }
            Cause::OutOfSight
            | Cause::Disabled
            | Cause::Covered
            | Cause::UnderKeyboard
            | Cause::Doubtful
            | Cause::OnlyShows
            | Cause::Moving
            | Cause::NotATextField
            | Cause::NotAdjustable
            | Cause::NoValueShown
            | Cause::ControlOutOfSight
            | Cause::ControlDisabled
            | Cause::ControlCovered
            | Cause::ButtonOutOfReach
            | Cause::NoReaction
            | Cause::DoesNotScroll
            | Cause::NoRoomToScroll => ErrorCode::ElementNotInteractable,
            Cause::FocusNotTaken | Cause::NothingFocused | Cause::TooMuchToClear => ErrorCode::ActionRejected,
            Cause::ValueUnstable | Cause::BetweenSteps | Cause::EndOfTrack | Cause::TouchesExhausted => {
                ErrorCode::ControlConvergenceFailed
            }
            Cause::BuildFailed | Cause::NoArtifact => ErrorCode::BuildFailed,
            Cause::ToolMissing => ErrorCode::ToolMissing,
            Cause::StateMismatch => ErrorCode::ExpectStateMismatch,
            Cause::FieldDiffers
            | Cause::ValueGone
            | Cause::ScreenLeft
            | Cause::Contradicted
            | Cause::Unverified => ErrorCode::VerificationFailed,
        }
    }
}

fn device_code(kind: DeviceErrorKind) -> ErrorCode {
    match kind {
        DeviceErrorKind::Offline => ErrorCode::DeviceOffline,
        DeviceErrorKind::Gone => ErrorCode::DeviceNotFound,
        DeviceErrorKind::Unauthorized => ErrorCode::DeviceUnauthorized,
        DeviceErrorKind::ConnectionLost => ErrorCode::ConnectionLost,
        DeviceErrorKind::Protocol => ErrorCode::ProtocolError,
        DeviceErrorKind::Rejected
        | DeviceErrorKind::ServiceMissing
        | DeviceErrorKind::KeyboardUnknown
        | DeviceErrorKind::AppNotLaunchable => ErrorCode::ActionRejected,
        DeviceErrorKind::TooLate => ErrorCode::Timeout,
        DeviceErrorKind::NotSupported => ErrorCode::PlatformNotSupported,
        DeviceErrorKind::AppNotInstalled => ErrorCode::AppNotInstalled,
        DeviceErrorKind::InvalidRequest => ErrorCode::InvalidArgument,
        DeviceErrorKind::NotIdle => ErrorCode::UiNotIdle,
        DeviceErrorKind::NoWindow => ErrorCode::NoRootWindow,
        DeviceErrorKind::TreeBusy | DeviceErrorKind::TreeUnavailable => ErrorCode::UiTreeUnavailable,
        DeviceErrorKind::ScreenshotUnavailable => ErrorCode::ScreenshotUnavailable,
        DeviceErrorKind::TextNotTypeable => ErrorCode::TextNotTypeable,
        DeviceErrorKind::Local => ErrorCode::InternalError,
    }
}

/// What happened, in a form that an agent can act on once the server has added its advice.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Failure {
    pub cause: Cause,
    /// What happened, in one sentence without names of tools.
    pub message: String,
    /// What could have been meant: device ids, element descriptions.
    pub candidates: Vec<String>,
    pub dispatch: Dispatch,
    /// Where advice depends on it.
    pub platform: Option<Platform>,
}

impl Failure {
    pub fn new(cause: Cause, message: impl Into<String>) -> Failure {
        Failure {
            cause,
            message: message.into(),
            candidates: Vec::new(),
            dispatch: Dispatch::NotSent,
            platform: None,
        }
    }

    #[must_use]
    pub fn with_candidates(self, candidates: Vec<String>) -> Failure {
        Failure { candidates, ..self }
    }

    #[must_use]
    pub fn with_dispatch(self, dispatch: Dispatch) -> Failure {
        Failure { dispatch, ..self }
    }

    #[must_use]
    pub fn on(self, platform: Platform) -> Failure {
        Failure { platform: Some(platform), ..self }
    }

    pub fn code(&self) -> ErrorCode {
        self.cause.code()
    }

    /// A command that may have had an effect must never be repeated blindly (RC-04).
    pub fn retryable(&self) -> bool {
        self.code().retryable() && self.dispatch.is_safe_to_repeat()
    }

    pub fn is(&self, kind: DeviceErrorKind) -> bool {
        self.cause == Cause::Device(kind)
    }
}

impl From<DeviceError> for Failure {
    fn from(error: DeviceError) -> Failure {
        let failure = Failure::new(Cause::Device(error.kind), error.detail).with_dispatch(error.dispatch);
        Failure { platform: error.platform, ..failure }
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.code().as_str(), self.message)
    }
}

impl std::error::Error for Failure {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_cannot_happen_twice_is_retryable() {
        // RC-04
        let lost = Failure::new(Cause::Device(DeviceErrorKind::ConnectionLost), "m");
        for (dispatch, retryable) in [
            (Dispatch::NotSent, true),
            (Dispatch::Refused, true),
            (Dispatch::Taken, false),
            (Dispatch::Unknown, false),
        ] {
            assert_eq!(lost.clone().with_dispatch(dispatch).retryable(), retryable, "{dispatch:?}");
        }
    }
}
