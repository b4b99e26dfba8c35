//! What the waits on a device came to, counted (SY-18, RFC 013 §12).

use std::sync::{Mutex, PoisonError};

/// Comparison the session began.
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
    /// Damaged captures and names of elements that are gone, refused instead of used.
    pub stale_caught: u64,
    pub stabilised: u64,
    /// Of all that stabilised, from the first look to the proof of rest.
    pub stabilise_ms: u64,
    /// Actions and verifications that came before anyone had waited for the action before them.
    pub premature: u64,
    /// Recoveries that were tried.
    pub retries: u64,
}

impl Counts {
    pub fn mean_stabilise_ms(&self) -> Option<u64> {
        self.stabilise_ms.checked_div(self.stabilised)
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

    pub fn note(&self, count: impl FnOnce(&mut Counts)) {
        count(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner));
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
        for ms in [200, 400] {
            metrics.note(|counts| {
                counts.stabilised += 1;
                counts.stabilise_ms += ms;
                counts.waits += 1;
            });
        }
        metrics.note(|counts| counts.succeeded += 1);
        assert_eq!(metrics.read().mean_stabilise_ms(), Some(300), "SY-18");
        assert_eq!(metrics.read().success_rate(), Some(50), "SY-18");
    }
}
