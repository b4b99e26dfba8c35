//! Which lines of the log go with an action: those of its time, the telling ones first, the rest counted (TR-02).

use super::signal::{AppLog, Kind, Signal, signal};
use crate::port::LogEntry;

/// Lines that are told of one action at most.
const TOLD_MAX: usize = 200;

/// A time by the device's clock: from the first to before the last.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Span {
    pub from_ms: u64,
    pub to_ms: u64,
}

/// A line that is told, and how often it came.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Told<'a> {
    pub entry: &'a LogEntry,
    pub signal: Signal,
    pub times: usize,
}

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Related<'a> {
    /// In the order in which they were written.
    pub told: Vec<Told<'a>>,
    pub hidden_lines: usize,
    pub hidden_tags: usize,
}

/// The `limit` most telling lines of the span. What has no date belongs to no action.
pub fn related<'a>(entries: &'a [LogEntry], app: &AppLog<'_>, span: Span, limit: usize) -> Related<'a> {
    let in_span =
        |entry: &&LogEntry| entry.time_ms.is_some_and(|time| (span.from_ms..span.to_ms).contains(&time));
    choose(entries.iter().filter(in_span), app, limit.min(TOLD_MAX), false)
}

/// The `limit` most telling of these lines. With `noise` also what the platform always says.
pub fn choose<'a>(
    entries: impl Iterator<Item = &'a LogEntry>,
    app: &AppLog<'_>,
    limit: usize,
    noise: bool,
) -> Related<'a> {
    let mut told: Vec<Told<'_>> = Vec::new();
    let mut hidden: Vec<&str> = Vec::new();
    for entry in entries {
        let signal = signal(entry, app);
        if signal.kind == Kind::Noise && !noise {
            hidden.push(&entry.tag);
        } else if let Some(last) = told.last_mut().filter(|last| is_same(last.entry, entry)) {
            last.times += 1;
        } else {
            told.push(Told { entry, signal, times: 1 });
        }
    }
    if told.len() > limit {
        let mut order: Vec<usize> = (0..told.len()).collect();
        // Of equal ones the newest are kept.
        order.sort_by_key(|at| (std::cmp::Reverse(told[*at].signal.score), std::cmp::Reverse(*at)));
        let mut kept = vec![false; told.len()];
        order.iter().take(limit).for_each(|at| kept[*at] = true);
        let mut kept = kept.into_iter();
        let mut left_out = Vec::new();
        told.retain(|line| {
            let keep = kept.next().unwrap_or(false);
            if !keep {
                left_out.push((line.entry.tag.as_str(), line.times));
            }
            keep
        });
        let lines = hidden.len() + left_out.iter().map(|(_, times)| times).sum::<usize>();
        let mut tags: Vec<&str> = hidden;
        tags.extend(left_out.iter().map(|(tag, _)| *tag));
        return Related { told, hidden_lines: lines, hidden_tags: distinct(tags) };
    }
    let hidden_lines = hidden.len();
    Related { told, hidden_lines, hidden_tags: distinct(hidden) }
}

fn distinct(mut tags: Vec<&str>) -> usize {
    tags.sort_unstable();
    tags.dedup();
    tags.len()
}

/// The same line but for its numbers, one after the other.
fn is_same(a: &LogEntry, b: &LogEntry) -> bool {
    let words = |text: &'_ str| {
        text.bytes()
            .filter(|byte| !byte.is_ascii_digit())
            .map(u64::from)
            .fold(7, |h: u64, b| h.wrapping_mul(31) ^ b)
    };
    (a.pid, a.level, &a.tag) == (b.pid, b.level, &b.tag) && words(&a.message) == words(&b.message)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::port::LogLevel;

    fn line(time_ms: u64, pid: u32, level: LogLevel, tag: &str, message: &str) -> LogEntry {
        let (tag, message) = (tag.to_owned(), message.to_owned());
        LogEntry { time_ms: Some(time_ms), pid: Some(pid), tid: None, level, tag, message }
    }

    const APP: AppLog<'_> = AppLog { app: Some("com.example"), pids: &[7] };

    #[test]
    fn an_action_is_told_with_its_lines_and_the_rest_is_counted() {
        // TR-02, DF-01
        let mut log = vec![
            line(99, 7, LogLevel::Error, "Auth", "before"),
            line(101, 7, LogLevel::Info, "Cart", "tapped"),
        ];
        log.extend((0..400).map(|n| line(110, 3, LogLevel::Debug, ["Wifi", "Bt"][n % 2], "scan")));
        log.extend((0..12).map(|n| line(111, 7, LogLevel::Warn, "Cart", &format!("retry {n}"))));
        log.push(line(120, 7, LogLevel::Error, "Auth", "401"));
        log.push(line(200, 7, LogLevel::Error, "Auth", "after"));
        let all = related(&log, &APP, Span { from_ms: 100, to_ms: 200 }, 10);
        let told: Vec<_> = all.told.iter().map(|line| (line.entry.message.as_str(), line.times)).collect();
        assert_eq!(told, [("tapped", 1), ("retry 0", 12), ("401", 1)]);
        assert_eq!((all.hidden_lines, all.hidden_tags), (400, 2));
        let few = related(&log, &APP, Span { from_ms: 100, to_ms: 200 }, 1);
        assert_eq!(few.told[0].entry.message, "401", "the most telling one");
        assert_eq!((few.hidden_lines, few.hidden_tags), (413, 3), "what is left out is counted");
    }

    #[test]
    fn noise_can_be_shown() {
        // DF-01
        let log = [line(1, 3, LogLevel::Debug, "Wifi", "scan")];
        assert_eq!(choose(log.iter(), &APP, 10, false).told.len(), 0);
        assert_eq!(choose(log.iter(), &APP, 10, true).told.len(), 1);
    }
}
