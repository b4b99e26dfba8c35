//! Why a call was not done, with what to do next. The only place that turns causes into advice.

use std::borrow::Cow;

use mdm_core::failure::{Cause, Failure};
use mdm_core::port::DeviceErrorKind;
use mdm_core::screen::snapshot::Platform;

use crate::tools::install_hint;

/// A failure and the advice that goes with it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Refusal {
    pub failure: Failure,
    pub hint: Hint,
}

/// What to do next.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Hint {
    /// What this cause asks for. `listed`: candidates stand below the message.
    ForCause { cause: Cause, listed: bool, platform: Option<Platform> },
    /// Something that only one argument needs to say.
    Words(Cow<'static, str>),
}

impl Refusal {
    /// Refuses an argument; nothing was done.
    pub fn argument(message: impl Into<String>, hint: impl Into<Cow<'static, str>>) -> Refusal {
        let failure = Failure::new(Cause::InvalidArgument, message);
        Refusal { failure, hint: Hint::Words(hint.into()) }
    }

    /// A failure with advice of its own.
    pub fn with_words(failure: Failure, hint: impl Into<Cow<'static, str>>) -> Refusal {
        Refusal { failure, hint: Hint::Words(hint.into()) }
    }

    pub fn defect(message: impl Into<String>) -> Refusal {
        Failure::new(Cause::Defect, message).into()
    }
}

impl From<Failure> for Refusal {
    fn from(failure: Failure) -> Refusal {
        let installing =
            failure.is(DeviceErrorKind::Rejected).then(|| install_hint(&failure.message)).flatten();
        let hint = match installing {
            Some(words) => Hint::Words(words.into()),
            None => Hint::ForCause {
                cause: failure.cause,
                listed: !failure.candidates.is_empty(),
                platform: failure.platform,
            },
        };
        Refusal { failure, hint }
    }
}

impl std::fmt::Display for Refusal {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} ({})", self.failure, self.hint.text())
    }
}

impl Hint {
    pub fn text(&self) -> &str {
        let (cause, listed, platform) = match self {
            Hint::Words(words) => return words,
            Hint::ForCause { cause, listed, platform } => (*cause, *listed, *platform),
        };
        let of_platform =
            platform.filter(|platform| *platform == Platform::Ios).and_then(|_| for_iphone(cause));
        of_platform.unwrap_or_else(|| match cause {
            Cause::Device(kind) => for_device(kind),
            cause => {
                let below = if listed { for_listed(cause) } else { None };
                below.or_else(|| for_call(cause)).unwrap_or_else(|| for_element(cause))
            }
        })
    }
}

/// Advice about what stands below the message. Where nothing does, other advice is given (F46).
fn for_listed(cause: Cause) -> Option<&'static str> {
    Some(match cause {
        Cause::DeviceNotFound => "use one of these ids, or leave device_id out when there is only one",
        Cause::StaleElement => "one of these may be meant; use its id after looking with get_ui_tree",
        Cause::NotFoundButNear | Cause::TreeDamaged => "one of these may be meant; use its id",
        Cause::EndReached => {
            "look in one of these with inside; if this began in the middle, the other way with direction"
        }
        Cause::NothingScrolls => {
            "nothing was touched; these scroll the other way: use direction left or right, or up or down"
        }
        Cause::NoRoomToScroll => "name one of these with inside, or close what covers it",
        _ => return None,
    })
}

/// Advice that differs on an iPhone: it has other questions to accept and other programs that reach it.
fn for_iphone(cause: Cause) -> Option<&'static str> {
    Some(match cause {
        Cause::DeviceUnauthorized | Cause::Device(DeviceErrorKind::Unauthorized) => {
            "unlock the iPhone and tap Trust on it, plugged in; then call again. get_system_status says which of both it needs"
        }
        Cause::DeviceOffline | Cause::Device(DeviceErrorKind::Offline) => {
            "get_system_status says which program has to be started for it; simulators also have to be booted"
        }
        Cause::Device(DeviceErrorKind::NotSupported) => {
            "nothing was sent; start the program that the message names, then call list_devices, which finds it"
        }
        Cause::Device(DeviceErrorKind::TextNotTypeable) => {
            "type only ASCII here; the message names what takes other text"
        }
        Cause::Device(DeviceErrorKind::NotIdle) => {
            "WebDriverAgent waits for an app that never rests: capture_screenshot shows it; what was sent may still come"
        }
        Cause::Device(DeviceErrorKind::TreeUnavailable) => {
            "try again; if it stays, capture_screenshot still works and tap takes x and y"
        }
        _ => return None,
    })
}

