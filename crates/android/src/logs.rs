//! The device's log: the script that reads it, and its lines.

use mdm_core::port::{
    DeviceError, DeviceErrorKind, DeviceEvent, EventSource, LogEntry, LogLevel, LogRead, PortFuture,
};

use crate::adb::Script;
use crate::adb::logcat::Logcat;

/// Lines read from the device in one go; filters look at these.
pub const LINES_MAX: usize = 5000;
pub const LOG_BYTES_MAX: usize = 8 * 1024 * 1024;

/// Seconds since 1970 on every line make the device's time zone and the turn of the year irrelevant (W18). Devices
/// too old for that give their own date, which is then left out.
pub fn script(app: Option<&str>) -> Script {
    let head = Script::new("date +%s;");
    let head = match app {
        Some(app) => head.then(" pidof").arg(app).then(" || echo;"),
        None => head.then(" echo;"),
    };
    head.then(" logcat -d -v threadtime -v epoch -t 5000 2>/dev/null || logcat -d -v threadtime -t 5000")
}

/// Follows the log from now on.
pub fn follow_script() -> Script {
    Script::new("logcat -v threadtime -v epoch -T 1 2>/dev/null || logcat -v threadtime -T 1")
}

/// The log as a stream of events. Lines that are no entries are left out.
pub struct LogEvents {
    logcat: Logcat,
}

impl LogEvents {
    pub fn new(logcat: Logcat) -> LogEvents {
        LogEvents { logcat }
    }
}

impl EventSource for LogEvents {
    fn next(&mut self) -> PortFuture<'_, Option<DeviceEvent>> {
        Box::pin(async {
            loop {
                let line = self.logcat.next_line().await;
                let lost = |error| DeviceError::new(DeviceErrorKind::ConnectionLost, format!("{error}"));
                let Some(line) = line.map_err(lost)? else { return Ok(None) };
                if let Some(entry) = parse_line(&line) {
                    return Ok(Some(DeviceEvent::Log(entry)));
                }
            }
        })
    }
}

pub fn read(output: &[u8]) -> LogRead {
    let text = String::from_utf8_lossy(output);
    let mut lines = text.lines();
    let now_ms =
        lines.next().and_then(|seconds| seconds.trim().parse::<u64>().ok()).map(|s| s.saturating_mul(1000));
    let pids = lines.next().unwrap_or("");
    let app_pids = pids.split_whitespace().filter_map(|pid| pid.parse().ok()).collect();
    let entries: Vec<LogEntry> = lines.filter_map(parse_line).collect();
    LogRead { more: entries.len() >= LINES_MAX, entries, now_ms, app_pids }
}

/// `1700000000.123  1234  1240 E Tag  : message` or `01-31 12:00:00.123  1234  1240 E Tag: message`.
fn parse_line(line: &str) -> Option<LogEntry> {
    let mut rest = line.trim_start();
    let mut word = || {
        let (word, tail) = rest.split_once(' ')?;
        rest = tail.trim_start();
        Some(word)
    };
    let date = word()?;
    let time_ms = match date.split_once('.') {
        Some((seconds, millis)) => {
            Some(seconds.parse::<u64>().ok()?.checked_mul(1000)? + millis.parse::<u64>().ok()?)
        }
        None => {
            word()?;
            None
        }
    };
    let (pid, _tid, level) = (word()?, word()?, word()?);
    let level = match level {
        "V" => LogLevel::Verbose,
        "D" => LogLevel::Debug,
        "I" => LogLevel::Info,
        "W" => LogLevel::Warn,
        "E" => LogLevel::Error,
        "F" | "A" => LogLevel::Fatal,
        _ => return None,
    };
    let (tag, message) = rest.split_once(": ").or_else(|| Some((rest.strip_suffix(':')?, "")))?;
    Some(LogEntry {
        time_ms,
        pid: Some(pid.parse().ok()?),
        level,
        tag: tag.trim_end().to_owned(),
        message: message.to_owned(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_of_both_formats() {
        let text = "1700000100\n4321 4400\n--------- beginning of main\n         \
                    1700000000.123  4321  4330 E AuthRepo: POST /login -> 401: no\n\
                    01-31 12:00:00.123  77  78 F libc    : Fatal signal 11\nnonsense\n";
        let read = read(text.as_bytes());
        assert_eq!((read.now_ms, read.app_pids), (Some(1_700_000_100_000), vec![4321, 4400]));
        let [login, crash] = &read.entries[..] else { panic!("two entries, got {:?}", read.entries) };
        assert_eq!((login.time_ms, login.pid), (Some(1_700_000_000_123), Some(4321)), "W16: the pid is kept");
        assert_eq!((login.tag.as_str(), login.message.as_str()), ("AuthRepo", "POST /login -> 401: no"));
        assert_eq!((crash.level, crash.tag.as_str()), (LogLevel::Fatal, "libc"), "W17: F lines are read");
        assert_eq!(crash.time_ms, None, "W18: a date without a zone is not a time");
    }
}
