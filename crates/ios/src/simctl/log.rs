//! The log of a simulator: its past, and what comes.

use mdm_core::port::{DeviceError, DeviceErrorKind, LogBatch, LogSource, PortFuture};
use tokio::io::AsyncReadExt as _;

use super::process::Followed;
use crate::lines::Lines;

const READ_BYTES: usize = 64 * 1024;

/// A log that is followed through a process; it ends when this is dropped.
#[derive(Debug)]
pub struct SimulatorLog {
    process: Followed,
    lines: Lines,
}

impl SimulatorLog {
    pub(super) fn new(process: Followed) -> SimulatorLog {
        SimulatorLog { process, lines: Lines::default() }
    }

    async fn next_batch(&mut self) -> Result<Option<LogBatch>, DeviceError> {
        let mut buffer = vec![0; READ_BYTES];
        loop {
            let read = self.process.stdout.read(&mut buffer).await;
            let count = read.map_err(|error| {
                DeviceError::new(DeviceErrorKind::ConnectionLost, format!("the log cannot be read: {error}"))
            })?;
            if count == 0 {
                return Ok(None);
            }
            self.lines.push(buffer.get(..count).unwrap_or_default());
            let batch = self.lines.take_batch();
            if !batch.entries.is_empty() || batch.unread_lines > 0 {
                return Ok(Some(batch));
            }
        }
    }
}

impl LogSource for SimulatorLog {
    fn next(&mut self) -> PortFuture<'_, Option<LogBatch>> {
        Box::pin(self.next_batch())
    }
}