fn for_device(kind: DeviceErrorKind) -> &'static str {
    match kind {
        DeviceErrorKind::Offline => "check the cable or the address; list_devices shows what is connected",
        DeviceErrorKind::Gone => "it was unplugged; list_devices shows what is connected",
        DeviceErrorKind::Unauthorized => "accept the computer's key on the device's screen, then try again",
        DeviceErrorKind::ConnectionLost => "look at the screen before repeating anything: get_ui_tree",
        DeviceErrorKind::Protocol => {
            "the device broke its protocol; look with get_ui_tree, reconnect it if that fails"
        }
        DeviceErrorKind::Rejected => "read the message: the command arrived and the device said no",
        DeviceErrorKind::TooLate => {
            "nothing was done: the device was stuck; look at the screen, then call again"
        }
        DeviceErrorKind::ServiceMissing => "the device does not offer this service",
        DeviceErrorKind::NotSupported => {
            "nothing was sent; bring what the message names and call list_devices, or reach the same with other actions"
        }
        DeviceErrorKind::KeyboardUnknown => {
            "nothing was sent; press_back closes a keyboard too, but leaves the screen when there is none"
        }
        DeviceErrorKind::AppNotInstalled => "check the app id, or install the app first",
        DeviceErrorKind::AppNotLaunchable => {
            "check the app id: it may be a service, a library or a test package"
        }
        DeviceErrorKind::InvalidRequest => "mend what the message names and call again; nothing was done",
        DeviceErrorKind::NotIdle => {
            "something animates without end, so no tree can be read: capture_screenshot shows it, and tap takes x and y"
        }
        DeviceErrorKind::NoWindow => "try again in a moment; if it stays, capture_screenshot shows why",
        DeviceErrorKind::TreeBusy => {
            "close the other tool (Appium, uiautomator2, Maestro, a running test) and try again"
        }
        DeviceErrorKind::TreeUnavailable => "try again; if it stays, capture_screenshot still works",
        DeviceErrorKind::ScreenshotUnavailable => {
            "try again; a screen that is off or protected cannot be captured"
        }
        DeviceErrorKind::TextNotTypeable => {
            "type only ASCII here, or install a keyboard that takes text from adb"
        }
        DeviceErrorKind::Local => "check files and ports on this machine",
    }
}

/// Advice about the device and the call itself.
fn for_call(cause: Cause) -> Option<&'static str> {
    Some(match cause {
        Cause::PlatformUnknown => "leave platform out; list_devices shows what is connected",
        Cause::NoDevice => "connect a device or start an emulator; get_system_status names what is missing",
        Cause::DeviceNotFound => "no device is connected; get_system_status names what is missing",
        Cause::DeviceUnauthorized => "unlock the device and accept the debugging dialog, then call again",
        Cause::DeviceOffline => "reconnect it and wait until list_devices shows it as ready",
        Cause::AmbiguousDevice => "name one of these in device_id",
        Cause::Leased => "nothing was done; use another device or wait",
        Cause::Forbidden => "nothing was done; whoever runs this server has to allow it",
        Cause::NotConfirmed => "nothing was done; ask the user before you call again",
        Cause::InvalidArgument => "mend the named argument and call again; nothing was done",
        Cause::Timeout => "the device is slow or stuck; get_system_status tells whether it still answers",
        Cause::Cancelled => "call again when needed",
        Cause::Unread => "read it with get_ui_tree; nothing needs to be done again for that",
        Cause::Defect => "this is a defect of the server, please report it; other calls still work",
        Cause::Contradicted | Cause::StateMismatch | Cause::Unverified => {
            "look at the screen with get_ui_tree before acting again"
        }
        _ => return None,
    })
}

