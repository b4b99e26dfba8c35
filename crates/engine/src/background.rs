//! Work beside the calls on a device: it ends when its owner is dropped.

use std::future::Future;
use std::time::Duration;

use tokio::task::AbortHandle;

use crate::clock;

/// Tries to go on with something that a device ended, before it is given up.
const TRIES_MAX: u32 = 20;
/// Between two tries, at first; each further one waits as much longer.
const PAUSE: Duration = Duration::from_millis(250);

#[derive(Debug)]
pub struct Background {
    handle: AbortHandle,
}

impl Background {
    pub fn spawn(work: impl Future<Output = ()> + Send + 'static) -> Background {
        Background { handle: tokio::spawn(work).abort_handle() }
    }

    pub fn has_ended(&self) -> bool {
        self.handle.is_finished()
    }
}

impl Drop for Background {
    fn drop(&mut self) {
        self.handle.abort();
    }
}

/// Counts the tries since something last worked.
#[derive(Debug, Default)]
pub struct Tries {
    failed: u32,
}

impl Tries {
    pub fn worked(&mut self) {
        self.failed = 0;
    }

    /// Waits before the next try; false when there have been enough.
    pub async fn again(&mut self) -> bool {
        self.failed += 1;
        if self.failed > TRIES_MAX {
            return false;
        }
        clock::pause(PAUSE * self.failed).await;
        true
    }
}
