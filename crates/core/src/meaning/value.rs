//! Parses a number and its unit from a text that is a value.
//!
//! Nothing is guessed: a text that is only partly a value is none (W5). Dates, times and codes are not values.

/// The unit of a number.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Unit<'a> {
    /// The text has no unit.
    None,
    Percent,
    /// "3 of 5": the text gives the end of the range, but not its beginning.
    Of(f64),
    /// A unit as written in the text: "°C", "$", "min".
    Own(&'a str),
}

#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ParsedValue<'a> {
    pub number: f64,
    pub unit: Unit<'a>,
}

/// Longer texts are not values.
const TEXT_BYTES_MAX: usize = 64;
/// A number with more digits is a code or a phone number, and a float could not hold it.
const DIGITS_MAX: usize = 15;
/// Separators of one number; a text with more is no number.
const SEPARATORS_MAX: usize = 6;

/// Reads `text` as one value.
///
/// A single comma before three digits separates thousands ("1,234"), which is far more common than decimals there.
pub fn read(text: &str) -> Option<ParsedValue<'_>> {
    let text = trimmed(text);
    // Rejects most texts by their first byte: only currency prefixes begin with a letter.
    let first = *text.as_bytes().first()?;
    if first.is_ascii_alphabetic() && !matches!(first, b'R' | b'U' | b'C' | b'A')
        || text.len() > TEXT_BYTES_MAX
    {
        return None;
    }
    let (before, text) = prefix(text);
    let (negative, text) = sign(text);
    let (number, rest) = number(text)?;
    let number = if negative { -number } else { number };
    let unit = match before {
        Some(symbol) if rest.is_empty() => symbol,
        Some(_) => return None,
        None => unit(number, rest)?,
    };
    Some(ParsedValue { number, unit })
}

/// Reads the only value in a control's description: "Volume, 38 percent", "Brightness: 50%", "Volume 38%". Returns
/// `None` if it holds several values, because it is unknown which one is meant.
pub fn read_description(text: &str) -> Option<ParsedValue<'_>> {
    if let Some(reading) = read(text) {
        return Some(reading);
    }
    if text.len() > TEXT_BYTES_MAX * 2 || !text.chars().any(|c| digit(c).is_some()) {
        return None;
    }
    let mut found = None;
    for piece in pieces(text) {
        match (read(piece), found) {
            (Some(_), Some(_)) => return None,
            (Some(reading), None) => found = Some(reading),
            (None, _) => {}
        }
    }
    found.or_else(|| read_end(text))
}

/// Reads "Media volume 38 percent" from the first digit on. A unit is required: a name can end in a plain number.
fn read_end(text: &str) -> Option<ParsedValue<'_>> {
    let start = text.find(|c| digit(c).is_some())?;
    let start = if text[..start].ends_with('%') { start - 1 } else { start };
    if !text[..start].ends_with(|c: char| c.is_whitespace() || c == '(') {
        return None;
    }
    read(text[start..].trim_end_matches(')'))
        .filter(|reading| matches!(reading.unit, Unit::Percent | Unit::Of(_)))
}

/// Splits a description at its separators. A comma inside a number does not split.
fn pieces(text: &str) -> impl Iterator<Item = &str> {
    let separators = [", ", "; ", ": ", "\n", "، ", "、", "，", " - ", " – ", " · "];
    let mut rest = Some(text);
    std::iter::from_fn(move || {
        let current = rest?;
        let cut = separators.iter().filter_map(|s| current.find(s).map(|at| (at, s.len()))).min();
        rest = cut.map(|(at, length)| &current[at + length..]);
        Some(cut.map_or(current, |(at, _)| &current[..at]))
    })
}

fn trimmed(text: &str) -> &str {
    text.trim_matches(|c: char| c.is_whitespace() || crate::text::quote::is_unreadable(c))
}

