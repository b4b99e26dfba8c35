//! The head of one line of logcat, in whichever of its formats it came (F50, W17).

use mdm_core::port::LogLevel;
use mdm_core::text::calendar::{DAY_MS, date, days, number, seconds, time_of_day, zone};
use memchr::memchr;

use super::clock::Clock;

/// Smaller numbers of milliseconds count from the device's start, which is no date.
const EPOCH_MS_MIN: i64 = 1_000_000_000_000;
/// Longest tag that is believed to be one.
const TAG_BYTES_MAX: usize = 512;

/// One line with its head, still in the text that it came in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Line<'a> {
    pub time_ms: Option<u64>,
    pub pid: Option<u32>,
    pub tid: Option<u32>,
    pub level: LogLevel,
    pub tag: &'a str,
    pub message: &'a str,
    /// The head of a message whose lines follow without one, to the next blank line.
    pub opens_message: bool,
}

/// Reads heads of lines. Known are threadtime, time, brief, process, tag, thread and long, with a date, a date and a year,
/// a zone or seconds since 1970, with a user id, and coloured.
#[derive(Debug, Clone, Default)]
pub struct Heads {
    clock: Clock,
    /// The date that was read last and when it began: most lines have the one of the line before.
    day: Option<([u8; 5], i64)>,
}

impl Heads {
    pub fn new(clock: Clock) -> Heads {
        Heads { clock, day: None }
    }

    /// Parses a line; `None` if it has no head.
    pub fn read<'a>(&mut self, line: &'a str) -> Option<Line<'a>> {
        let line = without_colour(line);
        let line = line.trim_start_matches(' ');
        if let Some(inner) = line.strip_prefix("[ ").and_then(|rest| rest.trim_end().strip_suffix(" ]")) {
            return self.long(inner);
        }
        let (time_ms, rest) = self.time(line);
        let parts = threadtime(rest).or_else(|| slashed(rest)).or_else(|| in_brackets(rest))?;
        Some(Line { time_ms: time_ms.and_then(|time| u64::try_from(time).ok()), ..parts })
    }

    /// Splits off the time. What has none that can be dated may still be an entry.
    fn time<'a>(&mut self, line: &'a str) -> (Option<i64>, &'a str) {
        let Some((first, rest)) = word(line) else { return (None, line) };
        if let Some(time) = seconds(first) {
            return ((time >= EPOCH_MS_MIN).then_some(time), rest);
        }
        self.dated(first, rest).unwrap_or((None, line))
    }

    fn dated<'a>(&mut self, first: &[u8], rest: &'a str) -> Option<(Option<i64>, &'a str)> {
        let (year, month, day) = date(first)?;
        let (second, rest) = word(rest)?;
        let in_day_ms = time_of_day(second)?;
        let given = word(rest).and_then(|(word, rest)| Some((zone(word)?, rest)));
        let Some((zone_ms, rest)) = given.or(self.clock.zone_ms.map(|zone_ms| (zone_ms, rest))) else {
            return Some((None, rest));
        };
        let time = match (year, given) {
            (Some(year), _) => Some(days(year, month, day) * DAY_MS + in_day_ms - zone_ms),
            (None, Some(_)) => self.clock.time_without_year(month, day, in_day_ms, zone_ms),
            (None, None) => self.near(first, month, day, in_day_ms, zone_ms),
        };
        Some((time, rest))
    }

    /// The same day as in the line before costs no calendar.
    fn near(&mut self, date: &[u8], month: i64, day: i64, in_day_ms: i64, zone_ms: i64) -> Option<i64> {
        if let Some((_, begins_ms)) = self.day.filter(|(known, _)| known == date) {
            return Some(begins_ms + in_day_ms);
        }
        let time = self.clock.time_without_year(month, day, in_day_ms, zone_ms)?;
        self.day = date.try_into().ok().map(|date| (date, time - in_day_ms));
        Some(time)
    }

    /// `01-02 11:29:59.123  77:   78 E/Tag`, with a user before the process where that was asked for.
    fn long<'a>(&mut self, inner: &'a str) -> Option<Line<'a>> {
        let (time_ms, rest) = self.time(inner);
        let (ids, tagged) =
            rest.rsplit_once(' ').filter(|(_, tagged)| tagged.as_bytes().get(1) == Some(&b'/')).or_else(
                // A tag with blanks in it: the level is the first letter before a slash.
                || {
                    let slash = rest.find('/')?;
                    rest.split_at_checked(slash.checked_sub(1)?)
                },
            )?;
        let mut numbers = ids.rsplit(':').map(|id| number(id.trim().as_bytes()));
        let (tid, pid) = (numbers.next()??, numbers.next()??);
        let (letter, tag) = tagged.split_once('/')?;
        Some(Line {
            time_ms: time_ms.and_then(|time| u64::try_from(time).ok()),
            pid: u32::try_from(pid).ok(),
            tid: u32::try_from(tid).ok(),
            level: level(*letter.as_bytes().first()?)?,
            tag: tag.trim_end(),
            message: "",
            opens_message: true,
        })
    }
}

