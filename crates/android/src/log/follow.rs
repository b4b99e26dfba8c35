//! The log as it is written.

use mdm_core::port::{DeviceError, DeviceErrorKind, LogBatch, LogSource, PortFuture};

use super::clock::Clock;
use super::text::Entries;
use crate::adb::Script;
use crate::adb::logcat::Logcat;
use crate::crash::{app_of_process, start_of};

/// The clock comes first, for a logcat that writes dates without a zone.
const CLOCK: &str = "date '+%s %z %N'; ";

/// Follows the log from now on, or from a time of the device's clock on.
pub fn script(since_ms: Option<u64>) -> Script {
    let from = since_ms.map_or_else(|| "1".to_owned(), |ms| format!("{}.{:03}", ms / 1000, ms % 1000));
    Script::new(CLOCK)
        .then("logcat -v threadtime -v epoch -T")
        .arg(&from)
        .then(" 2>/dev/null || logcat -v threadtime -T 1")
}

/// Entries in batches, as they come.
pub struct Following {
    logcat: Logcat,
    entries: Option<Entries>,
}

impl Following {
    pub fn new(logcat: Logcat) -> Following {
        Following { logcat, entries: None }
    }

    async fn next_batch(&mut self) -> Result<Option<LogBatch>, DeviceError> {
        let mut batch = LogBatch::default();
        loop {
            let Following { logcat, entries } = self;
            let take = |line: &str| match entries {
                Some(known) => batch.entries.extend(known.push(line)),
                None => *entries = Some(Entries::new(Clock::parse(line))),
            };
            let lost = |error| DeviceError::new(DeviceErrorKind::ConnectionLost, format!("{error}"));
            let goes_on = logcat.next(take).await.map_err(lost)?;
            if let Some(entries) = &mut self.entries {
                batch.entries.extend(entries.flush(!goes_on));
                batch.unread_lines += std::mem::take(&mut entries.counts.defects);
            }
            if !goes_on && batch.entries.is_empty() {
                return Ok(None);
            }
            if !batch.entries.is_empty() {
                let started = batch.entries.iter().filter_map(start_of);
                batch.started = started.map(|(pid, name)| (pid, app_of_process(name).to_owned())).collect();
                return Ok(Some(batch));
            }
        }
    }
}

impl LogSource for Following {
    fn next(&mut self) -> PortFuture<'_, Option<LogBatch>> {
        Box::pin(self.next_batch())
    }
}
