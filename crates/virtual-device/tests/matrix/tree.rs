//! The nodes of a dump, read without the product's parser.

use std::fmt::Write as _;

use quick_xml::Reader;
use quick_xml::events::{BytesStart, Event};

/// What is compared of a node, besides its children and that it can be seen.
pub const FIELDS: [&str; 16] = [
    "class",
    "resource-id",
    "text",
    "content-desc",
    "checkable",
    "checked",
    "clickable",
    "enabled",
    "focusable",
    "focused",
    "scrollable",
    "long-clickable",
    "password",
    "selected",
    "index",
    "NAF",
];

#[derive(Debug, Clone, Default)]
pub struct Node {
    /// In the order of [`FIELDS`]; empty for an attribute that is false or not there.
    pub values: Vec<String>,
    pub bounds: (i32, i32, i32, i32),
    pub children: Vec<Node>,
}

impl Node {
    pub fn value(&self, field: &str) -> &str {
        let at = FIELDS.iter().position(|name| *name == field).expect("a field");
        self.values.get(at).map_or("", String::as_str)
    }

    pub fn set(&mut self, field: &str, value: &str) {
        let at = FIELDS.iter().position(|name| *name == field).expect("a field");
        self.values[at] = value.to_owned();
    }

    pub fn count(&self) -> usize {
        1 + self.children.iter().map(Node::count).sum::<usize>()
    }

    pub fn is_seen(&self) -> bool {
        self.bounds.2 > self.bounds.0 && self.bounds.3 > self.bounds.1
    }

    pub fn centre(&self) -> (i32, i32) {
        ((self.bounds.0 + self.bounds.2) / 2, (self.bounds.1 + self.bounds.3) / 2)
    }

    pub fn find_all<'a>(&'a self, id: &str, found: &mut Vec<&'a Node>) {
        if self.value("resource-id") == id {
            found.push(self);
        }
        self.children.iter().for_each(|child| child.find_all(id, found));
    }

    /// Writes what is compared, a node in each line: what is false or empty is left out, and of the bounds only says
    /// whether there are any.
    pub fn write(&self, depth: usize, out: &mut String) {
        out.push_str(&"  ".repeat(depth));
        out.push_str("<node");
        for (name, value) in FIELDS.iter().zip(&self.values).filter(|(_, value)| !value.is_empty()) {
            let value = quick_xml::escape::escape(value.as_str()).replace('\n', "&#10;");
            let _ = write!(out, " {name}=\"{value}\"");
        }
        let bounds = if self.is_seen() { " bounds=\"[0,0][1,1]\"" } else { "" };
        let end = if self.children.is_empty() { "/" } else { "" };
        let _ = writeln!(out, "{bounds}{end}>");
        self.children.iter().for_each(|child| child.write(depth + 1, out));
        if !self.children.is_empty() {
            out.push_str(&"  ".repeat(depth));
            out.push_str("</node>\n");
        }
    }
}

/// Returns the root of the window in a dump.
pub fn parse(document: &str) -> Option<Node> {
    let mut reader = Reader::from_str(document);
    let mut open = vec![Node::default()];
    loop {
        match reader.read_event().ok()? {
            Event::Start(tag) if tag.name().as_ref() == "node" => open.push(node(&tag)),
            Event::Empty(tag) if tag.name().as_ref() == "node" => {
                open.last_mut()?.children.push(node(&tag));
            }
            Event::End(tag) if tag.name().as_ref() == "node" => {
                let closed = open.pop()?;
                open.last_mut()?.children.push(closed);
            }
            Event::Eof => return open.pop()?.children.into_iter().next(),
            _ => {}
        }
    }
}

fn node(tag: &BytesStart<'_>) -> Node {
    let value = |name: &str| {
        let found = tag.try_get_attribute(name).ok().flatten();
        let raw = found.map(|found| found.value.into_owned()).unwrap_or_default();
        quick_xml::escape::unescape(&raw).map(std::borrow::Cow::into_owned).unwrap_or_default()
    };
    let sides: Vec<i32> =
        value("bounds").split(['[', ']', ',']).filter_map(|number| number.parse().ok()).collect();
    let bounds = match sides[..] {
        [left, top, right, bottom] => (left, top, right, bottom),
        _ => (0, 0, 0, 0),
    };
    let told = |name: &&str| if value(name) == "false" { String::new() } else { value(name) };
    Node { values: FIELDS.iter().map(told).collect(), bounds, children: Vec::new() }
}
