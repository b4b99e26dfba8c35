//! One object carries deadline, cancellation and the event sink through every step of a call.

use std::future::Future;
use std::sync::Arc;
use std::time::Duration;

use mdm_core::action::event::Event;
use mdm_core::failure::{Cause, Failure};
use mdm_core::port::{DeviceError, Dispatch};
use tokio_util::sync::CancellationToken;

use crate::clock::{self, Deadline};
use crate::events::{Bus, Stamped};

#[derive(Debug, Clone)]
pub struct Progress {
    deadline: Deadline,
    cancelled: CancellationToken,
    sink: Option<Sink>,
}

#[derive(Debug, Clone)]
struct Sink {
    bus: Arc<Bus>,
    call: u64,
}

impl Progress {
    pub fn new(timeout: Duration, cancelled: CancellationToken) -> Progress {
        Progress { deadline: Deadline::after(timeout), cancelled, sink: None }
    }

    /// Tells this bus what happens, under this call's number.
    #[must_use]
    pub fn telling(self, bus: Arc<Bus>, call: u64) -> Progress {
        Progress { sink: Some(Sink { bus, call }), ..self }
    }

    /// The same call with a nearer end, if `timeout` is nearer. It counts from the call's start.
    #[must_use]
    pub fn within(&self, timeout: Duration) -> Progress {
        Progress { deadline: self.deadline.within(timeout), ..self.clone() }
    }

    /// The same call with an end this far from now, if that is nearer.
    #[must_use]
    pub fn within_next(&self, timeout: Duration) -> Progress {
        self.within(Duration::from_millis(self.elapsed_ms()) + timeout)
    }

    /// A call that is a part of this one: it has a start of its own, and shares end, cancellation and sink.
    #[must_use]
    pub fn part(&self, timeout: Duration) -> Progress {
        Progress { deadline: self.deadline.part(timeout), ..self.clone() }
    }

    pub fn time_left(&self) -> Duration {
        self.deadline.left()
    }

    /// Waits until the caller cancels. For work that has to be ended properly and not only left.
    pub async fn cancelled(&self) {
        self.cancelled.cancelled().await;
    }

    pub fn elapsed_ms(&self) -> u64 {
        self.deadline.elapsed_ms()
    }

    /// The same call for half of the time that is left, so that the other half is left for what comes next.
    #[must_use]
    pub fn first_half(&self) -> Progress {
        self.within_next(self.deadline.left() / 2)
    }

    pub fn has_time_left(&self) -> bool {
        self.deadline.has_time_for(Duration::ZERO)
    }

    pub fn has_time_for(&self, pause: Duration) -> bool {
        self.deadline.has_time_for(pause)
    }

    /// Runs `work` against the deadline and the caller's cancellation. `doing` completes "while …".
    pub async fn race<T>(
        &self,
        doing: &str,
        work: impl Future<Output = Result<T, Failure>>,
    ) -> Result<T, Failure> {
        tokio::select! {
            biased;
            () = self.cancelled.cancelled() => {
                Err(Failure::new(Cause::Cancelled, format!("cancelled by the caller while {doing}")))
            }
            done = self.deadline.bound(work) => done.unwrap_or_else(|| {
                let ms = self.deadline.length().as_millis();
                Err(Failure::new(Cause::Timeout, format!("no answer within {ms} ms while {doing}")))
            }),
        }
    }

    /// The same for a read of a device.
    pub async fn race_device<T>(
        &self,
        doing: &str,
        work: impl Future<Output = Result<T, DeviceError>>,
    ) -> Result<T, Failure> {
        self.race(doing, async { work.await.map_err(Failure::from) }).await
    }

    /// The same for a command with an effect: once it was begun, giving up leaves its fate unknown.
    pub async fn race_effect<T>(
        &self,
        doing: &str,
        work: impl Future<Output = Result<T, DeviceError>>,
    ) -> Result<T, Failure> {
        self.race_device(doing, work).await.map_err(|failure| match failure.cause {
            Cause::Timeout | Cause::Cancelled => failure.with_dispatch(Dispatch::Unknown),
            _ => failure,
        })
    }

    pub async fn pause(&self, doing: &str, length: Duration) -> Result<(), Failure> {
        let pause = async {
            clock::pause(length).await;
            Ok(())
        };
        self.race(doing, pause).await
    }

    /// Tells whoever listens. Costs nothing when nobody does.
    pub fn tell(&self, device: &Arc<str>, at_ms: u64, event: impl FnOnce() -> Event) {
        if let Some(sink) = self.sink.as_ref().filter(|sink| sink.bus.has_listeners()) {
            sink.bus.publish(Stamped { at_ms, call: sink.call, device: Arc::clone(device), event: event() });
        }
    }
}

#[cfg(test)]
mod tests {
    use tokio::time::Instant;

    use super::*;

    #[tokio::test(start_paused = true)]
    async fn a_part_ends_with_the_whole() {
        // F42: the steps of a flow share its deadline.
        let began = Instant::now();
        let whole = Progress::new(Duration::from_secs(10), CancellationToken::new());
        let part = whole.part(Duration::from_secs(4));
        let ended = part.pause("waiting", Duration::from_secs(60)).await.map_err(|failure| failure.cause);
        assert_eq!((ended, began.elapsed().as_secs()), (Err(Cause::Timeout), 4));
        let late = whole.part(Duration::from_secs(60));
        let ended = late.pause("waiting", Duration::from_secs(60)).await.map_err(|failure| failure.cause);
        assert_eq!(
            (ended, began.elapsed().as_secs()),
            (Err(Cause::Timeout), 10),
            "not a minute from its start"
        );
    }

    #[tokio::test(start_paused = true)]
    async fn a_command_that_was_given_up_may_have_happened() {
        // RC-04
        let progress = Progress::new(Duration::from_secs(1), CancellationToken::new());
        let stuck = std::future::pending::<Result<(), DeviceError>>();
        let failure = progress.race_effect("sending", stuck).await.unwrap_err();
        assert_eq!((failure.cause, failure.dispatch), (Cause::Timeout, Dispatch::Unknown));
        let read = progress.race_device("reading", std::future::pending::<Result<(), DeviceError>>()).await;
        assert_eq!(read.unwrap_err().dispatch, Dispatch::NotSent);
    }
}
