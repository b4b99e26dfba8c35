//! What an action came to: asked, resolved, sent and seen in one value.

use std::sync::Arc;

use crate::action::recover::{FailureClass, FailureReason, Strategy, class};
use crate::action::request::Request;
use crate::action::trace::{Lifecycle, Trace};
use crate::change::diff::ChangeKind;
use crate::change::settle::Stability;
use crate::change::tracker::{Comparison, Observation};
use crate::failure::{Cause, ErrorCode, Failure};
use crate::identity::ElementId;
use crate::intent::adjust::Adjusted;
use crate::intent::resolve::Resolved;
use crate::intent::scroll::Scrolled;
use crate::intent::typing::ReadBack;
use crate::intent::watch::{MovingElement, WatchReport};
use crate::port::{AppReport, Dispatch};
use crate::screen::geometry::{Point, Rect};
use crate::screen::snapshot::Screen;

#[derive(Debug, Clone)]
pub struct Outcome {
    pub request: Request,
    /// The screen as it was when the target was proven; `None` when nobody looked.
    pub before: Option<Arc<Observation>>,
    /// Where the action went, an entry for each of its targets.
    pub places: Vec<Place>,
    /// What was sent, in order.
    pub sent: Vec<Sent>,
    /// What had to be tried before it could be sent (RC-02).
    pub recovered: Vec<Strategy>,
    pub effect: Effect,
    /// What was seen afterwards: `None` when nobody looked, an error when the screen could not be read.
    pub after: Option<Result<After, Failure>>,
    /// Why it ended early; whatever was done before is in the other fields.
    pub failure: Option<Failure>,
    pub trace: Trace,
}

/// One end of an action.
#[derive(Debug, Clone, PartialEq)]
pub struct Place {
    pub point: Point,
    /// What can be seen of the target.
    pub visible: Option<Rect>,
    pub target: Option<(ElementId, Resolved)>,
}

/// One command to the device and what became of it. What was typed is not kept (S8).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Sent {
    pub what: SentKind,
    pub at_ms: u64,
    pub dispatch: Dispatch,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SentKind {
    Touch,
    /// The tap that gives a field the focus.
    Focus,
    /// Deleting what a field holds.
    Clear,
    Text,
    Key,
    /// A stroke of a search for a target.
    Scroll,
    /// Hiding the keyboard because it covered a target.
    HideKeyboard,
    Turn,
    App,
}

impl SentKind {
    pub fn as_str(self) -> &'static str {
        match self {
            SentKind::Touch => "touch",
            SentKind::Focus => "focus",
            SentKind::Clear => "clear",
            SentKind::Text => "text",
            SentKind::Key => "key",
            SentKind::Scroll => "scroll",
            SentKind::HideKeyboard => "keyboard hidden",
            SentKind::Turn => "turn",
            SentKind::App => "app",
        }
    }

    /// True if sending it again changes nothing that matters.
    pub fn is_harmless(self) -> bool {
        matches!(self, SentKind::Scroll | SentKind::HideKeyboard)
    }
}

/// What an action of a special kind found out.
#[derive(Debug, Clone)]
pub enum Effect {
    None,
    Typed(ReadBack),
    Adjusted(Adjusted),
    Scrolled(Box<Scrolled>),
    /// What the platform said of an app command, and what was in front afterwards.
    App(AppReport, Option<Screen>),
    Watched(Box<WatchReport>),
}

/// Whether what was expected came true.
#[derive(Debug, Clone, PartialEq)]
pub enum Verdict {
    NotAsked,
    Confirmed,
    Contradicted { observed: String },
    Undetermined { why: String },
}

impl Verdict {
    pub fn as_str(&self) -> Option<&'static str> {
        match self {
            Verdict::NotAsked => None,
            Verdict::Confirmed => Some("confirmed"),
            Verdict::Contradicted { .. } => Some("contradicted"),
            Verdict::Undetermined { .. } => Some("undetermined"),
        }
    }
}

/// What was seen after the dispatch.
#[derive(Debug, Clone)]
pub struct After {
    pub seen: Arc<Observation>,
    pub since: Option<Comparison>,
    pub observed: ChangeKind,
    pub stability: Stability,
    pub moving: Vec<MovingElement>,
    pub captures: u64,
    pub verdict: Verdict,
    /// What was expected was already so before the action, which therefore proves little.
    pub held_before: bool,
}

