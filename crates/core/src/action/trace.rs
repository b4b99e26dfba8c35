//! How one call went, step by step (TR-01): written from its events as they happen, kept for the session.

use std::collections::VecDeque;

use crate::action::event::Event;
use crate::action::kind::{ActionKind, Reach};
use crate::action::outcome::SentKind;
use crate::action::recover::Strategy;
use crate::action::request::{Request, What};
use crate::change::settle::Stability;
use crate::port::{DeviceEvent, Dispatch};

/// Calls that are remembered.
const TRACES_MAX: usize = 100;
/// Steps of one call.
const STEPS_MAX: usize = 32;

/// The states of an action's life (LC-01).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Lifecycle {
    Resolved,
    Dispatched,
    PendingVerification,
    Verified,
    Failed,
}

impl Lifecycle {
    pub fn as_str(self) -> &'static str {
        match self {
            Lifecycle::Resolved => "resolved",
            Lifecycle::Dispatched => "dispatched",
            Lifecycle::PendingVerification => "pending_verification",
            Lifecycle::Verified => "verified",
            Lifecycle::Failed => "failed",
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Stage {
    Resolve,
    Execute,
    Stabilize,
    Verify,
    Recover,
}

impl Stage {
    pub fn as_str(self) -> &'static str {
        match self {
            Stage::Resolve => "resolve",
            Stage::Execute => "execute",
            Stage::Stabilize => "stabilize",
            Stage::Verify => "verify",
            Stage::Recover => "recover",
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum StepResult {
    Success,
    Failure,
    /// It did not work, and something else is tried.
    Retry,
}

impl StepResult {
    pub fn as_str(self) -> &'static str {
        match self {
            StepResult::Success => "success",
            StepResult::Failure => "failure",
            StepResult::Retry => "retry",
        }
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TraceStep {
    pub stage: Stage,
    /// When its outcome was known.
    pub at_ms: u64,
    pub result: StepResult,
    /// From 0; each recovery begins another attempt.
    pub attempt_index: u32,
    pub note: String,
}

/// The trace of one call. Typed text never stands in it (S8).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Trace {
    pub action_id: String,
    /// The caller's name for it.
    pub name: &'static str,
    /// `None` for waits.
    pub kind: Option<ActionKind>,
    pub reach: Reach,
    pub began_ms: u64,
    pub steps: Vec<TraceStep>,
    pub transitions: Vec<(Lifecycle, u64)>,
    /// Something that counts changed afterwards; `None` when nobody looked.
    pub ui_changed: Option<bool>,
    /// What was expected was seen; `None` when nothing was expected, or it is not known.
    pub expectation_met: Option<bool>,
    /// Something was sent whose fate nobody knows.
    pub fate_unknown: bool,
    /// The app crashed because of it, in a few words.
    pub crash: Option<String>,
    attempt: u32,
}

impl Trace {
    pub fn new(request: &Request, began_ms: u64) -> Trace {
        let (kind, reach) = match &request.what {
            What::Act(act) => (Some(act.action.kind()), act.action.reach()),
            What::Wait(_) => (None, Reach::LocalState),
        };
        Trace {
            action_id: request.id.clone(),
            name: request.name,
            kind,
            reach,
            began_ms,
            steps: Vec::new(),
            transitions: Vec::new(),
            ui_changed: None,
            expectation_met: None,
            fate_unknown: false,
            crash: None,
            attempt: 0,
        }
    }

    /// Takes in what happened.
    pub fn record(&mut self, event: &Event, at_ms: u64) {
        match event {
            Event::Resolved { element, alternate } => {
                let how = if *alternate { Strategy::AlternateCandidate.as_str() } else { "" };
                let note = element.map_or_else(String::new, |id| format!("{id} {how}").trim_end().to_owned());
                self.step(Stage::Resolve, StepResult::Success, at_ms, note);
                self.reach(Lifecycle::Resolved, at_ms);
            }
            Event::Obstructed { code, again } => {
                let result = if *again { StepResult::Retry } else { StepResult::Failure };
                self.step(Stage::Resolve, result, at_ms, code.as_str());
            }
            Event::Recovering { strategy } => {
                self.step(Stage::Recover, StepResult::Retry, at_ms, strategy.as_str());
            }
            Event::Sent { what, dispatch, error } => {
                self.fate_unknown |= *dispatch == Dispatch::Unknown && !what.is_harmless();
                let result = if error.is_some() { StepResult::Failure } else { StepResult::Success };
                let note = error.map_or(what.as_str(), |code| code.as_str());
                self.step(Stage::Execute, result, at_ms, note);
                if error.is_none() && *what != SentKind::Focus && !what.is_harmless() {
                    self.reach(Lifecycle::Dispatched, at_ms);
                }
            }
            Event::Settled { stability } => {
                let rests = *stability == Stability::Stable;
                let result = if rests { StepResult::Success } else { StepResult::Failure };
                self.step(Stage::Stabilize, result, at_ms, stability.as_str());
            }
            Event::Judged { met, changed, why } => {
                self.expectation_met = met.or(self.expectation_met);
                self.ui_changed = changed.or(self.ui_changed);
                let result = if *met == Some(true) { StepResult::Success } else { StepResult::Failure };
                if !why.is_empty() {
                    self.step(Stage::Verify, result, at_ms, *why);
                }
            }
            Event::Reached(state) => self.reach(*state, at_ms),
            Event::Device(DeviceEvent::Crash { summary, .. }) => {
                self.crash = Some(summary.clone());
                self.step(Stage::Verify, StepResult::Failure, at_ms, summary.as_str());
            }
            _ => {}
        }
    }

    fn step(&mut self, stage: Stage, result: StepResult, at_ms: u64, note: impl Into<String>) {
        if self.steps.len() == STEPS_MAX {
            return;
        }
        self.steps.push(TraceStep { stage, at_ms, result, attempt_index: self.attempt, note: note.into() });
        self.attempt += u32::from(stage == Stage::Recover);
    }

    fn reach(&mut self, state: Lifecycle, at_ms: u64) {
        let again = self.transitions.last().is_some_and(|(last, _)| *last == state);
        if !again && self.transitions.len() < STEPS_MAX {
            self.transitions.push((state, at_ms));
        }
    }

    pub fn lifecycle(&self) -> Option<Lifecycle> {
        self.transitions.last().map(|(state, _)| *state)
    }

    pub fn attempts(&self) -> u32 {
        self.attempt + 1
    }
}

/// The last calls of a session.
#[derive(Debug, Clone, Default)]
pub struct TraceRing {
    traces: VecDeque<Trace>,
}

impl TraceRing {
    pub fn keep(&mut self, trace: Trace) {
        if self.traces.len() == TRACES_MAX {
            self.traces.pop_front();
        }
        self.traces.push_back(trace);
    }

    pub fn find(&self, action_id: &str) -> Option<&Trace> {
        self.traces.iter().rev().find(|trace| trace.action_id == action_id)
    }

    /// The last call that acted.
    pub fn last_action(&self) -> Option<&Trace> {
        self.traces.iter().rev().find(|trace| trace.kind.is_some())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::action::request::{Act, ActPatience, Action};
    use crate::failure::ErrorCode;
    use crate::intent::watch::{Goal, Wait};
    use crate::port::Dispatch;

    fn trace(number: usize) -> Trace {
        let patience = ActPatience { settle: false, window_ms: 0, timeout_ms: 0, call_ms: 1000 };
        let act = Act { action: Action::Back, scroll_to_target: false, expect: None, patience };
        let request = Request { id: format!("back_{number}"), name: "back", what: What::Act(Box::new(act)) };
        Trace::new(&request, number as u64)
    }

    #[test]
    fn the_ring_forgets_the_oldest_and_tells_actions_from_waits() {
        // TR-01
        let mut ring = TraceRing::default();
        for number in 0..TRACES_MAX + 5 {
            ring.keep(trace(number));
        }
        assert_eq!(ring.find("back_4"), None);
        assert_eq!(ring.find("back_5").map(|trace| trace.began_ms), Some(5));
        let wait = What::Wait(Box::new(Wait::new(Goal::Quiet, 250)));
        ring.keep(Trace::new(&Request { id: "wait_1".to_owned(), name: "wait", what: wait }, 200));
        assert_eq!(ring.last_action().map(|trace| trace.began_ms), Some(104));
        assert!(ring.find("wait_1").is_some());
    }

    #[test]
    fn each_recovery_begins_another_attempt() {
        let mut one = trace(1);
        one.record(&Event::Obstructed { code: ErrorCode::ElementNotFound, again: true }, 10);
        one.record(&Event::Recovering { strategy: Strategy::StateRefresh }, 20);
        one.record(&Event::Resolved { element: None, alternate: false }, 30);
        let attempts: Vec<u32> = one.steps.iter().map(|step| step.attempt_index).collect();
        assert_eq!((attempts, one.attempts()), (vec![0, 0, 1], 2), "TR-01");
        for _ in 0..100 {
            one.record(&Event::Sent { what: SentKind::Touch, dispatch: Dispatch::Taken, error: None }, 40);
        }
        assert_eq!((one.steps.len(), one.transitions.len()), (STEPS_MAX, 2));
    }

    #[test]
    fn what_is_harmless_is_no_dispatch_of_the_action() {
        let mut one = trace(1);
        one.record(&Event::Sent { what: SentKind::HideKeyboard, dispatch: Dispatch::Taken, error: None }, 5);
        assert_eq!((one.steps.len(), one.lifecycle()), (1, None));
    }
}
