//! One line of logcat, in whichever of its formats it came, and its time (W18, F50).

use mdm_core::port::{LogEntry, LogLevel};

const SECOND_MS: i64 = 1000;
const MINUTE_MS: i64 = 60 * SECOND_MS;
const DAY_MS: i64 = 24 * 60 * MINUTE_MS;
/// Smaller numbers of seconds count from the device's start, which is no date.
const EPOCH_SECONDS_MIN: i64 = 1_000_000_000;

/// What dates without year and zone are counted with.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Clock {
    pub now_ms: Option<i64>,
    /// Milliseconds that the device's local time is ahead of UTC.
    pub zone_ms: Option<i64>,
}

impl Clock {
    /// Parses the output of `date '+%s %z'`.
    pub fn parse(text: &str) -> Clock {
        let mut words = text.split_whitespace();
        let seconds = words.next().and_then(|word| word.parse::<i64>().ok());
        let now_ms = seconds.and_then(|seconds| seconds.checked_mul(SECOND_MS));
        Clock { now_ms, zone_ms: words.next().and_then(zone) }
    }

    /// The year in which a date without one was last.
    fn time_without_year(&self, month: i64, day: i64, in_day_ms: i64, zone_ms: i64) -> Option<i64> {
        let now = self.now_ms?;
        let mut year = 1970 + (now + zone_ms) / (366 * DAY_MS);
        while days(year + 1, 1, 1) * DAY_MS <= now + zone_ms {
            year += 1;
        }
        let time = |year| days(year, month, day) * DAY_MS + in_day_ms - zone_ms;
        // A clock that was set back a little makes no line a year old.
        Some(if time(year) > now + DAY_MS { time(year - 1) } else { time(year) })
    }
}

/// Parses `+0130`.
fn zone(word: &str) -> Option<i64> {
    let (sign, digits) = match word.split_at_checked(1)? {
        ("+", digits) => (1, digits),
        ("-", digits) => (-1, digits),
        _ => return None,
    };
    let digits = Some(digits).filter(|d| d.len() == 4 && d.bytes().all(|b| b.is_ascii_digit()))?;
    let (hours, minutes) = (digits[..2].parse::<i64>().ok()?, digits[2..].parse::<i64>().ok()?);
    Some(sign * (hours * 60 + minutes) * MINUTE_MS)
}

/// Days since 1970-01-01 in the Gregorian calendar.
fn days(year: i64, month: i64, day: i64) -> i64 {
    // Years begin in March here, so that the leap day is the last.
    let (year, month) = if month <= 2 { (year - 1, month + 9) } else { (year, month - 3) };
    let leaps = year.div_euclid(4) - year.div_euclid(100) + year.div_euclid(400);
    year * 365 + leaps + (153 * month + 2) / 5 + day - 1 - 719_468
}

/// Parses a line; `None` if it is no entry. Known are threadtime, time and brief, with a date, a date and a year, a zone
/// or seconds since 1970, and with a user id.
pub fn parse(line: &str, clock: &Clock) -> Option<LogEntry> {
    let (time_ms, rest) = split_time(line.trim_start(), clock);
    let (level, tag, pid, message) = threadtime(rest).or_else(|| brief(rest))?;
    let time_ms = time_ms.and_then(|time| u64::try_from(time).ok());
    Some(LogEntry {
        time_ms,
        pid: Some(pid),
        level,
        tag: tag.trim_end().to_owned(),
        message: message.to_owned(),
    })
}

fn split_word(text: &str) -> Option<(&str, &str)> {
    let (word, rest) = text.split_once(' ')?;
    Some((word, rest.trim_start()))
}

/// Splits off the time. What has none that can be dated is still an entry.
fn split_time<'a>(line: &'a str, clock: &Clock) -> (Option<i64>, &'a str) {
    let Some((first, rest)) = split_word(line) else { return (None, line) };
    if let Some(time) = seconds_of(first) {
        return ((time >= EPOCH_SECONDS_MIN * SECOND_MS).then_some(time), rest);
    }
    let dated = || {
        let (year, month, day) = date(first)?;
        let (second, rest) = split_word(rest)?;
        let in_day_ms = time_of_day(second)?;
        let given = split_word(rest).and_then(|(word, rest)| Some((zone(word)?, rest)));
        let (zone_ms, rest) = given.map_or((clock.zone_ms, rest), |(zone, rest)| (Some(zone), rest));
        let time = zone_ms.and_then(|zone_ms| match year {
            Some(year) => Some(days(year, month, day) * DAY_MS + in_day_ms - zone_ms),
            None => clock.time_without_year(month, day, in_day_ms, zone_ms),
        });
        Some((time, rest))
    };
    dated().unwrap_or((None, line))
}

/// Parses `1700000000.123`, also with more digits, in milliseconds.
fn seconds_of(word: &str) -> Option<i64> {
    let (seconds, fraction) = word.split_once('.')?;
    seconds.parse::<i64>().ok()?.checked_mul(SECOND_MS)?.checked_add(milliseconds(fraction)?)
}

fn milliseconds(fraction: &str) -> Option<i64> {
    let digits = Some(fraction).filter(|f| f.len() >= 3 && f.bytes().all(|b| b.is_ascii_digit()))?;
    digits[..3].parse().ok()
}