impl Outcome {
    pub fn new(request: Request, trace: Trace) -> Outcome {
        Outcome {
            request,
            before: None,
            places: Vec::new(),
            sent: Vec::new(),
            recovered: Vec::new(),
            effect: Effect::None,
            after: None,
            failure: None,
            trace,
        }
    }

    pub fn seen_after(&self) -> Option<&After> {
        self.after.as_ref().and_then(|after| after.as_ref().ok())
    }

    /// What is known of the expectation. A screen that could not be read afterwards leaves it undetermined (F60).
    pub fn verdict(&self) -> Verdict {
        let expected = match &self.request.what {
            crate::action::request::What::Act(act) => act.expect.is_some(),
            crate::action::request::What::Wait(_) => false,
        };
        match &self.after {
            Some(Ok(after)) => after.verdict.clone(),
            Some(Err(failure)) if expected => Verdict::Undetermined { why: failure.to_string() },
            _ => Verdict::NotAsked,
        }
    }

    /// True if the device took it; no more than that (LC-03). What was seen afterwards does not change it.
    pub fn is_success(&self) -> bool {
        let taken = self.dispatch() == Dispatch::Taken;
        self.failure.as_ref().is_none_or(|failure| taken && is_seen_afterwards(failure))
    }

    pub fn lifecycle(&self) -> Lifecycle {
        self.trace.lifecycle().unwrap_or(Lifecycle::Failed)
    }

    /// The code of what went wrong, also when it was only the expectation.
    pub fn failure_code(&self) -> Option<ErrorCode> {
        let contradicted =
            || matches!(self.verdict(), Verdict::Contradicted { .. }).then_some(Cause::Contradicted.code());
        self.failure.as_ref().map(Failure::code).or_else(contradicted)
    }

    pub fn failure_class(&self) -> Option<FailureClass> {
        self.failure_code().map(class)
    }

    /// Which part of the action did not come about (LC-05). Nothing is said of calls that never got that far.
    pub fn failure_reason(&self) -> Option<FailureReason> {
        let Some(failure) = &self.failure else { return self.verification_reason() };
        let sent = self.sent.iter().any(|sent| !sent.what.is_harmless());
        let target = class(failure.code()) == FailureClass::TargetResolution
            || failure.code() == ErrorCode::ElementNotInteractable;
        match (target && failure.dispatch == Dispatch::NotSent, failure.cause) {
            (true, _) => Some(FailureReason::TargetResolution),
            (false, Cause::NoReaction) => Some(FailureReason::NoChange),
            (false, _) if is_seen_afterwards(failure) => Some(FailureReason::UnexpectedChange),
            (false, _) => sent.then_some(FailureReason::Dispatch),
        }
    }

    fn verification_reason(&self) -> Option<FailureReason> {
        match self.verdict() {
            Verdict::NotAsked | Verdict::Confirmed => None,
            Verdict::Undetermined { .. } => Some(FailureReason::VerificationTimeout),
            Verdict::Contradicted { .. } => {
                let changed = self.seen_after().is_some_and(|after| after.observed.is_relevant());
                Some(if changed { FailureReason::UnexpectedChange } else { FailureReason::NoChange })
            }
        }
    }

    /// What became of everything that was sent and matters.
    pub fn dispatch(&self) -> Dispatch {
        let effects = self.sent.iter().filter(|sent| !sent.what.is_harmless());
        effects.map(|sent| sent.dispatch).fold(Dispatch::NotSent, worse)
    }
}

/// True if the command went through and what was seen afterwards is the failure.
fn is_seen_afterwards(failure: &Failure) -> bool {
    let class = class(failure.code());
    matches!(class, FailureClass::Verification | FailureClass::ControlConvergence)
        || failure.cause == Cause::NoReaction
}

/// The more cautious of two fates: once something was taken, a later refusal does not undo it.
pub fn worse(one: Dispatch, other: Dispatch) -> Dispatch {
    let rank = |dispatch| match dispatch {
        Dispatch::NotSent => 0,
        Dispatch::Refused => 1,
        Dispatch::Taken => 2,
        Dispatch::Unknown => 3,
    };
    if rank(one) >= rank(other) { one } else { other }
}