/// The next word and what follows it. A head is short, so a long word is none.
fn word(text: &str) -> Option<(&[u8], &str)> {
    let text = text.trim_start_matches(' ');
    let end = memchr(b' ', text.as_bytes().get(..text.len().min(64))?)?;
    Some((&text.as_bytes()[..end], text[end..].trim_start_matches(' ')))
}

/// `1234  1240 E Tag  : message`, or with a user before: `u0_a12  1234  1240 E Tag: message`.
fn threadtime(text: &str) -> Option<Line<'_>> {
    let (first, rest) = word(text)?;
    let (second, rest) = word(rest)?;
    let (third, rest) = word(rest)?;
    let (pid, tid, letter, rest) = match third {
        [letter] if level(*letter).is_some() => (first, second, *letter, rest),
        _ => {
            let (fourth, rest) = word(rest)?;
            let [letter] = fourth else { return None };
            (second, third, *letter, rest)
        }
    };
    let (tag, message) = tag_and_message(rest)?;
    Some(Line {
        time_ms: None,
        pid: Some(u32::try_from(number(pid)?).ok()?),
        tid: Some(u32::try_from(number(tid)?).ok()?),
        level: level(letter)?,
        tag,
        message,
        opens_message: false,
    })
}

/// `Tag     : message`. A tag may be empty and may have a colon in it.
fn tag_and_message(text: &str) -> Option<(&str, &str)> {
    let bytes = text.as_bytes();
    let mut from = 0;
    loop {
        let colon = from + memchr(b':', bytes.get(from..bytes.len().min(TAG_BYTES_MAX))?)?;
        match bytes.get(colon + 1) {
            None => return Some((text[..colon].trim_end(), "")),
            Some(b' ') => return Some((text[..colon].trim_end(), &text[colon + 2..])),
            Some(_) => from = colon + 1,
        }
    }
}

/// `E/Tag  ( 1234): message`, `E/Tag  (u0_a12: 1234): message`, and without a process `E/Tag  : message`.
fn slashed(text: &str) -> Option<Line<'_>> {
    let [letter, b'/', ..] = text.as_bytes() else { return None };
    let rest = &text[2..];
    let with_process = || {
        let (head, message) = rest.split_once("): ").or_else(|| Some((rest.strip_suffix("):")?, "")))?;
        let (tag, ids) = head.rsplit_once('(')?;
        let pid = number(ids.rsplit(':').next()?.trim().as_bytes())?;
        (tag.len() <= TAG_BYTES_MAX).then_some((tag.trim_end(), Some(pid), message))
    };
    let without = || {
        let (tag, message) = tag_and_message(rest)?;
        let plausible = !tag.is_empty() && !tag.contains([' ', '/']);
        plausible.then_some((tag, None, message))
    };
    let (tag, pid, message) = with_process().or_else(without)?;
    Some(Line {
        time_ms: None,
        pid: pid.and_then(|pid| u32::try_from(pid).ok()),
        tid: None,
        level: level(*letter)?,
        tag,
        message,
        opens_message: false,
    })
}

/// `E( 1234) message  (Tag)` and `E( 1234: 1240) message`.
fn in_brackets(text: &str) -> Option<Line<'_>> {
    let [letter, b'(', ..] = text.as_bytes() else { return None };
    let (ids, message) = text[2..].split_once(") ")?;
    let (pid, tid) = match ids.split_once(':') {
        Some((pid, tid)) => (pid, Some(number(tid.trim().as_bytes())?)),
        None => (ids, None),
    };
    let tagged = message.trim_end().strip_suffix(')').and_then(|text| text.rsplit_once("  ("));
    let (message, tag) = tagged.filter(|_| tid.is_none()).unwrap_or((message, ""));
    Some(Line {
        time_ms: None,
        pid: Some(u32::try_from(number(pid.trim().as_bytes())?).ok()?),
        tid: tid.and_then(|tid| u32::try_from(tid).ok()),
        level: level(*letter)?,
        tag: tag.trim_end(),
        message,
        opens_message: false,
    })
}

/// Without the escape codes that `-v color` puts around a line.
fn without_colour(line: &str) -> &str {
    let inner =
        line.strip_prefix("\x1b[").and_then(|rest| rest.split_once('m')).filter(|(code, _)| code.len() <= 12);
    inner.map_or(line, |(_, rest)| rest.strip_suffix("\x1b[0m").unwrap_or(rest))
}

