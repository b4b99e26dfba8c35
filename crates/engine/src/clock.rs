//! Wall-clock time that stands still when a test stops tokio's clock.

use std::time::{SystemTime, UNIX_EPOCH};

use tokio::time::Instant;

/// Milliseconds since 1970, counted with tokio's clock from a reading of the system's at the start.
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

    pub fn now_ms(&self) -> u64 {
        self.started_at_ms + self.started.elapsed().as_millis() as u64
    }
}
