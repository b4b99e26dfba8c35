//! The markup scanner: finds tags in bytes that may be anything, and never looks at one byte more than a few times.

use memchr::{memchr, memchr2, memmem};

/// What the scanner met, in the order of the bytes.
pub(super) enum Event<'a> {
    Open(Tag<'a>),
    Close {
        name: &'a [u8],
        offset: usize,
    },
    /// Markup that could not be read; the scanner already stands behind it.
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

/// A start tag. Values are raw: references are not resolved yet. Absent and empty are the same.
#[derive(Default)]
pub(super) struct Tag<'a> {
    pub name: &'a [u8],
    pub offset: usize,
    pub self_closing: bool,
    pub text: &'a [u8],
    pub resource_id: &'a [u8],
    pub class: &'a [u8],
    pub package: &'a [u8],
    pub content_desc: &'a [u8],
    pub hint: &'a [u8],
    pub bounds: &'a [u8],
    pub rotation: &'a [u8],
    pub flags: Flags,
    /// The first thing in this tag that is not as it should be.
    pub fault: Option<&'static str>,
}

/// Attributes that say true or false.
#[derive(Default)]
pub(super) struct Flags {
    pub checkable: Option<bool>,
    pub checked: Option<bool>,
    pub clickable: Option<bool>,
    pub displayed: Option<bool>,
    pub enabled: Option<bool>,
    pub focusable: Option<bool>,
    pub focused: Option<bool>,
    pub long_clickable: Option<bool>,
    pub password: Option<bool>,
    pub scrollable: Option<bool>,
    pub selected: Option<bool>,
}

pub(super) struct Scanner<'a> {
    bytes: &'a [u8],
    at: usize,
}

/// Where a document can begin. Anything before it is a message of the tool that made the dump.
const DOCUMENT_STARTS: [&[u8]; 4] = [b"<?xml", b"<hierarchy", b"<displays", b"<node"];

/// A value that runs into one of these has lost its closing quote: serialisers write `<` as `&lt;`.
const TAG_STARTS: [&[u8]; 6] =
    [b"<node", b"</node", b"<hierarchy", b"</hierarchy", b"<android.", b"</android."];

impl<'a> Scanner<'a> {
    pub fn new(bytes: &'a [u8]) -> Scanner<'a> {
        Scanner { bytes, at: 0 }
    }

    /// Moves to the beginning of the next document and says whether there is one.
    pub fn seek_document(&mut self) -> bool {
        while let Some(distance) = memchr(b'<', self.rest()) {
            self.at += distance;
            if starts_with_any(self.rest(), &DOCUMENT_STARTS) {
                return true;
            }
            self.at += 1;
        }
        self.at = self.bytes.len();
        false
    }

    pub fn next(&mut self) -> Event<'a> {
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

    fn close(&mut self, offset: usize) -> Event<'a> {
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

    fn open(&mut self, offset: usize) -> Event<'a> {
        let name_end = self.name_end(offset + 1);
        let mut tag = Tag { name: &self.bytes[offset + 1..name_end], offset, ..Tag::default() };
        let mut at = name_end;
        loop {
            at = self.skip_space(at);
            match self.bytes.get(at) {
                None => return Event::Cut { offset },
                Some(b'>') => {
                    self.at = at + 1;
                    return Event::Open(tag);
                }
                Some(b'/') => match self.bytes.get(at + 1) {
                    None => return Event::Cut { offset },
                    Some(b'>') => {
                        self.at = at + 2;
                        tag.self_closing = true;
                        return Event::Open(tag);
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

    fn broken_tag(&mut self, offset: usize, next: usize) -> Event<'a> {
        self.at = next;
        Event::Broken { offset, what: "tag without an end" }
    }

    fn attribute(&self, start: usize, tag: &mut Tag<'a>) -> Step {
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
            if starts_with_any(&self.bytes[found..], &TAG_STARTS) {
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
        let ends = |byte: &u8| {
            matches!(byte, b'=' | b'>' | b'/' | b'<' | b'"' | b'\'' | b' ' | b'\t' | b'\n' | b'\r')
        };
        start + rest.iter().position(ends).unwrap_or(rest.len())
    }

    fn skip_space(&self, start: usize) -> usize {
        let rest = self.bytes.get(start..).unwrap_or_default();
        let solid = |byte: &u8| !matches!(byte, b' ' | b'\t' | b'\n' | b'\r');
        start + rest.iter().position(solid).unwrap_or(rest.len())
    }
}

/// Where the scan of a part of a tag ended.
enum Step {
    To(usize),
    /// Another tag begins here, inside this one.
    NextTag(usize),
    Cut,
}

impl<'a> Tag<'a> {
    fn note(&mut self, fault: &'static str) {
        self.fault.get_or_insert(fault);
    }

    fn set(&mut self, name: &[u8], value: &'a [u8]) {
        let flag = match name {
            b"text" => return self.text = value,
            b"resource-id" => return self.resource_id = value,
            b"class" => return self.class = value,
            b"package" => return self.package = value,
            b"content-desc" => return self.content_desc = value,
            b"hint" => return self.hint = value,
            b"bounds" => return self.bounds = value,
            b"rotation" => return self.rotation = value,
            b"checkable" => &mut self.flags.checkable,
            b"checked" => &mut self.flags.checked,
            b"clickable" => &mut self.flags.clickable,
            b"displayed" | b"visible-to-user" => &mut self.flags.displayed,
            b"enabled" => &mut self.flags.enabled,
            b"focusable" => &mut self.flags.focusable,
            b"focused" => &mut self.flags.focused,
            b"long-clickable" => &mut self.flags.long_clickable,
            b"password" => &mut self.flags.password,
            b"scrollable" => &mut self.flags.scrollable,
            b"selected" => &mut self.flags.selected,
            _ => return,
        };
        *flag = match value {
            b"true" => Some(true),
            b"false" => Some(false),
            b"" => None,
            _ => {
                self.fault.get_or_insert("neither true nor false");
                None
            }
        };
    }
}

/// Most values are a few bytes long, for which a plain loop beats the set-up of a vectorised search.
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
