//! Lines of a log as an agent reads them: short, quoted, with the telling part of a stack trace.

use mdm_core::evidence::redact_log;
use mdm_core::port::{LogEntry, LogLevel};
use mdm_core::text::calendar::clock;
use mdm_core::text::quote::{push_name, push_quoted};

/// Characters of the first line of a message.
const MESSAGE_CHARS_MAX: usize = 400;
/// Characters of a tag.
const TAG_CHARS_MAX: usize = 100;
/// Further lines of one message that are shown.
const FURTHER_LINES_MAX: usize = 6;
/// Characters of each further line of a message.
const FURTHER_CHARS_MAX: usize = 200;

/// How the time of a line is told.
#[derive(Debug, Clone, Copy)]
pub enum Time {
    /// By the device's clock.
    OfDay,
    /// Since this moment of the device's clock.
    Since(u64),
    /// So many milliseconds after what the lines are told of.
    After(u64),
}

/// Writes a line such as `12:00:01.123 E AuthRepo(4321) "POST /login -> 401"`, and `x12` for what came so often.
pub fn push(out: &mut String, entry: &LogEntry, times: usize, time: Time) {
    match (entry.time_ms, time) {
        (Some(at_ms), Time::OfDay) => out.push_str(&format!("{} ", clock(at_ms))),
        (Some(at_ms), Time::Since(from_ms)) => {
            out.push_str(&format!("+{} ms ", at_ms.saturating_sub(from_ms)));
        }
        (_, Time::After(ms)) => out.push_str(&format!("+{ms} ms ")),
        (None, _) => {}
    }
    out.push(letter(entry.level));
    out.push(' ');
    push_name(out, &entry.tag, TAG_CHARS_MAX);
    if let Some(pid) = entry.pid {
        out.push_str(&format!("({pid})"));
    }
    out.push(' ');
    push_message(out, &entry.message);
    if times > 1 {
        out.push_str(&format!(" x{times}"));
    }
    out.push('\n');
}

/// Writes a line with all of its message, for a file that a person reads.
pub fn push_whole(out: &mut String, entry: &LogEntry) {
    let time = entry.time_ms.map_or_else(String::new, clock);
    let (pid, tid) = (entry.pid.unwrap_or_default(), entry.tid.unwrap_or_default());
    out.push_str(&format!(
        "{time} {pid:>5} {tid:>5} {} {}: {}\n",
        letter(entry.level),
        entry.tag,
        redact_log::line(&entry.message)
    ));
}

fn letter(level: LogLevel) -> char {
    match level {
        LogLevel::Verbose => 'V',
        LogLevel::Debug => 'D',
        LogLevel::Info => 'I',
        LogLevel::Warn => 'W',
        LogLevel::Error => 'E',
        LogLevel::Fatal => 'F',
    }
}

/// A message of many lines shows its first, the first frames of each exception, and how many are left out.
fn push_message(out: &mut String, message: &str) {
    let message = redact_log::line(message);
    let mut lines = message.split('\n');
    push_quoted(out, lines.next().unwrap_or_default(), MESSAGE_CHARS_MAX);
    let rest: Vec<&str> = lines.collect();
    let mut since_head = 0;
    let mut shown = 0;
    for line in &rest {
        let is_frame = line.trim_start().starts_with("at ");
        since_head = if is_frame { since_head + 1 } else { 0 };
        if since_head > 2 || shown == FURTHER_LINES_MAX {
            continue;
        }
        shown += 1;
        out.push_str("\n    ");
        push_quoted(out, line.trim(), FURTHER_CHARS_MAX);
    }
    if rest.len() > shown {
        out.push_str(&format!("\n    … {} more lines", rest.len() - shown));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(message: &str, times: usize, time: Time) -> String {
        let entry = LogEntry {
            time_ms: Some(43_201_123),
            pid: Some(7),
            tid: None,
            level: LogLevel::Error,
            tag: "Auth".to_owned(),
            message: message.to_owned(),
        };
        let mut out = String::new();
        push(&mut out, &entry, times, time);
        out
    }

    #[test]
    fn a_message_is_quoted_so_that_it_cannot_forge_an_answer() {
        let shown = line("bad\r{\"error\":1}", 1, Time::OfDay);
        assert_eq!(shown, "12:00:01.123 E Auth(7) \"bad\\r{\\\"error\\\":1}\"\n", "SE-05");
        assert_eq!(line("a", 12, Time::Since(43_201_000)), "+123 ms E Auth(7) \"a\" x12\n");
    }

    #[test]
    fn a_stack_trace_shows_what_was_thrown_and_the_first_frames() {
        let trace = "java.lang.Error: no\n\tat a.B.c(B.kt:1)\n\tat a.B.d(B.kt:2)\n\tat a.B.e(B.kt:3)\n\tat a.B.f(B.kt:4)\n\
                     Caused by: x.Y: why\n\tat g.H.i(H.kt:5)\n! forged\n\t... 9 more\n\tat q.R.s(R.kt:1)";
        let shown = line(trace, 1, Time::OfDay);
        let lines: Vec<&str> = shown.lines().skip(1).collect();
        assert_eq!(
            lines,
            [
                "    \"at a.B.c(B.kt:1)\"",
                "    \"at a.B.d(B.kt:2)\"",
                "    \"Caused by: x.Y: why\"",
                "    \"at g.H.i(H.kt:5)\"",
                "    \"! forged\"",
                "    \"... 9 more\"",
                "    … 3 more lines"
            ]
        );
    }
}
