//! One object carries deadline and cancellation through every step of a call.

use std::future::Future;
use std::time::Duration;

use mdm_core::action::failure::{ErrorCode, Failure};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

#[derive(Debug, Clone)]
pub struct Progress {
    started: Instant,
    deadline: Instant,
    cancelled: CancellationToken,
}

impl Progress {
    pub fn new(timeout: Duration, cancelled: CancellationToken) -> Progress {
        let started = Instant::now();
        Progress { started, deadline: started + timeout, cancelled }
    }

    /// The same call with a nearer end, if `timeout` is nearer. It counts from the call's start.
    #[must_use]
    pub fn within(&self, timeout: Duration) -> Progress {
        let deadline = self.deadline.min(self.started + timeout);
        Progress { deadline, ..self.clone() }
    }

    /// For calls that are part of this one.
    pub fn cancellation(&self) -> CancellationToken {
        self.cancelled.clone()
    }

    pub fn elapsed_ms(&self) -> u64 {
        self.started.elapsed().as_millis() as u64
    }

    /// Whether a pause of `pause` would still end before the deadline.
    pub fn has_time_for(&self, pause: Duration) -> bool {
        Instant::now() + pause < self.deadline
    }

    /// Runs `work` against the deadline and the caller's cancellation. `doing` completes "while …".
    pub async fn race<T>(
        &self,
        doing: &str,
        work: impl Future<Output = Result<T, Failure>>,
    ) -> Result<T, Failure> {
        tokio::select! {
            biased;
            () = self.cancelled.cancelled() => Err(Failure::new(
                ErrorCode::Cancelled,
                format!("cancelled by the caller while {doing}"),
                "call again when needed",
            )),
            done = work => done,
            () = tokio::time::sleep_until(self.deadline) => Err(Failure::new(
                ErrorCode::Timeout,
                format!("no answer within {} ms while {doing}", (self.deadline - self.started).as_millis()),
                "the device is slow or stuck; get_system_status tells whether it still answers",
            )),
        }
    }

    /// Like [`Progress::race`] for work with an effect: once it was begun, giving up leaves its fate unknown.
    pub async fn race_effect<T>(
        &self,
        doing: &str,
        work: impl Future<Output = Result<T, Failure>>,
    ) -> Result<T, Failure> {
        self.race(doing, work).await.map_err(|failure| match failure.code {
            ErrorCode::Timeout | ErrorCode::Cancelled => failure.with_unknown_dispatch(),
            _ => failure,
        })
    }
}
