//! One spelling for the many ways in which a text may be written: quoted, within JSON, a URI or XML, for a shell. A secret
//! and a text that is searched for it are both brought into it.

use std::ops::Range;

/// Bytes of a character's name in XML, from its & on.
const ENTITY_BYTES_MAX: usize = 10;

/// A text in lower case, and where each of its bytes begins in the text as it was given.
pub struct Spelling {
    pub bytes: Vec<u8>,
    /// Nothing where both are of one length.
    starts: Option<Vec<usize>>,
    /// Of the text as it was given.
    length: usize,
}

impl Spelling {
    pub fn as_given(text: &str) -> Spelling {
        Spelling { bytes: text.to_ascii_lowercase().into_bytes(), starts: None, length: text.len() }
    }

    /// The text with every escape read, also within another; nothing if there is none.
    pub fn decoded(text: &str) -> Option<Spelling> {
        if !text.bytes().any(|byte| matches!(byte, b'\\' | b'%' | b'+' | b'&' | b'\'')) {
            return None;
        }
        let lower = text.to_ascii_lowercase().into_bytes();
        let mut decoder = Decoder::default();
        let mut at = 0;
        while at < lower.len() {
            at += match lower[at] {
                b'\\' => decoder.escape(&lower[at..], at),
                byte => decoder.push(byte, at),
            };
        }
        Some(Spelling { bytes: decoder.bytes, starts: Some(decoder.starts), length: text.len() })
    }

    /// The same without the signs between groups of digits, `1234 5678`; nothing if there are none.
    pub fn without_groups(&self) -> Option<Spelling> {
        let is_digit = |at: usize| self.bytes.get(at).is_some_and(u8::is_ascii_digit);
        let is_sign = |at: usize| {
            matches!(self.bytes[at], b' ' | b'-') && at > 0 && is_digit(at - 1) && is_digit(at + 1)
        };
        if !(0..self.bytes.len()).any(is_sign) {
            return None;
        }
        let kept: Vec<usize> = (0..self.bytes.len()).filter(|at| !is_sign(*at)).collect();
        let bytes = kept.iter().map(|at| self.bytes[*at]).collect();
        let starts = kept.iter().map(|at| self.start(*at)).collect();
        Some(Spelling { bytes, starts: Some(starts), length: self.length })
    }

    /// Where a part stands in the text as it was given.
    pub fn place(&self, part: &Range<usize>) -> Range<usize> {
        self.start(part.start)..self.start(part.end)
    }

    fn start(&self, at: usize) -> usize {
        let starts = self.starts.as_ref();
        starts.map_or(at, |starts| starts.get(at).copied().unwrap_or(self.length))
    }
}

/// The bytes of a secret as they are looked for.
pub fn spelled(text: &str) -> Vec<u8> {
    Spelling::decoded(text).unwrap_or_else(|| Spelling::as_given(text)).bytes
}

#[derive(Default)]
struct Decoder {
    bytes: Vec<u8>,
    starts: Vec<usize>,
    /// Where the backslashes before the next character begin.
    slashes: Option<usize>,
}

impl Decoder {
    /// Adds a byte, reads what it completes, and returns its length.
    fn push(&mut self, byte: u8, at: usize) -> usize {
        self.add(byte, at);
        while let Some((length, byte)) = self.completed() {
            let kept = self.bytes.len() - length;
            let start = self.starts[kept];
            self.bytes.truncate(kept);
            self.starts.truncate(kept);
            self.add(byte, start);
        }
        1
    }

    fn add(&mut self, byte: u8, at: usize) {
        let start = self.slashes.take().unwrap_or(at);
        if byte == b'\\' {
            self.slashes = Some(start);
            return;
        }
        self.bytes.push(if byte == b'+' { b' ' } else { byte.to_ascii_lowercase() });
        self.starts.push(start);
    }

    /// The length of an escape at the end, and what it stands for.
    fn completed(&self) -> Option<(usize, u8)> {
        match &self.bytes[..] {
            // A space for `input text`.
            [.., b'%', b's'] => Some((2, b' ')),
            [.., b'%', high, low] if high.is_ascii_hexdigit() && low.is_ascii_hexdigit() => {
                Some((3, u8::try_from(hex(&[*high, *low])?).ok()?))
            }
            // What is left of `'\''`.
            [.., b'\'', b'\''] => Some((2, b'\'')),
            [.., b';'] => entity(&self.bytes),
            _ => None,
        }
    }

