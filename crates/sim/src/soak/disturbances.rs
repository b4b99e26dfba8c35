//! When a phone was away or a client left it in the middle of a call, and what that excuses.

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::time::Instant;

/// How long what was disturbed may be felt: the longest timeout of an action, and the way back to a phone.
const FELT_MAX: Duration = Duration::from_secs(10);

/// The time in which something was asked and answered.
#[derive(Debug, Clone, Copy)]
pub struct Window {
    pub from: Instant,
    pub to: Instant,
}

impl Window {
    pub fn since(from: Instant) -> Window {
        Window { from, to: Instant::now() }
    }

    pub fn length(self) -> Duration {
        self.to.duration_since(self.from)
    }
}

#[derive(Debug, Default)]
pub struct Disturbances {
    all: Mutex<Vec<Window>>,
}

impl Disturbances {
    fn all(&self) -> MutexGuard<'_, Vec<Window>> {
        self.all.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Begins one; it lasts until `end`, and without that forever.
    pub fn begin(&self) {
        let now = Instant::now();
        let mut all = self.all();
        all.retain(|one| one.to + 20 * FELT_MAX > now);
        // Calls that are judged while it lasts find it.
        all.push(Window { from: now, to: now + 20 * FELT_MAX });
    }

    pub fn end(&self) {
        if let Some(last) = self.all().last_mut() {
            last.to = last.to.min(Instant::now());
        }
    }

    /// One of a moment.
    pub fn note(&self) {
        self.begin();
        self.end();
    }

    /// True if there was one in this window or shortly before it.
    pub fn excuse(&self, window: Window) -> bool {
        self.all().iter().any(|one| one.from <= window.to && window.from <= one.to + FELT_MAX)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn a_disturbance_excuses_what_was_near_it() {
        let disturbances = Disturbances::default();
        let at = |from: Instant, seconds: u64| Window { from, to: from + Duration::from_secs(seconds) };
        let start = Instant::now();
        tokio::time::advance(Duration::from_secs(60)).await;
        disturbances.begin();
        assert!(disturbances.excuse(Window::since(Instant::now())), "it lasts");
        tokio::time::advance(Duration::from_secs(2)).await;
        disturbances.end();
        let ended = Instant::now();
        assert!(!disturbances.excuse(at(start, 59)), "the call ended before");
        assert!(disturbances.excuse(at(start, 61)));
        assert!(disturbances.excuse(at(ended + FELT_MAX / 2, 1)));
        assert!(!disturbances.excuse(at(ended + 2 * FELT_MAX, 1)));
    }
}
