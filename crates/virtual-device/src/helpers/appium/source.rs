//! The page source: the tree as XML with classes as element names.

use std::fmt::Write as _;

use super::toast;
use crate::helpers::tree::{Node, Tree};
use crate::phone::Phone;

const ATTRIBUTES: [&str; 18] = [
    "index",
    "package",
    "class",
    "text",
    "content-desc",
    "resource-id",
    "checkable",
    "checked",
    "clickable",
    "enabled",
    "focusable",
    "focused",
    "long-clickable",
    "password",
    "scrollable",
    "selected",
    "bounds",
    "hint",
];

pub fn write(phone: &Phone) -> String {
    let tree = toast::tree(phone);
    let screen = phone.with(|state| state.screen());
    let mut out = format!(
        "<?xml version='1.0' encoding='UTF-8' standalone='yes' ?>\r\n<hierarchy index=\"0\" class=\"hierarchy\" \
         rotation=\"{}\" width=\"{}\" height=\"{}\">",
        tree.rotation, screen.width, screen.height
    );
    if !tree.nodes.is_empty() {
        node(&mut out, &tree, 0);
    }
    if let Some(toast) = toast::find(&tree).filter(|at| *at > 0) {
        node(&mut out, &tree, toast);
    }
    out.push_str("</hierarchy>");
    out
}

/// Returns true if a node is visible: it has a size, or it is a toast, which has no bounds.
pub fn is_displayed(node: &Node) -> bool {
    !node.bounds.is_empty() || node.get("class") == toast::CLASS
}

/// Writes a node and its children. Recursion is safe: the depth of a tree is limited where it is read.
fn node(out: &mut String, tree: &Tree, at: usize) {
    let Some(node_here) = tree.nodes.get(at) else { return };
    let fits = |c: char| c.is_alphanumeric() || matches!(c, '.' | '_' | '-');
    let class: String = node_here.get("class").chars().filter(|c| fits(*c)).collect();
    let name =
        if class.starts_with(|c: char| c.is_alphabetic()) { class } else { "android.view.View".to_owned() };
    let _ = write!(out, "<{name}");
    for attribute in ATTRIBUTES {
        let value = node_here.get(attribute);
        if !value.is_empty() || matches!(attribute, "text" | "index") {
            let _ = write!(out, " {attribute}=\"{}\"", quick_xml::escape::escape(value));
        }
    }
    let _ = write!(out, " displayed=\"{}\"", is_displayed(node_here));
    if node_here.children.is_empty() {
        out.push_str(" />");
        return;
    }
    out.push('>');
    for child in &node_here.children {
        node(out, tree, *child);
    }
    let _ = write!(out, "</{name}>");
}