/// Splits off a currency symbol, or the leading percent sign of Turkish.
fn prefix(text: &str) -> (Option<Unit<'_>>, &str) {
    if let Some(rest) = text.strip_prefix(['%', '٪']) {
        return (Some(Unit::Percent), rest);
    }
    for symbol in ["R$", "US$", "CA$", "A$", "$", "€", "£", "¥", "₹", "₽", "₩", "₺", "₫", "₴", "₪"]
    {
        if let Some(rest) = text.strip_prefix(symbol) {
            return (Some(Unit::Own(&text[..symbol.len()])), rest.trim_start());
        }
    }
    (None, text)
}

fn sign(text: &str) -> (bool, &str) {
    match text.strip_prefix(['-', '−']) {
        Some(rest) => (true, rest),
        None => (false, text.strip_prefix('+').unwrap_or(text)),
    }
}

fn digit(character: char) -> Option<u8> {
    let zero = match character {
        '0'..='9' => '0',
        '٠'..='٩' => '٠',
        '۰'..='۹' => '۰',
        '०'..='९' => '०',
        '０'..='９' => '０',
        _ => return None,
    };
    u8::try_from(u32::from(character) - u32::from(zero)).ok()
}

fn is_separator(character: char) -> bool {
    matches!(character, '.' | ',' | '\'' | '’' | '٫' | '٬' | '\u{A0}' | '\u{202F}' | '\u{2009}')
}

/// Reads the number at the beginning of `text`, and returns the rest.
fn number(text: &str) -> Option<(f64, &str)> {
    let mut digits = [0u8; DIGITS_MAX];
    let mut count = 0;
    let mut separators = [(' ', 0usize); SEPARATORS_MAX];
    let mut separator_count = 0;
    let mut rest = "";
    let mut characters = text.char_indices().peekable();
    while let Some((at, character)) = characters.next() {
        if let Some(value) = digit(character) {
            *digits.get_mut(count)? = b'0' + value;
            count += 1;
            continue;
        }
        let between = count > 0 && characters.peek().is_some_and(|&(_, next)| digit(next).is_some());
        if !(between && is_separator(character)) {
            rest = &text[at..];
            break;
        }
        *separators.get_mut(separator_count)? = (character, count);
        separator_count += 1;
    }
    let whole = whole_digits(&separators[..separator_count], count, digits[0] == b'0')?;
    if count == 0 || (digits[0] == b'0' && whole > 1) {
        return None;
    }
    Some((assemble(&digits[..count], whole)?, rest))
}

/// Counts the digits before the decimals; `None` if the separators are not those of a number.
fn whole_digits(separators: &[(char, usize)], count: usize, zero_first: bool) -> Option<usize> {
    let Some((&(last, at), before)) = separators.split_last() else { return Some(count) };
    let thousands = |separators: &[(char, usize)], end: usize| {
        let first = separators.first().map_or(' ', |s| s.0);
        let ends = separators.iter().skip(1).map(|s| s.1).chain([end]);
        let groups_of_three = separators.iter().zip(ends).all(|(s, end)| end - s.1 == 3 && s.0 == first);
        groups_of_three && separators.first().is_none_or(|s| s.1 <= 3)
    };
    let decimal = match last {
        '٫' => true,
        '.' => before.is_empty() || before.iter().all(|s| s.0 != '.'),
        ',' => match before.last() {
            Some(other) => other.0 != ',',
            None => count - at != 3 || at > 3 || zero_first,
        },
        _ => false,
    };
    if decimal {
        return thousands(before, at).then_some(at);
    }
    thousands(separators, count).then_some(count)
}

fn assemble(digits: &[u8], whole: usize) -> Option<f64> {
    let mut text = [b'.'; DIGITS_MAX + 1];
    text[..whole].copy_from_slice(&digits[..whole]);
    text[whole + 1..=digits.len()].copy_from_slice(&digits[whole..]);
    std::str::from_utf8(&text[..=digits.len()]).ok()?.parse().ok()
}

