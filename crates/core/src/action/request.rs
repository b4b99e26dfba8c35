//! What is asked of a device, as data: it can be written down, shown, recorded and replayed.

use crate::action::kind::{ActionKind, Reach};
use crate::intent::adjust::Adjustment;
use crate::intent::predicate::Predicate;
use crate::intent::scroll::{Direction, ScrollTo};
use crate::intent::target::Target;
use crate::intent::typing::Typing;
use crate::intent::watch::Wait;
use crate::outline::ReadList;
use crate::port::{AppCommand, Capabilities, Input, Key, NativeAction, Orientation, SettingChange, Support};
use crate::screen::geometry::Point;

/// One call on a device.
#[derive(Debug, Clone, PartialEq)]
pub struct Request {
    /// Never given twice.
    pub id: String,
    /// The caller's name for it.
    pub name: &'static str,
    pub what: What,
}

#[derive(Debug, Clone, PartialEq)]
pub enum What {
    Act(Box<Act>),
    Wait(Box<Wait>),
}

/// An action, what it is meant to bring about, and how long that may take.
#[derive(Debug, Clone, PartialEq)]
pub struct Act {
    pub action: Action,
    /// Scrolls to a target that is not in sight (AC-10).
    pub scroll_to_target: bool,
    pub expect: Option<Predicate>,
    pub patience: ActPatience,
}

/// What is looked at after the dispatch, and for how long.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ActPatience {
    /// Waits until the screen rests, and says what changed.
    pub settle: bool,
    pub window_ms: u64,
    /// For settling and for the expectation together.
    pub timeout_ms: u64,
    /// For the whole call: nothing is sent later, and no look is waited for longer (F5).
    pub call_ms: u64,
}

impl Act {
    /// True if anything is looked at after the dispatch.
    pub fn is_followed(&self) -> bool {
        self.patience.settle || self.expect.is_some()
    }
}

/// Everything that can be done to a device. A closed list.
#[derive(Debug, Clone, PartialEq)]
pub enum Action {
    Tap {
        at: Target,
    },
    LongPress {
        at: Target,
        duration_ms: u32,
    },
    DoubleTap {
        at: Target,
    },
    Drag {
        from: Target,
        to: Target,
        hold_ms: u32,
        duration_ms: u32,
    },
    Swipe {
        path: SwipePath,
        duration_ms: u32,
    },
    Pinch {
        at: Target,
        scale: f64,
    },
    Type(Typing),
    Key(Key),
    Back,
    HideKeyboard,
    Turn(Orientation),
    Adjust(Adjustment),
    ScrollTo(ScrollTo),
    ReadList(ReadList),
    App(AppCommand),
    Set(SettingChange),
    /// Terminates and starts, so that no other call sees the app gone.
    Restart {
        app: String,
    },
}

#[derive(Debug, Clone, PartialEq)]
pub enum SwipePath {
    Points {
        from: Point,
        to: Point,
    },
    /// The finger goes this way over most of the element.
    Across {
        element: Target,
        direction: Direction,
    },
}

impl Action {
    /// The places that have to be known before it can be sent.
    pub fn targets(&self) -> Vec<Target> {
        match self {
            Action::Tap { at }
            | Action::LongPress { at, .. }
            | Action::DoubleTap { at }
            | Action::Pinch { at, .. } => vec![at.clone()],
            Action::Drag { from, to, .. } => vec![from.clone(), to.clone()],
            Action::Swipe { path: SwipePath::Points { from, to }, .. } => {
                vec![Target::Point(*from), Target::Point(*to)]
            }
            Action::Swipe { path: SwipePath::Across { element, .. }, .. } => vec![element.clone()],
            Action::Type(typing) => typing.field().map(Target::Element).into_iter().collect(),
            _ => Vec::new(),
        }
    }

    pub fn kind(&self) -> ActionKind {
        match self {
            Action::Tap { .. } => ActionKind::Selection,
            Action::LongPress { .. }
            | Action::DoubleTap { .. }
            | Action::Drag { .. }
            | Action::Swipe { .. }
            | Action::Pinch { .. } => ActionKind::Gesture,
            Action::Key(Key::Home | Key::Recents)
            | Action::Back
            | Action::ScrollTo(_)
            | Action::ReadList(_) => ActionKind::Navigation,
            Action::Type(_) | Action::Key(_) | Action::HideKeyboard => ActionKind::Input,
            Action::Adjust(_) => ActionKind::ControlAdjustment,
            Action::Turn(_) | Action::App(_) | Action::Set(_) | Action::Restart { .. } => ActionKind::System,
        }
    }

    pub fn reach(&self) -> Reach {
        match self {
            Action::App(_) | Action::Set(_) | Action::Restart { .. } => Reach::SideEffect,
            _ => Reach::LocalState,
        }
    }

    /// What the device surely cannot do of it; `None` when it may be tried.
    pub fn unsupported(&self, can: &Capabilities) -> Option<&'static str> {
        let (support, what) = match self {
            Action::Key(_) => (can.keys, "press keys"),
            Action::Back => (can.back, "go back by itself"),
            Action::Pinch { .. } => (can.pinch, "take two fingers"),
            Action::App(AppCommand::ClearData { .. }) => (can.clear_data, "delete an app's data"),
            Action::App(AppCommand::Install { .. } | AppCommand::Uninstall { .. }) => {
                (can.install, "install apps")
            }
            Action::App(AppCommand::Open(_)) => (can.links, "open links"),
            Action::Set(_) => (can.settings, "change settings"),
            _ => return None,
        };
        (support == Support::No).then_some(what)
    }
}

/// One command to the device, once its places are known.
#[derive(Debug, Clone, PartialEq)]
pub enum Command {
    Input(Input),
    App(AppCommand),
    Set(SettingChange),
    /// Through accessibility instead of a touch.
    Native(NativeAction),
}
