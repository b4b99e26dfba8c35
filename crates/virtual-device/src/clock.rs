//! The phone's clocks: time since boot from tokio, and a wall clock that starts at a fixed date.

use std::time::Duration;

use tokio::time::Instant;

/// 2026-03-02 09:00:00 UTC. A phone's clock need not agree with the host's, and a fixed one makes runs repeatable.
const WALL_AT_BOOT_MS: u64 = 1_772_442_000_000;

#[derive(Debug, Clone, Copy)]
pub struct Clock {
    boot: Instant,
    /// How far the wall clock was set forwards, or back if negative.
    skew_ms: i64,
}

impl Clock {
    pub fn start(now: Instant) -> Clock {
        Clock { boot: now, skew_ms: 0 }
    }

    pub fn uptime(&self, now: Instant) -> Duration {
        now.saturating_duration_since(self.boot)
    }

    pub fn uptime_ms(&self, now: Instant) -> u64 {
        self.uptime(now).as_millis() as u64
    }

    pub fn wall_ms(&self, now: Instant) -> u64 {
        let wall = WALL_AT_BOOT_MS.saturating_add(self.uptime_ms(now));
        wall.saturating_add_signed(self.skew_ms)
    }

    /// Moves the wall clock; the time since boot stays.
    pub fn set_by(&mut self, ms: i64) {
        self.skew_ms = self.skew_ms.saturating_add(ms);
    }
}

/// A civil date and time, in UTC.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Civil {
    pub year: i64,
    pub month: u32,
    pub day: u32,
    pub hour: u32,
    pub minute: u32,
    pub second: u32,
    pub milli: u32,
}

impl Civil {
    /// Converts days to a date by eras of 400 years, counted from 1 March so that the leap day comes last.
    pub fn from_ms(ms: u64) -> Civil {
        let seconds = ms / 1000;
        let days = (seconds / 86_400) as i64 + 719_468;
        let era = days.div_euclid(146_097);
        let day_of_era = days.rem_euclid(146_097);
        let year_of_era = (day_of_era - day_of_era / 1460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
        let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
        let month_from_march = (5 * day_of_year + 2) / 153;
        let month = if month_from_march < 10 { month_from_march + 3 } else { month_from_march - 9 };
        let of_day = seconds % 86_400;
        Civil {
            year: year_of_era + era * 400 + i64::from(month <= 2),
            month: month as u32,
            day: (day_of_year - (153 * month_from_march + 2) / 5 + 1) as u32,
            hour: (of_day / 3600) as u32,
            minute: (of_day / 60 % 60) as u32,
            second: (of_day % 60) as u32,
            milli: (ms % 1000) as u32,
        }
    }

    pub fn to_ms(self) -> u64 {
        let year = if self.month <= 2 { self.year - 1 } else { self.year };
        let era = year.div_euclid(400);
        let year_of_era = year.rem_euclid(400);
        let month_from_march = i64::from((self.month + 9) % 12);
        let day_of_year = (153 * month_from_march + 2) / 5 + i64::from(self.day) - 1;
        let days =
            era * 146_097 + year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year - 719_468;
        let of_day = i64::from(self.hour) * 3600 + i64::from(self.minute) * 60 + i64::from(self.second);
        let seconds = days.saturating_mul(86_400).saturating_add(of_day).max(0) as u64;
        seconds.saturating_mul(1000).saturating_add(u64::from(self.milli))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_go_both_ways() {
        let boot = Civil::from_ms(WALL_AT_BOOT_MS);
        assert_eq!((boot.year, boot.month, boot.day, boot.hour, boot.minute), (2026, 3, 2, 9, 0));
        for ms in [0, 951_782_399_123, 1_709_164_800_000, WALL_AT_BOOT_MS, 4_102_444_799_999] {
            assert_eq!(Civil::from_ms(ms).to_ms(), ms);
        }
        let leap = Civil::from_ms(1_709_164_800_000);
        assert_eq!((leap.year, leap.month, leap.day), (2024, 2, 29));
    }
}
