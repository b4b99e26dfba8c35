//! Elements out of XML that may be anything. No byte is looked at more than a few times.

use memchr::{memchr, memchr2, memmem};

use mdm_core::role::IosTraits;
use mdm_core::snapshot::DefectKind;

use super::arena::Arena;
use super::said::{Said, number};
use super::text::Text;

/// How many levels an end tag may close at once, when end tags between are missing.
const MISSING_ENDS_MAX: usize = 16;

/// With these a tree begins. A value that runs into one of them has lost its closing quote: serialisers write `<` as
/// `&lt;`.
pub(super) const DOCUMENT_STARTS: [&[u8]; 2] = [b"<AppiumAUT", b"<XCUIElementType"];
const END_STARTS: [&[u8]; 2] = [b"</AppiumAUT", b"</XCUIElementType"];

/// Holds elements without being one.
const WRAPPER: &[u8] = b"AppiumAUT";

/// Whether the first tag is one of a tree.
pub(super) fn begins_tree(bytes: &[u8]) -> bool {
    let mut rest = bytes;
    loop {
        let Some(tag) = memchr(b'<', rest) else { return false };
        rest = &rest[tag..];
        if !rest.starts_with(b"<?") && !rest.starts_with(b"<!") {
            return starts_with_any(rest, &DOCUMENT_STARTS);
        }
        rest = &rest[1..];
    }
}

/// Something that was opened and not closed yet.
struct Level<'a> {
    name: &'a [u8],
    /// The nearest element at this level or above.
    element: Option<u32>,
    wrapper: bool,
}

/// Where a part of a tag ended.
enum Step {
    To(usize),
    /// Another tag begins here, inside this one.
    NextTag(usize),
    Cut,
}

/// What reading came to.
enum Flow {
    On,
    /// The bytes ended, inside of markup when there is an offset.
    End(Option<usize>),
    /// No more elements may be added.
    Full,
}

struct Markup<'a, 'r, 'l> {
    bytes: &'a [u8],
    at: usize,
    arena: &'r mut Arena<'l>,
    open: Vec<Level<'a>>,
    /// Levels below the deepest one allowed.
    levels_over: usize,
}

pub(super) fn read(bytes: &[u8], start: usize, arena: &mut Arena<'_>) {
    let mut markup = Markup { bytes, at: start, arena, open: Vec::new(), levels_over: 0 };
    let ended = loop {
        // What follows a complete tree is either another one or a message of the tool that made it.
        if markup.open.is_empty() && !markup.seek_tree() {
            break Flow::End(None);
        }
        match markup.step() {
            Flow::On => {}
            ended => break ended,
        }
    };
    if let Flow::End(cut_at) = ended
        && (cut_at.is_some() || !markup.open.is_empty())
    {
        markup.arena.truncated(cut_at.unwrap_or(bytes.len()));
    }
    while !markup.open.is_empty() {
        markup.close_innermost();
    }
}

