//! What actions and waits on a device came to, counted (MT-01, SY-18, RFC 013 §12).

use std::sync::{Mutex, PoisonError};

use mdm_core::action::event::{Event, WaitEnd, WaitEvent};
use mdm_core::action::recover::Strategy;
use mdm_core::failure::ErrorCode;

/// Counted since the session began.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Counts {
    pub waits: u64,
    pub succeeded: u64,
    pub timed_out: u64,
    pub unreadable: u64,
    pub targets_gone: u64,
    pub captures: u64,
    /// Captures that differed from the one before in something that counts.
    pub changes: u64,
    /// Damaged captures and ids of elements that are gone: refused, not used.
    pub stale_caught: u64,
    pub stabilised: u64,
    /// Of all that stabilised, from the first look to the proof of rest.
    pub stabilise_ms: u64,
    /// Actions and verifications that came before anyone had waited for the action before them.
    pub premature: u64,
    /// Recoveries that were tried.
    pub retries: u64,
    pub actions: u64,
    /// Actions that succeeded without a recovery.
    pub first_try: u64,
    /// Actions on a point, where no element was named.
    pub by_point: u64,
    /// Calls that were refused because several elements fit.
    pub ambiguous: u64,
    /// Waits whose overshoot is known, and the sum of it.
    pub overshoots: u64,
    pub overshoot_ms: u64,
}

impl Counts {
    pub fn mean_stabilise_ms(&self) -> Option<u64> {
        self.stabilise_ms.checked_div(self.stabilised)
    }

    pub fn mean_overshoot_ms(&self) -> Option<u64> {
        self.overshoot_ms.checked_div(self.overshoots)
    }

    /// In percent of all actions.
    pub fn first_try_rate(&self) -> Option<u64> {
        (self.first_try * 100).checked_div(self.actions)
    }

    /// In percent of all actions.
    pub fn by_point_rate(&self) -> Option<u64> {
        (self.by_point * 100).checked_div(self.actions)
    }

    /// In percent.
    pub fn success_rate(&self) -> Option<u64> {
        (self.succeeded * 100).checked_div(self.waits)
    }
}

#[derive(Debug, Default)]
pub(crate) struct Metrics(Mutex<Counts>);

impl Metrics {
    pub fn read(&self) -> Counts {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub fn set(&self, counts: Counts) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = counts;
    }

    /// Counts an action that ended. `first_try`: it succeeded, and nothing had to be tried again before it could be sent.
    pub fn note_action(&self, first_try: bool, by_point: bool) {
        let counts = &mut *self.0.lock().unwrap_or_else(PoisonError::into_inner);
        counts.actions += 1;
        counts.first_try += u64::from(first_try);
        counts.by_point += u64::from(by_point);
    }

    /// Counts how long after the rest of its screen a wait ended, where that is known.
    pub fn note_overshoot(&self, ms: Option<u64>) {
        let Some(ms) = ms else { return };
        let counts = &mut *self.0.lock().unwrap_or_else(PoisonError::into_inner);
        counts.overshoots += 1;
        counts.overshoot_ms += ms;
    }

    /// Counts what happened.
    pub fn record(&self, event: &Event) {
        let counts = &mut *self.0.lock().unwrap_or_else(PoisonError::into_inner);
        match event {
            // Every further touch of a slider is its ordinary way.
            Event::Recovering { strategy: Strategy::RetryAdjustment } => {}
            Event::Recovering { .. } => counts.retries += 1,
            Event::Premature => counts.premature += 1,
            Event::CallEnded { error: Some(ErrorCode::StaleReference) } => counts.stale_caught += 1,
            Event::CallEnded { error: Some(ErrorCode::AmbiguousTarget) } => counts.ambiguous += 1,
            Event::Waited(wait) => counts.wait(wait),
            _ => {}
        }
    }
}

impl Counts {
    fn wait(&mut self, wait: &WaitEvent) {
        self.captures += wait.captures;
        self.changes += wait.changes;
        self.stale_caught += wait.damaged;
        if wait.inner {
            return;
        }
        self.waits += 1;
        match wait.end {
            WaitEnd::Reached => self.succeeded += 1,
            WaitEnd::Timeout => self.timed_out += 1,
            WaitEnd::Unreadable => self.unreadable += 1,
            WaitEnd::TargetGone => {
                self.targets_gone += 1;
                self.stale_caught += 1;
            }
        }
        if let Some(ms) = wait.stabilise_ms {
            self.stabilised += 1;
            self.stabilise_ms += ms;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn means_and_rates_need_something_to_count() {
        let metrics = Metrics::default();
        assert_eq!(metrics.read().mean_stabilise_ms(), None);
        assert_eq!(metrics.read().success_rate(), None);
        let wait = |end, stabilise_ms, inner| {
            Event::Waited(WaitEvent { end, captures: 3, changes: 1, damaged: 0, stabilise_ms, inner })
        };
        metrics.record(&wait(WaitEnd::Reached, Some(200), false));
        metrics.record(&wait(WaitEnd::Timeout, Some(400), false));
        metrics.record(&wait(WaitEnd::Reached, None, true));
        metrics.record(&Event::CallEnded { error: Some(ErrorCode::StaleReference) });
        let counts = metrics.read();
        assert_eq!(counts.mean_stabilise_ms(), Some(300), "SY-18");
        assert_eq!(counts.success_rate(), Some(50), "SY-18: a part of an action is no wait");
        assert_eq!((counts.waits, counts.captures, counts.stale_caught), (2, 9, 1));
    }

    #[test]
    fn actions_are_counted_by_how_they_went() {
        // MT-01
        let metrics = Metrics::default();
        assert_eq!((metrics.read().first_try_rate(), metrics.read().by_point_rate()), (None, None));
        for (first_try, by_point) in [(true, false), (false, false), (false, true), (true, true)] {
            metrics.note_action(first_try, by_point);
        }
        metrics.record(&Event::CallEnded { error: Some(ErrorCode::AmbiguousTarget) });
        [Some(20), None, Some(40)].into_iter().for_each(|ms| metrics.note_overshoot(ms));
        let counts = metrics.read();
        assert_eq!(
            (counts.actions, counts.first_try_rate(), counts.by_point_rate()),
            (4, Some(50), Some(50))
        );
        assert_eq!((counts.ambiguous, counts.mean_overshoot_ms()), (1, Some(30)));
    }
}
