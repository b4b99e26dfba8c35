//! What was done and how it went, step by step (TR-01), kept for the session.

use std::collections::VecDeque;

/// Actions that are remembered.
const TRACES_MAX: usize = 100;
/// Of one action.
const STEPS_MAX: usize = 32;
/// Of one step's note.
const NOTE_CHARS_MAX: usize = 120;

/// LC-01.
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
pub struct Step {
    pub stage: Stage,
    /// When its outcome was known.
    pub at_ms: u64,
    pub result: StepResult,
    /// From 0; each recovery begins another attempt.
    pub attempt_index: u32,
    pub note: String,
}

/// One action. Typed text never stands in it (S8).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Trace {
    pub action_id: String,
    pub action_type: &'static str,
    pub began_ms: u64,
    pub steps: Vec<Step>,
    pub transitions: Vec<(Lifecycle, u64)>,
    /// Something that counts changed afterwards; `None` when nobody looked.
    pub ui_changed: Option<bool>,
    /// What was expected was seen; `None` when nothing was expected, or it is not known.
    pub expectation_met: Option<bool>,
    attempt: u32,
}

impl Trace {
    pub fn new(action_id: String, action_type: &'static str, began_ms: u64) -> Trace {
        Trace {
            action_id,
            action_type,
            began_ms,
            steps: Vec::new(),
            transitions: Vec::new(),
            ui_changed: None,
            expectation_met: None,
            attempt: 0,
        }
    }

    pub fn step(&mut self, stage: Stage, result: StepResult, at_ms: u64, note: impl Into<String>) {
        if self.steps.len() == STEPS_MAX {
            return;
        }
        let note: String = note.into();
        let note = note.chars().take(NOTE_CHARS_MAX).collect();
        self.steps.push(Step { stage, at_ms, result, attempt_index: self.attempt, note });
        self.attempt += u32::from(stage == Stage::Recover);
    }

    pub fn reach(&mut self, state: Lifecycle, at_ms: u64) {
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

/// The last actions of a session.
#[derive(Debug, Clone, Default)]
pub struct Journal {
    traces: VecDeque<Trace>,
}

impl Journal {
    pub fn keep(&mut self, trace: Trace) {
        if self.traces.len() == TRACES_MAX {
            self.traces.pop_front();
        }
        self.traces.push_back(trace);
    }

    pub fn find(&self, action_id: &str) -> Option<&Trace> {
        self.traces.iter().rev().find(|trace| trace.action_id == action_id)
    }

    pub fn last(&self) -> Option<&Trace> {
        self.traces.back()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn trace(number: usize) -> Trace {
        Trace::new(format!("tap_{number}"), "tap", number as u64)
    }

    #[test]
    fn the_ring_forgets_the_oldest() {
        // TR-01
        let mut journal = Journal::default();
        for number in 0..TRACES_MAX + 5 {
            journal.keep(trace(number));
        }
        assert_eq!(journal.find("tap_4"), None);
        assert_eq!(journal.find("tap_5").map(|trace| trace.began_ms), Some(5));
        assert_eq!(journal.last().map(|trace| trace.began_ms), Some(104));
    }

    #[test]
    fn each_recovery_begins_another_attempt() {
        let mut one = trace(1);
        one.step(Stage::Resolve, StepResult::Retry, 10, "not there");
        one.step(Stage::Recover, StepResult::Retry, 20, "state_refresh");
        one.step(Stage::Resolve, StepResult::Success, 30, "x".repeat(1000));
        let attempts: Vec<u32> = one.steps.iter().map(|step| step.attempt_index).collect();
        assert_eq!((attempts, one.attempts()), (vec![0, 0, 1], 2), "TR-01");
        assert_eq!(one.steps[2].note.len(), NOTE_CHARS_MAX);
        for _ in 0..100 {
            one.step(Stage::Verify, StepResult::Retry, 40, "");
            one.reach(Lifecycle::Dispatched, 40);
        }
        assert_eq!((one.steps.len(), one.transitions.len()), (STEPS_MAX, 1));
    }
}
