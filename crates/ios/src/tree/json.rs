//! Scans JSON that may be cut off anywhere. It builds no tree and does not recurse.

use memchr::memchr2;

/// The raw bytes of a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Value<'a> {
    /// A string without its quotes.
    Text(&'a [u8]),
    /// A number, `true`, `false`, `null`, or anything else without quotes.
    Bare(&'a [u8]),
    /// An object with its braces.
    Object(&'a [u8]),
    /// An array with its brackets.
    Array(&'a [u8]),
}

pub(super) struct Json<'a> {
    pub bytes: &'a [u8],
    pub at: usize,
}

impl<'a> Json<'a> {
    pub fn new(bytes: &'a [u8], at: usize) -> Json<'a> {
        Json { bytes, at }
    }

    /// Skips space and returns the next byte, without consuming it.
    pub fn peek(&mut self) -> Option<u8> {
        let rest = self.bytes.get(self.at..)?;
        let space = rest.iter().position(|byte| !byte.is_ascii_whitespace());
        self.at += space.unwrap_or(rest.len());
        self.bytes.get(self.at).copied()
    }

    /// Skips space, and consumes the next byte if it is `byte`.
    pub fn take(&mut self, byte: u8) -> bool {
        let found = self.peek() == Some(byte);
        self.at += usize::from(found);
        found
    }

    /// Consumes the next value. Returns `None` if there is none, or if the bytes end inside it; then the position is at
    /// the end.
    pub fn value(&mut self) -> Option<Value<'a>> {
        let first = self.peek()?;
        let start = self.at;
        match first {
            b'"' => self.string().map(Value::Text),
            b'{' => self.compound(start).map(Value::Object),
            b'[' => self.compound(start).map(Value::Array),
            b'}' | b']' | b',' | b':' => None,
            _ => self.bare(start),
        }
    }

    /// Consumes a string; the position must be at its opening quote.
    pub fn string(&mut self) -> Option<&'a [u8]> {
        let (raw, complete) = string_at(self.bytes, self.at);
        self.at = (self.at + raw.len() + 2).min(self.bytes.len());
        complete.then_some(raw)
    }

    fn bare(&mut self, start: usize) -> Option<Value<'a>> {
        let rest = &self.bytes[start..];
        let ends = |byte: &u8| byte.is_ascii_whitespace() || b",:]}[{\"".contains(byte);
        // A value that reaches the end may have been cut.
        let Some(length) = rest.iter().position(ends) else {
            self.at = self.bytes.len();
            return None;
        };
        self.at = start + length;
        Some(Value::Bare(&rest[..length]))
    }

    fn compound(&mut self, start: usize) -> Option<&'a [u8]> {
        let mut levels = 0_usize;
        while let Some(&byte) = self.bytes.get(self.at) {
            match byte {
                b'"' => {
                    self.string()?;
                    continue;
                }
                b'{' | b'[' => levels += 1,
                b'}' | b']' => levels -= 1,
                _ => {}
            }
            self.at += 1;
            if levels == 0 {
                return Some(&self.bytes[start..self.at]);
            }
        }
        None
    }
}

/// Returns the content of the string that begins at `start`, and true if its closing quote was found.
pub(super) fn string_at(bytes: &[u8], start: usize) -> (&[u8], bool) {
    let inner = bytes.get(start + 1..).unwrap_or_default();
    let mut at = 0;
    while let Some(found) = memchr2(b'"', b'\\', inner.get(at..).unwrap_or_default()) {
        at += found;
        if inner[at] == b'"' {
            return (&inner[..at], true);
        }
        at += 2;
    }
    (inner, false)
}

/// Iterates over the members of an object. Stops at the first thing that is not a member.
pub(super) fn members(object: &[u8]) -> impl Iterator<Item = (&[u8], Value<'_>)> {
    let mut json = Json::new(object, 1);
    std::iter::from_fn(move || {
        while json.take(b',') {}
        if json.peek()? != b'"' {
            return None;
        }
        let key = json.string()?;
        if !json.take(b':') {
            return None;
        }
        Some((key, json.value()?))
    })
}

/// Iterates over the values of an array. Stops at the first thing that is not a value.
pub(super) fn items(array: &[u8]) -> impl Iterator<Item = Value<'_>> {
    let mut json = Json::new(array, 1);
    std::iter::from_fn(move || {
        while json.take(b',') {}
        json.value()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_consumed_as_a_whole() {
        let text = br#" {"a":[1,"]\"}",{}],"b":"x\\","c":-1.50e3,"d":null} "#;
        let mut json = Json::new(text, 0);
        let Some(Value::Object(object)) = json.value() else { panic!("no object") };
        assert_eq!(object, text.trim_ascii());
        assert_eq!(json.peek(), None);
        let found: Vec<_> = members(object).collect();
        let expect: [(&[u8], Value<'_>); 4] = [
            (b"a", Value::Array(br#"[1,"]\"}",{}]"#)),
            (b"b", Value::Text(br"x\\")),
            (b"c", Value::Bare(b"-1.50e3")),
            (b"d", Value::Bare(b"null")),
        ];
        assert_eq!(found, expect);
        assert_eq!(items(br#"["a" , 1,[ ]]"#).count(), 3);
    }

    #[test]
    fn a_cut_value_is_none() {
        let whole = br#"{"a":["x",{"b":"c"}]}"#;
        for cut in 0..whole.len() {
            assert_eq!(Json::new(&whole[..cut], 0).value(), None, "cut at {cut}");
        }
        assert_eq!(Json::new(b"\"a\\\"", 0).value(), None);
        assert_eq!(Json::new(b"tru", 0).value(), None);
    }
}