fn unit(number: f64, rest: &str) -> Option<Unit<'_>> {
    let spaced = rest.starts_with(char::is_whitespace);
    let rest = rest.trim();
    if rest.is_empty() {
        return Some(Unit::None);
    }
    if PERCENT.iter().any(|word| rest.eq_ignore_ascii_case(word)) {
        return Some(Unit::Percent);
    }
    if let Some(max) = of(rest) {
        // "12/5" is a date.
        return (number >= 0.0 && number <= max).then_some(Unit::Of(max));
    }
    let known = UNITS.contains(&rest);
    let known = known || (spaced && SPACED_UNITS.iter().any(|unit| rest.eq_ignore_ascii_case(unit)));
    known.then_some(Unit::Own(rest))
}

/// Reads the maximum from "of 5", "/5" or "out of 5 stars".
fn of(rest: &str) -> Option<f64> {
    let after = OF.iter().find_map(|word| rest.strip_prefix(word))?.trim_start();
    let (max, rest) = number(after)?;
    let noun = rest.trim();
    let is_noun = noun.chars().count() <= NOUN_CHARS_MAX && noun.chars().all(char::is_alphabetic);
    let is_separate = noun.is_empty() || rest.starts_with(char::is_whitespace);
    (is_noun && is_separate && max > 0.0).then_some(max)
}

/// Characters of the word that a number counts.
const NOUN_CHARS_MAX: usize = 12;

const PERCENT: [&str; 14] = [
    "%",
    "٪",
    "percent",
    "per cent",
    "pct",
    "prozent",
    "pour cent",
    "por ciento",
    "por cento",
    "per cento",
    "процентов",
    "процента",
    "パーセント",
    "퍼센트",
];

const OF: [&str; 11] = ["/", "of ", "out of ", "von ", "sur ", "de ", "di ", "из ", "van ", "av ", "z "];

/// Units that may follow without a space. Letters that can also mean thousands, dimensions or clocks are left out.
const UNITS: [&str; 48] = [
    "°", "°C", "°F", "℃", "℉", "px", "dp", "sp", "pt", "cm", "mm", "km", "mi", "ft", "kg", "mg", "lb", "lbs",
    "oz", "ml", "ms", "sec", "min", "hr", "hrs", "Hz", "kHz", "MHz", "GHz", "dB", "kW", "mAh", "GB", "MB",
    "KB", "kB", "TB", "bpm", "rpm", "km/h", "mph", "kcal", "fps", "€", "£", "₽", "x", "s",
];