    /// Reads backslashes with what belongs to them, and returns the length of all.
    fn escape(&mut self, rest: &[u8], at: usize) -> usize {
        let slashes = rest.iter().take_while(|byte| **byte == b'\\').count();
        self.slashes.get_or_insert(at);
        let after = &rest[slashes..];
        let (character, length) = match after {
            [b'n' | b'r' | b't', ..] => ('\n', 1),
            [b'u', ..] => match unicode(after) {
                Some(read) => read,
                None => return slashes,
            },
            _ => return slashes,
        };
        let mut buffer = [0; 4];
        for byte in character.encode_utf8(&mut buffer).bytes() {
            self.push(byte, at);
        }
        slashes + length
    }
}

/// The character of `u00e9`, `u{e9}` or `ud83d\ude00`, and the bytes of that.
fn unicode(after: &[u8]) -> Option<(char, usize)> {
    if after.get(1) == Some(&b'{') {
        let end = after.iter().take(9).position(|byte| *byte == b'}')?;
        return Some((char::from_u32(hex(&after[2..end])?)?, end + 1));
    }
    let unit = hex(after.get(1..5)?)?;
    if !(0xd800..0xdc00).contains(&unit) {
        return Some((char::from_u32(unit)?, 5));
    }
    let slashes = after[5..].iter().take_while(|byte| **byte == b'\\').count();
    let second = &after[5 + slashes..];
    let low = hex(second.get(1..5).filter(|_| second[0] == b'u')?)?;
    let code = 0x10000 + ((unit - 0xd800) << 10) + low.checked_sub(0xdc00)?;
    Some((char::from_u32(code)?, 5 + slashes + 5))
}

fn hex(digits: &[u8]) -> Option<u32> {
    let digit = |byte: &u8| char::from(*byte).to_digit(16);
    let add = |number: u32, byte: &u8| Some(number << 4 | digit(byte)?);
    (!digits.is_empty() && digits.len() <= 6).then(|| digits.iter().try_fold(0, add))?
}

/// The ASCII character that ends here as `&quot;` or `&#39;`.
fn entity(bytes: &[u8]) -> Option<(usize, u8)> {
    let from = bytes.len().saturating_sub(ENTITY_BYTES_MAX);
    let start = from + bytes[from..].iter().rposition(|byte| *byte == b'&')?;
    let byte = match &bytes[start + 1..bytes.len() - 1] {
        b"amp" => b'&',
        b"lt" => b'<',
        b"gt" => b'>',
        b"quot" => b'"',
        b"apos" => b'\'',
        [b'#', b'x', digits @ ..] => u8::try_from(hex(digits)?).ok()?,
        [b'#', digits @ ..] => std::str::from_utf8(digits).ok()?.parse().ok()?,
        _ => return None,
    };
    byte.is_ascii().then_some((bytes.len() - start, byte))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_way_to_write_a_text_is_read() {
        // SE-06
        let text = r#"p@ss it's "x" a=b/ä"#;
        for written in [
            text,
            "P@SS It's \"x\" a=b/ä",
            r#"p@ss it's \"x\" a=b\/ä"#,
            r#"p@ss it's \\\"x\\\" a=b/\\u00e4"#,
            "p%40ss%20it%27s%20%22x%22%20a%3Db%2F%C3%A4",
            "p%2540ss%2520it%2527s+%2522x%2522+a%253db%2f%25c3%25a4",
            r#"p@ss%sit'\''s%s"x"%sa=b/ä"#,
            r"p\u0040ss it\u{27}s \u0022x\u0022 a\u003db/\u00e4",
            "p@ss it&#39;s &quot;x&quot; a&#x3d;b/ä",
            "p@ss it&amp;apos;s &amp;quot;x&quot; a=b/ä",
        ] {
            assert_eq!(String::from_utf8(spelled(written)).unwrap(), text, "{written}");
        }
        assert_eq!(spelled(r"\ud83d\ude00\\ud83d\\ude00"), "😀😀".as_bytes());
        for broken in
            [r"\u12", r"\ud83d", r"\u{}", r"\u{110000}", "%4", "%", "&#300;", "&;", r"\", r"\ud83d\u0041"]
        {
            spelled(broken);
        }
    }

    #[test]
    fn a_part_is_found_where_it_was_written() {
        let text = r"x \u0040b %41c \'d 12 34-5";
        let decoded = Spelling::decoded(text).unwrap();
        let place = |spelling: &Spelling, part: &str| {
            let at = spelling.bytes.windows(part.len()).position(|window| window == part.as_bytes()).unwrap();
            &text[spelling.place(&(at..at + part.len()))]
        };
        assert_eq!(place(&decoded, "@b"), r"\u0040b");
        assert_eq!(place(&decoded, "ac"), "%41c");
        assert_eq!(place(&decoded, "'d"), r"\'d");
        assert_eq!(place(&decoded.without_groups().unwrap(), "12345"), "12 34-5");
        assert!(
            Spelling::decoded("a b").is_none()
                && decoded.without_groups().unwrap().without_groups().is_none()
        );
    }
}
