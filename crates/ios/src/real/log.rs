//! The log of a phone, followed.

use idevice::IdeviceError;
use idevice::os_trace_relay::{LogLevel as TraceLevel, OsTraceLog, OsTraceRelayClient};
use idevice::syslog_relay::SyslogRelayClient;
use mdm_core::port::{DeviceError, DeviceErrorKind, LogBatch, LogEntry, LogLevel, LogSource, PortFuture};
use tokio::sync::mpsc;
use tokio::task::JoinSet;

use super::error::{Effect, told};
use super::lengths::Lengths;
use super::link::{Link, service};
use crate::log::parse;

/// Entries that wait for a slow reader before the phone has to wait.
const QUEUE_ENTRIES: usize = 1024;

/// A log that is followed; it ends when this is dropped.
#[derive(Debug)]
pub struct DeviceLog {
    entries: mpsc::Receiver<Read>,
    udid: String,
    _reader: JoinSet<()>,
}

#[derive(Debug)]
enum Read {
    Entry(Box<LogEntry>),
    /// A line in a form that is not known.
    Unread,
    Failed(IdeviceError),
}

/// Starts to follow: the records with their parts apart, or the lines where a phone has only those.
pub async fn follow(link: &Link) -> Result<DeviceLog, DeviceError> {
    let (sender, entries) = mpsc::channel(QUEUE_ENTRIES);
    let mut reader = JoinSet::new();
    let records = link.with(Effect::Reads, async |provider| {
        service::<OsTraceRelayClient>(&provider, Lengths::of_log()).await?.start_trace(None).await
    });
    match records.await {
        Ok(mut records) => {
            reader.spawn(async move {
                loop {
                    let read = match records.next().await {
                        Ok(record) => Read::Entry(Box::new(entry(record))),
                        Err(error) => Read::Failed(error),
                    };
                    let is_over = matches!(read, Read::Failed(_));
                    if sender.send(read).await.is_err() || is_over {
                        return;
                    }
                }
            });
        }
        Err(error) if error.kind == DeviceErrorKind::ServiceMissing => {
            let lines = link.with(Effect::Reads, async |provider| {
                service::<SyslogRelayClient>(&provider, Lengths::of_lines()).await
            });
            let mut lines = lines.await?;
            reader.spawn(async move {
                loop {
                    let read = match lines.next().await {
                        Ok(line) => parse(line.trim_matches(['\0', '\n']))
                            .map_or(Read::Unread, |entry| Read::Entry(Box::new(entry))),
                        Err(error) => Read::Failed(error),
                    };
                    let is_over = matches!(read, Read::Failed(_));
                    if sender.send(read).await.is_err() || is_over {
                        return;
                    }
                }
            });
        }
        Err(error) => return Err(error),
    }
    Ok(DeviceLog { entries, udid: link.udid.clone(), _reader: reader })
}

impl DeviceLog {
    async fn next_batch(&mut self) -> Result<Option<LogBatch>, DeviceError> {
        let mut reads = Vec::new();
        // Nothing comes after a panic of the reader: the channel is closed.
        if self.entries.recv_many(&mut reads, QUEUE_ENTRIES).await == 0 {
            return Ok(None);
        }
        let mut batch = LogBatch::default();
        for read in reads {
            match read {
                Read::Entry(entry) => batch.entries.push(*entry),
                Read::Unread => batch.unread_lines += 1,
                Read::Failed(error) if batch.entries.is_empty() => {
                    return Err(told(error, &self.udid, Effect::Reads));
                }
                // What came before it counts; the next call finds the end.
                Read::Failed(_) => {}
            }
        }
        Ok(Some(batch))
    }
}

impl LogSource for DeviceLog {
    fn next(&mut self) -> PortFuture<'_, Option<LogBatch>> {
        Box::pin(self.next_batch())
    }
}

pub(super) fn entry(record: OsTraceLog) -> LogEntry {
    let time = record.timestamp.and_utc();
    // The library hands the microseconds of a record over as nanoseconds.
    let within_ms = u64::from(time.timestamp_subsec_nanos()) / 1000;
    let time_ms = u64::try_from(time.timestamp()).ok().map(|seconds| seconds * 1000 + within_ms);
    let tag = record.label.map(|label| format!("{}:{}", label.subsystem, label.category));
    LogEntry {
        time_ms,
        pid: Some(record.pid),
        tid: u32::try_from(record.thread_id).ok(),
        level: match record.level {
            TraceLevel::Notice | TraceLevel::Info => LogLevel::Info,
            TraceLevel::Debug => LogLevel::Debug,
            TraceLevel::Error => LogLevel::Error,
            TraceLevel::Fault => LogLevel::Fatal,
        },
        tag: tag.unwrap_or(record.image_name),
        message: record.message,
    }
}
