//! The only place of the engine and the server that reads clocks and sleeps.

use std::future::Future;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use tokio::time::Instant;

/// Milliseconds since 1970, counted with tokio's clock from a reading of the system's at the start, so that they stand
/// still when a test stops tokio's clock.
#[derive(Debug, Clone, Copy)]
pub struct Clock {
    started: Instant,
    started_at_ms: u64,
}

impl Clock {
    pub fn start() -> Clock {
        let since_1970 = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        Clock { started: Instant::now(), started_at_ms: since_1970.as_millis() as u64 }
    }

    /// Since it was started.
    pub fn ran_ms(&self) -> u64 {
        self.started.elapsed().as_millis() as u64
    }

    pub fn now_ms(&self) -> u64 {
        self.started_at_ms + self.started.elapsed().as_millis() as u64
    }
}

/// When a call began and when it must have ended.
#[derive(Debug, Clone, Copy)]
pub struct Deadline {
    started: Instant,
    at: Instant,
}

impl Deadline {
    pub fn after(timeout: Duration) -> Deadline {
        let started = Instant::now();
        Deadline { started, at: started + timeout }
    }

    /// The same start with a nearer end, if `timeout` from the start is nearer.
    #[must_use]
    pub fn within(self, timeout: Duration) -> Deadline {
        Deadline { at: self.at.min(self.started + timeout), ..self }
    }

    /// A deadline of its own for a part of the call, which ends with the call at the latest.
    #[must_use]
    pub fn part(self, timeout: Duration) -> Deadline {
        let started = Instant::now();
        Deadline { started, at: self.at.min(started + timeout) }
    }

    pub fn elapsed_ms(self) -> u64 {
        self.started.elapsed().as_millis() as u64
    }

    /// The length of the whole call.
    pub fn length(self) -> Duration {
        self.at - self.started
    }

    pub fn left(self) -> Duration {
        self.at.saturating_duration_since(Instant::now())
    }

    /// True if a pause of `pause` would still end before the deadline.
    pub fn has_time_for(self, pause: Duration) -> bool {
        Instant::now() + pause < self.at
    }

    /// Runs `work` until the deadline; `None` when that came first.
    pub async fn bound<T>(self, work: impl Future<Output = T>) -> Option<T> {
        tokio::select! {
            biased;
            done = work => Some(done),
            () = tokio::time::sleep_until(self.at) => None,
        }
    }
}

pub async fn pause(length: Duration) {
    tokio::time::sleep(length).await;
}
