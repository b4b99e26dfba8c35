//! What the device's clock says, and dates without year or zone (W18, F50).

use mdm_core::text::calendar::{DAY_MS, SECOND_MS, days, number, zone};

/// What dates without year and zone are counted with.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Clock {
    pub now_ms: Option<i64>,
    /// Milliseconds that the device's local time is ahead of UTC.
    pub zone_ms: Option<i64>,
}

impl Clock {
    /// Parses the output of `date '+%s %z %N'`. A `date` that does not know `%N` writes something that is no number.
    pub fn parse(text: &str) -> Clock {
        let mut words = text.split_whitespace();
        let seconds = words.next().and_then(|word| word.parse::<i64>().ok());
        let zone_ms = words.next().and_then(|word| zone(word.as_bytes()));
        let nanoseconds =
            words.next().filter(|word| word.len() == 9).and_then(|word| number(word.as_bytes()));
        let now_ms = seconds.and_then(|seconds| seconds.checked_mul(SECOND_MS));
        let within_ms = nanoseconds.unwrap_or_default() / 1_000_000;
        Clock { now_ms: now_ms.map(|now| now.saturating_add(within_ms)), zone_ms }
    }

    /// The newest year in which the date without one can have been.
    pub fn time_without_year(&self, month: i64, day: i64, in_day_ms: i64, zone_ms: i64) -> Option<i64> {
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_clock_tells_nothing() {
        // W18
        assert_eq!(Clock::parse("date: bad format"), Clock::default());
        assert_eq!(Clock::parse("99999999999999999999 +9x00"), Clock::default());
        assert_eq!(Clock::parse("1767348000").zone_ms, None);
        assert_eq!(Clock::parse("1767348000 +0000 %N").now_ms, Some(1_767_348_000_000));
        assert_eq!(Clock::parse("1767348000 +0000 123456789").now_ms, Some(1_767_348_000_123));
    }
}
