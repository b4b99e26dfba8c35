//! A recorded tree, read from XML of any recorder and written in the format of `uiautomator dump`.

use std::borrow::Cow;
use std::fmt::Write as _;

use quick_xml::Reader;
use quick_xml::XmlVersion;
use quick_xml::events::{BytesStart, Event};

use crate::app::geometry::Rect;
use crate::app::xml::{HEADER, attribute};

pub const NODES_MAX: usize = 20_000;
/// Levels of nesting; writing and searching recurse over them.
pub const DEPTH_MAX: usize = 200;

/// Flags of a node in the order in which uiautomator writes them.
const FLAGS: [&str; 10] = [
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
];
/// The first Android version whose nodes have `drawing-order` and `hint`.
const SDK_WITH_HINT: u32 = 33;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Tree {
    pub rotation: u32,
    pub width: i32,
    pub height: i32,
    pub roots: Vec<Node>,
}

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Node {
    pub text: String,
    pub resource_id: String,
    pub class: String,
    pub package: String,
    pub description: String,
    pub hint: String,
    pub unfriendly: bool,
    flags: [bool; FLAGS.len()],
    pub bounds: Rect,
    pub children: Vec<Node>,
}

/// A text that is being typed into a field.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Typing<'a> {
    pub field: Rect,
    pub text: &'a str,
}

impl Node {
    pub fn is(&self, flag: &str) -> bool {
        FLAGS.iter().position(|name| *name == flag).is_some_and(|at| self.flags[at])
    }

    /// Returns the topmost node at a point, which is the last one in drawing order.
    pub fn at(&self, x: i32, y: i32) -> Option<&Node> {
        let below = self.children.iter().rev().find_map(|child| child.at(x, y));
        below.or_else(|| self.bounds.contains(x, y).then_some(self))
    }

    pub fn find(&self, wanted: &dyn Fn(&Node) -> bool) -> Option<&Node> {
        if wanted(self) { Some(self) } else { self.children.iter().find_map(|c| c.find(wanted)) }
    }

    pub fn walk<'a>(&'a self, visit: &mut dyn FnMut(&'a Node)) {
        visit(self);
        for child in &self.children {
            child.walk(visit);
        }
    }

    pub fn attribute(&self, name: &str) -> Option<Cow<'_, str>> {
        Some(match name {
            "text" => Cow::Borrowed(self.text.as_str()),
            "resource-id" => Cow::Borrowed(self.resource_id.as_str()),
            "class" => Cow::Borrowed(self.class.as_str()),
            "package" => Cow::Borrowed(self.package.as_str()),
            "content-desc" => Cow::Borrowed(self.description.as_str()),
            "hint" => Cow::Borrowed(self.hint.as_str()),
            flag => {
                let at = FLAGS.iter().position(|known| *known == flag)?;
                Cow::Owned(self.flags[at].to_string())
            }
        })
    }

    fn set(&mut self, name: &str, value: String) {
        match name {
            "text" => self.text = value,
            "resource-id" => self.resource_id = value,
            "class" => self.class = value,
            "package" => self.package = value,
            "content-desc" => self.description = value,
            "hint" => self.hint = value,
            "NAF" => self.unfriendly = value == "true",
            "bounds" => self.bounds = rect(&value).unwrap_or_default(),
            flag => {
                if let Some(at) = FLAGS.iter().position(|known| *known == flag) {
                    self.flags[at] = value == "true";
                }
            }
        }
    }
}

impl Tree {
    pub fn parse(xml: &str) -> Result<Tree, String> {
        let mut reader = Reader::from_str(xml);
        reader.config_mut().expand_empty_elements = true;
        let mut tree = Tree { rotation: 0, width: 0, height: 0, roots: Vec::new() };
        let mut open: Vec<Node> = Vec::new();
        let mut nodes = 0;
        loop {
            match reader.read_event().map_err(|error| error.to_string())? {
                Event::Start(tag) if tag.name().as_ref() == "hierarchy" => tree.describe(&tag)?,
                Event::Start(tag) => {
                    nodes += 1;
                    if nodes > NODES_MAX || open.len() >= DEPTH_MAX {
                        return Err(format!("more than {NODES_MAX} nodes or {DEPTH_MAX} levels"));
                    }
                    open.push(node(&tag)?);
                }
                Event::End(_) => {
                    if let Some(done) = open.pop() {
                        let siblings = open.last_mut().map_or(&mut tree.roots, |parent| &mut parent.children);
                        siblings.push(done);
                    }
                }
                Event::Eof => break,
                _ => {}
            }
        }
        if tree.roots.is_empty() || !open.is_empty() {
            return Err("not a whole tree".to_owned());
        }
        Ok(tree.sized())
    }

