//! Finds XML tags in untrusted bytes. Each byte is read only a few times, and nothing recurses.

use memchr::{memchr, memchr2, memmem};

/// The next thing that the scanner found, in byte order.
pub enum Event<'a, T> {
    Open {
        name: &'a [u8],
        offset: usize,
        tag: T,
        self_closing: bool,
    },
    Close {
        name: &'a [u8],
        offset: usize,
    },
    /// Markup that could not be read; the scanner has skipped it.
    Broken {
        offset: usize,
        what: &'static str,
    },
    /// The bytes ended inside markup.
    Cut {
        offset: usize,
    },
    End,
}

/// A reader's own record of a start tag. Values are raw: references are not resolved yet.
pub trait Attributes<'a>: Default {
    fn set(&mut self, name: &[u8], value: &'a [u8]);
    /// Reports a fault in this tag.
    fn note(&mut self, fault: &'static str);
}

/// The markup of one source.
#[derive(Clone, Copy)]
pub struct Dialect {
    /// True if a tag of this name can begin a document. Anything before it is a message of the tool that wrote it.
    pub begins_document: fn(&[u8]) -> bool,
    /// A value that contains one of these has lost its closing quote, because serialisers write `<` as `&lt;`.
    pub tag_starts: &'static [&'static [u8]],
}

pub struct Scanner<'a> {
    bytes: &'a [u8],
    at: usize,
    dialect: Dialect,
}

impl<'a> Scanner<'a> {
    pub fn new(bytes: &'a [u8], at: usize, dialect: Dialect) -> Scanner<'a> {
        Scanner { bytes, at, dialect }
    }

    /// Moves to the beginning of the next document; returns false if there is none.
    pub fn seek_document(&mut self) -> bool {
        while let Some(distance) = memchr(b'<', self.rest()) {
            self.at += distance;
            let name = self.at + 1..self.name_end(self.at + 1);
            if (self.dialect.begins_document)(&self.bytes[name.clone()]) {
                return true;
            }
            self.at = name.end;
        }
        self.at = self.bytes.len();
        false
    }

    pub fn next_event<T: Attributes<'a>>(&mut self) -> Event<'a, T> {
        loop {
            let Some(distance) = memchr(b'<', self.rest()) else {
                self.at = self.bytes.len();
                return Event::End;
            };
            let offset = self.at + distance;
            let skipped = match self.bytes.get(offset + 1) {
                None => return Event::Cut { offset },
                Some(b'/') => return self.close(offset),
                Some(b'?') => self.skip_past(offset, b"?>"),
                Some(b'!') => self.skip_declaration(offset),
                Some(&byte) if byte.is_ascii_alphabetic() || byte == b'_' || byte >= 0x80 => {
                    return self.open(offset);
                }
                Some(_) => {
                    self.at = offset + 1;
                    return Event::Broken { offset, what: "'<' that begins no tag" };
                }
            };
            if !skipped {
                return Event::Cut { offset };
            }
        }
    }

    fn rest(&self) -> &'a [u8] {
        self.bytes.get(self.at..).unwrap_or_default()
    }

    fn skip_declaration(&mut self, offset: usize) -> bool {
        let rest = &self.bytes[offset..];
        let end: &[u8] = if rest.starts_with(b"<!--") {
            b"-->"
        } else if rest.starts_with(b"<![CDATA[") {
            b"]]>"
        } else {
            b">"
        };
        self.skip_past(offset, end)
    }

    fn skip_past(&mut self, offset: usize, end: &[u8]) -> bool {
        match memmem::find(&self.bytes[offset..], end) {
            Some(distance) => {
                self.at = offset + distance + end.len();
                true
            }
            None => {
                self.at = self.bytes.len();
                false
            }
        }
    }

