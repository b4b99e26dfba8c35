//! The log of iOS, in the forms of `log` (ndjson, compact, syslog, default) and of the relay of a device.

use mdm_core::port::{LineCounts, LogEntry, LogLevel};
use mdm_core::text::calendar::{DAY_MS, date, days, number, time_of_day, zone};
use serde::Deserialize;

/// Bytes that lines without a head may add to the message before them.
const MESSAGE_BYTES_MAX: usize = 64 * 1024;
const MONTHS: [&str; 12] =
    ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];
/// What `log` writes above its lines.
const HEADINGS: [&str; 5] =
    ["Timestamp ", "Filtering the log data", "Skipping info and debug", "=== ", "{\"count\":"];

/// True for a line that `log` writes around its messages, and for an empty one.
pub(crate) fn is_heading(line: &str) -> bool {
    line.trim().is_empty() || HEADINGS.iter().any(|heading| line.starts_with(heading))
}

/// Reads a whole text, and says what became of each line.
pub fn read(text: &str) -> (Vec<LogEntry>, LineCounts) {
    let (mut entries, mut counts) = (Vec::<LogEntry>::new(), LineCounts::default());
    for line in text.lines() {
        if let Some(entry) = parse(line) {
            counts.entries += 1;
            entries.push(entry);
        } else if is_heading(line) {
            counts.markers += 1;
        } else if let Some(last) = entries.last_mut() {
            counts.continuations += 1;
            if last.message.len() + line.len() < MESSAGE_BYTES_MAX {
                last.message.push('\n');
                last.message.push_str(line);
            }
        } else {
            counts.defects += 1;
        }
    }
    (entries, counts)
}

/// Parses a line with a head, in whichever form it is.
pub fn parse(line: &str) -> Option<LogEntry> {
    match line.as_bytes().first()? {
        b'{' => json(line),
        b'0'..=b'9' => dated(line),
        _ => relayed(line),
    }
}

#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct JsonLine {
    timestamp: String,
    message_type: Option<String>,
    event_message: Option<String>,
    process_image_path: String,
    #[serde(rename = "processID")]
    process_id: Option<u32>,
    #[serde(rename = "threadID")]
    thread_id: Option<u64>,
    subsystem: String,
    category: String,
}

fn json(line: &str) -> Option<LogEntry> {
    let line: JsonLine = serde_json::from_str(line).ok()?;
    let process = line.process_image_path.rsplit('/').next().unwrap_or_default();
    let tag = if line.subsystem.is_empty() {
        process.to_owned()
    } else {
        format!("{}:{}", line.subsystem, line.category)
    };
    Some(LogEntry {
        time_ms: timestamp(&line.timestamp).and_then(|(time, _)| time),
        pid: line.process_id,
        tid: line.thread_id.and_then(|id| u32::try_from(id).ok()),
        level: level(line.message_type.as_deref().unwrap_or_default()),
        tag,
        message: line.event_message?,
    })
}

/// `2024-01-02 10:11:12.123456+0100`, also without a zone, which is then not known; and what follows it.
fn timestamp(text: &str) -> Option<(Option<u64>, &str)> {
    let (day, rest) = text.split_once(' ')?;
    let (Some(year), month, day) = date(day.as_bytes())? else { return None };
    let (clock, rest) = rest.split_once(' ').unwrap_or((rest, ""));
    let sign = clock.find(['+', '-']).unwrap_or(clock.len());
    let in_day_ms = time_of_day(clock.get(..sign)?.as_bytes())?;
    let zone_ms = zone(clock.get(sign..)?.as_bytes());
    let local = days(year, month, day) * DAY_MS + in_day_ms;
    Some((zone_ms.and_then(|zone_ms| u64::try_from(local - zone_ms).ok()), rest.trim_start()))
}

/// The forms that begin with a date: compact, syslog and default.
fn dated(line: &str) -> Option<LogEntry> {
    let (time_ms, rest) = timestamp(line)?;
    let entry = compact(rest).or_else(|| syslog(rest)).or_else(|| default(rest))?;
    Some(LogEntry { time_ms, ..entry })
}

/// `Df Shop[1234:5678] (UIKitCore) [com.example:net] message`.
fn compact(rest: &str) -> Option<LogEntry> {
    let (kind, rest) = rest.split_once(' ')?;
    let level = match kind {
        "Df" | "A" => LogLevel::Info,
        "I" => LogLevel::Info,
        "Db" => LogLevel::Debug,
        "E" => LogLevel::Error,
        "F" => LogLevel::Fatal,
        _ => return None,
    };
    let (process, ids, rest) = bracketed(rest.trim_start())?;
    let (pid, tid) = ids.split_once(':')?;
    let pid = u32::try_from(number(pid.as_bytes())?).ok();
    let tid = u32::from_str_radix(tid, 16).ok();
    Some(entry(process, pid, tid, level, rest.trim_start()))
}

/// `localhost Shop[1234]: (UIKitCore) [com.example:net] message`, also with `<Error>` before the colon.
fn syslog(rest: &str) -> Option<LogEntry> {
    let (_, rest) = rest.split_once(' ')?;
    let (process, pid, rest) = bracketed(rest)?;
    let (kind, message) = kind_and_message(rest)?;
    Some(entry(process, u32::try_from(number(pid.as_bytes())?).ok(), None, level(kind), message))
}

/// `0x1a2b     Default     0x0                  1234   0    Shop: (UIKitCore) [com.example:net] message`.
fn default(rest: &str) -> Option<LogEntry> {
    let mut rest = rest;
    let mut next = || {
        let (word, tail) = rest.split_once(' ')?;
        rest = tail.trim_start();
        Some(word)
    };
    let (thread, kind, _activity, pid, _ttl) = (next()?, next()?, next()?, next()?, next()?);
    let tid = u32::from_str_radix(thread.strip_prefix("0x")?, 16).ok();
    let pid = u32::try_from(number(pid.as_bytes())?).ok();
    let (process, message) = rest.split_once(": ")?;
    Some(entry(process, pid, tid, level(kind), message))
}

