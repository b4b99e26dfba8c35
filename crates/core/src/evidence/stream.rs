//! A log that is followed for one app: bounded, with a cursor, following the app from process to process.

use std::collections::VecDeque;

use crate::port::{LogBatch, LogEntry, LogLevel};

/// Bytes of lines that are kept for reading. Older ones are dropped, and counted.
pub const KEPT_BYTES_MAX: usize = 4 * 1024 * 1024;
/// Bytes of lines in one page; the reader goes on from there.
const PAGE_BYTES_MAX: usize = 40 * 1024;
/// Bytes of lines of processes of which it is not known yet whose they are.
const UNCLAIMED_BYTES_MAX: usize = 1024 * 1024;
/// Processes of one app that are remembered.
const PIDS_MAX: usize = 64;

/// What is kept of the log.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Wanted {
    /// Only this app's processes; everything without.
    pub app: Option<String>,
    pub level: Option<LogLevel>,
}

/// The lines after a cursor.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Page {
    pub entries: Vec<LogEntry>,
    /// Reading goes on from here.
    pub cursor: u64,
    /// Lines after the cursor that came and are no longer there.
    pub dropped: u64,
    /// Lines after the last one of this page.
    pub more: u64,
}

#[derive(Debug, Default)]
pub struct Stream {
    wanted: Wanted,
    pids: VecDeque<u32>,
    kept: VecDeque<LogEntry>,
    kept_bytes: usize,
    /// The number of the first entry that is kept.
    first: u64,
    unclaimed: VecDeque<LogEntry>,
    unclaimed_bytes: usize,
    /// The newest time by the device's clock, and how many lines had it.
    newest: Option<(u64, usize)>,
    /// Lines that came in all.
    pub lines: u64,
    pub unread_lines: u64,
    /// Times that the connection was lost and made again; lines may be missing there.
    pub gaps: u64,
}

impl Stream {
    pub fn new(wanted: Wanted, pids: &[u32]) -> Stream {
        let mut stream = Stream { wanted, ..Stream::default() };
        stream.learn(pids);
        stream
    }

    pub fn wanted(&self) -> &Wanted {
        &self.wanted
    }

    pub fn pids(&self) -> impl Iterator<Item = u32> {
        self.pids.iter().copied()
    }

    /// The newest time by the device's clock that was seen, from which a lost connection goes on.
    pub fn newest_ms(&self) -> Option<u64> {
        self.newest.map(|(time, _)| time)
    }

    /// Takes in a piece of the log.
    pub fn take(&mut self, batch: LogBatch) {
        self.unread_lines += batch.unread_lines as u64;
        let ours = batch.started.iter().filter(|(_, app)| self.wanted.app.as_ref() == Some(app));
        let pids: Vec<u32> = ours.map(|(pid, _)| *pid).collect();
        self.learn(&pids);
        batch.entries.into_iter().for_each(|entry| self.push(entry));
    }

    /// Takes in what came after a lost connection, which begins with lines that were there already.
    pub fn take_again(&mut self, mut batch: LogBatch, seen_before: &mut SeenAgain) {
        batch.entries.retain(|entry| seen_before.is_new(entry));
        self.take(batch);
    }

    /// What to leave out of a log that is followed again from `newest_ms` on.
    pub fn seen(&self) -> SeenAgain {
        SeenAgain { newest: self.newest }
    }

    fn push(&mut self, entry: LogEntry) {
        self.lines += 1;
        self.newest = match (self.newest, entry.time_ms) {
            (Some((newest, count)), Some(time)) if time == newest => Some((newest, count + 1)),
            (Some((newest, _)), Some(time)) if time > newest => Some((time, 1)),
            (None, Some(time)) => Some((time, 1)),
            (newest, _) => newest,
        };
        if self.wanted.level.is_some_and(|level| entry.level < level) {
            return;
        }
        match (&self.wanted.app, entry.pid) {
            (None, _) => self.keep(entry),
            (Some(_), Some(pid)) if self.pids.contains(&pid) => self.keep(entry),
            (Some(_), _) => {
                self.unclaimed_bytes += size(&entry);
                self.unclaimed.push_back(entry);
                while self.unclaimed_bytes > UNCLAIMED_BYTES_MAX {
                    let Some(oldest) = self.unclaimed.pop_front() else { break };
                    self.unclaimed_bytes -= size(&oldest);
                }
            }
        }
    }