    fn close<T>(&mut self, offset: usize) -> Event<'a, T> {
        let start = offset + 2;
        let end = self.name_end(start);
        let after = self.skip_space(end);
        match self.bytes.get(after) {
            None => Event::Cut { offset },
            Some(b'>') => {
                self.at = after + 1;
                Event::Close { name: &self.bytes[start..end], offset }
            }
            Some(_) => {
                self.at = after;
                Event::Broken { offset, what: "end tag without '>'" }
            }
        }
    }

    fn open<T: Attributes<'a>>(&mut self, offset: usize) -> Event<'a, T> {
        let name_end = self.name_end(offset + 1);
        let name = &self.bytes[offset + 1..name_end];
        let mut tag = T::default();
        let mut at = name_end;
        loop {
            at = self.skip_space(at);
            match self.bytes.get(at) {
                None => return Event::Cut { offset },
                Some(b'>') => {
                    self.at = at + 1;
                    return Event::Open { name, offset, tag, self_closing: false };
                }
                Some(b'/') => match self.bytes.get(at + 1) {
                    None => return Event::Cut { offset },
                    Some(b'>') => {
                        self.at = at + 2;
                        return Event::Open { name, offset, tag, self_closing: true };
                    }
                    Some(_) => {
                        tag.note("stray '/'");
                        at += 1;
                    }
                },
                Some(b'<') => return self.broken_tag(offset, at),
                Some(_) => match self.attribute(at, &mut tag) {
                    Step::To(next) => at = next,
                    Step::NextTag(next) => return self.broken_tag(offset, next),
                    Step::Cut => return Event::Cut { offset },
                },
            }
        }
    }

    fn broken_tag<T>(&mut self, offset: usize, next: usize) -> Event<'a, T> {
        self.at = next;
        Event::Broken { offset, what: "tag without an end" }
    }

    fn attribute<T: Attributes<'a>>(&self, start: usize, tag: &mut T) -> Step {
        let name_end = self.name_end(start);
        if name_end == start {
            tag.note("stray character in a tag");
            return Step::To(start + 1);
        }
        let name = &self.bytes[start..name_end];
        let equals = self.skip_space(name_end);
        match self.bytes.get(equals) {
            None => return Step::Cut,
            Some(b'=') => {}
            Some(_) => {
                tag.note("attribute without a value");
                return Step::To(equals);
            }
        }
        let open = self.skip_space(equals + 1);
        match self.bytes.get(open) {
            None => Step::Cut,
            Some(&quote @ (b'"' | b'\'')) => match self.value_end(open + 1, quote) {
                Step::To(end) => {
                    tag.set(name, &self.bytes[open + 1..end]);
                    Step::To(end + 1)
                }
                other => other,
            },
            Some(_) => {
                tag.note("value without quotes");
                let end = self.unquoted_end(open);
                tag.set(name, &self.bytes[open..end]);
                Step::To(end)
            }
        }
    }

    fn value_end(&self, start: usize, quote: u8) -> Step {
        let mut at = start;
        loop {
            let Some(found) = find_either(self.bytes, at, quote, b'<') else { return Step::Cut };
            if self.bytes[found] == quote {
                return Step::To(found);
            }
            if starts_with_any(&self.bytes[found..], self.dialect.tag_starts) {
                return Step::NextTag(found);
            }
            at = found + 1;
        }
    }

    fn unquoted_end(&self, start: usize) -> usize {
        let ends = |byte: &u8| byte.is_ascii_whitespace() || matches!(byte, b'>' | b'<');
        let rest = &self.bytes[start..];
        start + rest.iter().position(ends).unwrap_or(rest.len())
    }

    fn name_end(&self, start: usize) -> usize {
        let rest = self.bytes.get(start..).unwrap_or_default();
        start + rest.iter().position(|&byte| ENDS_NAME[usize::from(byte)]).unwrap_or(rest.len())
    }

    fn skip_space(&self, start: usize) -> usize {
        let rest = self.bytes.get(start..).unwrap_or_default();
        start + rest.iter().position(|&byte| !is_space(byte)).unwrap_or(rest.len())
    }
}

const fn is_space(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | b'\n' | b'\r')
}

/// Bytes that end a name. A table, because names are half of all bytes.
const ENDS_NAME: [bool; 256] = {
    let mut table = [false; 256];
    let mut byte: u8 = 0;
    while byte < 128 {
        table[byte as usize] = is_space(byte) || matches!(byte, b'=' | b'>' | b'/' | b'<' | b'"' | b'\'');
        byte += 1;
    }
    table
};

/// The position at which the scan of a part of a tag ended.
enum Step {
    To(usize),
    /// Another tag begins here, inside this one.
    NextTag(usize),
    Cut,
}

/// Bytes that are searched by a plain loop first: most values are short, and a vectorised search costs set-up time.
const SHORT_VALUE_BYTES: usize = 12;

fn find_either(bytes: &[u8], start: usize, one: u8, other: u8) -> Option<usize> {
    let rest = bytes.get(start..)?;
    let near = rest.len().min(SHORT_VALUE_BYTES);
    if let Some(found) = rest[..near].iter().position(|&byte| byte == one || byte == other) {
        return Some(start + found);
    }
    memchr2(one, other, &rest[near..]).map(|found| start + near + found)
}

fn starts_with_any(bytes: &[u8], prefixes: &[&[u8]]) -> bool {
    prefixes.iter().any(|prefix| bytes.starts_with(prefix))
}