impl<'a> Markup<'a, '_, '_> {
    fn rest(&self) -> &'a [u8] {
        self.bytes.get(self.at..).unwrap_or_default()
    }

    fn seek_tree(&mut self) -> bool {
        while let Some(distance) = memchr(b'<', self.rest()) {
            self.at += distance;
            if starts_with_any(self.rest(), &DOCUMENT_STARTS) {
                return true;
            }
            self.at += 1;
        }
        false
    }

    fn step(&mut self) -> Flow {
        let Some(distance) = memchr(b'<', self.rest()) else { return Flow::End(None) };
        let offset = self.at + distance;
        let skipped = match self.bytes.get(offset + 1) {
            None => false,
            Some(b'/') => return self.end_tag(offset),
            Some(b'?') => self.skip_past(offset, b"?>"),
            Some(b'!') => self.skip_declaration(offset),
            Some(&byte) if byte.is_ascii_alphabetic() || byte == b'_' || byte >= 0x80 => {
                return self.tag(offset);
            }
            Some(_) => {
                self.at = offset + 1;
                self.broken(offset, "'<' that begins no tag");
                true
            }
        };
        if skipped { Flow::On } else { Flow::End(Some(offset)) }
    }

    fn broken(&mut self, offset: usize, what: &'static str) {
        self.arena.defect(DefectKind::BadMarkup, offset, what);
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
        let found = memmem::find(&self.bytes[offset..], end);
        self.at = found.map_or(self.bytes.len(), |distance| offset + distance + end.len());
        found.is_some()
    }

    fn end_tag(&mut self, offset: usize) -> Flow {
        let start = offset + 2;
        let end = self.name_end(start);
        let after = self.skip_space(end);
        self.at = after;
        match self.bytes.get(after) {
            None => return Flow::End(Some(offset)),
            Some(b'>') => self.at += 1,
            Some(_) => self.broken(offset, "end tag without '>'"),
        }
        self.close(&self.bytes[start..end], offset);
        Flow::On
    }

    fn close(&mut self, name: &[u8], offset: usize) {
        if self.levels_over > 0 {
            self.levels_over -= 1;
            return;
        }
        let mut levels = self.open.iter().rev().take(MISSING_ENDS_MAX);
        let Some(missing) = levels.position(|level| level.name == name) else {
            return self.broken(offset, "end tag that closes nothing");
        };
        if missing > 0 {
            self.broken(offset, "end tags are missing before this one");
        }
        for _ in 0..=missing {
            self.close_innermost();
        }
    }

    fn close_innermost(&mut self) {
        if let Some(Level { element: Some(index), wrapper: false, .. }) = self.open.pop() {
            self.arena.close(index);
        }
    }

    fn tag(&mut self, offset: usize) -> Flow {
        let name_end = self.name_end(offset + 1);
        let name = &self.bytes[offset + 1..name_end];
        let mut said = Said { offset, class: Text::Markup(name), ..Said::default() };
        let mut at = name_end;
        loop {
            at = self.skip_space(at);
            match self.bytes.get(at..).unwrap_or_default() {
                [] | [b'/'] => return Flow::End(Some(offset)),
                [b'>', ..] => {
                    self.at = at + 1;
                    return self.add(name, &said, false);
                }
                [b'/', b'>', ..] => {
                    self.at = at + 2;
                    return self.add(name, &said, true);
                }
                [b'<', ..] => return self.broken_tag(offset, at),
                _ => match self.attribute(at, &mut said) {
                    Step::To(next) => at = next,
                    Step::NextTag(next) => return self.broken_tag(offset, next),
                    Step::Cut => return Flow::End(Some(offset)),
                },
            }
        }
    }

    fn broken_tag(&mut self, offset: usize, next: usize) -> Flow {
        self.at = next;
        self.broken(offset, "tag without an end");
        Flow::On
    }

    fn add(&mut self, name: &'a [u8], said: &Said<'a>, self_closing: bool) -> Flow {
        let above = self.open.last().and_then(|level| level.element);
        let wrapper = name == WRAPPER;
        let too_deep = self.levels_over > 0
            || self.open.len() > self.arena.limits.depth_max
            || (!wrapper && self.arena.is_too_deep(above, said.offset));
        if too_deep {
            self.arena.left_out_below(said.offset);
            self.levels_over += usize::from(!self_closing);
            return Flow::On;
        }
        let element = if wrapper {
            above
        } else {
            let Some(index) = self.arena.open(above, said.offset) else { return Flow::Full };
            self.arena.fill(index, said);
            Some(index)
        };
        if !self_closing {
            self.open.push(Level { name, element, wrapper });
        }
        Flow::On
    }

    fn attribute(&self, start: usize, said: &mut Said<'a>) -> Step {
        let name_end = self.name_end(start);
        if name_end == start {
            said.note("stray character in a tag");
            return Step::To(start + 1);
        }
        let name = &self.bytes[start..name_end];
        let equals = self.skip_space(name_end);
        match self.bytes.get(equals) {
            None => return Step::Cut,
            Some(b'=') => {}
            Some(_) => {
                said.note("attribute without a value");
                return Step::To(equals);
            }
        }
        let open = self.skip_space(equals + 1);
        match self.bytes.get(open) {
            None => Step::Cut,
            Some(&quote @ (b'"' | b'\'')) => match self.value_end(open + 1, quote) {
                Step::To(end) => {
                    said.set_attribute(name, &self.bytes[open + 1..end]);
                    Step::To(end + 1)
                }
                other => other,
            },
            Some(_) => {
                said.note("value without quotes");
                let end = self.unquoted_end(open);
                said.set_attribute(name, &self.bytes[open..end]);
                Step::To(end)
            }
        }
    }

    fn value_end(&self, start: usize, quote: u8) -> Step {
        let mut at = start;
        loop {
            let rest = self.bytes.get(at..).unwrap_or_default();
            let Some(found) = memchr2(quote, b'<', rest) else { return Step::Cut };
            if rest[found] == quote {
                return Step::To(at + found);
            }
            let tag = &rest[found..];
            if starts_with_any(tag, &DOCUMENT_STARTS) || starts_with_any(tag, &END_STARTS) {
                return Step::NextTag(at + found);
            }
            at += found + 1;
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

fn starts_with_any(bytes: &[u8], starts: &[&[u8]]) -> bool {
    starts.iter().any(|start| bytes.starts_with(start))
}

const fn is_space(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | b'\n' | b'\r')
}

/// Names are half of all bytes, so this is a table.
const ENDS_NAME: [bool; 256] = {
    let mut table = [false; 256];
    let mut byte: u8 = 0;
    while byte < 128 {
        table[byte as usize] = is_space(byte) || matches!(byte, b'=' | b'>' | b'/' | b'<' | b'"' | b'\'');
        byte += 1;
    }
    table
};

impl<'a> Said<'a> {
    fn set_attribute(&mut self, name: &[u8], raw: &'a [u8]) {
        match name {
            b"name" => self.name = Text::Markup(raw),
            b"label" => self.label = Text::Markup(raw),
            b"value" => self.value = Text::Markup(raw),
            b"placeholderValue" => self.placeholder = Text::Markup(raw),
            b"bundleId" => self.bundle_id = Text::Markup(raw),
            b"traits" => self.traits = Some(traits(raw)),
            b"enabled" => self.enabled = self.flag_attribute(raw),
            b"visible" => self.displayed = self.flag_attribute(raw),
            b"focused" => self.focused = self.flag_attribute(raw),
            b"x" => self.frame.x = self.number_attribute(raw),
            b"y" => self.frame.y = self.number_attribute(raw),
            b"width" => self.frame.width = self.number_attribute(raw),
            b"height" => self.frame.height = self.number_attribute(raw),
            b"minValue" => self.min = number(raw),
            b"maxValue" => self.max = number(raw),
            _ => {}
        }
    }

    fn flag_attribute(&mut self, raw: &[u8]) -> Option<bool> {
        match raw {
            b"true" | b"1" => Some(true),
            b"false" | b"0" => Some(false),
            b"" => None,
            _ => {
                self.note("neither true nor false");
                None
            }
        }
    }

    fn number_attribute(&mut self, raw: &[u8]) -> Option<f64> {
        let number = number(raw);
        if number.is_none() {
            self.note("not a number");
        }
        number
    }
}

fn traits(raw: &[u8]) -> IosTraits {
    let names = raw.split(|&byte| byte == b',').map(|name| IosTraits::named(name.trim_ascii()));
    names.fold(IosTraits::default(), IosTraits::with)
}