/// Units that are accepted only after a space.
const SPACED_UNITS: [&str; 32] = [
    "m", "g", "l", "s", "h", "w", "v", "a", "k", "in", "seconds", "second", "minutes", "minute", "hours",
    "hour", "days", "day", "weeks", "week", "stars", "star", "points", "steps", "step", "°", "usd", "eur",
    "gbp", "zł", "kr", "$",
];

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn check(text: &str, number: f64, unit: Unit<'_>) {
        assert_eq!(read(text), Some(ParsedValue { number, unit }), "{text}");
    }

    #[test]
    fn numbers_are_read_with_their_units() {
        check("38%", 38.0, Unit::Percent);
        check(" 50 percent ", 50.0, Unit::Percent);
        check("%38", 38.0, Unit::Percent);
        check("24.0", 24.0, Unit::None);
        check("-3", -3.0, Unit::None);
        check("−0.5", -0.5, Unit::None);
        check("3 of 5", 3.0, Unit::Of(5.0));
        check("3/5", 3.0, Unit::Of(5.0));
        check("4.5 out of 5 stars", 4.5, Unit::Of(5.0));
        check("3 von 5", 3.0, Unit::Of(5.0));
        check("12 °C", 12.0, Unit::Own("°C"));
        check("$4.99", 4.99, Unit::Own("$"));
        check("€ 4,99", 4.99, Unit::Own("€"));
        check("4,99 €", 4.99, Unit::Own("€"));
        check("1.5x", 1.5, Unit::Own("x"));
        check("15 min", 15.0, Unit::Own("min"));
        check("٥٠٪", 50.0, Unit::Percent);
        check("۳۸٫۵", 38.5, Unit::None);
        check("\u{200E}42\u{200F}", 42.0, Unit::None);
    }

    #[test]
    fn thousands_and_decimal_separators_are_told_apart() {
        check("1,234.5", 1234.5, Unit::None);
        check("1.234,5", 1234.5, Unit::None);
        check("1\u{202F}234,5", 1234.5, Unit::None);
        check("1’234’567", 1_234_567.0, Unit::None);
        check("1,234", 1234.0, Unit::None);
        check("1.234.567", 1_234_567.0, Unit::None);
        check("0,125", 125.0 / 1000.0, Unit::None);
        check("3,5", 3.5, Unit::None);
        check("1.234", 1.234, Unit::None);
    }

    #[test]
    fn text_without_digits_is_not_a_value() {
        // W5
        for text in ["", " ", "\u{200B}", "-", "+", "%", "$", ".", ",5x", "of 5"] {
            assert_eq!(read(text), None, "{text}");
            assert_eq!(read_description(text), None, "{text}");
        }
    }

    #[test]
    fn dates_times_versions_codes_and_names_are_not_values() {
        for text in [
            "12:30",
            "0:04",
            "2021-04-01",
            "01.04.2021",
            "4/1/2021",
            "12/5",
            "1.2.3",
            "10 AM",
            "10PM",
            "3D",
            "5G",
            "4K",
            "2nd",
            "007",
            "+1 555 0100",
            "555-0100",
            "56K",
            "1 234",
            "1,23,456",
            "1 2",
            "5 in stock",
            "3 de mayo",
            "12345678901234567890",
            "Infinity",
            "NaN",
            "1e5",
            "0x10",
            "50%%",
            "50% off",
            "$5 off",
            "AC",
            "2810 South St",
        ] {
            assert_eq!(read(text), None, "{text}");
        }
    }

    #[test]
    fn a_description_with_one_value_is_read() {
        let number = |text| read_description(text).map(|reading| (reading.number, reading.unit));
        assert_eq!(number("Volume, 38 percent"), Some((38.0, Unit::Percent)));
        assert_eq!(number("Brightness: 50%"), Some((50.0, Unit::Percent)));
        assert_eq!(number("Media volume 38%"), Some((38.0, Unit::Percent)));
        assert_eq!(number("Rating (3 of 5)"), Some((3.0, Unit::Of(5.0))));
        assert_eq!(number("Iterations, 200"), Some((200.0, Unit::None)));
        assert_eq!(number("Size, 1,234.5"), Some((1234.5, Unit::None)));
        assert_eq!(number("From 10%, to 20%"), None);
        assert_eq!(number("10%, 20%"), None);
        assert_eq!(number("iPhone 5"), None);
        assert_eq!(number("Save50%"), None);
    }

    proptest! {
        #[test]
        fn reading_any_text_does_not_panic(text in "\\PC*", numeric in "[-+$€%٪0-9٠-٩.,'’\u{A0}/ of]{0,40}") {
            for text in [&text, &numeric] {
                for reading in [read(text), read_description(text)].into_iter().flatten() {
                    prop_assert!(reading.number.is_finite());
                }
            }
        }

        #[test]
        fn formatted_numbers_are_read_back(scaled in -99_999_999_999i64..=99_999_999_999, decimals in 0u32..=4) {
            let number = scaled as f64 / f64::from(10u32.pow(decimals));
            let plain = ParsedValue { number, unit: Unit::None };
            let text = number.to_string();
            prop_assert_eq!(read(&text), Some(plain));
            let percent = format!("{number}%");
            prop_assert_eq!(read(&percent), Some(ParsedValue { unit: Unit::Percent, ..plain }));
            let named = format!("Volume, {number} percent");
            prop_assert_eq!(read_description(&named), Some(ParsedValue { unit: Unit::Percent, ..plain }));
        }
    }
}