/// Advice about the element that was meant.
fn for_element(cause: Cause) -> &'static str {
    match cause {
        Cause::StaleElement => "read the screen with get_ui_tree and use an id from there",
        Cause::StaleRevision => "read the screen with get_ui_tree and wait from that revision",
        Cause::UnknownRevision => "use the snapshot_revision of an earlier answer, or leave it out",
        Cause::NotFound => "read the screen with get_ui_tree; it may have to be scrolled to, or waited for",
        Cause::NotFoundButNear => "one of these may be meant; use its id",
        Cause::BehindSystemDialog => {
            "answer the dialog first: get_ui_tree shows its buttons; then call again"
        }
        Cause::OnlyDrawn => {
            "the app may draw it without a tree, or be empty still: capture_screenshot shows it, tap takes x and y"
        }
        Cause::TreeDamaged => "the tree is damaged and the element may be in the missing part: read it again",
        Cause::Untold => {
            "capture_screenshot shows what is there, and tap takes x and y; the message names what could read it"
        }
        Cause::Locked => {
            "unlock it: press_key with key wakeup does where no passcode is set, else its owner; then call again"
        }
        Cause::AmbiguousTarget => "use one of these ids, or add role, inside or index",
        Cause::OutOfSight => "scroll_to_element brings it into view, where something around it scrolls",
        Cause::Disabled => "do what enables it first: fill a form, wait, tick a box",
        Cause::Covered => "act on what covers it first, or close it",
        Cause::UnderKeyboard => "hide it with hide_keyboard",
        Cause::Doubtful => "name it by its id, or with more of what it says",
        Cause::OnlyShows => "force: true taps it all the same; get_ui_tree shows what reacts",
        Cause::Moving => {
            "wait with wait_for_ui condition stable; what never stands still can only be reached with tap at x and y"
        }
        Cause::NotATextField => "nothing was typed; use the id of a field from get_ui_tree",
        Cause::FocusNotTaken => "look at the screen with get_ui_tree",
        Cause::NothingFocused => {
            "nothing was typed; name the field with element_id or selector, or tap it first"
        }
        Cause::NothingToClear => "nothing was typed; name the field with element_id or selector",
        Cause::TooMuchToClear => "nothing was typed; clear it with the app's own means",
        Cause::FieldDiffers => {
            "the field may format, limit or refuse input; read it with get_ui_tree before typing again"
        }
        _ => for_control_or_list(cause),
    }
}

