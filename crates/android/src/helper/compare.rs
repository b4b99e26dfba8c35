//! Compares the helper's tree with a dump of the same screen. A vendor's accessibility may tell a program something else
//! than `uiautomator`, and then the dump is believed.

use mdm_core::screen::element::Element;
use mdm_core::screen::geometry::{Rect, Size};
use mdm_core::screen::snapshot::Snapshot;
use mdm_wire::helper::{Node, Tree};

use super::tree;
use crate::hierarchy::rules;

/// Differences that are listed.
const DIFFERENCES_MAX: usize = 8;

/// Returns how they differ, in words without the texts of the screen. Nothing if they agree in all that both tell.
pub fn differences(tree: &Tree, dump: &Snapshot) -> Vec<String> {
    let nodes = tree::active(tree).map(|window| window.nodes.as_slice()).unwrap_or_default();
    let screen = Size { width: tree.width.into(), height: tree.height.into() }.rect();
    let mut found = Vec::new();
    if nodes.len() != dump.elements.len() {
        found.push(format!("{} elements, and {} in the dump", nodes.len(), dump.elements.len()));
    }
    for (at, (node, element)) in nodes.iter().zip(&dump.elements).enumerate() {
        let facts = differing(node, element, screen);
        if !facts.is_empty() && found.len() < DIFFERENCES_MAX {
            found.push(format!("element {at} ({:.80}): {}", &*element.class, facts.join(", ")));
        }
    }
    found
}

fn differing(node: &Node, element: &Element, screen: Rect) -> Vec<String> {
    let mut found = Vec::new();
    let texts = [
        ("class", &*node.class, Some(&*element.class)),
        ("package", &*node.package, Some(&*element.app)),
        ("id", &*node.id, element.stable_id.as_deref()),
        ("text", &*node.text, element.text.as_deref()),
        ("description", &*node.description, element.description.as_deref()),
    ];
    for (name, told, dumped) in texts {
        let (told, dumped) = (as_dumped(told), dumped.unwrap_or_default());
        if told != dumped {
            found.push(format!(
                "{name} of {} characters, {} in the dump",
                told.chars().count(),
                dumped.chars().count()
            ));
        }
    }
    let bounds = tree::clipped(tree::rect(node.bounds), screen);
    if bounds != element.bounds {
        found.push(format!("bounds {}, {} in the dump", sides(bounds), sides(element.bounds)));
    }
    let flags = tree::flags(node);
    let (told, dumped) = (rules::affordances(&flags), element.affordances);
    if told != dumped {
        found.push(format!("{told:?}, {dumped:?} in the dump"));
    }
    // What changes by itself from one moment to the next is not compared: the focus, the choice.
    let (told, dumped) = (rules::state(&flags), element.state);
    if (told.enabled, told.checked) != (dumped.enabled, dumped.checked) {
        found.push(format!("{told:?}, {dumped:?} in the dump"));
    }
    found
}

fn sides(area: Rect) -> String {
    format!("[{},{}][{},{}]", area.left, area.top, area.right, area.bottom)
}

/// A dump writes dots for what XML cannot hold.
fn as_dumped(text: &str) -> String {
    let written = |c: char| match c {
        '\t' | '\n' | '\r' => c,
        '\0'..='\u{1f}' | '\u{7f}'..='\u{84}' | '\u{86}'..='\u{9f}' | '\u{fdd0}'..='\u{fddf}' => '.',
        '\u{fffe}' | '\u{ffff}' => '.',
        c => c,
    };
    text.chars().map(written).collect()
}
