//! Reads elements from untrusted XML.

use memchr::memchr;

use super::role::IosTraits;
use mdm_core::screen::snapshot::DefectKind;
use mdm_wire::markup::{Attributes, Dialect, Event, Scanner};

use super::arena::Arena;
use super::raw_node::{RawNode, number};
use super::text::Text;

/// Levels that one end tag may close, if end tags before it are missing.
const MISSING_ENDS_MAX: usize = 16;

/// A tag that holds elements but is not an element.
const WRAPPER: &[u8] = b"AppiumAUT";
const ELEMENT: &[u8] = b"XCUIElementType";

/// Tags that begin a tree.
pub(super) const DOCUMENT_STARTS: [&[u8]; 2] = [b"<AppiumAUT", b"<XCUIElementType"];

const DIALECT: Dialect = Dialect {
    begins_document,
    tag_starts: &[b"<AppiumAUT", b"</AppiumAUT", b"<XCUIElementType", b"</XCUIElementType"],
};

fn begins_document(name: &[u8]) -> bool {
    name == WRAPPER || name.starts_with(ELEMENT)
}

/// True if the first tag begins a tree.
pub(super) fn begins_tree(bytes: &[u8]) -> bool {
    let mut rest = bytes;
    loop {
        let Some(tag) = memchr(b'<', rest) else { return false };
        rest = &rest[tag..];
        if !rest.starts_with(b"<?") && !rest.starts_with(b"<!") {
            return DOCUMENT_STARTS.iter().any(|start| rest.starts_with(start));
        }
        rest = &rest[1..];
    }
}

/// A tag that was opened and not closed yet.
struct Level<'a> {
    name: &'a [u8],
    /// The nearest element at this level or above.
    element: Option<u32>,
    wrapper: bool,
}

struct Markup<'a, 'r, 'l> {
    arena: &'r mut Arena<'l>,
    open: Vec<Level<'a>>,
    /// Open levels below the deepest one allowed.
    levels_over: usize,
}

pub(super) fn read(bytes: &[u8], start: usize, arena: &mut Arena<'_>) {
    let mut scanner = Scanner::new(bytes, start, DIALECT);
    let mut markup = Markup { arena, open: Vec::new(), levels_over: 0 };
    let cut_at = markup.read(&mut scanner, bytes.len());
    if let Some(offset) = cut_at {
        markup.arena.truncated(offset);
    }
    while !markup.open.is_empty() {
        markup.close_innermost();
    }
}

impl<'a> Markup<'a, '_, '_> {
    /// Returns the offset at which the tree was cut off, if it was.
    fn read(&mut self, scanner: &mut Scanner<'a>, bytes_len: usize) -> Option<usize> {
        loop {
            // After a complete tree comes either another one or a message of the tool that wrote it.
            if self.open.is_empty() && self.levels_over == 0 && !scanner.seek_document() {
                return None;
            }
            match scanner.next_event::<RawNode<'a>>() {
                Event::Open { name, offset, tag, self_closing } => {
                    let node = RawNode { offset, class: Text::Markup(name), ..tag };
                    if !self.add(name, &node, self_closing) {
                        return None;
                    }
                }
                Event::Close { name, offset } => self.close(name, offset),
                Event::Broken { offset, what } => self.broken(offset, what),
                Event::Cut { offset } => return Some(offset),
                Event::End => return (!self.open.is_empty()).then_some(bytes_len),
            }
        }
    }

    fn broken(&mut self, offset: usize, what: &'static str) {
        self.arena.defect(DefectKind::BadMarkup, offset, what);
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

    /// Adds an element or wrapper. Returns false if the element limit is reached.
    fn add(&mut self, name: &'a [u8], node: &RawNode<'a>, self_closing: bool) -> bool {
        let above = self.open.last().and_then(|level| level.element);
        let wrapper = name == WRAPPER;
        let too_deep = self.levels_over > 0
            || self.open.len() > self.arena.limits.depth_max
            || (!wrapper && self.arena.is_too_deep(above, node.offset));
        if too_deep {
            self.arena.report_depth(node.offset);
            self.levels_over += usize::from(!self_closing);
            return true;
        }
        let element = if wrapper {
            above
        } else {
            let Some(index) = self.arena.open(above, node.offset) else { return false };
            self.arena.fill(index, node);
            Some(index)
        };
        if !self_closing {
            self.open.push(Level { name, element, wrapper });
        }
        true
    }
}

impl<'a> Attributes<'a> for RawNode<'a> {
    fn note(&mut self, fault: &'static str) {
        RawNode::note(self, fault);
    }

    fn set(&mut self, name: &[u8], raw: &'a [u8]) {
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
}

impl RawNode<'_> {
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
    let names = raw.split(|&byte| byte == b',').map(|name| IosTraits::from_name(name.trim_ascii()));
    names.fold(IosTraits::default(), IosTraits::with)
}
