//! Everything that happens while a call runs: one closed list, read by traces, metrics, progress and subscriptions.

use crate::action::outcome::SentKind;
use crate::action::recover::Strategy;
use crate::action::trace::Lifecycle;
use crate::change::settle::Stability;
use crate::failure::ErrorCode;
use crate::identity::ElementId;
use crate::port::{DeviceEvent, Dispatch};

#[derive(Debug, Clone, PartialEq)]
pub enum Event {
    CallBegan {
        name: &'static str,
    },
    CallEnded {
        error: Option<ErrorCode>,
    },
    /// The screen was read. `changed`: its revision is new.
    Looked {
        revision: u64,
        changed: bool,
    },
    /// The target was found and can be acted on, or none was needed. `alternate`: an equal one was out of sight or
    /// covered.
    Resolved {
        element: Option<ElementId>,
        alternate: bool,
    },
    /// The target cannot be acted on now. `again`: something is tried about it.
    Obstructed {
        code: ErrorCode,
        again: bool,
    },
    Recovering {
        strategy: Strategy,
    },
    Sent {
        what: SentKind,
        dispatch: Dispatch,
        error: Option<ErrorCode>,
    },
    /// How far the screen came to rest.
    Settled {
        stability: Stability,
    },
    /// An expectation was judged: `None` when that is not known. `changed`: something that counts is different.
    Judged {
        met: Option<bool>,
        changed: Option<bool>,
        why: &'static str,
    },
    /// A wait ended.
    Waited(WaitEvent),
    /// Something was done or verified before anyone had waited for the action before (SY-16).
    Premature,
    Reached(Lifecycle),
    /// A program on this machine, such as a build, is at this step.
    Working {
        step: String,
    },
    /// The device told this by itself.
    Device(DeviceEvent),
    DeviceCame,
    DeviceWent,
}

/// What a wait came to, counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct WaitEvent {
    pub end: WaitEnd,
    pub captures: u64,
    pub changes: u64,
    pub damaged: u64,
    /// The time to rest, when it came to rest.
    pub stabilise_ms: Option<u64>,
    /// It was a part of an action, so only its captures count.
    pub inner: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WaitEnd {
    Reached,
    Timeout,
    TargetGone,
    Unreadable,
}
