//! Detects the format of the bytes, and where the tree begins.

use memchr::{memchr, memmem};

use super::json::{self, Json};
use super::text::{Faults, Text};
use super::{Format, markup};

/// Bytes of messages before the tree; tools may print some.
const PREAMBLE_BYTES_MAX: usize = 64 << 10;

/// Positions after the messages that are tried; each try may read all following bytes.
const TRIES_MAX: usize = 16;

/// First children that are searched, because a source may write an element's children before the keys that identify the
/// format. Each may read all following bytes.
const DESCENTS_MAX: usize = 8;

/// Responses that may be nested in each other.
const ENVELOPES_MAX: usize = 2;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Located {
    pub format: Format,
    pub start: usize,
    /// True if the tree is inside a JSON string, whose opening quote is at `start`.
    pub quoted: bool,
}

pub(super) fn locate(bytes: &[u8]) -> Option<Located> {
    let mut json = Json::new(bytes, usize::from(bytes.starts_with(b"\xEF\xBB\xBF")) * 3);
    if let Some(found) = json.peek().and_then(|_| at(bytes, json.at)) {
        return Some(found);
    }
    // Otherwise the tree follows messages of the tool that wrote it.
    let preamble = &bytes[..bytes.len().min(PREAMBLE_BYTES_MAX)];
    let mut line = json.at;
    let mut tries = 0;
    while let Some(end) = memchr(b'\n', preamble.get(line..).unwrap_or_default()) {
        line += end + 1;
        if !matches!(bytes.get(line), Some(b'{' | b'[')) {
            continue;
        }
        if let Some(found) = at(bytes, line) {
            return Some(found);
        }
        tries += 1;
        if tries == TRIES_MAX {
            break;
        }
    }
    let tag = markup::DOCUMENT_STARTS.iter().filter_map(|start| memmem::find(preamble, start)).min()?;
    Some(Located { format: Format::WdaXml, start: tag, quoted: false })
}

fn at(bytes: &[u8], start: usize) -> Option<Located> {
    match bytes.get(start)? {
        b'{' => object(bytes, start),
        _ => tree(bytes, start).map(|format| Located { format, start, quoted: false }),
    }
}

/// Detects a tree without a response around it.
fn tree(bytes: &[u8], start: usize) -> Option<Format> {
    match bytes.get(start)? {
        b'<' => markup::begins_tree(&bytes[start..]).then_some(Format::WdaXml),
        b'[' => list(bytes, start),
        b'{' => Keys::read_deep(bytes, start, &mut |_, _| Visit::Continue).format(),
        _ => None,
    }
}

/// Detects idb's lists; the first element shows if they are flat.
fn list(bytes: &[u8], start: usize) -> Option<Format> {
    let mut json = Json::new(bytes, start + 1);
    match json.peek()? {
        b']' => Some(Format::IdbLegacy),
        b'{' => {
            let keys = Keys::read_deep(bytes, json.at, &mut |_, _| Visit::Continue);
            keys.format().map(|_| keys.idb_format())
        }
        _ => None,
    }
}

/// Detects one element, a document of idb, or a response with a tree in it.
fn object(bytes: &[u8], start: usize) -> Option<Located> {
    let mut start = start;
    for _ in 0..=ENVELOPES_MAX {
        let mut value_at = None;
        let keys = Keys::read_deep(bytes, start, &mut |key, value| {
            if key != b"value" || !begins_document(bytes, value) {
                return Visit::Continue;
            }
            value_at = Some(value);
            Visit::Stop
        });
        let Some(value) = value_at else {
            return keys.format().map(|format| Located { format, start, quoted: false });
        };
        match bytes.get(value)? {
            b'{' => start = value,
            b'"' => return quoted(bytes, value),
            _ => return at(bytes, value),
        }
    }
    None
}

/// True if the value of a response may be a tree.
fn begins_document(bytes: &[u8], value: usize) -> bool {
    match bytes.get(value) {
        Some(b'{' | b'[') => true,
        Some(b'"') => quoted(bytes, value).is_some(),
        _ => false,
    }
}

