//! One reading of an application's tree, with WebDriverAgent's view of each element.

use std::collections::BTreeMap;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};

use crate::iphone::element::{ElementValue, Frame, UiElement};

/// The deepest tree that accessibility hands out.
pub const DEPTH_MAX: usize = 62;

#[derive(Debug, Clone)]
pub struct Node {
    /// The element without its children.
    pub element: UiElement,
    pub parent: Option<usize>,
    pub children: Vec<usize>,
    /// Its place among its parent's children.
    pub index: usize,
    /// The same for the same element as long as it exists.
    pub uid: String,
}

/// A tree as a list, parents before children; the application is first.
#[derive(Debug, Clone)]
pub struct Snapshot {
    pub bundle_id: String,
    pub pid: u32,
    pub nodes: Vec<Node>,
}

impl Snapshot {
    /// Takes the elements down to this depth; those below it are missing, as in a real snapshot.
    pub fn new(application: UiElement, bundle_id: String, pid: u32, depth_max: usize) -> Snapshot {
        let mut snapshot = Snapshot { bundle_id, pid, nodes: Vec::new() };
        let mut seen = BTreeMap::new();
        snapshot.add(application, None, 0, depth_max, &mut seen);
        snapshot
    }

    fn add(
        &mut self,
        mut element: UiElement,
        parent: Option<usize>,
        index: usize,
        depth_left: usize,
        seen: &mut BTreeMap<u64, u32>,
    ) -> usize {
        let children = std::mem::take(&mut element.children);
        let uid = uid(self.pid, &element, seen);
        let at = self.nodes.len();
        self.nodes.push(Node { element, parent, children: Vec::new(), index, uid });
        if depth_left > 0 {
            for (index, child) in children.into_iter().enumerate() {
                let child = self.add(child, Some(at), index, depth_left - 1, seen);
                self.nodes[at].children.push(child);
            }
        }
        at
    }

    /// Leaves out everything but the application, as a reading that comes too early does.
    pub fn keep_application(&mut self) {
        self.nodes.truncate(1);
        self.nodes.iter_mut().for_each(|node| node.children.clear());
    }

    pub fn find(&self, uid: &str) -> Option<usize> {
        self.nodes.iter().position(|node| node.uid == uid)
    }

    /// Returns the element and everything in it, in the order of the tree.
    pub fn below(&self, root: usize) -> Vec<usize> {
        let mut all = vec![root];
        let mut at = 0;
        while let Some(next) = all.get(at).copied() {
            let children = self.nodes[next].children.clone();
            all.splice(at + 1..at + 1, children);
            at += 1;
        }
        all
    }

    pub fn parents(&self, of: usize) -> impl Iterator<Item = usize> + '_ {
        std::iter::successors(self.nodes[of].parent, |at| self.nodes[*at].parent)
    }

    /// True if VoiceOver would stop there and at nothing around it.
    pub fn accessible(&self, at: usize) -> bool {
        let element = &self.nodes[at].element;
        let own = match element.kind {
            "TextField" | "SecureTextField" => true,
            "Cell" if !element.accessible => {
                let first = self.nodes[at].children.first();
                first.is_some_and(|child| self.nodes[*child].element.accessible)
            }
            _ => element.accessible,
        };
        let kept = |at: usize| self.nodes[at].element.kind == "Table" || !self.nodes[at].element.accessible;
        own && self.parents(at).all(kept)
    }

    pub fn is_container(&self, at: usize) -> bool {
        self.nodes[at]
            .children
            .iter()
            .any(|child| self.nodes[*child].element.accessible || self.is_container(*child))
    }
}

/// Makes an id as WebDriverAgent does, of the process and of accessibility's own number for the element.
fn uid(pid: u32, element: &UiElement, seen: &mut BTreeMap<u64, u32>) -> String {
    let mut hasher = DefaultHasher::new();
    (element.kind, &element.identifier, &element.datum).hash(&mut hasher);
    if element.datum.is_none() {
        element.label.hash(&mut hasher);
    }
    let count = seen.entry(hasher.finish()).or_insert(0);
    *count += 1;
    count.hash(&mut hasher);
    let number = hasher.finish().to_be_bytes();
    let word = |at: usize| u16::from_be_bytes([number[at], number[at + 1]]);
    format!("{:04X}{:04X}-0000-0000-{:04X}-{:08X}{:04X}", word(0), word(2), word(4), pid, word(6))
}

/// Attributes as WebDriverAgent words them.
impl Node {
    pub fn wd_type(&self) -> String {
        format!("XCUIElementType{}", self.element.kind)
    }

    /// The identifier, or else the label.
    pub fn name(&self) -> Option<&str> {
        let element = &self.element;
        let name = if element.identifier.is_empty() { &element.label } else { &element.identifier };
        Some(name.as_str()).filter(|name| !name.is_empty())
    }

    /// Text fields have a label even when it is empty.
    pub fn label(&self) -> Option<&str> {
        let always = matches!(self.element.kind, "TextField" | "SecureTextField");
        Some(self.element.label.as_str()).filter(|label| always || !label.is_empty())
    }

    pub fn value(&self) -> Option<String> {
        let element = &self.element;
        let own = match &element.value {
            Some(ElementValue::Text(text)) => text.clone(),
            Some(ElementValue::On(on)) => u8::from(*on).to_string(),
            Some(ElementValue::Fraction(at)) => format!("{:.0}%", at * 100.0),
            None => String::new(),
        };
        let instead = match element.kind {
            "StaticText" => element.label.clone(),
            "Button" if element.selected => "1".to_owned(),
            _ if self.takes_text() => element.placeholder.clone(),
            _ => String::new(),
        };
        Some(if own.is_empty() { instead } else { own }).filter(|value| !value.is_empty())
    }

    pub fn takes_text(&self) -> bool {
        matches!(self.element.kind, "TextField" | "SecureTextField" | "SearchField" | "TextView")
    }

    /// The whole numbers around the frame.
    pub fn rect(&self) -> Frame {
        let Frame { x, y, width, height } = self.element.frame;
        let (left, top) = (x.floor(), y.floor());
        Frame { x: left, y: top, width: (x + width).ceil() - left, height: (y + height).ceil() - top }
    }

    pub fn traits(&self) -> String {
        self.element.traits.join(", ")
    }

    /// The point where a tap on the element lands.
    pub fn hit_point(&self) -> (f64, f64) {
        let Frame { x, y, width, height } = self.element.frame;
        (x + width / 2.0, y + height / 2.0)
    }
}
