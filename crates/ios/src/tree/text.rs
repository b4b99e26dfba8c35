//! Decodes texts from their escaped form in the source.

use std::borrow::Cow;

use memchr::{memchr, memrchr};

/// Length of the longest valid reference, `&#x10FFFF;`.
const REFERENCE_BYTES_MAX: usize = 10;

/// Faults found while a value was decoded. The value is kept nevertheless.
#[derive(Default, Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Faults {
    pub bad_utf8: bool,
    pub bad_reference: bool,
    pub too_long: bool,
}

/// Raw bytes with their kind of escaping.
#[derive(Clone, Copy, Default, Debug)]
pub(super) enum Text<'a> {
    #[default]
    Empty,
    /// The value of an XML attribute.
    Markup(&'a [u8]),
    /// The content of a JSON string, between its quotes.
    Json(&'a [u8]),
    /// Unescaped bytes: a number, or a JSON value as written.
    Plain(&'a [u8]),
}

impl<'a> Text<'a> {
    pub fn raw(self) -> &'a [u8] {
        match self {
            Text::Empty => &[],
            Text::Markup(raw) | Text::Json(raw) | Text::Plain(raw) => raw,
        }
    }

    pub fn is_empty(self) -> bool {
        self.raw().is_empty()
    }

    /// True if both are equal except for the space around them. Raw bytes suffice: one document escapes in one way.
    pub fn is_same(self, other: Text<'_>) -> bool {
        self.raw().trim_ascii() == other.raw().trim_ascii()
    }

    /// Decodes the text; `None` if it is empty.
    pub fn read(self, bytes_max: usize, faults: &mut Faults) -> Option<Box<str>> {
        if self.is_empty() {
            return None;
        }
        let kept = self.cut(bytes_max);
        faults.too_long |= kept.len() < self.raw().len();
        let utf8 = match std::str::from_utf8(kept) {
            Ok(valid) => Cow::Borrowed(valid),
            Err(_) => {
                faults.bad_utf8 = true;
                String::from_utf8_lossy(kept)
            }
        };
        Some(match self {
            Text::Markup(_) if memchr(b'&', utf8.as_bytes()).is_some() => resolve_references(&utf8, faults),
            Text::Json(_) if memchr(b'\\', utf8.as_bytes()).is_some() => unescape(&utf8, faults).into(),
            _ => utf8.into(),
        })
    }

    /// Cuts the raw bytes to `bytes_max` without splitting a character, a reference or an escape.
    fn cut(self, bytes_max: usize) -> &'a [u8] {
        let raw = self.raw();
        if raw.len() <= bytes_max {
            return raw;
        }
        let mut end = bytes_max;
        for _ in 0..3 {
            if end > 0 && raw[end] & 0xC0 == 0x80 {
                end -= 1;
            }
        }
        let end = match self {
            Text::Markup(_) => before_open_reference(raw, end),
            Text::Json(_) => before_open_escape(raw, end),
            Text::Plain(_) | Text::Empty => end,
        };
        &raw[..end]
    }
}

fn before_open_reference(raw: &[u8], end: usize) -> usize {
    let tail = end.saturating_sub(REFERENCE_BYTES_MAX);
    match memrchr(b'&', &raw[tail..end]) {
        Some(ampersand) if memchr(b';', &raw[tail + ampersand..end]).is_none() => tail + ampersand,
        _ => end,
    }
}

/// Returns the start of an escape that `end` would split, else `end`. The longest escape is a surrogate pair, 12 bytes.
/// The scan starts before a run of backslashes, because a backslash may itself be escaped.
fn before_open_escape(raw: &[u8], end: usize) -> usize {
    let mut at = end.saturating_sub(24);
    at -= raw[..at].iter().rev().take_while(|&&byte| byte == b'\\').count();
    while at < end {
        let length = if raw[at] == b'\\' { escape(&raw[at..]).1 } else { 1 };
        if at + length > end {
            return at;
        }
        at += length;
    }
    end
}

fn resolve_references(value: &str, faults: &mut Faults) -> Box<str> {
    match quick_xml::escape::unescape(value) {
        Ok(resolved) => resolved.into(),
        Err(_) => {
            faults.bad_reference = true;
            value.into()
        }
    }
}

fn unescape(value: &str, faults: &mut Faults) -> String {
    let mut out = String::with_capacity(value.len());
    let mut rest = value;
    while let Some(backslash) = memchr(b'\\', rest.as_bytes()) {
        out.push_str(&rest[..backslash]);
        let (character, length) = escape(&rest.as_bytes()[backslash..]);
        match character {
            Some(character) => {
                out.push(character);
                rest = rest.get(backslash + length..).unwrap_or_default();
            }
            None => {
                // Half of a surrogate pair is replaced; anything else is kept unchanged.
                faults.bad_reference = true;
                out.push(if length == 6 { char::REPLACEMENT_CHARACTER } else { '\\' });
                rest = &rest[backslash + length..];
            }
        }
    }
    out.push_str(rest);
    out
}

