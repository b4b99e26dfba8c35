//! Lines of one message, which some logs write as entries of their own, become one entry again.

use std::collections::VecDeque;

use crate::port::{LogEntry, LogLevel};

/// Bytes of a joined message.
const MESSAGE_BYTES_MAX: usize = 64 * 1024;
/// Messages that may go on at the same time, each of another thread.
const OPEN_MAX: usize = 32;

/// What the lines of one message have in common.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Key {
    time_ms: Option<u64>,
    pid: Option<u32>,
    tid: Option<u32>,
    level: LogLevel,
}

fn key(entry: &LogEntry) -> Key {
    Key { time_ms: entry.time_ms, pid: entry.pid, tid: entry.tid, level: entry.level }
}

/// Joins the lines of each stack trace, also where lines of other threads stand between them.
pub fn joined(entries: Vec<LogEntry>) -> Vec<LogEntry> {
    let mut all: Vec<LogEntry> = Vec::with_capacity(entries.len());
    let mut open: VecDeque<(Key, usize)> = VecDeque::new();
    for entry in entries {
        let key = key(&entry);
        let begun =
            open.iter().find(|(known, at)| *known == key && all[*at].tag == entry.tag).map(|(_, at)| *at);
        match begun.filter(|at| goes_on(&all[*at].message, &entry.message)) {
            Some(at) => add(&mut all[at], &entry.message),
            None => {
                open.retain(|(known, at)| *known != key || all[*at].tag != entry.tag);
                if open.len() == OPEN_MAX {
                    open.pop_front();
                }
                open.push_back((key, all.len()));
                all.push(entry);
            }
        }
    }
    all
}

fn add(entry: &mut LogEntry, line: &str) {
    if entry.message.len() + line.len() < MESSAGE_BYTES_MAX {
        entry.message.push('\n');
        entry.message.push_str(line);
    }
}

/// True for a line that only makes sense after the one before: a part of a stack trace, or of the report of a crash.
fn goes_on(message: &str, line: &str) -> bool {
    let parts = ["\t", "  ", "at ", "Caused by: ", "Suppressed: ", "... ", "#"];
    parts.iter().any(|part| line.starts_with(part)) || message.starts_with("FATAL EXCEPTION")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry(tid: u32, message: &str) -> LogEntry {
        let (tag, message) = ("Tag".to_owned(), message.to_owned());
        LogEntry { time_ms: Some(7), pid: Some(1), tid: Some(tid), level: LogLevel::Error, tag, message }
    }

    fn messages(entries: Vec<LogEntry>) -> Vec<String> {
        joined(entries).into_iter().map(|entry| entry.message).collect()
    }

    #[test]
    fn a_trace_is_one_entry_also_between_lines_of_others() {
        let lines = [
            (1, "java.io.IOException: no"),
            (2, "other"),
            (1, "\tat a.B.c(B.kt:1)"),
            (1, "Caused by: x"),
            (2, "another"),
            (1, "\tat d.E.f(E.kt:2)"),
            (1, "next"),
        ];
        let got = messages(lines.iter().map(|(tid, message)| entry(*tid, message)).collect());
        let trace = "java.io.IOException: no\n\tat a.B.c(B.kt:1)\nCaused by: x\n\tat d.E.f(E.kt:2)";
        assert_eq!(got, [trace, "other", "another", "next"]);
    }

    #[test]
    fn a_line_of_another_moment_or_level_begins_anew() {
        let later = LogEntry { time_ms: Some(8), ..entry(1, "\tat x") };
        assert_eq!(messages(vec![entry(1, "a"), later]), ["a", "\tat x"]);
        let milder = LogEntry { level: LogLevel::Info, ..entry(1, "\tat x") };
        assert_eq!(messages(vec![entry(1, "a"), milder]), ["a", "\tat x"]);
    }

    #[test]
    fn the_report_of_a_crash_is_one_entry() {
        let lines = [
            "FATAL EXCEPTION: main",
            "Process: com.example, PID: 1",
            "java.lang.Error: x",
            "\tat a.B.c(B.kt:1)",
        ];
        assert_eq!(messages(lines.iter().map(|line| entry(1, line)).collect()), [lines.join("\n")]);
    }

    #[test]
    fn a_message_without_end_is_cut() {
        let lines = (0..100_000).map(|_| entry(1, "\tat x")).collect();
        let all = joined(lines);
        assert!(all.len() == 1 && all[0].message.len() <= MESSAGE_BYTES_MAX, "SE-07");
    }
}