    /// Learns processes of the app. Their lines that came before are kept from now on.
    pub fn learn(&mut self, pids: &[u32]) {
        let mut is_new = false;
        for pid in pids.iter().filter(|pid| !self.pids.contains(pid)).collect::<Vec<_>>() {
            if self.pids.len() == PIDS_MAX {
                self.pids.pop_front();
            }
            self.pids.push_back(*pid);
            is_new = true;
        }
        if !is_new {
            return;
        }
        let (ours, others) = std::mem::take(&mut self.unclaimed)
            .into_iter()
            .partition::<VecDeque<_>, _>(|entry| entry.pid.is_some_and(|pid| self.pids.contains(&pid)));
        self.unclaimed = others;
        self.unclaimed_bytes = self.unclaimed.iter().map(size).sum();
        ours.into_iter().for_each(|entry| self.keep(entry));
    }

    fn keep(&mut self, entry: LogEntry) {
        self.kept_bytes += size(&entry);
        self.kept.push_back(entry);
        while self.kept_bytes > KEPT_BYTES_MAX {
            let Some(oldest) = self.kept.pop_front() else { break };
            self.kept_bytes -= size(&oldest);
            self.first += 1;
        }
    }

    /// Lines that were dropped because nobody read them in time.
    pub fn dropped(&self) -> u64 {
        self.first
    }

    pub fn kept(&self) -> usize {
        self.kept.len()
    }

    /// The next lines after a cursor, oldest first; without one the newest lines.
    pub fn read(&self, after: Option<u64>, limit: usize) -> Page {
        let end = self.first + self.kept.len() as u64;
        let from = match after {
            Some(cursor) => cursor.min(end),
            None => end.saturating_sub(within_page(self.kept.iter().rev().take(limit)) as u64),
        };
        let begin = from.max(self.first);
        let unread = || self.kept.iter().skip((begin - self.first) as usize).take(limit);
        let entries: Vec<LogEntry> = unread().take(within_page(unread())).cloned().collect();
        let cursor = begin + entries.len() as u64;
        Page { entries, cursor, dropped: begin - from, more: end - cursor }
    }
}

/// Lines that were seen before a connection was lost: all before the newest time, and as many of that time as came.
#[derive(Debug, Clone, Default)]
pub struct SeenAgain {
    newest: Option<(u64, usize)>,
}

impl SeenAgain {
    fn is_new(&mut self, entry: &LogEntry) -> bool {
        let (Some((newest, left)), Some(time)) = (&mut self.newest, entry.time_ms) else { return true };
        if time == *newest && *left > 0 {
            *left -= 1;
            return false;
        }
        time >= *newest
    }
}

/// How many of these lines one page holds: at least one, so that a reader always gets on.
fn within_page<'a>(lines: impl Iterator<Item = &'a LogEntry>) -> usize {
    let mut bytes = 0;
    let fitting = lines.take_while(|line| {
        let is_first = bytes == 0;
        bytes += size(line);
        is_first || bytes <= PAGE_BYTES_MAX
    });
    fitting.count()
}

