//! Reports of crashes, as the lines of which they are made are written.

use std::collections::VecDeque;

use mdm_core::port::{CrashReport, CrashSource, DeviceError, LogEntry, LogSource, PortFuture};

use super::in_entries;
use crate::log::follow::Following;

/// Lines in which a report may still go on.
const LINES_MAX: usize = 3000;

pub struct FollowedCrashes {
    lines: Following,
    entries: VecDeque<LogEntry>,
}

impl FollowedCrashes {
    pub fn new(lines: Following) -> FollowedCrashes {
        FollowedCrashes { lines, entries: VecDeque::new() }
    }

    async fn next_reports(&mut self) -> Result<Option<Vec<CrashReport>>, DeviceError> {
        loop {
            let Some(batch) = self.lines.next().await? else { return Ok(None) };
            self.entries.extend(batch.entries);
            let old = self.entries.len().saturating_sub(LINES_MAX);
            self.entries.drain(..old);
            let reports = in_entries(self.entries.make_contiguous());
            if !reports.is_empty() {
                return Ok(Some(reports));
            }
        }
    }
}

impl CrashSource for FollowedCrashes {
    fn next(&mut self) -> PortFuture<'_, Option<Vec<CrashReport>>> {
        Box::pin(self.next_reports())
    }
}
