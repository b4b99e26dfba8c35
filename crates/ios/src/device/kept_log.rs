//! The newest lines of a log that can only be followed, so that somebody who asks later finds them.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use mdm_core::port::{LogBatch, LogEntry, LogRead, LogSource};
use tokio::time::Instant;
use tokio_util::task::AbortOnDropHandle;

/// Lines and bytes of messages that are kept; older ones are dropped and counted.
const ENTRIES_MAX: usize = 20_000;
/// Bytes of messages that are kept; older lines are dropped and counted.
const BYTES_MAX: usize = 4 * 1024 * 1024;

#[derive(Default)]
pub struct KeptLog {
    kept: Arc<Mutex<Kept>>,
    following: Mutex<Option<AbortOnDropHandle<()>>>,
}

#[derive(Default)]
struct Kept {
    entries: VecDeque<LogEntry>,
    bytes: usize,
    dropped: usize,
    unread: usize,
    /// The device's time of the newest line, and when that came here.
    newest: Option<(u64, Instant)>,
}

impl KeptLog {
    pub fn is_following(&self) -> bool {
        lock(&self.following).as_ref().is_some_and(|task| !task.is_finished())
    }

    /// Keeps what this source tells from now on, until it ends or this is stopped.
    pub fn follow(&self, mut source: Box<dyn LogSource>) {
        let kept = Arc::clone(&self.kept);
        let task = tokio::spawn(async move {
            while let Ok(Some(batch)) = source.next().await {
                lock(&kept).take(batch);
            }
        });
        *lock(&self.following) = Some(AbortOnDropHandle::new(task));
    }

    pub fn stop(&self) {
        *lock(&self.following) = None;
    }

    /// What the device's clock says now, as far as a line told it.
    pub fn device_now_ms(&self) -> Option<u64> {
        lock(&self.kept).now_ms()
    }

    /// Returns the lines so far. What was logged before the following began is not among them.
    pub fn read(&self) -> LogRead {
        let kept = lock(&self.kept);
        LogRead {
            entries: kept.entries.iter().cloned().collect(),
            now_ms: kept.now_ms(),
            more: true,
            dropped_lines: kept.dropped,
            unread_lines: kept.unread,
            ..LogRead::default()
        }
    }
}

impl Kept {
    fn now_ms(&self) -> Option<u64> {
        self.newest.map(|(time_ms, at)| time_ms + at.elapsed().as_millis() as u64)
    }

    fn take(&mut self, batch: LogBatch) {
        self.unread += batch.unread_lines;
        for entry in batch.entries {
            if let Some(time_ms) =
                entry.time_ms.filter(|time| self.newest.is_none_or(|(last, _)| *time >= last))
            {
                self.newest = Some((time_ms, Instant::now()));
            }
            self.bytes += entry.message.len();
            self.entries.push_back(entry);
        }
        while self.entries.len() > ENTRIES_MAX || self.bytes > BYTES_MAX {
            let Some(oldest) = self.entries.pop_front() else { break };
            self.bytes = self.bytes.saturating_sub(oldest.message.len());
            self.dropped += 1;
        }
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use mdm_core::port::{LogLevel, PortFuture};
    use tokio::sync::mpsc;

    use super::*;

    struct Told(mpsc::Receiver<LogBatch>);

    impl LogSource for Told {
        fn next(&mut self) -> PortFuture<'_, Option<LogBatch>> {
            Box::pin(async { Ok(self.0.recv().await) })
        }
    }

    fn batch(time_ms: u64, messages: &[&str]) -> LogBatch {
        let entry = |message: &&str| LogEntry {
            time_ms: Some(time_ms),
            pid: Some(7),
            tid: None,
            level: LogLevel::Info,
            tag: "Shop".to_owned(),
            message: (*message).to_owned(),
        };
        LogBatch { entries: messages.iter().map(entry).collect(), ..LogBatch::default() }
    }

    #[tokio::test(start_paused = true)]
    async fn what_came_is_found_later_and_the_device_s_clock_goes_on() {
        let (sender, told) = mpsc::channel(4);
        let kept = KeptLog::default();
        kept.follow(Box::new(Told(told)));
        sender.send(batch(5000, &["one", "two"])).await.unwrap();
        tokio::time::sleep(Duration::from_millis(250)).await;
        let read = kept.read();
        assert_eq!((read.entries.len(), read.now_ms), (2, Some(5250)));
        let long = "x".repeat(BYTES_MAX);
        sender.send(batch(6000, &[&long, "three"])).await.unwrap();
        tokio::time::sleep(Duration::from_millis(1)).await;
        let read = kept.read();
        assert_eq!((read.entries.len(), read.dropped_lines), (1, 3), "the newest stay");
        drop(sender);
        tokio::time::sleep(Duration::from_millis(1)).await;
        assert!(!kept.is_following());
    }
}
