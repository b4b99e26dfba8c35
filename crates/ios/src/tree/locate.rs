//! Which format these bytes are in, and where in them the tree begins.

use memchr::{memchr, memmem};

use super::json::{self, Json};
use super::text::{Faults, Text};
use super::{Format, markup};

/// Tools may say something before the tree; it is not looked for behind more than this.
const NOISE_BYTES_MAX: usize = 64 << 10;

/// More places behind the noise than this are not tried: each try may read all that follows.
const TRIES_MAX: usize = 16;

/// Sources may write the children of an element before what tells whose words these are. So many first children are
/// looked into; each look may read all that follows.
const DESCENTS_MAX: usize = 8;

/// How many answers may be wrapped around each other.
const ENVELOPES_MAX: usize = 2;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Located {
    pub format: Format,
    pub start: usize,
    /// The tree is written in a JSON string, whose opening quote stands at `start`.
    pub quoted: bool,
}

pub(super) fn locate(bytes: &[u8]) -> Option<Located> {
    let mut json = Json::new(bytes, usize::from(bytes.starts_with(b"\xEF\xBB\xBF")) * 3);
    if let Some(found) = json.peek().and_then(|_| at(bytes, json.at)) {
        return Some(found);
    }
    // Behind a message of the tool that made the answer.
    let noise = &bytes[..bytes.len().min(NOISE_BYTES_MAX)];
    let mut line = json.at;
    let mut tries = 0;
    while let Some(end) = memchr(b'\n', noise.get(line..).unwrap_or_default()) {
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
    let tag = markup::DOCUMENT_STARTS.iter().filter_map(|start| memmem::find(noise, start)).min()?;
    Some(Located { format: Format::WdaXml, start: tag, quoted: false })
}

fn at(bytes: &[u8], start: usize) -> Option<Located> {
    match bytes.get(start)? {
        b'{' => object(bytes, start),
        _ => tree(bytes, start).map(|format| Located { format, start, quoted: false }),
    }
}

/// A tree without an answer around it.
fn tree(bytes: &[u8], start: usize) -> Option<Format> {
    match bytes.get(start)? {
        b'<' => markup::begins_tree(&bytes[start..]).then_some(Format::WdaXml),
        b'[' => list(bytes, start),
        b'{' => Keys::deep(bytes, start, &mut |_, _| Look::On).format(),
        _ => None,
    }
}

/// idb's lists: the first element tells whether they are flat.
fn list(bytes: &[u8], start: usize) -> Option<Format> {
    let mut json = Json::new(bytes, start + 1);
    match json.peek()? {
        b']' => Some(Format::IdbLegacy),
        b'{' => {
            let keys = Keys::deep(bytes, json.at, &mut |_, _| Look::On);
            keys.format().map(|_| keys.idb_format())
        }
        _ => None,
    }
}

/// One element, a document of idb, or an answer with a tree in it.
fn object(bytes: &[u8], start: usize) -> Option<Located> {
    let mut start = start;
    for _ in 0..=ENVELOPES_MAX {
        let mut value_at = None;
        let keys = Keys::deep(bytes, start, &mut |key, value| {
            if key != b"value" || !begins_document(bytes, value) {
                return Look::On;
            }
            value_at = Some(value);
            Look::Enough
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

/// Whether the value of an answer may itself be a tree.
fn begins_document(bytes: &[u8], value: usize) -> bool {
    match bytes.get(value) {
        Some(b'{' | b'[') => true,
        Some(b'"') => quoted(bytes, value).is_some(),
        _ => false,
    }
}

/// Enough of the text to know what it is: it is read as a whole only once.
fn quoted(bytes: &[u8], start: usize) -> Option<Located> {
    /// Enough for the first elements with their keys.
    const HEAD_BYTES: usize = 4 << 10;
    let (raw, _) = json::string_at(&bytes[..bytes.len().min(start + HEAD_BYTES)], start);
    let head = Text::Json(raw).read(usize::MAX, &mut Faults::default())?;
    let text = head.trim_ascii_start().as_bytes();
    // A field may well hold an empty list.
    let format = tree(text, 0).filter(|_| !text.starts_with(b"[]"))?;
    Some(Located { format, start, quoted: true })
}

enum Look {
    On,
    Enough,
}

/// What the keys of an object say about who wrote it.
#[derive(Default)]
struct Keys {
    /// Words that only one of them uses.
    wda: bool,
    idb: bool,
    complete: bool,
    /// Words of documents that also list elements, but not those of iOS: our own among them.
    foreign: bool,
    elements: bool,
    typed: bool,
    named: bool,
    /// Words that both use, and others too.
    common: bool,
    children: bool,
    first_child: Option<usize>,
}

impl Keys {
    /// Of the object at `start`, and where that says too little, of its first child.
    fn deep(bytes: &[u8], start: usize, visit: &mut impl FnMut(&[u8], usize) -> Look) -> Keys {
        let (mut keys, mut enough) = Keys::default().read(Json::new(bytes, start), visit);
        for _ in 0..DESCENTS_MAX {
            let Some(child) = keys.first_child.take().filter(|_| !enough && !keys.is_known()) else { break };
            (keys, enough) = keys.read(Json::new(bytes, child), &mut |_, _| Look::On);
        }
        keys
    }

    /// `visit` is shown each key and where its value begins, before the value is stepped over.
    fn read(mut self, mut json: Json<'_>, visit: &mut impl FnMut(&[u8], usize) -> Look) -> (Keys, bool) {
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
            if matches!(visit(key, json.at), Look::Enough) || settled {
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
