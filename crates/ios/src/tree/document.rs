//! Reads elements from JSON, in one pass.

use super::role::IosTraits;
use mdm_core::screen::snapshot::DefectKind;

use super::arena::Arena;
use super::json::{self, Json, Value};
use super::raw_node::{Dialect, Frame, RawNode, number};
use super::text::Text;

/// A JSON value that was opened and not closed yet.
enum Open<'a> {
    /// idb's document around the elements.
    Envelope,
    List {
        parent: Option<u32>,
    },
    Element {
        index: u32,
        node: Box<RawNode<'a>>,
    },
}

/// The result of reading one step.
enum Step {
    Continue,
    /// The bytes ended early.
    Cut,
    /// A limit was reached, or everything is read.
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

    /// Reads the whole value. With `envelope`, it is the document around the elements.
    pub fn read(mut self, envelope: bool) {
        let mut step = if envelope {
            self.json.at += 1;
            self.open.push(Open::Envelope);
            Step::Continue
        } else {
            self.begin(None)
        };
        while let Step::Continue = step {
            step = self.step();
        }
        if let Step::Cut = step {
            self.arena.truncated(self.json.at);
        }
        while let Some(open) = self.open.pop() {
            let Open::Element { index, mut node } = open else { continue };
            node.cut = true;
            if node.is_empty() {
                self.arena.remove_if_last(index);
            }
            self.arena.fill(index, &node);
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
            _ => return self.skip_unexpected(),
        }
        Step::Continue
    }

    /// Opens a list of elements, or an element.
    fn begin(&mut self, parent: Option<u32>) -> Step {
        let offset = self.json.at;
        let is_list = self.json.peek() == Some(b'[');
        // One level of the tree is a list and an element.
        if self.open.len() > self.arena.limits.depth_max.saturating_mul(2) {
            self.arena.report_depth(offset);
            return self.skip_value();
        }
        if is_list {
            self.json.at += 1;
            self.open.push(Open::List { parent });
            return Step::Continue;
        }
        if self.arena.is_too_deep(parent, offset) {
            return self.skip_value();
        }
        let Some(index) = self.arena.open(parent, offset) else { return Step::Stop };
        self.json.at += 1;
        let node = RawNode { dialect: self.dialect, offset, ..RawNode::default() };
        self.open.push(Open::Element { index, node: Box::new(node) });
        Step::Continue
    }

    fn skip_value(&mut self) -> Step {
        if self.json.value().is_some() { Step::Continue } else { Step::Cut }
    }

    fn close(&mut self) {
        if let Some(Open::Element { index, node }) = self.open.pop() {
            self.arena.fill(index, &node);
            self.arena.close(index);
        }
    }

    /// Reports and skips a byte or value that is neither an element nor a member of one.
    fn skip_unexpected(&mut self) -> Step {
        self.broken("neither an element nor a member of one");
        if self.json.value().is_none() {
            if self.json.at == self.json.bytes.len() {
                return Step::Cut;
            }
            self.json.at += 1;
        }
        Step::Continue
    }

    fn broken(&mut self, what: &'static str) {
        self.arena.defect(DefectKind::BadMarkup, self.json.at, what);
    }

    fn member(&mut self) -> Step {
        let Some(key) = self.json.string() else { return Step::Cut };
        if !self.json.take(b':') {
            return self.missing_value();
        }
        let first = self.json.peek();
        match self.open.last() {
            Some(Open::Element { index, .. }) if key == b"children" && begins_elements(first) => {
                return self.begin(Some(*index));
            }
            Some(Open::Envelope) if key == b"elements" && begins_elements(first) => return self.begin(None),
            _ => {}
        }
        let Some(value) = self.json.value() else { return self.missing_value() };
        match self.open.last_mut() {
            Some(Open::Element { node, .. }) => node.set(key, value),
            Some(Open::Envelope) => self.set_envelope(key, value),
            Some(Open::List { .. }) | None => {}
        }
        Step::Continue
    }

    fn missing_value(&mut self) -> Step {
        if self.json.peek().is_none() {
            return Step::Cut;
        }
        self.broken("a key without a value");
        // A second colon must be skipped; other bytes are handled by the next step.
        self.json.take(b':');
        Step::Continue
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
            b"subrole" => self.subrole = IosTraits::from_name(text(value).raw()),
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
        Value::Bare(b"null") => Text::Empty,
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

/// Reads the traits: idb writes a list, WDA one text with commas.
fn traits(value: Value<'_>) -> Option<IosTraits> {
    let add = |all: IosTraits, name: &[u8]| all.with(IosTraits::from_name(name.trim_ascii()));
    match value {
        Value::Array(array) => {
            Some(json::items(array).map(|item| text(item).raw()).fold(IosTraits::default(), add))
        }
        Value::Text(names) => Some(names.split(|&byte| byte == b',').fold(IosTraits::default(), add)),
        Value::Bare(_) | Value::Object(_) => None,
    }
}
