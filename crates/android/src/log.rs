//! The device's log: the script that reads it, and its lines.

pub mod clock;
pub mod follow;
pub mod line;
pub mod text;

use mdm_core::port::{DeviceError, DeviceErrorKind, LogRead};

use crate::adb::Script;
use crate::adb::shell::Newest;
use crate::crash::past_pids;
use clock::Clock;

/// Lines read from the device in one go; filters look at these.
pub const LINES_MAX: usize = 5000;
/// The newest bytes of the log that are kept (F65).
pub const LOG_BYTES_MAX: usize = 8 * 1024 * 1024;
/// Stands between the log and what is known of the device; an entry of the log cannot look like it.
const END: &str = "mdm-log-end";

/// Seconds since 1970 on every line make the device's time zone and the turn of the year irrelevant (W18). A logcat that
/// does not know them writes dates, which are read with the device's year and zone (F50). What is known of the device
/// comes last: of a log that is too long the beginning is lost.
pub fn script(app: Option<&str>) -> Script {
    let log = Script::new(
        "logcat -d -v threadtime -v epoch -t 5000 2>/dev/null || logcat -d -v threadtime -t 5000; ",
    )
    .then("echo; echo mdm-log-end; date '+%s %z %N';");
    match app {
        Some(app) => log.then(" pidof").arg(app).then(" || echo"),
        None => log.then(" echo"),
    }
}

/// Reads the script's output, of which `newest` holds the end.
pub fn read(newest: &Newest, app: Option<&str>) -> Result<LogRead, DeviceError> {
    let text = String::from_utf8_lossy(&newest.bytes);
    let Some((log, device)) = text.rsplit_once(END) else {
        let detail = "the device's log broke off";
        return Err(DeviceError::new(DeviceErrorKind::Protocol, detail));
    };
    let mut device = device.trim_start_matches(['\r', '\n']).lines();
    let clock = Clock::parse(device.next().unwrap_or(""));
    let pids = device.next().unwrap_or("");
    let (entries, counts) = text::read(log, clock);
    Ok(LogRead {
        more: entries.len() >= LINES_MAX || newest.dropped_lines > 0,
        past_pids: app.map_or_else(Vec::new, |app| past_pids(&entries, app)),
        entries,
        now_ms: clock.now_ms.and_then(|now| u64::try_from(now).ok()),
        app_pids: pids.split_whitespace().filter_map(|pid| pid.parse().ok()).collect(),
        dropped_lines: newest.dropped_lines,
        unread_lines: counts.defects,
    })
}

#[cfg(test)]
mod tests {
    use mdm_core::port::LogLevel;

    use super::*;

    fn newest(text: &str, bytes_max: usize) -> Newest {
        let mut newest = Newest::new(bytes_max);
        text.as_bytes().chunks(7).for_each(|chunk| newest.push(chunk));
        newest.finish();
        newest
    }

    #[test]
    fn lines_of_both_formats() {
        let text = "--------- beginning of main\n         \
                    1700000000.123  4321  4330 E AuthRepo: POST /login -> 401: no\n\
                    11-14 22:13:20.123  77  78 F libc    : Fatal signal 11\nnonsense\n\
                    \nmdm-log-end\n1700000100 +0000\n4321 4400\n";
        let read = read(&newest(text, 10_000), None).unwrap();
        assert_eq!((read.now_ms, read.app_pids), (Some(1_700_000_100_000), vec![4321, 4400]));
        let [login, crash] = &read.entries[..] else { panic!("two entries, got {:?}", read.entries) };
        assert_eq!((login.time_ms, login.pid), (Some(1_700_000_000_123), Some(4321)), "W16: the pid is kept");
        assert_eq!((login.tag.as_str(), login.message.as_str()), ("AuthRepo", "POST /login -> 401: no"));
        assert_eq!((crash.level, crash.tag.as_str()), (LogLevel::Fatal, "libc"), "W17: F lines are read");
        assert_eq!(crash.time_ms, login.time_ms, "F50: a date is read with the device's zone");
        assert_eq!((read.unread_lines, read.dropped_lines), (1, 0), "F50: what is not read is said");
    }

    #[test]
    fn a_log_that_is_too_long_keeps_its_newest_lines() {
        // F65
        let line = |n: u32| format!("1700000000.{n:03}  1  2 I Tag: line {n}\n");
        let lines: String = (0..1000).map(line).collect();
        let text = format!("{lines}\nmdm-log-end\n1700000100 +0000\n\n");
        let read = read(&newest(&text, 5000), None).unwrap();
        let entry_count = read.entries.len();
        assert_eq!(read.entries.last().unwrap().message, "line 999");
        assert_eq!(read.entries[0].message, format!("line {}", 1000 - entry_count), "no line is cut in two");
        assert_eq!(read.dropped_lines + entry_count, 1000, "every line is accounted for");
        assert!(read.more && entry_count > 100 && read.unread_lines == 0, "{entry_count}");
        assert!(super::read(&newest(&lines, 5000), None).is_err(), "a log without its end broke off");
    }
}
