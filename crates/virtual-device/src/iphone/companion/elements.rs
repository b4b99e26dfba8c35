//! The tree as the simulator's accessibility tells it: what VoiceOver stops at, and little around it.

use super::roles::{self, AxRole};
use crate::iphone::element::{ElementValue, Frame, UiElement};

/// idb's own limits of a tree.
const DEPTH_MAX: usize = 50;
const NODES_MAX: usize = 3000;

#[derive(Debug)]
pub struct AxNode<'a> {
    pub element: &'a UiElement,
    pub role: AxRole,
    /// The label; of an element without one, what it contains.
    pub label: String,
    pub children: Vec<AxNode<'a>>,
}

/// An application with its elements.
#[derive(Debug)]
pub struct AxTree<'a> {
    pub root: AxNode<'a>,
    /// The alert or sheet that hides everything behind it.
    pub modal: Option<&'a UiElement>,
    pub truncated: bool,
}

impl<'a> AxTree<'a> {
    pub fn new(application: &'a UiElement) -> AxTree<'a> {
        let mut modal = None;
        application.walk(&mut |element| {
            if matches!(element.kind, "Alert" | "Sheet") {
                modal = Some(element);
            }
        });
        let mut root = AxNode::new(application);
        let mut builder = Builder { nodes: 1, truncated: false };
        builder.children(application, 1, &mut root.children);
        AxTree { root, modal, truncated: builder.truncated }
    }

    /// The application and nothing in it.
    pub fn only_application(application: &'a UiElement) -> AxTree<'a> {
        AxTree { root: AxNode::new(application), modal: None, truncated: false }
    }

    /// Leaves only what can be operated, as idb's filter does; the application stays.
    pub fn keep_interactable(&mut self) {
        self.root.children = interactable(std::mem::take(&mut self.root.children));
    }
}

fn interactable(nodes: Vec<AxNode<'_>>) -> Vec<AxNode<'_>> {
    let mut kept = Vec::new();
    for mut node in nodes {
        let inside = interactable(std::mem::take(&mut node.children));
        if node.role.is_interactable() {
            node.children = inside;
            kept.push(node);
        } else {
            kept.extend(inside);
        }
    }
    kept
}

struct Builder {
    nodes: usize,
    truncated: bool,
}

impl Builder {
    fn children<'a>(&mut self, of: &'a UiElement, depth: usize, into: &mut Vec<AxNode<'a>>) {
        for child in &of.children {
            self.visit(child, depth, into);
        }
    }

    /// An element hides what is inside it, except controls; a container that is no element does not appear itself.
    fn visit<'a>(&mut self, element: &'a UiElement, depth: usize, into: &mut Vec<AxNode<'a>>) {
        if !element.accessible && !roles::is_group(element.kind) && element.kind != "WebView" {
            return self.children(element, depth, into);
        }
        if self.nodes >= NODES_MAX || depth >= DEPTH_MAX {
            self.truncated = true;
            return;
        }
        self.nodes += 1;
        let mut node = AxNode::new(element);
        // A web page is drawn by another process, which this reader does not ask.
        if element.kind == "WebView" {
            into.push(node);
            return;
        }
        if element.accessible {
            let mut inside = Vec::new();
            self.children(element, depth + 1, &mut inside);
            node.children = interactable(inside);
        } else {
            self.children(element, depth + 1, &mut node.children);
        }
        into.push(node);
    }
}

impl<'a> AxNode<'a> {
    fn new(element: &'a UiElement) -> AxNode<'a> {
        let label = if element.label.is_empty() && element.kind != "Application" && element.accessible {
            contained_texts(element)
        } else {
            element.label.clone()
        };
        AxNode { element, role: roles::role(element), label, children: Vec::new() }
    }

    pub fn frame(&self) -> Frame {
        self.element.frame
    }

    /// What `AXValue` says, as text.
    pub fn value(&self) -> Option<String> {
        match self.element.value.as_ref()? {
            // An empty field of UIKit has its placeholder as value.
            ElementValue::Text(text) if text.is_empty() => {
                Some(self.element.placeholder.clone()).filter(|text| !text.is_empty())
            }
            ElementValue::Text(text) if self.element.kind == "SecureTextField" => {
                Some("•".repeat(text.chars().count()))
            }
            ElementValue::Text(text) => Some(text.clone()),
            ElementValue::On(on) => Some(u8::from(*on).to_string()),
            ElementValue::Fraction(at) => Some(format!("{:.0}%", at * 100.0)),
        }
    }

    pub fn walk<'b>(&'b self, visit: &mut dyn FnMut(&'b AxNode<'a>)) {
        visit(self);
        for child in &self.children {
            child.walk(visit);
        }
    }
}

/// A cell without a label of its own is read as the texts in it.
fn contained_texts(element: &UiElement) -> String {
    let mut texts = Vec::new();
    for child in &element.children {
        child.walk(&mut |inner| {
            if !inner.label.is_empty() {
                texts.push(inner.label.as_str());
            }
        });
    }
    texts.join(", ")
}