/// Decodes an escape: its character, and its length in bytes. Without a character the length is 6 for half of a
/// surrogate pair, and 1 for anything that is not an escape.
fn escape(raw: &[u8]) -> (Option<char>, usize) {
    let simple = match raw.get(1) {
        Some(b'n') => '\n',
        Some(b't') => '\t',
        Some(b'r') => '\r',
        Some(b'b') => '\u{8}',
        Some(b'f') => '\u{C}',
        Some(&plain @ (b'"' | b'\\' | b'/')) => char::from(plain),
        Some(b'u') => return unicode_escape(raw),
        _ => return (None, 1),
    };
    (Some(simple), 2)
}

fn unicode_escape(raw: &[u8]) -> (Option<char>, usize) {
    let Some(code) = code_unit(raw) else { return (None, 1) };
    if let Some(character) = char::from_u32(code) {
        return (Some(character), 6);
    }
    let low = code_unit(raw.get(6..).unwrap_or_default()).filter(|low| (0xDC00..0xE000).contains(low));
    match low.filter(|_| code < 0xDC00) {
        Some(low) => (char::from_u32(0x1_0000 + ((code - 0xD800) << 10) + (low - 0xDC00)), 12),
        None => (None, 6),
    }
}

fn code_unit(raw: &[u8]) -> Option<u32> {
    let digits = raw.get(..6)?.strip_prefix(b"\\u")?;
    digits.iter().try_fold(0, |code, &digit| Some(code * 16 + char::from(digit).to_digit(16)?))
}

/// Maps an offset in the decoded text to an offset in the raw bytes of a JSON string.
pub(super) fn json_offset(raw: &[u8], offset: usize) -> usize {
    let (mut at, mut decoded) = (0, 0);
    while at < raw.len() && decoded < offset {
        let Some(backslash) = memchr(b'\\', &raw[at..]) else { return raw.len().min(at + offset - decoded) };
        if decoded + backslash >= offset {
            return at + offset - decoded;
        }
        let (character, length) = escape(&raw[at + backslash..]);
        let replacement = if length == 6 { char::REPLACEMENT_CHARACTER } else { '\\' };
        decoded += backslash + character.unwrap_or(replacement).len_utf8();
        at += backslash + length;
    }
    at.min(raw.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: Text<'_>) -> (String, Faults) {
        let mut faults = Faults::default();
        let value = text.read(1000, &mut faults).unwrap_or_default();
        (value.into_string(), faults)
    }

    #[test]
    fn references_and_escapes_become_characters() {
        let (value, faults) = read(Text::Markup(b"&lt;a&gt; &amp;amp; &quot;&apos; &#10;&#x1F600;"));
        assert_eq!((value.as_str(), faults), ("<a> &amp; \"' \n😀", Faults::default()));
        let (value, faults) = read(Text::Json(br#"a\"\\n\n\/ \u00e9 \ud83d\ude00 \b\f\r\t"#));
        assert_eq!((value.as_str(), faults), ("a\"\\n\n/ é 😀 \u{8}\u{C}\r\t", Faults::default()));
    }

    #[test]
    fn invalid_references_and_escapes_are_kept_and_reported() {
        for raw in ["&", "&#;", "&nbsp;", "&#xD800;", "a & b"] {
            let (value, faults) = read(Text::Markup(raw.as_bytes()));
            assert!(faults.bad_reference, "{raw}");
            assert_eq!(value, raw);
        }
        let cases = [
            (r"\", "\\"),
            (r"\x", "\\x"),
            (r"\u12", "\\u12"),
            (r"\u12é", "\\u12é"),
            (r"\ud83d!", "\u{FFFD}!"),
            (r"\ude00\ud83d", "\u{FFFD}\u{FFFD}"),
            (r"\ud83d\u0041", "\u{FFFD}A"),
        ];
        for (raw, expect) in cases {
            let (value, faults) = read(Text::Json(raw.as_bytes()));
            assert!(faults.bad_reference, "{raw}");
            assert_eq!(value, expect, "{raw}");
        }
    }

    #[test]
    fn a_long_value_is_cut_between_characters_references_and_escapes() {
        let mut faults = Faults::default();
        let mut cut = |text: Text<'_>, max| text.read(max, &mut faults).map(String::from);
        assert_eq!(cut(Text::Plain("aé😀".as_bytes()), 6).as_deref(), Some("aé"));
        assert_eq!(cut(Text::Markup(b"ab&amp;cd"), 5).as_deref(), Some("ab"));
        assert_eq!(cut(Text::Json(br"ab\u00e9cd"), 5).as_deref(), Some("ab"));
        assert_eq!(cut(Text::Json(br"ab\\\ncd"), 5).as_deref(), Some(r"ab\"));
        assert_eq!(cut(Text::Json(br"\ud83d\ude00x"), 8).as_deref(), Some(""));
        assert!(faults.too_long && !faults.bad_reference && !faults.bad_utf8);
    }

    #[test]
    fn decoded_offsets_are_mapped_to_raw_offsets() {
        let raw = br#"a\n\u00e9b\ud83d\ude00c"#;
        let decoded = "a\né".len();
        assert_eq!(json_offset(raw, 0), 0);
        assert_eq!(json_offset(raw, 1), 1);
        assert_eq!(raw[json_offset(raw, decoded)], b'b');
        assert_eq!(raw[json_offset(raw, "a\néb😀".len())], b'c');
        assert_eq!(json_offset(raw, 1000), raw.len());
    }
}
