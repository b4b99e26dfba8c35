//! Quotes text from a device, so that an agent cannot mistake it for our own words (SE-05).

use std::borrow::Cow;
use std::fmt::Write;

/// Writes `text` in double quotes with the escapes of JSON. Text longer than `chars_max` loses its middle; the number
/// of characters cut is written outside the quotes: `"begin"…+312…"end"`.
pub fn push_quoted(out: &mut String, text: &str, chars_max: usize) {
    // Bytes are never fewer than characters, so most texts need no counting.
    if text.len() <= chars_max {
        return push_uncut(out, text);
    }
    let count = text.chars().count();
    if count <= chars_max {
        return push_uncut(out, text);
    }
    let tail = chars_max / 4;
    let head = chars_max - tail;
    push_uncut(out, &text[..byte_index(text, head)]);
    push_cut(out, count - head - tail);
    push_uncut(out, &text[byte_index(text, count - tail)..]);
}

/// Writes how many characters were left out.
pub fn push_cut(out: &mut String, chars: usize) {
    let _ = write!(out, "…+{chars}…");
}

/// Writes `text` as it is if it is short and readable, has no quote of its own and is not empty; else quoted. For names
/// that hardly ever need quotes, such as those of apps and devices.
pub fn push_name(out: &mut String, text: &str, chars_max: usize) {
    let plain = |c: char| c != '"' && !is_unreadable(c);
    if !text.is_empty() && text.chars().count() <= chars_max && text.chars().all(plain) {
        out.push_str(text);
    } else {
        push_quoted(out, text, chars_max);
    }
}

/// Escapes the unreadable characters of a text that is written already. Line breaks stay.
pub fn escape_unreadable(text: &str) -> Cow<'_, str> {
    let is_escaped = |character: char| character != '\n' && is_unreadable(character);
    if !text.chars().any(is_escaped) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len() + 16);
    for character in text.chars() {
        if is_escaped(character) {
            push_escape(&mut out, character);
        } else {
            out.push(character);
        }
    }
    Cow::Owned(out)
}

fn byte_index(text: &str, chars: usize) -> usize {
    text.char_indices().nth(chars).map_or(text.len(), |(index, _)| index)
}

fn push_uncut(out: &mut String, text: &str) {
    out.push('"');
    for character in text.chars() {
        match character {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            _ if is_unreadable(character) => push_escape(out, character),
            _ => out.push(character),
        }
    }
    out.push('"');
}

fn push_escape(out: &mut String, character: char) {
    let mut units = [0; 2];
    for unit in character.encode_utf16(&mut units) {
        let _ = write!(out, "\\u{unit:04x}");
    }
}

/// True for characters that are invisible, reorder the text around them, or belong to the app's private font.
/// The joiners U+200C and U+200D are readable: emoji and several scripts need them.
pub(crate) fn is_unreadable(character: char) -> bool {
    character.is_control()
        || matches!(
            u32::from(character),
            0xAD
                | 0x61C
                | 0x180E
                | 0x200B
                | 0x200E..=0x200F
                | 0x2028..=0x202E
                | 0x2060..=0x206F
                | 0xE000..=0xF8FF
                | 0xFEFF
                | 0xFFF9..=0xFFFB
                | 0xE0000..=0x10FFFF
        )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn quoted(text: &str, chars_max: usize) -> String {
        let mut out = String::new();
        push_quoted(&mut out, text, chars_max);
        out
    }

    #[test]
    fn quotes_and_invisible_characters_are_escaped() {
        // SE-05
        assert_eq!(quoted("say \"hi\"\\\n\t\u{7}", 100), r#""say \"hi\"\\\n\t\u0007""#);
        assert_eq!(quoted("a\u{202E}b\u{2066}c\u{2028}", 100), r#""a\u202eb\u2066c\u2028""#);
        assert_eq!(quoted("\u{E0041}\u{E5D2}", 100), r#""\udb40\udc41\ue5d2""#);
        assert_eq!(quoted("日本 👨‍👩‍👧 é", 100), "\"日本 👨‍👩‍👧 é\"");
    }

    #[test]
    fn a_name_is_quoted_only_where_it_must_be() {
        // F70
        let name = |text: &str| {
            let mut out = String::new();
            push_name(&mut out, text, 12);
            out
        };
        assert_eq!(name("com.a/.Main"), "com.a/.Main");
        assert_eq!(name("a\nforged"), "\"a\\nforged\"");
        assert_eq!(name("say \"hi\""), "\"say \\\"hi\\\"\"");
        assert_eq!(name("abcdefghijklm"), "\"abcdefghi\"…+1…\"klm\"");
        assert_eq!(name(""), "\"\"");
    }

    #[test]
    fn unreadable_characters_of_a_written_text_are_escaped() {
        // F70
        assert_eq!(escape_unreadable("a\u{202E}b\n\u{7}\r日本"), "a\\u202eb\n\\u0007\\u000d日本");
        assert!(matches!(escape_unreadable("plain\ntext"), Cow::Borrowed(_)));
    }

    #[test]
    fn text_over_the_limit_loses_its_middle() {
        assert_eq!(quoted("abcdefghijkl", 12), "\"abcdefghijkl\"");
        assert_eq!(quoted("abcdefghijklm", 12), "\"abcdefghi\"…+1…\"klm\"");
        assert_eq!(quoted("ééééééééé", 8), "\"éééééé\"…+1…\"éé\"");
        assert_eq!(quoted("éééééééé", 8), "\"éééééééé\"");
        assert_eq!(quoted("abc", 0), "\"\"…+3…\"\"");
    }
}
