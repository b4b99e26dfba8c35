//! The attributes that are kept of a tag in a window hierarchy.

use mdm_wire::markup::{Attributes, Dialect};

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
    /// True if the attribute is there, also an empty one.
    pub tells_hint: bool,
    pub bounds: &'a [u8],
    pub rotation: &'a [u8],
    pub drawing_order: &'a [u8],
    pub flags: Flags,
    /// The first fault found in this tag.
    pub fault: Option<&'static str>,
}

/// Attributes with the value true or false.
#[derive(Default)]
pub struct Flags {
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

/// Tag names that can begin a document.
const DOCUMENT_STARTS: [&[u8]; 4] = [b"?xml", b"hierarchy", b"displays", b"node"];

pub(super) const DIALECT: Dialect = Dialect {
    begins_document: |name| DOCUMENT_STARTS.contains(&name),
    tag_starts: &[b"<node", b"</node", b"<hierarchy", b"</hierarchy", b"<android.", b"</android."],
};

impl<'a> Attributes<'a> for Tag<'a> {
    fn note(&mut self, fault: &'static str) {
        self.fault.get_or_insert(fault);
    }

    fn set(&mut self, name: &[u8], value: &'a [u8]) {
        self.tells_hint |= name == b"hint";
        if let Some(text) = self.text_attribute(name) {
            *text = value;
        } else if let Some(flag) = self.flags.attribute(name) {
            *flag = match value {
                b"true" => Some(true),
                b"false" => Some(false),
                _ => None,
            };
            if flag.is_none() && !value.is_empty() {
                self.note("neither true nor false");
            }
        }
    }
}

impl<'a> Tag<'a> {
    /// Finds the field of an attribute by length first: comparing with every name took a third of the scan.
    fn text_attribute(&mut self, name: &[u8]) -> Option<&mut &'a [u8]> {
        match name.len() {
            4 if name == b"text" => Some(&mut self.text),
            4 if name == b"hint" => Some(&mut self.hint),
            5 if name == b"class" => Some(&mut self.class),
            6 if name == b"bounds" => Some(&mut self.bounds),
            7 if name == b"package" => Some(&mut self.package),
            8 if name == b"rotation" => Some(&mut self.rotation),
            11 if name == b"resource-id" => Some(&mut self.resource_id),
            12 if name == b"content-desc" => Some(&mut self.content_desc),
            13 if name == b"drawing-order" => Some(&mut self.drawing_order),
            _ => None,
        }
    }
}

impl Flags {
    fn attribute(&mut self, name: &[u8]) -> Option<&mut Option<bool>> {
        match name.len() {
            7 if name == b"enabled" => Some(&mut self.enabled),
            7 if name == b"focused" => Some(&mut self.focused),
            7 if name == b"checked" => Some(&mut self.checked),
            8 if name == b"selected" => Some(&mut self.selected),
            8 if name == b"password" => Some(&mut self.password),
            9 if name == b"checkable" => Some(&mut self.checkable),
            9 if name == b"clickable" => Some(&mut self.clickable),
            9 if name == b"focusable" => Some(&mut self.focusable),
            9 if name == b"displayed" => Some(&mut self.displayed),
            10 if name == b"scrollable" => Some(&mut self.scrollable),
            14 if name == b"long-clickable" => Some(&mut self.long_clickable),
            15 if name == b"visible-to-user" => Some(&mut self.displayed),
            _ => None,
        }
    }
}
