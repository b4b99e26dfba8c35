//! The log buffers and how logcat prints them.

use std::collections::VecDeque;

use crate::clock::Civil;

/// Entries kept in all buffers together.
const ENTRIES_MAX: usize = 20_000;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    /// A number that grows by one per entry and is never reused.
    pub sequence: u64,
    pub buffer: Buffer,
    pub wall_ms: u64,
    pub uptime_ms: u64,
    pub pid: u32,
    pub tid: u32,
    pub priority: char,
    pub tag: String,
    pub message: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Buffer {
    Main,
    System,
    Crash,
    Events,
    Radio,
}

impl Buffer {
    pub const ALL: [Buffer; 5] = [Buffer::Main, Buffer::System, Buffer::Crash, Buffer::Events, Buffer::Radio];
    pub const DEFAULT: [Buffer; 3] = [Buffer::Main, Buffer::System, Buffer::Crash];

    pub fn name(self) -> &'static str {
        match self {
            Buffer::Main => "main",
            Buffer::System => "system",
            Buffer::Crash => "crash",
            Buffer::Events => "events",
            Buffer::Radio => "radio",
        }
    }

    pub fn parse(name: &str) -> Option<Buffer> {
        Buffer::ALL.into_iter().find(|b| b.name() == name)
    }
}

#[derive(Debug, Default)]
pub struct Log {
    entries: VecDeque<Entry>,
    next: u64,
}

impl Log {
    pub fn push(&mut self, mut entry: Entry) {
        entry.sequence = self.next;
        self.next += 1;
        if self.entries.len() == ENTRIES_MAX {
            self.entries.pop_front();
        }
        self.entries.push_back(entry);
    }

    pub fn clear(&mut self, buffers: &[Buffer]) {
        self.entries.retain(|e| !buffers.contains(&e.buffer));
    }

    pub fn next_sequence(&self) -> u64 {
        self.next
    }

    pub fn since(&self, sequence: u64) -> impl Iterator<Item = &Entry> {
        let skip = self.entries.partition_point(|e| e.sequence < sequence);
        self.entries.iter().skip(skip)
    }
}

pub fn priority_rank(priority: char) -> u8 {
    match priority.to_ascii_uppercase() {
        'V' | '*' => 0,
        'D' => 1,
        'I' => 2,
        'W' => 3,
        'E' => 4,
        'F' => 5,
        _ => 6,
    }
}

/// The argument of `-v`: one format and any number of modifiers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Format {
    pub kind: Kind,
    pub epoch: bool,
    pub monotonic: bool,
    pub year: bool,
    pub utc: bool,
    pub usec: bool,
    pub uid: bool,
    pub zone: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    Brief,
    Long,
    Process,
    Raw,
    Tag,
    Thread,
    Threadtime,
    Time,
}

impl Format {
    pub const DEFAULT: Format = Format {
        kind: Kind::Threadtime,
        epoch: false,
        monotonic: false,
        year: false,
        utc: false,
        usec: false,
        uid: false,
        zone: false,
    };

    /// Adds one word of `-v`; false when it is not known.
    pub fn add(&mut self, word: &str) -> bool {
        match word {
            "brief" => self.kind = Kind::Brief,
            "long" => self.kind = Kind::Long,
            "process" => self.kind = Kind::Process,
            "raw" => self.kind = Kind::Raw,
            "tag" => self.kind = Kind::Tag,
            "thread" => self.kind = Kind::Thread,
            "threadtime" => self.kind = Kind::Threadtime,
            "time" => self.kind = Kind::Time,
            "epoch" => self.epoch = true,
            "monotonic" => self.monotonic = true,
            "year" => self.year = true,
            "UTC" => self.utc = true,
            "usec" => self.usec = true,
            "uid" => self.uid = true,
            "zone" => self.zone = true,
            "color" | "colour" | "descriptive" | "printable" | "nsec" => {}
            _ => return false,
        }
        true
    }

    /// Formats an entry. Every line of its message gets its own prefix, as in logcat.
    pub fn print(&self, entry: &Entry, out: &mut String) {
        if self.kind == Kind::Long {
            out.push_str(&format!(
                "[ {} {:5}:{:5} {}/{} ]\n{}\n\n",
                self.time(entry),
                entry.pid,
                entry.tid,
                entry.priority,
                entry.tag,
                entry.message
            ));
            return;
        }
        let prefix = self.prefix(entry);
        for line in entry.message.split('\n') {
            out.push_str(&prefix);
            out.push_str(line);
            out.push('\n');
        }
    }

    fn prefix(&self, entry: &Entry) -> String {
        let Entry { pid, tid, priority, tag, .. } = entry;
        let uid = if self.uid { " 10123 " } else { "" };
        match self.kind {
            Kind::Brief => format!("{priority}/{tag:<8}({uid}{pid:5}): "),
            Kind::Process => format!("{priority}({uid}{pid:5}) "),
            Kind::Tag => format!("{priority}/{tag:<8}: "),
            Kind::Thread => format!("{priority}({uid}{pid:5}:{tid:5}) "),
            Kind::Time => format!("{} {priority}/{tag:<8}({uid}{pid:5}): ", self.time(entry)),
            Kind::Threadtime => {
                format!("{} {uid}{pid:5} {tid:5} {priority} {tag:<8}: ", self.time(entry))
            }
            Kind::Raw | Kind::Long => String::new(),
        }
    }

    fn time(&self, entry: &Entry) -> String {
        let micros = if self.usec { "000" } else { "" };
        if self.epoch {
            let ms = entry.wall_ms;
            return format!("{:>11}.{:03}{micros}", ms / 1000, ms % 1000).trim_start().to_owned();
        }
        if self.monotonic {
            return format!("{:6}.{:03}{micros}", entry.uptime_ms / 1000, entry.uptime_ms % 1000);
        }
        let t = Civil::from_ms(entry.wall_ms);
        let year = if self.year { format!("{:04}-", t.year) } else { String::new() };
        let zone = if self.zone || self.utc { " +0000" } else { "" };
        format!(
            "{year}{:02}-{:02} {:02}:{:02}:{:02}.{:03}{micros}{zone}",
            t.month, t.day, t.hour, t.minute, t.second, t.milli
        )
    }
}

/// Filter rules `TAG:P`; the last one that names the tag wins over `*`.
#[derive(Debug, Clone, Default)]
pub struct Filter {
    rules: Vec<(String, u8)>,
    rest: u8,
}

impl Filter {
    /// Adds a rule; returns false when the word is not a filter.
    pub fn add(&mut self, word: &str) -> bool {
        let (tag, priority) = word.rsplit_once(':').unwrap_or((word, "V"));
        let mut letters = priority.chars();
        let (Some(letter), None) = (letters.next(), letters.next()) else { return false };
        if !"VDIWEFSvdiwefs*".contains(letter) {
            return false;
        }
        let rank = priority_rank(letter);
        if tag == "*" {
            self.rest = rank;
        } else {
            self.rules.push((tag.to_owned(), rank));
        }
        true
    }

    pub fn allows(&self, entry: &Entry) -> bool {
        let rule = self.rules.iter().rev().find(|(tag, _)| *tag == entry.tag);
        let least = rule.map_or(self.rest, |(_, rank)| *rank);
        priority_rank(entry.priority) >= least && least < priority_rank('S')
    }
}