fn size(entry: &LogEntry) -> usize {
    size_of::<LogEntry>() + entry.tag.len() + entry.message.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(pid: u32, message: &str) -> LogEntry {
        let (tag, message) = ("Tag".to_owned(), message.to_owned());
        LogEntry { time_ms: Some(1), pid: Some(pid), tid: None, level: LogLevel::Info, tag, message }
    }

    fn of_app() -> Stream {
        Stream::new(Wanted { app: Some("com.example".to_owned()), level: None }, &[7])
    }

    fn messages(page: &Page) -> Vec<&str> {
        page.entries.iter().map(|entry| entry.message.as_str()).collect()
    }

    #[test]
    fn a_page_is_bounded_in_bytes_and_no_line_is_lost() {
        // OB-01
        let mut stream = of_app();
        let long = "x".repeat(PAGE_BYTES_MAX / 3);
        (0..10).for_each(|number| stream.push(line(7, &format!("{number}{long}"))));
        let firsts = |page: &Page| -> String {
            page.entries.iter().filter_map(|entry| entry.message.chars().next()).collect()
        };
        let (mut cursor, mut told) = (0, String::new());
        loop {
            let page = stream.read(Some(cursor), 100);
            assert!((1..=3).contains(&page.entries.len()), "{}", page.entries.len());
            told.push_str(&firsts(&page));
            cursor = page.cursor;
            if page.more == 0 {
                break;
            }
        }
        assert_eq!(told, "0123456789");
        let newest = firsts(&stream.read(None, 100));
        assert!(newest.ends_with('9') && newest.len() < 4, "{newest}");
    }

    #[test]
    fn the_app_is_followed_from_process_to_process() {
        // OB-01, W15
        let mut stream = of_app();
        ["a", "other", "early"].iter().zip(7..).for_each(|(message, pid)| stream.push(line(pid, message)));
        let entries = vec![line(3, "Start proc 9"), line(9, "b")];
        let started = vec![(9, "com.example".to_owned()), (3, "com.other".to_owned())];
        stream.take(LogBatch { entries, started, unread_lines: 0 });
        assert_eq!(messages(&stream.read(Some(0), 10)), ["a", "early", "b"]);
        stream.learn(&[8]);
        assert_eq!(messages(&stream.read(Some(3), 10)), ["other"], "a process that only the device named");
        assert_eq!(stream.lines, 5);
    }

    #[test]
    fn a_cursor_goes_on_where_the_last_page_ended() {
        let mut stream = Stream::new(Wanted::default(), &[]);
        (0..5).for_each(|n| stream.push(line(1, &n.to_string())));
        let page = stream.read(Some(0), 2);
        assert_eq!((messages(&page), page.cursor, page.more, page.dropped), (vec!["0", "1"], 2, 3, 0));
        assert_eq!(messages(&stream.read(Some(page.cursor), 9)), ["2", "3", "4"]);
        assert_eq!(messages(&stream.read(None, 2)), ["3", "4"], "without a cursor the newest");
        assert_eq!(stream.read(Some(99), 9).cursor, 5, "a cursor that was never given reads what comes");
    }

    #[test]
    fn memory_is_bounded_and_what_is_dropped_is_counted() {
        // S10
        let mut stream = Stream::new(Wanted::default(), &[]);
        let long = "x".repeat(1000);
        let count = 10_000_u64;
        (0..count).for_each(|_| stream.push(line(1, &long)));
        assert!(stream.kept_bytes <= KEPT_BYTES_MAX);
        let page = stream.read(Some(0), usize::MAX);
        let told = page.dropped + page.entries.len() as u64;
        assert_eq!(told + page.more, count, "every line is accounted for");
        assert_eq!(page.dropped, stream.dropped());
        let mut others = of_app();
        (0..count).for_each(|_| others.push(line(1, &long)));
        assert!(others.unclaimed_bytes <= UNCLAIMED_BYTES_MAX && others.kept() == 0);
    }

    #[test]
    fn after_a_lost_connection_no_line_comes_twice() {
        let mut stream = Stream::new(Wanted::default(), &[]);
        let at = |time, message: &str| LogEntry { time_ms: Some(time), ..line(1, message) };
        let lines = [at(1, "a"), at(2, "b"), at(2, "c")];
        lines.iter().cloned().for_each(|entry| stream.push(entry));
        assert_eq!(stream.newest_ms(), Some(2));
        let mut seen = stream.seen();
        let entries = vec![at(1, "a"), at(2, "b"), at(2, "c"), at(2, "d"), at(3, "e")];
        stream.take_again(LogBatch { entries, ..LogBatch::default() }, &mut seen);
        assert_eq!(messages(&stream.read(Some(0), 9)), ["a", "b", "c", "d", "e"]);
    }

    #[test]
    fn milder_lines_are_not_kept() {
        let mut stream = Stream::new(Wanted { app: None, level: Some(LogLevel::Warn) }, &[]);
        stream.push(line(1, "a"));
        stream.push(LogEntry { level: LogLevel::Error, ..line(1, "b") });
        assert_eq!(messages(&stream.read(Some(0), 9)), ["b"]);
    }
}
