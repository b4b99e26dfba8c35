//! Elements out of JSON, one after the other as they come.

use super::role::IosTraits;
use mdm_core::screen::snapshot::DefectKind;

use super::arena::Arena;
use super::json::{self, Json, Value};
use super::raw_node::{Dialect, Frame, RawNode, number};
use super::text::Text;

/// What is open around the place that is read.
enum Open<'a> {
    /// The document that idb puts around its elements.
    Envelope,
    List {
        parent: Option<u32>,
    },
    Element {
        index: u32,
        said: Box<RawNode<'a>>,
    },
}

/// Whether reading goes on.
enum Step {
    On,
    /// The bytes ended.
    Cut,
    /// A limit was reached, or all is read.
    Stop,
}

pub(super) struct Document<'a, 'r, 'l> {
    json: Json<'a>,
    dialect: Dialect,
    arena: &'r mut Arena<'l>,
    open: Vec<Open<'a>>,
}

impl<'a, 'r, 'l> Document<'a, 'r, 'l> {
    pub fn new(bytes: &'a [u8], start: usize, dialect: Dialect, arena: &'r mut Arena<'l>) -> Self {
        Document { json: Json::new(bytes, start), dialect, arena, open: Vec::new() }
    }

    /// With an envelope, the value that is read is the document around the elements.
    pub fn read(mut self, envelope: bool) {
        let mut step = if envelope {
            self.json.at += 1;
            self.open.push(Open::Envelope);
            Step::On
        } else {
            self.begin(None)
        };
        while let Step::On = step {
            step = self.step();
        }
        if let Step::Cut = step {
            self.arena.truncated(self.json.at);
        }
        while let Some(open) = self.open.pop() {
            let Open::Element { index, mut said } = open else { continue };
            said.cut = true;
            if said.is_nothing() {
                self.arena.forget_last(index);
            }
            self.arena.fill(index, &said);
            self.arena.close(index);
        }
    }

    fn step(&mut self) -> Step {
        let Some(open) = self.open.last() else { return Step::Stop };
        let parent = match *open {
            Open::List { parent } => Some(parent),
            Open::Envelope | Open::Element { .. } => None,
        };
        let Some(byte) = self.json.peek() else { return Step::Cut };
        match (byte, parent) {
            (b',', _) => self.json.at += 1,
            (b']', Some(_)) | (b'}', None) => {
                self.json.at += 1;
                self.close();
            }
            (b'}', Some(_)) | (b']', None) => {
                self.broken("a closing bracket is missing before this one");
                self.close();
            }
            (b'{' | b'[', Some(parent)) => return self.begin(parent),
            (b'"', None) => return self.member(),
            _ => return self.junk(),
        }
        Step::On
    }

    /// A list of elements, or an element.
    fn begin(&mut self, parent: Option<u32>) -> Step {
        let offset = self.json.at;
        let is_list = self.json.peek() == Some(b'[');
        // A level of elements is a list and an element.
        if self.open.len() > self.arena.limits.depth_max.saturating_mul(2) {
            self.arena.left_out_below(offset);
            return self.pass_over();
        }
        if is_list {
            self.json.at += 1;
            self.open.push(Open::List { parent });
            return Step::On;
        }
        if self.arena.is_too_deep(parent, offset) {
            return self.pass_over();
        }
        let Some(index) = self.arena.open(parent, offset) else { return Step::Stop };
        self.json.at += 1;
        let said = RawNode { dialect: self.dialect, offset, ..RawNode::default() };
        self.open.push(Open::Element { index, said: Box::new(said) });
        Step::On
    }

    fn pass_over(&mut self) -> Step {
        if self.json.value().is_some() { Step::On } else { Step::Cut }
    }

    fn close(&mut self) {
        if let Some(Open::Element { index, said }) = self.open.pop() {
            self.arena.fill(index, &said);
            self.arena.close(index);
        }
    }

    /// Something that is neither an element in a list nor a member of one.
    fn junk(&mut self) -> Step {
        self.broken("neither an element nor a member of one");
        if self.json.value().is_none() {
            if self.json.at == self.json.bytes.len() {
                return Step::Cut;
            }
            self.json.at += 1;
        }
        Step::On
    }

    fn broken(&mut self, what: &'static str) {
        self.arena.defect(DefectKind::BadMarkup, self.json.at, what);
    }

    fn member(&mut self) -> Step {
        let Some(key) = self.json.string() else { return Step::Cut };
        if !self.json.take(b':') {
            return self.no_value();
        }
        let first = self.json.peek();
        match self.open.last() {
            Some(Open::Element { index, .. }) if key == b"children" && begins_elements(first) => {
                return self.begin(Some(*index));
            }
            Some(Open::Envelope) if key == b"elements" && begins_elements(first) => return self.begin(None),
            _ => {}
        }
        let Some(value) = self.json.value() else { return self.no_value() };
        match self.open.last_mut() {
            Some(Open::Element { said, .. }) => said.set(key, value),
            Some(Open::Envelope) => self.set_envelope(key, value),
            Some(Open::List { .. }) | None => {}
        }
        Step::On
    }

