//! Decides when a screen has settled (SY-05, RFC 013 §7.1.1).
//!
//! Architecture invariant: time arrives as data. The same captures, changes and window give the same outcome (SY-06).

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Stability {
    /// The last capture showed a change, or there is no capture yet.
    #[default]
    Transient,
    /// No change since the last one, but not yet for a whole window.
    Stabilizing,
    Stable,
}

impl Stability {
    pub fn as_str(self) -> &'static str {
        match self {
            Stability::Transient => "transient",
            Stability::Stabilizing => "stabilizing",
            Stability::Stable => "stable",
        }
    }
}

/// Tracks the stability of a screen over captures, which must arrive in order.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Stabiliser {
    window_ms: u64,
    last_change_ms: u64,
    /// The latest capture time seen. A clock that goes back does not lower it.
    newest_ms: u64,
    state: Stability,
}

impl Stabiliser {
    /// Starts to count quiet time at `start_ms`, because earlier changes are unknown.
    pub fn new(start_ms: u64, window_ms: u64) -> Stabiliser {
        Stabiliser { window_ms, last_change_ms: start_ms, newest_ms: start_ms, state: Stability::Transient }
    }

    /// Adds the capture made at `at_ms`. `changed` is true if it differs from the one before in something relevant.
    pub fn capture(&mut self, at_ms: u64, changed: bool) -> Stability {
        self.newest_ms = self.newest_ms.max(at_ms);
        self.state = if changed {
            self.last_change_ms = self.newest_ms;
            Stability::Transient
        } else if self.newest_ms - self.last_change_ms >= self.window_ms {
            Stability::Stable
        } else {
            Stability::Stabilizing
        };
        self.state
    }

    /// Adds a capture made at `at_ms`, before which the device itself saw no change for `rested_ms`. Where that is a whole
    /// window the screen is stable, also if the capture differs from the one before: the change came earlier.
    pub fn rested(&mut self, at_ms: u64, rested_ms: u64) -> Stability {
        self.newest_ms = self.newest_ms.max(at_ms);
        self.last_change_ms = self.last_change_ms.max(self.newest_ms.saturating_sub(rested_ms));
        let quiet_ms = self.newest_ms - self.last_change_ms;
        self.state = if quiet_ms >= self.window_ms { Stability::Stable } else { Stability::Stabilizing };
        self.state
    }

    /// Replaces the window. The state is judged by it from the next capture on.
    pub fn set_window(&mut self, window_ms: u64) {
        self.window_ms = window_ms;
    }

    pub fn state(&self) -> Stability {
        self.state
    }

    pub fn last_change_ms(&self) -> u64 {
        self.last_change_ms
    }

    /// Returns the earliest time at which an unchanged capture proves stability; `None` if it is stable already.
    pub fn proof_at_ms(&self) -> Option<u64> {
        (self.state != Stability::Stable).then(|| self.last_change_ms.saturating_add(self.window_ms))
    }
}

#[cfg(test)]
#[allow(clippy::print_stdout, reason = "the test prints its seed")]
mod tests {
    use super::*;

    const SEQUENCES: u64 = 200_000;
    const SEED: u64 = 13;

    /// RFC 013 §7.1.1 word by word, evaluated over the whole history after each capture.
    fn model(start: u64, window: u64, captures: &[(u64, bool)]) -> Stability {
        let Some((now, changed_now)) = captures.last().copied() else { return Stability::Transient };
        if changed_now {
            return Stability::Transient;
        }
        // §7.1.1 (2): from the most recent mutation; before the first one, from the start.
        let changes = captures.iter().filter(|(_, changed)| *changed);
        let last = changes.map(|(at, _)| *at).fold(start, |latest, at| if at > latest { at } else { latest });
        // §7.1.1 (1, 4): every moment of a window that ends no later than this capture is free of changes.
        let (begin, end) = (last, last + window);
        let disturbed = captures.iter().any(|(at, changed)| *changed && *at > begin && *at <= end);
        let seen_at_the_end = captures.iter().any(|(at, changed)| !*changed && *at >= end && *at <= now);
        if !disturbed && seen_at_the_end { Stability::Stable } else { Stability::Stabilizing }
    }

    struct Random(u64);

    impl Random {
        fn below(&mut self, limit: u64) -> u64 {
            self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
            let mut z = self.0;
            z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
            z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
            (z ^ (z >> 31)) % limit
        }
    }

    #[test]
    fn generated_sequences_agree_with_the_model() {
        println!("seed {SEED}, {SEQUENCES} sequences");
        let mut random = Random(SEED);
        let mut outcomes = [0u64; 3];
        for number in 0..SEQUENCES {
            let window = [0, 1, 20, 250, 1000][random.below(5) as usize] + random.below(3);
            let start = random.below(1000);
            let changes_of_ten = random.below(10);
            let mut captures = Vec::new();
            let mut stabiliser = Stabiliser::new(start, window);
            let mut at = start;
            for _ in 0..random.below(24) {
                // Steps around the length of the window are the likeliest to show mistakes.
                at += [random.below(3), random.below(window + 2), window][random.below(3) as usize];
                captures.push((at, random.below(10) < changes_of_ten));
                let state = stabiliser.capture(at, captures[captures.len() - 1].1);
                assert_eq!(state, model(start, window, &captures), "SY-05: sequence {number}: {captures:?}");
                outcomes[state as usize] += 1;
                let due = stabiliser.proof_at_ms();
                assert_eq!(due.is_none(), state == Stability::Stable, "sequence {number}");
                if let Some(due) = due {
                    let mut later = stabiliser;
                    assert_eq!(later.capture(due.max(at), false), Stability::Stable, "SY-05: {number}");
                    let mut early = stabiliser;
                    if due > at + 1 {
                        assert_eq!(early.capture(due - 1, false), Stability::Stabilizing, "SY-05: {number}");
                    }
                }
            }
            let mut again = Stabiliser::new(start, window);
            for (at, changed) in &captures {
                again.capture(*at, *changed);
            }
            assert_eq!(again, stabiliser, "SY-06: sequence {number}");
        }
        println!("transient, stabilizing, stable: {outcomes:?}");
        assert!(outcomes.iter().all(|count| *count > SEQUENCES / 10), "every outcome was met: {outcomes:?}");
    }

    #[test]
    fn quiet_time_starts_again_after_each_change() {
        let mut stabiliser = Stabiliser::new(0, 250);
        assert_eq!(stabiliser.capture(200, false), Stability::Stabilizing);
        assert_eq!(stabiliser.capture(240, true), Stability::Transient);
        assert_eq!(stabiliser.capture(489, false), Stability::Stabilizing, "SY-05");
        assert_eq!(stabiliser.proof_at_ms(), Some(490));
        assert_eq!(stabiliser.capture(490, false), Stability::Stable);
    }

    #[test]
    fn a_clock_that_goes_back_does_not_prove_stability() {
        let mut stabiliser = Stabiliser::new(1000, 250);
        assert_eq!(stabiliser.capture(900, true), Stability::Transient);
        assert_eq!(stabiliser.capture(1200, false), Stability::Stabilizing);
        assert_eq!(stabiliser.capture(u64::MAX, true), Stability::Transient);
        assert_eq!(stabiliser.proof_at_ms(), Some(u64::MAX));
    }
}
