//! The text of a log to entries: every line is an entry, goes on with one, or is counted as a defect.

use mdm_core::port::{LineCounts, LogEntry};

use super::clock::Clock;
use super::line::{Heads, Line};

/// Bytes that lines without a head may add to the message before them.
const MESSAGE_BYTES_MAX: usize = 64 * 1024;
/// Lines that logcat writes between its buffers, and where it lost entries.
const MARKER: &str = "--------- ";

/// Takes lines and gives entries, the last of which it holds back: the next line may go on with it.
#[derive(Debug, Default)]
pub struct Entries {
    heads: Heads,
    held: Option<LogEntry>,
    /// The head of the entry that is held opened a message of lines without heads.
    in_message: bool,
    pub counts: LineCounts,
}

impl Entries {
    pub fn new(clock: Clock) -> Entries {
        Entries { heads: Heads::new(clock), ..Entries::default() }
    }

    /// Takes in one line and returns the entry that is complete by that.
    pub fn push(&mut self, line: &str) -> Option<LogEntry> {
        let line = line.strip_suffix('\r').unwrap_or(line);
        if let Some(read) = self.heads.read(line) {
            self.counts.entries += 1;
            self.in_message = read.opens_message;
            return self.held.replace(entry(&read));
        }
        if line.trim().is_empty() {
            self.counts.markers += 1;
            // A message of the long format ends with a blank line, and may have one in it.
            if let Some(held) = self.held.as_mut().filter(|_| self.in_message && !line.is_empty()) {
                go_on(held, line);
            }
        } else if line.starts_with(MARKER) {
            self.counts.markers += 1;
        } else if let Some(held) = self.held.as_mut().filter(|_| self.in_message || goes_on(line)) {
            self.counts.continuations += 1;
            go_on(held, line);
        } else {
            self.counts.defects += 1;
        }
        None
    }

    /// Returns the entry that is held back, if nothing more can come to it. `at_end`: no line follows at all.
    pub fn flush(&mut self, at_end: bool) -> Option<LogEntry> {
        if self.in_message && !at_end {
            return None;
        }
        self.held.take()
    }
}

/// Lines of a whole text, and what became of each.
pub fn read(text: &str, clock: Clock) -> (Vec<LogEntry>, LineCounts) {
    let mut entries = Entries::new(clock);
    let mut all: Vec<LogEntry> = text.lines().filter_map(|line| entries.push(line)).collect();
    all.extend(entries.flush(true));
    (all, entries.counts)
}

fn entry(line: &Line<'_>) -> LogEntry {
    LogEntry {
        time_ms: line.time_ms,
        pid: line.pid,
        tid: line.tid,
        level: line.level,
        tag: line.tag.to_owned(),
        message: line.message.to_owned(),
    }
}

fn go_on(held: &mut LogEntry, line: &str) {
    if held.message.len() + line.len() >= MESSAGE_BYTES_MAX {
        return;
    }
    if !held.message.is_empty() {
        held.message.push('\n');
    }
    held.message.push_str(line);
}

/// True for a line that only makes sense after another: indented, or a part of a stack trace.
fn goes_on(line: &str) -> bool {
    line.starts_with([' ', '\t'])
        || ["at ", "Caused by: ", "Suppressed: ", "... "].iter().any(|start| line.starts_with(start))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str) -> (Vec<(String, String)>, LineCounts) {
        let (entries, counts) = read(text, Clock::default());
        assert_eq!(counts.lines(), text.lines().count(), "every line is accounted for");
        (entries.into_iter().map(|entry| (entry.tag, entry.message)).collect(), counts)
    }

    #[test]
    fn a_message_of_the_long_format_has_its_lines() {
        let (entries, counts) = check(
            "--------- beginning of main\n[ 01-02 11:29:59.123    77:   78 E/Tag ]\nfirst\nsecond\n\n\
             [ 01-02 11:29:59.124    77:   78 I/Other ]\nthird\n\n",
        );
        let expected = [("Tag", "first\nsecond"), ("Other", "third")];
        assert_eq!(entries, expected.map(|(tag, message)| (tag.to_owned(), message.to_owned())));
        assert_eq!(counts, LineCounts { entries: 2, continuations: 3, markers: 3, defects: 0 });
    }

    #[test]
    fn a_trace_without_heads_belongs_to_the_line_before_it_and_nonsense_to_none() {
        let (entries, counts) = check(
            "nonsense\nE/Tag(   77): java.lang.Error: no\n\tat a.b.C.d(C.kt:1)\nCaused by: x\n... 3 more\r\nnonsense\n",
        );
        let trace = "java.lang.Error: no\n\tat a.b.C.d(C.kt:1)\nCaused by: x\n... 3 more";
        assert_eq!(entries, [("Tag".to_owned(), trace.to_owned())]);
        assert_eq!(counts, LineCounts { entries: 1, continuations: 3, markers: 0, defects: 2 });
    }

    #[test]
    fn a_message_has_a_limit() {
        let text = format!("[ 01-02 11:29:59.123    77:   78 E/Tag ]\n{}", "0123456789\n".repeat(20_000));
        let (entries, counts) = check(&text);
        assert!(entries[0].1.len() < MESSAGE_BYTES_MAX && counts.continuations == 20_000, "SE-07");
    }

    #[test]
    fn an_entry_is_held_back_only_while_its_message_may_go_on() {
        let mut entries = Entries::default();
        assert!(entries.push("E/Tag(   77): a").is_none());
        assert!(entries.flush(false).is_some(), "a stream shows the newest line at once");
        entries.push("[ 01-02 11:29:59.123    77:   78 E/Tag ]");
        assert!(entries.flush(false).is_none());
        assert!(entries.flush(true).is_some());
    }
}