/// Parses `01-31` or `2026-01-31`.
fn date(word: &str) -> Option<(Option<i64>, i64, i64)> {
    let numbers: Option<Vec<i64>> = word.split('-').map(|part| part.parse().ok()).collect();
    let (year, month, day) = match numbers?[..] {
        [month, day] => (None, month, day),
        [year, month, day] => (Some(year), month, day),
        _ => return None,
    };
    let real = (1..=12).contains(&month) && (1..=31).contains(&day);
    (real && year.is_none_or(|year| (1970..=9999).contains(&year))).then_some((year, month, day))
}

/// Parses `12:00:00.123`.
fn time_of_day(word: &str) -> Option<i64> {
    let (clock, fraction) = word.split_once('.')?;
    let numbers: Option<Vec<i64>> = clock.split(':').map(|part| part.parse().ok()).collect();
    let [hours, minutes, seconds] = numbers?[..] else { return None };
    let real = (0..24).contains(&hours) && (0..60).contains(&minutes) && (0..=60).contains(&seconds);
    real.then_some(((hours * 60 + minutes) * 60 + seconds) * SECOND_MS + milliseconds(fraction)?)
}

type Parts<'a> = (LogLevel, &'a str, u32, &'a str);

/// `1234  1240 E Tag  : message`, or with a user before: `u0_a12  1234  1240 E Tag: message`.
fn threadtime(rest: &str) -> Option<Parts<'_>> {
    let mut words = Vec::with_capacity(4);
    let mut rest = rest;
    let level = loop {
        let (word, tail) = split_word(rest)?;
        rest = tail;
        match (words.len(), level(word)) {
            (2 | 3, Some(level)) => break level,
            (0..3, _) => words.push(word),
            _ => return None,
        }
    };
    let (tag, message) = rest.split_once(": ").or_else(|| Some((rest.strip_suffix(':')?, "")))?;
    let pid = words[words.len() - 2].parse().ok()?;
    words[words.len() - 1].parse::<u32>().ok()?;
    Some((level, tag, pid, message))
}

/// `E/Tag  ( 1234): message`.
fn brief(rest: &str) -> Option<Parts<'_>> {
    let (letter, rest) = rest.split_once('/')?;
    let (head, message) = rest.split_once("): ").or_else(|| Some((rest.strip_suffix("):")?, "")))?;
    let (tag, pid) = head.rsplit_once('(')?;
    Some((level(letter)?, tag, pid.trim().parse().ok()?, message))
}

fn level(letter: &str) -> Option<LogLevel> {
    Some(match letter {
        "V" => LogLevel::Verbose,
        "D" => LogLevel::Debug,
        "I" => LogLevel::Info,
        "W" => LogLevel::Warn,
        "E" => LogLevel::Error,
        "F" | "A" => LogLevel::Fatal,
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 2026-01-02 10:00:00 UTC, on a phone one hour and a half ahead of it.
    fn clock() -> Clock {
        Clock::parse("1767348000 +0130")
    }

    #[test]
    fn every_format_is_dated_by_the_devices_clock() {
        // F50, W18
        #[track_caller]
        fn check(line: &str, expected: Option<i64>) {
            let entry = parse(line, &clock()).unwrap_or_else(|| panic!("no entry: {line}"));
            assert_eq!(entry.time_ms.map(|t| t as i64 - 1_767_348_000_000), expected, "{line}");
            assert_eq!((entry.pid, entry.tag.as_str(), entry.message.as_str()), (Some(77), "Tag", "a: b"));
        }
        check("1767347999.123  77  78 E Tag     : a: b", Some(-877));
        check("   1767347999.123456  77  78 E Tag: a: b", Some(-877));
        check("1767347999.123 u0_a12  77  78 E Tag: a: b", Some(-877));
        check("01-02 11:29:59.123  77  78 E Tag: a: b", Some(-877));
        check("01-02 11:29:59.123456  77  78 E Tag: a: b", Some(-877));
        check("2026-01-02 11:29:59.123  77  78 E Tag: a: b", Some(-877));
        check("2026-01-02 09:59:59.123 +0000  77  78 E Tag: a: b", Some(-877));
        check("12-31 11:30:00.000  77  78 E Tag: a: b", Some(-2 * DAY_MS));
        check("01-02 11:29:59.123 E/Tag     (   77): a: b", Some(-877));
        check("E/Tag(   77): a: b", None);
        check("   12.345  77  78 E Tag: a: b", None);
    }

    #[test]
    fn a_date_without_a_known_zone_is_no_time() {
        // W18
        let unknown = Clock::parse("1767348000");
        let entry = parse("01-02 11:29:59.123  77  78 E Tag:", &unknown).unwrap();
        assert_eq!((entry.time_ms, entry.message.as_str()), (None, ""));
        assert_eq!(Clock::parse("date: bad format"), Clock::default());
        assert_eq!(Clock::parse("99999999999999999999 +9x00"), Clock::default());
    }

    #[test]
    fn what_is_no_entry_is_none() {
        for line in [
            "",
            "--------- beginning of main",
            "nonsense",
            "01-02 11:29:59.123",
            "1 2 3 4 5 E Tag: x",
            "E/Tag: x",
        ] {
            assert_eq!(parse(line, &clock()), None, "{line}");
        }
    }

    #[test]
    fn days_are_counted_over_leap_years() {
        assert_eq!(
            (days(1970, 1, 1), days(2000, 2, 29), days(2000, 3, 1), days(2026, 11, 16)),
            (0, 11016, 11017, 20773)
        );
    }
}