fn for_control_or_list(cause: Cause) -> &'static str {
    match cause {
        Cause::NotAdjustable => "get_ui_tree shows what can be adjusted, as slider, stepper or picker",
        Cause::AmbiguousControl => "use one of these ids, or add index",
        Cause::NoValueShown => "nothing was touched; tap or swipe on it and look with capture_screenshot",
        Cause::OutsideRange => "nothing was touched; ask for a value in the range",
        Cause::ControlOutOfSight => {
            "scroll_to_element brings it into view, where something around it scrolls"
        }
        Cause::ControlDisabled => "find out what enables it",
        Cause::ControlCovered => "nothing more was touched; close or move what covers it",
        Cause::ButtonOutOfReach => {
            "nothing more was pressed; scroll it into view with scroll_to_element, or close what covers it"
        }
        Cause::ValueGone => "read the screen with get_ui_tree: something else may have come up",
        Cause::ValueUnstable => "something else moves this control; read it with get_ui_tree",
        Cause::BetweenSteps => "ask for the nearest value, or give a larger tolerance",
        Cause::EndOfTrack => {
            "ask for a value that the control has; when a part of it is out of sight, scroll first"
        }
        Cause::NoReaction => "it may only be a display; look with capture_screenshot",
        Cause::TouchesExhausted => "call again with a larger tolerance or more max_attempts",
        Cause::NothingScrolls => {
            "nothing was touched; it may be on another screen, or come later: wait_for_ui waits for it"
        }
        Cause::DoesNotScroll => {
            "nothing was touched; get_ui_tree marks what scrolls, and inside may be left out"
        }
        Cause::ContainerNotFound => "get_ui_tree marks what scrolls; inside may be left out",
        Cause::AmbiguousContainer => "use one of these ids",
        Cause::NoRoomToScroll => "close what covers it, the keyboard with hide_keyboard, or swipe over it",
        Cause::ScrollsExhausted => {
            "the end was not reached: the same call goes on from where this one stopped"
        }
        Cause::EndReached => "if this began in the middle, look the other way with direction",
        Cause::ScreenLeft => "read it with get_ui_tree; go back before scrolling again",
        _ => "look at the screen with get_ui_tree",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tools;

    const CAUSES: [Cause; 48] = [
        Cause::PlatformUnknown,
        Cause::NoDevice,
        Cause::DeviceNotFound,
        Cause::DeviceUnauthorized,
        Cause::DeviceOffline,
        Cause::AmbiguousDevice,
        Cause::InvalidArgument,
        Cause::Timeout,
        Cause::Cancelled,
        Cause::Unread,
        Cause::Defect,
        Cause::StaleElement,
        Cause::StaleRevision,
        Cause::UnknownRevision,
        Cause::NotFound,
        Cause::NotFoundButNear,
        Cause::TreeDamaged,
        Cause::Untold,
        Cause::Locked,
        Cause::AmbiguousTarget,
        Cause::OutOfSight,
        Cause::Disabled,
        Cause::Covered,
        Cause::UnderKeyboard,
        Cause::Doubtful,
        Cause::OnlyShows,
        Cause::Moving,
        Cause::NotATextField,
        Cause::FocusNotTaken,
        Cause::NothingFocused,
        Cause::NothingToClear,
        Cause::TooMuchToClear,
        Cause::FieldDiffers,
        Cause::NotAdjustable,
        Cause::NoValueShown,
        Cause::ControlOutOfSight,
        Cause::ButtonOutOfReach,
        Cause::EndOfTrack,
        Cause::NoReaction,
        Cause::TouchesExhausted,
        Cause::NothingScrolls,
        Cause::DoesNotScroll,
        Cause::ContainerNotFound,
        Cause::NoRoomToScroll,
        Cause::ScrollsExhausted,
        Cause::EndReached,
        Cause::ScreenLeft,
        Cause::Contradicted,
    ];

    #[test]
    fn hints_name_only_tools_and_arguments_that_exist() {
        // F46
        let of_devices = [
            DeviceErrorKind::Unauthorized,
            DeviceErrorKind::Offline,
            DeviceErrorKind::NotSupported,
            DeviceErrorKind::TextNotTypeable,
            DeviceErrorKind::NotIdle,
            DeviceErrorKind::TreeUnavailable,
        ];
        for cause in CAUSES.into_iter().chain(of_devices.map(Cause::Device)) {
            for (listed, platform) in
                [(false, None), (true, None), (false, Some(Platform::Ios)), (true, Some(Platform::Ios))]
            {
                let hint = Hint::ForCause { cause, listed, platform };
                let words = hint.text().split(|c: char| !c.is_ascii_alphanumeric() && c != '_');
                for word in words.filter(|word| word.contains('_') || word.chars().any(char::is_uppercase)) {
                    let known = ["ASCII", "snapshot_revision", "WebDriverAgent", "Trust", "iPhone"]
                        .contains(&word)
                        || tools::all().any(|tool| tool.name == word || tool.takes(word));
                    assert!(known, "{cause:?}: {word:?} in {:?}", hint.text());
                }
            }
        }
    }

    #[test]
    fn a_hint_speaks_of_candidates_only_where_there_are_some() {
        // F46
        let near = Cause::NotFoundButNear;
        for cause in CAUSES.into_iter().filter(|cause| ![near, Cause::AmbiguousTarget].contains(cause)) {
            let text = Hint::ForCause { cause, listed: false, platform: None };
            let speaks = text.text().contains("these");
            assert!(!speaks || cause == Cause::AmbiguousDevice, "{cause:?}: {}", text.text());
        }
    }
}
