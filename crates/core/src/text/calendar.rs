//! Dates and times of day as logs write them.

pub const SECOND_MS: i64 = 1000;
const MINUTE_MS: i64 = 60 * SECOND_MS;
pub const DAY_MS: i64 = 24 * 60 * MINUTE_MS;

/// Parses `+0130`.
pub fn zone(word: &[u8]) -> Option<i64> {
    let (sign, digits) = match word {
        [b'+', digits @ ..] => (1, digits),
        [b'-', digits @ ..] => (-1, digits),
        _ => return None,
    };
    let [h1, h2, m1, m2] = *digits else { return None };
    let (hours, minutes) = (number(&[h1, h2])?, number(&[m1, m2])?);
    Some(sign * (hours * 60 + minutes) * MINUTE_MS)
}

/// Days since 1970-01-01 in the Gregorian calendar.
pub fn days(year: i64, month: i64, day: i64) -> i64 {
    // Years begin in March here, so that the leap day is the last.
    let (year, month) = if month <= 2 { (year - 1, month + 9) } else { (year, month - 3) };
    let leaps = year.div_euclid(4) - year.div_euclid(100) + year.div_euclid(400);
    year * 365 + leaps + (153 * month + 2) / 5 + day - 1 - 719_468
}

/// Year, month and day of a number of days since 1970-01-01: what `days` counts, the other way.
pub fn civil(days: i64) -> (i64, i64, i64) {
    let days = days + 719_468;
    let (era, day_of_era) = (days.div_euclid(146_097), days.rem_euclid(146_097));
    let year_of_era = (day_of_era - day_of_era / 1460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let shifted = (5 * day_of_year + 2) / 153;
    let month = if shifted < 10 { shifted + 3 } else { shifted - 9 };
    (year_of_era + era * 400 + i64::from(month <= 2), month, day_of_year - (153 * shifted + 2) / 5 + 1)
}

/// `07:11:18.123`, in UTC.
pub fn clock(at_ms: u64) -> String {
    let seconds = at_ms / 1000 % 86_400;
    format!("{:02}:{:02}:{:02}.{:03}", seconds / 3600, seconds / 60 % 60, seconds % 60, at_ms % 1000)
}

/// `2026-11-16T07:11:18.123Z`.
pub fn iso_8601(at_ms: u64) -> String {
    let (year, month, day) = civil((at_ms / DAY_MS as u64) as i64);
    format!("{year:04}-{month:02}-{day:02}T{}Z", clock(at_ms))
}

/// Parses decimal digits and nothing else; at most twelve, which no time needs more of.
pub fn number(digits: &[u8]) -> Option<i64> {
    if digits.is_empty() || digits.len() > 12 {
        return None;
    }
    let mut value = 0_i64;
    for digit in digits {
        value = value * 10 + i64::from(digit.wrapping_sub(b'0'));
        if !digit.is_ascii_digit() {
            return None;
        }
    }
    Some(value)
}

/// Parses `01-31` or `2026-01-31`: year, month, day.
pub fn date(word: &[u8]) -> Option<(Option<i64>, i64, i64)> {
    let (year, month, day) = match *word {
        [a, b, b'-', c, d] => (None, number(&[a, b])?, number(&[c, d])?),
        [a, b, c, d, b'-', e, f, b'-', g, h] => {
            (Some(number(&[a, b, c, d])?), number(&[e, f])?, number(&[g, h])?)
        }
        _ => return None,
    };
    let real = (1..=12).contains(&month) && (1..=31).contains(&day);
    (real && year.is_none_or(|year| year >= 1970)).then_some((year, month, day))
}

/// Parses `12:00:00.123`, also with more digits, in milliseconds.
pub fn time_of_day(word: &[u8]) -> Option<i64> {
    let [h1, h2, b':', m1, m2, b':', s1, s2, b'.', fraction @ ..] = word else { return None };
    let (hours, minutes, seconds) = (number(&[*h1, *h2])?, number(&[*m1, *m2])?, number(&[*s1, *s2])?);
    let real = hours < 24 && minutes < 60 && seconds <= 60;
    real.then_some(((hours * 60 + minutes) * 60 + seconds) * SECOND_MS + milliseconds(fraction)?)
}

/// Parses `1700000000.123`, also with more digits, in milliseconds.
pub fn seconds(word: &[u8]) -> Option<i64> {
    let dot = word.iter().position(|byte| *byte == b'.')?;
    Some(number(&word[..dot])? * SECOND_MS + milliseconds(&word[dot + 1..])?)
}

fn milliseconds(fraction: &[u8]) -> Option<i64> {
    number(fraction.get(..3)?).filter(|_| fraction[3..].iter().all(u8::is_ascii_digit))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_day_is_the_same_both_ways() {
        for day in (-800_000..800_000).step_by(37) {
            let (year, month, of_month) = civil(day);
            assert_eq!(days(year, month, of_month), day);
        }
        assert_eq!(iso_8601(1_794_813_078_123), "2026-11-16T07:11:18.123Z");
    }

    #[test]
    fn days_are_counted_over_leap_years() {
        assert_eq!(
            (days(1970, 1, 1), days(2000, 2, 29), days(2000, 3, 1), days(2026, 11, 16)),
            (0, 11016, 11017, 20773)
        );
    }
}