/// Detects a tree inside a JSON string from its first bytes, so that the whole is read only once.
fn quoted(bytes: &[u8], start: usize) -> Option<Located> {
    /// Covers the first elements with their keys.
    const HEAD_BYTES: usize = 4 << 10;
    let (raw, _) = json::string_at(&bytes[..bytes.len().min(start + HEAD_BYTES)], start);
    let head = Text::Json(raw).read(usize::MAX, &mut Faults::default())?;
    let text = head.trim_ascii_start().as_bytes();
    // An empty list is more likely the value of a field.
    let format = tree(text, 0).filter(|_| !text.starts_with(b"[]"))?;
    Some(Located { format, start, quoted: true })
}

/// The visitor's answer after each key.
enum Visit {
    Continue,
    Stop,
}

/// The keys found in an object, which tell the tool that wrote it.
#[derive(Default)]
struct Keys {
    /// A key that only WDA uses.
    wda: bool,
    /// A key that only idb uses.
    idb: bool,
    /// A key of idb's document around the elements.
    complete: bool,
    /// A key of other documents with elements, such as our own.
    foreign: bool,
    elements: bool,
    typed: bool,
    named: bool,
    /// A key that both tools use, and others too.
    common: bool,
    children: bool,
    first_child: Option<usize>,
}

impl Keys {
    /// Reads the keys of the object at `start`, and those of its first children until the tool is known.
    fn read_deep(bytes: &[u8], start: usize, visit: &mut impl FnMut(&[u8], usize) -> Visit) -> Keys {
        let (mut keys, mut enough) = Keys::default().read(Json::new(bytes, start), visit);
        for _ in 0..DESCENTS_MAX {
            let Some(child) = keys.first_child.take().filter(|_| !enough && !keys.is_known()) else { break };
            (keys, enough) = keys.read(Json::new(bytes, child), &mut |_, _| Visit::Continue);
        }
        keys
    }

    /// Reads the keys of one object. `visit` gets each key and the offset of its value, before the value is skipped.
    fn read(mut self, mut json: Json<'_>, visit: &mut impl FnMut(&[u8], usize) -> Visit) -> (Keys, bool) {
        json.take(b'{');
        loop {
            while json.take(b',') {}
            if json.peek() != Some(b'"') {
                return (self, false);
            }
            let Some(key) = json.string() else { return (self, false) };
            let has_value = json.take(b':') && json.peek().is_some();
            self.add(key, &json);
            if !has_value {
                return (self, false);
            }
            let settled = self.wda || self.complete || (self.idb && self.children);
            if matches!(visit(key, json.at), Visit::Stop) || settled {
                return (self, true);
            }
            if json.value().is_none() {
                return (self, false);
            }
        }
    }

    fn add(&mut self, key: &[u8], json: &Json<'_>) {
        match key {
            b"rawIdentifier" | b"isEnabled" | b"isVisible" | b"isAccessible" | b"isFocused" | b"rect"
            | b"nativeFrame" | b"placeholderValue" => self.wda = true,
            b"backend" | b"automation" | b"interaction" | b"truncated" | b"modal" => self.complete = true,
            b"platform" | b"resolution" => self.foreign = true,
            b"role" | b"role_description" | b"subrole" | b"custom_actions" | b"content_required"
            | b"identifier" => self.idb = true,
            b"type" => self.typed = true,
            b"name" => self.named = true,
            b"label" | b"value" | b"title" | b"frame" | b"enabled" | b"traits" => self.common = true,
            b"children" | b"elements" => {
                *(if key == b"children" { &mut self.children } else { &mut self.elements }) = true;
                let mut inside = Json::new(json.bytes, json.at);
                inside.take(b'[');
                self.first_child = (inside.peek() == Some(b'{')).then_some(inside.at);
            }
            _ => self.idb |= key.starts_with(b"AX"),
        }
    }

    fn is_known(&self) -> bool {
        self.wda || self.idb || self.complete
    }

    fn format(&self) -> Option<Format> {
        let plain_wda = self.typed && self.named && !self.idb;
        let known_elements = self.elements && (self.idb || self.typed || self.common);
        match () {
            () if self.foreign => None,
            () if self.complete || known_elements => Some(Format::IdbComplete),
            () if self.wda || plain_wda => Some(Format::WdaJson),
            () if self.idb || (self.typed && (self.common || self.children)) => Some(self.idb_format()),
            () => None,
        }
    }

    fn idb_format(&self) -> Format {
        if self.children { Format::IdbNested } else { Format::IdbLegacy }
    }
}
