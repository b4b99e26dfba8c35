//! The nodes of a dump, which is how helpers see the screen.

use quick_xml::Reader;
use quick_xml::events::{BytesStart, Event};

use crate::app::geometry::Rect;
use crate::phone::Phone;

/// Nodes of one tree; the rest is left out.
const NODES_MAX: usize = 20_000;
/// The depth of a tree; deeper nodes become children of this level.
const DEPTH_MAX: usize = 256;

#[derive(Debug, Clone, Default)]
pub struct Node {
    attributes: Vec<(String, String)>,
    pub bounds: Rect,
    pub parent: Option<usize>,
    pub children: Vec<usize>,
}

impl Node {
    /// Returns a node without bounds and relations.
    pub fn new(attributes: &[(&str, &str)]) -> Node {
        let owned = |(name, value): &(&str, &str)| ((*name).to_owned(), (*value).to_owned());
        Node { attributes: attributes.iter().map(owned).collect(), ..Node::default() }
    }

    pub fn get(&self, name: &str) -> &str {
        self.attributes.iter().find(|(key, _)| key == name).map_or("", |(_, value)| value)
    }

    pub fn is(&self, name: &str) -> bool {
        self.get(name) == "true"
    }

    pub fn centre(&self) -> (i32, i32) {
        let b = &self.bounds;
        (b.left + b.width() / 2, b.top + b.height() / 2)
    }
}

/// Nodes in the order of the document; the first is the root.
#[derive(Debug, Clone, Default)]
pub struct Tree {
    pub nodes: Vec<Node>,
    pub rotation: u32,
}

impl Tree {
    /// Returns the tree of the screen now.
    pub fn of(phone: &Phone) -> Tree {
        Tree::read(&xml(phone))
    }

    /// Parses a tree; one that breaks off is read as far as it goes.
    pub fn read(xml: &str) -> Tree {
        let mut tree = Tree::default();
        let mut open: Vec<usize> = Vec::new();
        let mut reader = Reader::from_str(xml);
        loop {
            let parent = open.get(..open.len().min(DEPTH_MAX)).and_then(|o| o.last().copied());
            match reader.read_event() {
                Ok(Event::Start(element)) => {
                    let index = tree.add(&element, parent);
                    open.extend(index);
                }
                Ok(Event::Empty(element)) => {
                    tree.add(&element, parent);
                }
                Ok(Event::End(_)) => {
                    open.pop();
                }
                Ok(Event::Eof) | Err(_) => return tree,
                Ok(_) => {}
            }
            if tree.nodes.len() >= NODES_MAX {
                return tree;
            }
        }
    }

    fn add(&mut self, element: &BytesStart<'_>, parent: Option<usize>) -> Option<usize> {
        let attributes = attributes(element);
        if element.name().as_ref() == "hierarchy" {
            let rotation = attributes.iter().find(|(key, _)| key == "rotation");
            self.rotation = rotation.and_then(|(_, value)| value.parse().ok()).unwrap_or(0);
            return None;
        }
        let index = self.nodes.len();
        let mut node = Node { attributes, parent, ..Node::default() };
        node.bounds = bounds(node.get("bounds"));
        self.nodes.push(node);
        if let Some(parent) = parent.and_then(|at| self.nodes.get_mut(at)) {
            parent.children.push(index);
        }
        Some(index)
    }

    pub fn children(&self, node: usize) -> &[usize] {
        self.nodes.get(node).map_or(&[], |n| &n.children)
    }
}

/// Returns for each node of the dump, in its order, whether it can scroll forward and back. Empty when the surface
/// cannot say, or the tree is not the surface's.
pub fn scrolls(phone: &Phone) -> Vec<(bool, bool)> {
    phone.with(|state| match state.fixed_tree {
        Some(_) => Vec::new(),
        None => state.surface.scroll_directions(&state.screen()),
    })
}

/// Returns the dump of the screen now.
pub fn xml(phone: &Phone) -> String {
    let bytes = phone.with(|state| state.hierarchy());
    String::from_utf8_lossy(&bytes).into_owned()
}

fn attributes(element: &BytesStart<'_>) -> Vec<(String, String)> {
    let decode =
        |text: &str| quick_xml::escape::unescape(text).map_or_else(|_| text.to_owned(), |t| t.into_owned());
    let mut pairs = element.attributes();
    let pairs = pairs.with_checks(false).filter_map(Result::ok);
    pairs.map(|a| (decode(a.key.as_ref()), decode(&a.value))).collect()
}

/// Parses `[left,top][right,bottom]`.
fn bounds(text: &str) -> Rect {
    let mut edges = text.split(['[', ']', ',']).filter_map(|edge| edge.parse::<i32>().ok());
    let mut next = || edges.next().unwrap_or(0);
    Rect::new(next(), next(), next(), next())
}
