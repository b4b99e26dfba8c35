//! What an action came to: asked, resolved, sent and seen in one value.

use std::sync::Arc;

use crate::action::recover::{FailureClass, FailureReason, Strategy, class};
use crate::action::request::{Request, What};
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
use crate::outline::ListRead;
use crate::port::{AppReport, CrashReport, Dispatch, LogEntry, Said, SettingReport};
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
    /// The app ended, or stopped responding, because of it (F44).
    pub crash: Option<CrashReport>,
    /// Under which number the crash is kept.
    pub crash_number: Option<u64>,
    /// What the app logged meanwhile that may explain why what was expected did not come (TR-02), and how many
    /// milliseconds after the action each was written.
    pub log: Vec<(u64, LogEntry)>,
    /// It only closed the keyboard: the step back was not taken.
    pub closed_keyboard: bool,
    pub trace: Trace,
}

/// Where one end of an action goes: a tap has one, a drag two.
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
    Setting,
    /// A value that was set through accessibility.
    Value,
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
            SentKind::Setting => "setting",
            SentKind::Value => "value",
        }
    }

    /// True if sending it again does no harm: it only moves what is shown, or hides the keyboard.
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
    ListRead(Box<ListRead>),
    /// What the platform said of an app command, and what was in front afterwards.
    App(AppReport, Option<Screen>),
    Set(SettingReport),
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

/// What a picture showed of a part of the screen that the app draws by itself (F13).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Drawing {
    /// The tree tells what is there, or told of a change.
    Told,
    Changed,
    Same,
    /// No pictures could be compared.
    Unknown,
}

