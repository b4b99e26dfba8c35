//! Decodes attribute values: text, rectangles and numbers.

use std::borrow::Cow;

use mdm_core::screen::geometry::Rect;
use memchr::{memchr, memrchr};

/// Length of the longest valid reference, `&#x10FFFF;`.
const REFERENCE_BYTES_MAX: usize = 10;

/// Faults found while a value was decoded. The value is kept nevertheless.
#[derive(Default, Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct ValueFaults {
    pub bad_utf8: bool,
    pub bad_reference: bool,
    pub too_long: bool,
}

/// Decodes a text; `None` if it is empty.
pub(super) fn text(raw: &[u8], bytes_max: usize, faults: &mut ValueFaults) -> Option<Box<str>> {
    if raw.is_empty() {
        return None;
    }
    let kept = cut(raw, bytes_max);
    faults.too_long |= kept.len() < raw.len();
    let utf8 = match std::str::from_utf8(kept) {
        Ok(valid) => Cow::Borrowed(valid),
        Err(_) => {
            faults.bad_utf8 = true;
            String::from_utf8_lossy(kept)
        }
    };
    if memchr(b'&', utf8.as_bytes()).is_none() {
        return Some(utf8.into());
    }
    Some(resolve_references(&utf8, faults).into())
}

/// Cuts the raw bytes to `bytes_max` without splitting a character or a reference.
fn cut(raw: &[u8], bytes_max: usize) -> &[u8] {
    if raw.len() <= bytes_max {
        return raw;
    }
    let mut end = bytes_max;
    let continues = |byte: u8| byte & 0xC0 == 0x80;
    for _ in 0..3 {
        if end > 0 && continues(raw[end]) {
            end -= 1;
        }
    }
    let tail = end.saturating_sub(REFERENCE_BYTES_MAX);
    match memrchr(b'&', &raw[tail..end]) {
        Some(ampersand) if memchr(b';', &raw[tail + ampersand..end]).is_none() => &raw[..tail + ampersand],
        _ => &raw[..end],
    }
}

fn resolve_references(value: &str, faults: &mut ValueFaults) -> String {
    let mut out = String::with_capacity(value.len());
    let mut rest = value;
    while let Some(ampersand) = memchr(b'&', rest.as_bytes()) {
        out.push_str(&rest[..ampersand]);
        rest = &rest[ampersand..];
        match reference(rest) {
            Some((character, length)) => {
                out.push(character);
                rest = &rest[length..];
            }
            None => {
                faults.bad_reference = true;
                out.push('&');
                rest = &rest[1..];
            }
        }
    }
    out.push_str(rest);
    out
}

/// Decodes the reference at the beginning of `rest`: its character, and its length in bytes.
fn reference(rest: &str) -> Option<(char, usize)> {
    let (name, length) = reference_name(rest)?;
    let character = match name {
        "amp" => '&',
        "lt" => '<',
        "gt" => '>',
        "quot" => '"',
        "apos" => '\'',
        _ => {
            let code = code_point(name)?;
            if (0xD800..0xDC00).contains(&code) {
                return surrogate_pair(code, rest, length);
            }
            char::from_u32(code).filter(|&character| character != '\0')?
        }
    };
    Some((character, length))
}

fn reference_name(rest: &str) -> Option<(&str, usize)> {
    let window = &rest.as_bytes()[..rest.len().min(REFERENCE_BYTES_MAX)];
    let end = memchr(b';', window)?;
    Some((rest.get(1..end)?, end + 1))
}

fn code_point(name: &str) -> Option<u32> {
    let number = name.strip_prefix('#')?;
    let (digits, radix) = match number.strip_prefix(['x', 'X']) {
        Some(hex) => (hex, 16),
        None => (number, 10),
    };
    // `from_str_radix` would also accept a sign.
    if !digits.chars().all(|digit| digit.is_digit(radix)) {
        return None;
    }
    u32::from_str_radix(digits, radix).ok()
}

/// Decodes two references to the surrogates of one character, as older Android serialisers write them.
fn surrogate_pair(high: u32, rest: &str, length: usize) -> Option<(char, usize)> {
    let (name, low_length) = reference_name(rest.get(length..)?.strip_prefix('&').and(rest.get(length..))?)?;
    let low = code_point(name).filter(|code| (0xDC00..0xE000).contains(code))?;
    let character = char::from_u32(0x1_0000 + ((high - 0xD800) << 10) + (low - 0xDC00))?;
    Some((character, length + low_length))
}