    fn no_value(&mut self) -> Step {
        if self.json.peek().is_none() {
            return Step::Cut;
        }
        self.broken("a key without a value");
        // A second colon is the one thing that would stay in the way.
        self.json.take(b':');
        Step::On
    }

    fn set_envelope(&mut self, key: &[u8], value: Value<'a>) {
        match (key, value) {
            (b"screen", Value::Object(screen)) => {
                let frame = frame(screen);
                self.arena.set_size(frame.width.unwrap_or_default(), frame.height.unwrap_or_default());
            }
            (b"truncated", Value::Bare(b"true")) => {
                let detail = "idb read only part of the screen: its own bounds were reached";
                self.arena.defect(DefectKind::LimitReached, self.json.at, detail);
            }
            _ => {}
        }
    }
}

fn begins_elements(first: Option<u8>) -> bool {
    matches!(first, Some(b'[' | b'{'))
}

impl<'a> RawNode<'a> {
    fn set(&mut self, key: &[u8], value: Value<'a>) {
        match key {
            b"type" => self.class = text(value),
            b"role" => self.role = text(value),
            b"rawIdentifier" | b"AXUniqueId" | b"identifier" => self.identifier = Some(text(value)),
            b"name" => self.name = text(value),
            b"label" | b"AXLabel" => self.label = text(value),
            b"title" => self.title = text(value),
            b"value" | b"AXValue" => self.value = text(value),
            b"placeholderValue" | b"placeholder" => self.placeholder = text(value),
            b"bundleId" | b"bundle_id" => self.bundle_id = text(value),
            b"isEnabled" | b"enabled" => self.enabled = self.flag(value),
            b"isVisible" | b"visible" => self.displayed = self.flag(value),
            b"hidden" => self.displayed = self.flag(value).map(|hidden| !hidden),
            b"isFocused" | b"focused" => self.focused = self.flag(value),
            b"expanded" => self.expanded = self.flag(value),
            b"minValue" => self.min = number_of(value),
            b"maxValue" => self.max = number_of(value),
            b"traits" => self.traits = traits(value),
            b"subrole" => self.subrole = IosTraits::named(text(value).raw()),
            b"rect" | b"frame" | b"AXFrame" => self.set_frame(value),
            _ => {}
        }
    }

    fn flag(&mut self, value: Value<'a>) -> Option<bool> {
        match value {
            Value::Bare(b"true" | b"1") | Value::Text(b"1" | b"true") => Some(true),
            Value::Bare(b"false" | b"0") | Value::Text(b"0" | b"false") => Some(false),
            Value::Bare(b"null") | Value::Text(b"") => None,
            _ => {
                self.note("neither true nor false");
                None
            }
        }
    }

    fn set_frame(&mut self, value: Value<'a>) {
        match value {
            Value::Object(object) => self.frame = frame(object),
            Value::Text(raw) => self.frame_text = Text::Json(raw),
            Value::Bare(b"null") => {}
            Value::Bare(_) | Value::Array(_) => self.note("a frame that is no rectangle"),
        }
    }
}

fn text(value: Value<'_>) -> Text<'_> {
    match value {
        Value::Text(raw) => Text::Json(raw),
        Value::Bare(b"null") => Text::Nothing,
        Value::Bare(raw) | Value::Object(raw) | Value::Array(raw) => Text::Plain(raw),
    }
}

fn number_of(value: Value<'_>) -> Option<f64> {
    number(text(value).raw())
}

fn frame(object: &[u8]) -> Frame {
    let mut frame = Frame::default();
    for (key, value) in json::members(object) {
        match key {
            b"x" => frame.x = number_of(value),
            b"y" => frame.y = number_of(value),
            b"width" => frame.width = number_of(value),
            b"height" => frame.height = number_of(value),
            _ => {}
        }
    }
    frame
}

/// idb writes a list, WDA one text with commas.
fn traits(value: Value<'_>) -> Option<IosTraits> {
    let add = |all: IosTraits, name: &[u8]| all.with(IosTraits::named(name.trim_ascii()));
    match value {
        Value::Array(array) => {
            Some(json::items(array).map(|item| text(item).raw()).fold(IosTraits::default(), add))
        }
        Value::Text(names) => Some(names.split(|&byte| byte == b',').fold(IosTraits::default(), add)),
        Value::Bare(_) | Value::Object(_) => None,
    }
}
