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
    fn days_are_counted_over_leap_years() {
        assert_eq!(
            (days(1970, 1, 1), days(2000, 2, 29), days(2000, 3, 1), days(2026, 11, 16)),
            (0, 11016, 11017, 20773)
        );
    }
}