/// What was seen after the dispatch.
#[derive(Debug, Clone)]
pub struct After {
    pub seen: Arc<Observation>,
    pub since: Option<Comparison>,
    pub observed: ChangeKind,
    pub stability: Stability,
    /// How long the screen had been at rest when the time was up.
    pub rested_ms: Option<u64>,
    /// How long the screen was watched.
    pub watched_ms: u64,
    pub moving: Vec<MovingElement>,
    pub captures: u64,
    pub verdict: Verdict,
    /// What was expected was already so before the action, which therefore proves little.
    pub held_before: bool,
    /// A toast was shown, whose text is not known.
    pub toast: bool,
    /// Toasts and announcements since the dispatch, where the device tells their words.
    pub said: Vec<Said>,
    pub drawing: Drawing,
    /// The last look could not be believed: `seen` is an earlier one.
    pub damaged: bool,
    /// A look that did not end hid this much of the end of the time.
    pub unseen_ms: Option<u64>,
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
            crash: None,
            crash_number: None,
            log: Vec::new(),
            closed_keyboard: false,
            trace,
        }
    }

    pub fn seen_after(&self) -> Option<&After> {
        self.after.as_ref().and_then(|after| after.as_ref().ok())
    }

    /// What is known of the expectation. A screen that could not be read afterwards leaves it undetermined (F60).
    pub fn verdict(&self) -> Verdict {
        let expected = match &self.request.what {
            What::Act(act) => act.expect.is_some(),
            What::Wait(_) => false,
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
            (false, _) if !sent => None,
            (false, Cause::NoReaction | Cause::Contradicted) => Some(FailureReason::NoChange),
            (false, _) if is_seen_afterwards(failure) => Some(FailureReason::UnexpectedChange),
            (false, _) => Some(FailureReason::Dispatch),
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::action::request::{Act, ActPatience, Action};
    use crate::change::tracker::Tracker;
    use crate::intent::predicate::Predicate;
    use crate::meaning::sketch::sketch;
    use crate::port::DeviceErrorKind;
    use Dispatch::{NotSent, Refused, Taken, Unknown};

    /// What was sent, the failure with its own dispatch, and what has to be said of it: success, dispatch, reason.
    struct Case {
        sent: &'static [(SentKind, Dispatch)],
        failure: Option<(Cause, Dispatch)>,
        says: (bool, Dispatch, Option<FailureReason>),
    }

    const LOST: Cause = Cause::Device(DeviceErrorKind::ConnectionLost);

    fn outcome(sent: &[(SentKind, Dispatch)], failure: Option<(Cause, Dispatch)>) -> Outcome {
        let patience = ActPatience { settle: true, window_ms: 250, timeout_ms: 5000, call_ms: 5000 };
        let expect = Some(Predicate::Screen("Order".to_owned()));
        let act = Act { action: Action::Back, scroll_to_target: false, expect, patience };
        let request = Request { id: "back_1".to_owned(), name: "back", what: What::Act(Box::new(act)) };
        let trace = Trace::new(&request, 0);
        let sent = sent.iter().map(|(what, dispatch)| Sent { what: *what, at_ms: 0, dispatch: *dispatch });
        let failure = failure.map(|(cause, dispatch)| Failure::new(cause, "why").with_dispatch(dispatch));
        Outcome { sent: sent.collect(), failure, ..Outcome::new(request, trace) }
    }

    fn after(verdict: Verdict, observed: ChangeKind) -> After {
        After {
            seen: Tracker::default().observe(sketch("FrameLayout [0,0][1080,2400]"), 0),
            since: None,
            observed,
            stability: Stability::Stable,
            rested_ms: None,
            watched_ms: 400,
            toast: false,
            said: Vec::new(),
            drawing: Drawing::Told,
            damaged: false,
            unseen_ms: None,
            moving: Vec::new(),
            captures: 2,
            verdict,
            held_before: false,
        }
    }

    fn contradicted() -> Verdict {
        Verdict::Contradicted { observed: "screen Cart".to_owned() }
    }

    #[test]
    fn success_means_that_the_device_took_it_and_a_failure_names_its_part() {
        // LC-03, LC-05
        let touch = &[(SentKind::Touch, Taken)];
        let reason = |reason| (false, NotSent, Some(reason));
        let cases = [
            Case { sent: touch, failure: None, says: (true, Taken, None) },
            Case { sent: &[], failure: None, says: (true, NotSent, None) },
            Case {
                sent: &[],
                failure: Some((Cause::NotFound, NotSent)),
                says: reason(FailureReason::TargetResolution),
            },
            Case {
                sent: &[],
                failure: Some((Cause::Covered, NotSent)),
                says: reason(FailureReason::TargetResolution),
            },
            // It never got as far as any part of an action.
            Case { sent: &[], failure: Some((Cause::DeviceOffline, NotSent)), says: (false, NotSent, None) },
            // Scrolling to a target and hiding the keyboard may be done again.
            Case {
                sent: &[(SentKind::Scroll, Taken), (SentKind::HideKeyboard, Taken)],
                failure: Some((Cause::NotFound, NotSent)),
                says: reason(FailureReason::TargetResolution),
            },
            Case {
                sent: &[(SentKind::Scroll, Unknown)],
                failure: Some((LOST, Unknown)),
                says: (false, NotSent, None),
            },
            Case {
                sent: &[(SentKind::Touch, Refused)],
                failure: Some((Cause::Device(DeviceErrorKind::Rejected), Refused)),
                says: (false, Refused, Some(FailureReason::Dispatch)),
            },
            Case {
                sent: &[(SentKind::Touch, Unknown)],
                failure: Some((LOST, Unknown)),
                says: (false, Unknown, Some(FailureReason::Dispatch)),
            },
            // F63: half done is neither done nor not done.
            Case {
                sent: &[(SentKind::Focus, Taken), (SentKind::Text, Refused)],
                failure: Some((Cause::Device(DeviceErrorKind::Rejected), Taken)),
                says: (false, Taken, Some(FailureReason::Dispatch)),
            },
            Case {
                sent: &[(SentKind::Focus, Taken), (SentKind::Clear, Unknown)],
                failure: Some((LOST, Unknown)),
                says: (false, Unknown, Some(FailureReason::Dispatch)),
            },
            Case {
                sent: &[(SentKind::Text, Taken)],
                failure: Some((Cause::FieldDiffers, Taken)),
                says: (true, Taken, Some(FailureReason::UnexpectedChange)),
            },
            Case { sent: &[], failure: Some((Cause::EndOfTrack, NotSent)), says: (false, NotSent, None) },
        ];
        for Case { sent, failure, says } in cases {
            let outcome = outcome(sent, failure);
            let said = (outcome.is_success(), outcome.dispatch(), outcome.failure_reason());
            assert_eq!(said, says, "{sent:?}, {failure:?}");
        }
    }

    #[test]
    fn an_adjustment_that_missed_its_value_was_sent() {
        // F19
        for cause in [Cause::TouchesExhausted, Cause::EndOfTrack, Cause::NoReaction, Cause::ValueGone] {
            let missed = |dispatch| outcome(&[(SentKind::Touch, dispatch)], Some((cause, dispatch)));
            assert!(missed(Taken).is_success(), "{cause:?}");
            assert!(!missed(Unknown).is_success() && !missed(Refused).is_success(), "{cause:?}");
        }
    }

    #[test]
    fn a_half_done_action_is_not_retryable() {
        // F63, RC-04
        for (first, then) in [(Taken, Refused), (Unknown, Refused), (Taken, NotSent), (Refused, Unknown)] {
            let outcome = outcome(&[(SentKind::Focus, first), (SentKind::Text, then)], None);
            let lost = Failure::new(LOST, "why");
            assert!(lost.retryable());
            assert!(!lost.with_dispatch(outcome.dispatch()).retryable(), "{first:?}, then {then:?}");
        }
    }

    #[test]
    fn what_was_expected_does_not_change_whether_it_was_sent() {
        // LC-03, LC-05
        let undetermined = || Verdict::Undetermined { why: "time was up".to_owned() };
        let unread = Failure::new(Cause::Device(DeviceErrorKind::NotIdle), "it moves");
        let cases = [
            (Ok(after(Verdict::Confirmed, ChangeKind::Text)), None),
            (Ok(after(Verdict::NotAsked, ChangeKind::None)), None),
            (Ok(after(undetermined(), ChangeKind::None)), Some(FailureReason::VerificationTimeout)),
            (Ok(after(contradicted(), ChangeKind::None)), Some(FailureReason::NoChange)),
            (Ok(after(contradicted(), ChangeKind::Cosmetic)), Some(FailureReason::NoChange)),
            (Ok(after(contradicted(), ChangeKind::Navigation)), Some(FailureReason::UnexpectedChange)),
            // F60
            (Err(unread), Some(FailureReason::VerificationTimeout)),
        ];
        for (after, reason) in cases {
            let verdict = format!("{:?}", after.as_ref().map(|after| &after.verdict));
            let outcome = Outcome { after: Some(after), ..outcome(&[(SentKind::Key, Taken)], None) };
            assert!(outcome.is_success(), "{verdict}");
            assert_eq!(outcome.failure_reason(), reason, "{verdict}");
        }
    }

    #[test]
    fn a_contradiction_has_a_code_and_a_class() {
        let outcome = Outcome {
            after: Some(Ok(after(contradicted(), ChangeKind::None))),
            ..outcome(&[(SentKind::Key, Taken)], None)
        };
        assert_eq!(outcome.failure_code(), Some(ErrorCode::VerificationFailed));
        assert_eq!(outcome.failure_class(), Some(FailureClass::Verification));
        assert_eq!(outcome.verdict().as_str(), Some("contradicted"));
    }

    #[test]
    fn of_two_fates_the_more_cautious_is_told_in_any_order() {
        let ranked = [NotSent, Refused, Taken, Unknown];
        for (rank, one) in ranked.into_iter().enumerate() {
            for (other_rank, other) in ranked.into_iter().enumerate() {
                assert_eq!(worse(one, other), ranked[rank.max(other_rank)], "{one:?}, {other:?}");
            }
        }
    }
}