    fn describe(&mut self, tag: &BytesStart<'_>) -> Result<(), String> {
        for (name, value) in attributes(tag)? {
            match name.as_str() {
                "rotation" => self.rotation = value.parse().unwrap_or(0),
                "width" => self.width = value.parse().unwrap_or(0),
                "height" => self.height = value.parse().unwrap_or(0),
                _ => {}
            }
        }
        Ok(())
    }

    /// Takes the size of the largest window, because dumps of the real program do not contain the screen's size.
    fn sized(mut self) -> Tree {
        if self.width <= 0 || self.height <= 0 {
            self.width = self.roots.iter().map(|r| r.bounds.right).max().unwrap_or(0);
            self.height = self.roots.iter().map(|r| r.bounds.bottom).max().unwrap_or(0);
        }
        self
    }

    pub fn find(&self, wanted: &dyn Fn(&Node) -> bool) -> Option<&Node> {
        self.roots.iter().find_map(|root| root.find(wanted))
    }

    pub fn walk<'a>(&'a self, visit: &mut dyn FnMut(&'a Node)) {
        for root in &self.roots {
            root.walk(visit);
        }
    }

    pub fn at(&self, x: i32, y: i32) -> Option<&Node> {
        self.roots.iter().rev().find_map(|root| root.at(x, y))
    }

    /// Writes the format of `uiautomator dump` of that version. Nodes without a package get the app's.
    pub fn write(&self, package: &str, sdk: u32, typing: Option<Typing<'_>>) -> String {
        let mut out = String::with_capacity(16 * 1024);
        let _ = write!(out, "{HEADER}<hierarchy rotation=\"{}\">", self.rotation);
        let writer = Writer { package, sdk, typing };
        for (index, root) in self.roots.iter().enumerate() {
            writer.node(&mut out, root, index);
        }
        out.push_str("</hierarchy>");
        out
    }
}

struct Writer<'a> {
    package: &'a str,
    sdk: u32,
    typing: Option<Typing<'a>>,
}

impl Writer<'_> {
    fn node(&self, out: &mut String, node: &Node, index: usize) {
        let typing = self.typing.filter(|t| t.field == node.bounds && node.children.is_empty());
        out.push_str("<node");
        if node.unfriendly {
            out.push_str(" NAF=\"true\"");
        }
        let _ = write!(out, " index=\"{index}\"");
        attribute(out, "text", typing.map_or(&node.text, |t| t.text));
        attribute(out, "resource-id", &node.resource_id);
        attribute(out, "class", &node.class);
        let package = if node.package.is_empty() { self.package } else { &node.package };
        attribute(out, "package", package);
        attribute(out, "content-desc", &node.description);
        for (name, value) in FLAGS.iter().zip(node.flags) {
            let value = value || (*name == "focused" && typing.is_some());
            let _ = write!(out, " {name}=\"{value}\"");
        }
        let b = &node.bounds;
        let _ = write!(out, " bounds=\"[{},{}][{},{}]\"", b.left, b.top, b.right, b.bottom);
        if self.sdk >= SDK_WITH_HINT {
            let _ = write!(out, " drawing-order=\"{}\"", index + 1);
            attribute(out, "hint", &node.hint);
        }
        if node.children.is_empty() {
            out.push_str(" />");
            return;
        }
        out.push('>');
        for (index, child) in node.children.iter().enumerate() {
            self.node(out, child, index);
        }
        out.push_str("</node>");
    }
}

fn node(tag: &BytesStart<'_>) -> Result<Node, String> {
    let mut node = Node::default();
    // Page sources of other tools name an element by its class.
    if tag.name().as_ref() != "node" {
        node.class = tag.name().as_ref().to_owned();
    }
    node.set("enabled", "true".to_owned());
    for (name, value) in attributes(tag)? {
        node.set(&name, value);
    }
    Ok(node)
}

fn attributes(tag: &BytesStart<'_>) -> Result<Vec<(String, String)>, String> {
    let mut all = Vec::new();
    for found in tag.attributes() {
        let found = found.map_err(|error| error.to_string())?;
        let name = found.key.as_ref().to_owned();
        let value = found.normalized_value(XmlVersion::Implicit1_0).map_err(|error| error.to_string())?;
        all.push((name, value.into_owned()));
    }
    Ok(all)
}

/// Parses `[left,top][right,bottom]`.
fn rect(text: &str) -> Option<Rect> {
    let mut numbers = text.split(['[', ']', ',']).filter(|part| !part.is_empty()).map(str::parse::<i32>);
    let mut next = || numbers.next()?.ok();
    Some(Rect::new(next()?, next()?, next()?, next()?))
}