/// Parses `[left,top][right,bottom]`.
pub(super) fn bounds(raw: &[u8]) -> Option<Rect> {
    let mut rest = raw;
    let left = number_between(&mut rest, b'[', b',')?;
    let top = number_before(&mut rest, b']')?;
    let right = number_between(&mut rest, b'[', b',')?;
    let bottom = number_before(&mut rest, b']')?;
    rest.is_empty().then_some(Rect { left, top, right, bottom })
}

fn number_between(rest: &mut &[u8], open: u8, close: u8) -> Option<i32> {
    let (&first, after) = rest.split_first()?;
    *rest = after;
    if first != open {
        return None;
    }
    number_before(rest, close)
}

fn number_before(rest: &mut &[u8], close: u8) -> Option<i32> {
    let negative = rest.first() == Some(&b'-');
    let digits = &rest[usize::from(negative)..];
    let mut value: i32 = 0;
    for (count, &byte) in digits.iter().enumerate() {
        if byte == close && count > 0 {
            *rest = &digits[count + 1..];
            return Some(value);
        }
        if !byte.is_ascii_digit() {
            return None;
        }
        let digit = i32::from(byte - b'0');
        value = value.checked_mul(10)?;
        value = if negative { value.checked_sub(digit)? } else { value.checked_add(digit)? };
    }
    None
}

/// Parses quarter turns. Some sources write degrees.
pub(super) fn rotation(raw: &[u8]) -> Option<u8> {
    match raw {
        b"0" => Some(0),
        b"1" | b"90" => Some(1),
        b"2" | b"180" => Some(2),
        b"3" | b"270" => Some(3),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(raw: &str) -> (String, ValueFaults) {
        let mut faults = ValueFaults::default();
        let value = text(raw.as_bytes(), 1000, &mut faults).unwrap_or_default();
        (value.into_string(), faults)
    }

    #[test]
    fn references_become_characters() {
        let (value, faults) =
            read("&lt;a&gt; &amp;amp; &quot;&apos; &#10;&#128512;&#x1F600; &#55357;&#56832;");
        assert_eq!(value, "<a> &amp; \"' \n😀😀 😀");
        assert_eq!(faults, ValueFaults::default());
    }

    #[test]
    fn invalid_references_are_kept_unchanged() {
        for raw in [
            "&",
            "&;",
            "&&",
            "&#;",
            "&#x;",
            "&#0;",
            "&#xD800;",
            "&#-5;",
            "&#+5;",
            "&#x110000;",
            "&nbsp;",
            "&#99999999999;",
            "a & b",
            "&#55357;&#65;x",
            "&😀;",
        ] {
            let (value, faults) = read(raw);
            assert!(faults.bad_reference, "{raw}");
            assert_eq!(value, raw.replace("&#65;", "A"), "{raw}");
        }
    }

    #[test]
    fn a_long_value_is_cut_between_characters_and_references() {
        let mut faults = ValueFaults::default();
        assert_eq!(text("aé😀".as_bytes(), 6, &mut faults).as_deref(), Some("aé"));
        assert_eq!(text(b"ab&amp;cd", 5, &mut faults).as_deref(), Some("ab"));
        assert_eq!(text(b"ab&amp;cd", 7, &mut faults).as_deref(), Some("ab&"));
        assert_eq!(faults, ValueFaults { too_long: true, ..ValueFaults::default() });
    }

    #[test]
    fn invalid_utf8_is_replaced() {
        let mut faults = ValueFaults::default();
        assert_eq!(text(b"a\xFFb", 10, &mut faults).as_deref(), Some("a\u{FFFD}b"));
        assert!(faults.bad_utf8);
    }

    #[test]
    fn rectangles_are_parsed() {
        assert_eq!(bounds(b"[0,-12][1080,2400]"), Some(Rect::new(0, -12, 1080, 2400)));
        assert_eq!(bounds(b"[-2147483648,0][2147483647,1]"), Some(Rect::new(i32::MIN, 0, i32::MAX, 1)));
        for raw in [
            "",
            "[",
            "[]",
            "[1,2][3,4",
            "[1,2][3,4]5",
            "[1,2][,4]",
            "[1,2][3,2147483648]",
            "[1,2][3,--4]",
            "[1 ,2][3,4]",
        ] {
            assert_eq!(bounds(raw.as_bytes()), None, "{raw}");
        }
    }
}
