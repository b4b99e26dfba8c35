//! Waiting as a pure machine: it is fed with looks at a screen and their times, and says when to look again or how the
//! wait ended.
//!
//! Architecture invariant: a look that failed, or that lost elements, is neither a baseline nor "nothing there" (W10,
//! W11), and rest is only ever said by the stabiliser. The machine has no clock: the engine sleeps and looks.

mod machine;
#[cfg(test)]
mod tests;

use std::sync::Arc;

use crate::change::diff::ChangeKind;
use crate::change::fingerprint::Fingerprint;
use crate::change::pace::Pace;
use crate::change::settle::Stability;
use crate::change::tracker::{Comparison, Observation};
use crate::failure::Failure;
use crate::identity::ElementId;
use crate::intent::predicate::{Judgement, Predicate};
use crate::intent::resolve::Search;
use crate::intent::scope::Scope;
use crate::intent::selector::Selector;

pub use machine::{HeardAround, Look, Next, Watch};

/// The word for a screen at rest that is not what was waited for, or still loads.
pub const RESTING: &str = "resting";

/// What a wait is for.
#[derive(Debug, Clone, PartialEq)]
pub enum Goal {
    /// It holds in two captures in a row, and at both ends of the window.
    Holds(Predicate),
    /// It holds at one look: for what does not flicker, such as the focus.
    Shown(Predicate),
    /// The element is there, and neither it nor anything in it changed or moved for a whole window.
    ElementRests(Selector),
    /// Something that counts changed, and then came to rest.
    Change,
    /// Another screen than this one is there, at rest.
    ScreenChange { from: Fingerprint },
    /// Nothing that counts changes for a whole window.
    Quiet,
    /// The same, and no sign of loading is shown that was not there at the start (F12).
    Settled,
    /// The revision is another than this one, at rest or not.
    Revision { than: u64 },
    /// The search finds something, at the first look that shows it (W24).
    Found(Search),
}

#[derive(Debug, Clone, PartialEq)]
pub struct Wait {
    pub goal: Goal,
    pub window_ms: u64,
    /// Uses the window that was learnt for the screen, once there is one (SY-19).
    pub adaptive: bool,
    /// Changes since this revision count, even if they happened before the wait (SY-10).
    pub since_revision: Option<u64>,
    pub scope: Scope,
    /// Only a change of this kind satisfies; others merely disturb.
    pub filter: Option<ChangeKind>,
    /// Ends the wait without success before the deadline does.
    pub patience: Option<Patience>,
}

impl Wait {
    /// A wait on the whole screen, from now on.
    pub fn new(goal: Goal, window_ms: u64) -> Wait {
        Wait {
            goal,
            window_ms,
            adaptive: false,
            since_revision: None,
            scope: Scope::default(),
            filter: None,
            patience: None,
        }
    }

    #[must_use]
    pub fn with_patience(self, ms: u64, captures: u64) -> Wait {
        Wait { patience: Some(Patience { ms, captures }), ..self }
    }
}

/// The wait is over after this long, once so many captures were made: a slow device gets the time for its looks (W2).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Patience {
    pub ms: u64,
    pub captures: u64,
}

/// How a wait ended: one way to succeed and three to fail (SY-08).
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Ending {
    Reached,
    Timeout,
    TargetGone(ElementId),
    Unreadable(Failure),
}

/// An element that kept the screen from coming to rest.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MovingElement {
    pub id: ElementId,
    pub times: u64,
    /// The mean time between two changes.
    pub every_ms: Option<u64>,
}

/// What a wait saw.
#[derive(Debug, Clone)]
pub struct WatchReport {
    pub ending: Ending,
    pub change_detected: bool,
    pub observed: ChangeKind,
    pub stability: Stability,
    /// How long the screen has been at rest, if the wait was in vain on a screen that rests (F11).
    pub rested_ms: Option<u64>,
    /// For how long before the last capture nothing had moved, not even what is no change that counts.
    pub still_ms: u64,
    /// The last capture; `None` when none was completed.
    pub seen: Option<Arc<Observation>>,
    /// The difference from the first capture, or from the revision that was named, to the last change.
    pub since: Option<Comparison>,
    /// How the predicate stands on the last capture.
    pub judgement: Option<Judgement>,
    /// The elements that changed most often, empty when the screen came to rest.
    pub moving: Vec<MovingElement>,
    pub captures: u64,
    /// Captures that differed from the one before in something that counts.
    pub changes: u64,
    /// Captures that lost elements and were not believed.
    pub damaged: u64,
    /// The last capture was one of these: `seen` is an earlier one.
    pub ends_damaged: bool,
    /// A look that did not end in time hid this much of the end: what came then is not known.
    pub unseen_ms: Option<u64>,
    pub elapsed_ms: u64,
    /// How long ago the device was asked for the last capture.
    pub freshness_ms: u64,
    /// How long the quiet was that had to be seen.
    pub window_ms: u64,
    /// From the first change, or the start, to the end.
    pub stabilise_ms: u64,
    /// The screen that came to rest after changes, all of which were looked at (SY-19).
    pub rest: Option<Rest>,
    /// What was learnt of the screen that is there now.
    pub pace: Option<Pace>,
}

/// How a screen came to rest.
#[derive(Debug, Clone)]
pub struct Rest {
    pub changed_at_ms: u64,
    pub longest_pause_ms: u64,
}

impl WatchReport {
    pub fn is_success(&self) -> bool {
        self.ending == Ending::Reached
    }

    /// The state in words. A screen that rested while the wait was in vain is neither stable (SY-07) nor stabilizing
    /// (F11).
    pub fn stability_word(&self) -> &'static str {
        if self.rested_ms.is_some() { RESTING } else { self.stability.as_str() }
    }

    pub fn is_stable(&self) -> bool {
        self.stability == Stability::Stable
    }
}