/// `Nov 16 06:32:18 iPhone Shop(UIKitCore)[1234] <Notice>: message`, as a device relays it; it has no year and no zone.
fn relayed(line: &str) -> Option<LogEntry> {
    let (month, rest) = line.split_once(' ')?;
    MONTHS.contains(&month).then_some(())?;
    let (day, rest) = rest.trim_start().split_once(' ')?;
    number(day.as_bytes()).filter(|day| (1..=31).contains(day))?;
    let (clock, rest) = rest.split_once(' ')?;
    time_of_day(clock.as_bytes()).or_else(|| time_of_day(format!("{clock}.000").as_bytes()))?;
    let (_host, rest) = rest.split_once(' ')?;
    let (process, pid, rest) = bracketed(rest)?;
    let (kind, message) = kind_and_message(rest)?;
    let process = process.split('(').next()?;
    Some(entry(process, u32::try_from(number(pid.as_bytes())?).ok(), None, level(kind), message))
}

/// `Shop[1234]rest`: the name may have blanks in it.
fn bracketed(text: &str) -> Option<(&str, &str, &str)> {
    let (process, rest) = text.split_once('[')?;
    let (inner, rest) = rest.split_once(']')?;
    (process.len() <= 256).then_some((process, inner, rest))
}

/// ` <Error>: message` or `: message`.
fn kind_and_message(rest: &str) -> Option<(&str, &str)> {
    let rest = rest.trim_start();
    let (kind, rest) = match rest.strip_prefix('<') {
        Some(inner) => inner.split_once('>')?,
        None => ("", rest),
    };
    let message = rest.strip_prefix(':')?;
    Some((kind, message.strip_prefix(' ').unwrap_or(message)))
}

/// `(UIKitCore) [com.example:net] message`: the subsystem is the better tag.
fn entry(process: &str, pid: Option<u32>, tid: Option<u32>, level: LogLevel, text: &str) -> LogEntry {
    let text = match text.strip_prefix('(').and_then(|inner| inner.split_once(") ")) {
        Some((library, rest)) if !library.contains(' ') => rest,
        _ => text,
    };
    let tagged = text.strip_prefix('[').and_then(|inner| inner.split_once(']'));
    let tagged = tagged.filter(|(tag, _)| tag.contains(':') && !tag.contains(' '));
    let (tag, message) = tagged.map_or((process.trim(), text), |(tag, rest)| (tag, rest.trim_start()));
    LogEntry { time_ms: None, pid, tid, level, tag: tag.to_owned(), message: message.to_owned() }
}

fn level(kind: &str) -> LogLevel {
    match kind {
        "Debug" => LogLevel::Debug,
        "Warning" => LogLevel::Warn,
        "Error" => LogLevel::Error,
        "Fault" | "Critical" | "Alert" | "Emergency" => LogLevel::Fatal,
        _ => LogLevel::Info,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_form_tells_the_same() {
        // OB-01: 2024-01-02 10:11:12.123 in a zone one hour ahead of UTC.
        let time = Some(1_704_186_672_123);
        let json = r#"{"timestamp":"2024-01-02 10:11:12.123456+0100","messageType":"Error","eventMessage":"a: b",
            "processImagePath":"/x/Shop.app/Shop","processID":1234,"threadID":22136,"subsystem":"com.example","category":"net"}"#
            .replace('\n', "");
        for (line, time, tid) in [
            (json.as_str(), time, Some(0x5678)),
            (
                "2024-01-02 10:11:12.123 E  Shop[1234:5678] (UIKitCore) [com.example:net] a: b",
                None,
                Some(0x5678),
            ),
            (
                "2024-01-02 10:11:12.123456+0100  localhost Shop[1234] <Error>: (Kit) [com.example:net] a: b",
                time,
                None,
            ),
            (
                "2024-01-02 10:11:12.123456+0100 0x5678     Error       0x0                  1234   0    \
                 Shop: (Kit) [com.example:net] a: b",
                time,
                Some(0x5678),
            ),
            ("Jan  2 10:11:12 iPhone Shop(Kit)[1234] <Error>: [com.example:net] a: b", None, None),
        ] {
            let entry = parse(line).unwrap_or_else(|| panic!("no entry: {line}"));
            assert_eq!((entry.time_ms, entry.pid, entry.tid), (time, Some(1234), tid), "{line}");
            assert_eq!((entry.level, entry.tag.as_str()), (LogLevel::Error, "com.example:net"), "{line}");
            assert_eq!(entry.message, "a: b", "{line}");
        }
    }

    #[test]
    fn lines_without_a_head_go_on_with_the_message_before() {
        let (entries, counts) = read(
            "Timestamp               Ty Process[PID:TID]\nnonsense\n2024-01-02 10:11:12.123 Df Shop[1:2] first\n{\n  a = 1;\n}\n\n",
        );
        assert_eq!((entries.len(), entries[0].message.as_str()), (1, "first\n{\n  a = 1;\n}"));
        assert_eq!(counts, LineCounts { entries: 1, continuations: 3, markers: 2, defects: 1 });
    }

    #[test]
    fn other_lines_are_none() {
        for line in [
            "",
            "{}",
            "{\"a\":",
            "2024-01-02",
            "Jan 99 x",
            "2024-01-02 10:11:12.123 E  Shop",
            "01-02 11:29:59.123  1  2 E Tag: x",
        ] {
            assert_eq!(parse(line), None, "{line}");
        }
    }
}