fn level(letter: u8) -> Option<LogLevel> {
    Some(match letter {
        b'V' => LogLevel::Verbose,
        b'D' => LogLevel::Debug,
        b'I' => LogLevel::Info,
        b'W' => LogLevel::Warn,
        b'E' => LogLevel::Error,
        b'F' | b'A' => LogLevel::Fatal,
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 2026-01-02 10:00:00 UTC, on a phone one hour and a half ahead of it.
    fn heads() -> Heads {
        Heads::new(Clock::parse("1767348000 +0130"))
    }

    #[test]
    fn every_format_is_read_and_dated_by_the_devices_clock() {
        // F50, W17, W18
        #[track_caller]
        fn check(line: &str, pid: Option<u32>, tid: Option<u32>, expected: Option<i64>) {
            let read = heads().read(line).unwrap_or_else(|| panic!("no entry: {line}"));
            assert_eq!(read.time_ms.map(|t| t as i64 - 1_767_348_000_000), expected, "{line}");
            assert_eq!((read.pid, read.tid, read.level), (pid, tid, LogLevel::Error), "{line}");
            let (tag, message) = if read.opens_message { ("Tag", "") } else { ("Tag", "a: b") };
            assert_eq!((read.tag, read.message), (tag, message), "{line}");
        }
        let both = (Some(77), Some(78));
        for (line, expected) in [
            ("1767347999.123  77  78 E Tag     : a: b", Some(-877)),
            ("   1767347999.123456  77  78 E Tag: a: b", Some(-877)),
            ("1767347999.123 u0_a12  77  78 E Tag: a: b", Some(-877)),
            ("1767347999.123 10012  77  78 E Tag: a: b", Some(-877)),
            ("01-02 11:29:59.123  77  78 E Tag: a: b", Some(-877)),
            ("01-02 11:29:59.123456  77  78 E Tag: a: b", Some(-877)),
            ("2026-01-02 11:29:59.123  77  78 E Tag: a: b", Some(-877)),
            ("2026-01-02 09:59:59.123 +0000  77  78 E Tag: a: b", Some(-877)),
            ("01-02 09:59:59.123 +0000  77  78 E Tag: a: b", Some(-877)),
            ("12-31 11:30:00.000  77  78 E Tag: a: b", Some(-2 * DAY_MS)),
            ("   12.345  77  78 E Tag: a: b", None),
            ("  77  78 E Tag: a: b", None),
            ("\x1b[38;5;196m01-02 11:29:59.123  77  78 E Tag: a: b\x1b[0m", Some(-877)),
            ("[ 01-02 11:29:59.123    77:   78 E/Tag ]", Some(-877)),
            ("[ 01-02 11:29:59.123    77:   78 E/Tag      ]", Some(-877)),
            ("[ 1767347999.123 10012:   77:   78 E/Tag ]", Some(-877)),
        ] {
            check(line, both.0, both.1, expected);
        }
        check("01-02 11:29:59.123 E/Tag     (   77): a: b", Some(77), None, Some(-877));
        check("E/Tag(   77): a: b", Some(77), None, None);
        check("E/Tag(u0_a12:   77): a: b", Some(77), None, None);
        check("E/Tag     : a: b", None, None, None);
        check("E(   77) a: b  (Tag)", Some(77), None, None);
    }

    #[test]
    fn tags_with_colons_blanks_and_nothing() {
        #[track_caller]
        fn check(line: &str, tag: &str, message: &str) {
            let read = heads().read(line).unwrap_or_else(|| panic!("no entry: {line}"));
            assert_eq!((read.tag, read.message), (tag, message), "{line}");
        }
        check("01-02 11:29:59.123  1  2 E unknown:ReactNative: x", "unknown:ReactNative", "x");
        check("E/unknown:ReactNative(12592): x (y): z", "unknown:ReactNative", "x (y): z");
        check("01-02 11:29:59.123  1  2 E         : x", "", "x");
        check("01-02 11:29:59.123  1  2 E My Tag  : x", "My Tag", "x");
        check("[ 01-02 11:29:59.123    77:   78 E/My Tag ]", "My Tag", "");
        check("01-02 11:29:59.123  1  2 E Tag:", "Tag", "");
        check("D(    1:    2) x  (y)", "", "x  (y)");
    }

    #[test]
    fn a_date_without_a_known_zone_is_no_time() {
        // W18
        let mut unknown = Heads::new(Clock::parse("1767348000"));
        let read = unknown.read("01-02 11:29:59.123  77  78 E Tag:").unwrap();
        assert_eq!((read.time_ms, read.message), (None, ""));
    }

    #[test]
    fn the_day_that_is_remembered_is_the_one_that_was_read() {
        let mut heads = heads();
        let mut time = |line| heads.read(line).and_then(|line: Line<'_>| line.time_ms).unwrap();
        let first = time("01-01 23:59:59.999  1  2 I Tag: x");
        assert_eq!(time("01-02 00:00:00.000  1  2 I Tag: x") - first, 1);
        assert_eq!(time("01-02 00:00:00.007  1  2 I Tag: x") - first, 8);
    }

    #[test]
    fn what_is_no_entry_is_none() {
        for line in [
            "",
            "--------- beginning of main",
            "nonsense",
            "01-02 11:29:59.123",
            "1 2 3 4 5 E Tag: x",
            "I/O error: x",
            "\tat com.example.Main.run(Main.kt:12)",
            "[ 01-02 11:29:59.123 ]",
            "99-99 11:29:59.123  77  78 E Tag: x",
            "\x1b[",
            "E/",
        ] {
            assert_eq!(heads().read(line), None, "{line}");
        }
    }
}
