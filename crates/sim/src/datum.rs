//! What the nodes of a frame stand for. The phone says it; no answer of the product does.

use mdm_virtual_device::{Datum, Frame, ShownNode};

/// A node of a frame, and what is around it.
#[derive(Clone, Copy)]
pub struct Shown<'a> {
    pub frame: &'a Frame,
    pub at: usize,
}

impl<'a> Shown<'a> {
    pub fn node(self) -> &'a ShownNode {
        &self.frame.nodes[self.at]
    }

    /// Returns false for a mere container: nothing depends on what its id means.
    pub fn has_meaning(self) -> bool {
        let node = self.node();
        takes_taps(node) || !node.text.is_empty() || !node.description.is_empty()
    }

    /// Returns what a touch that means this node may land on: itself, or else the control around it or the controls
    /// inside it.
    pub fn touchable(self) -> Vec<Datum> {
        let mut meant: Vec<Datum> = self.node().datum.iter().cloned().collect();
        if !takes_taps(self.node()) {
            meant.extend(self.control_around());
            meant.extend(self.inside().filter(|node| takes_taps(node)).filter_map(|node| node.datum.clone()));
        }
        meant.sort();
        meant.dedup();
        meant
    }

    /// Returns the control that a touch of the node means: itself, or the nearest one around it.
    pub fn control(self) -> Option<Datum> {
        let own = self.node().datum.clone();
        if takes_taps(self.node()) { own } else { self.control_around().or(own) }
    }

    /// Returns where the control is that a touch of the node means; without one, where the node is.
    pub fn spot(self) -> (i32, i32, i32, i32) {
        let around = || self.ancestors().find(|node| takes_taps(node));
        if takes_taps(self.node()) { self.node() } else { around().unwrap_or(self.node()) }.visible
    }

    /// Returns what the nearest control around the node stands for.
    fn control_around(self) -> Option<Datum> {
        self.ancestors().find(|node| takes_taps(node)).and_then(|node| node.datum.clone())
    }

    fn ancestors(self) -> impl Iterator<Item = &'a ShownNode> {
        let mut depth = self.node().depth;
        self.frame.nodes[..self.at].iter().rev().filter(move |node| {
            let is_outer = node.depth < depth;
            depth = depth.min(node.depth);
            is_outer
        })
    }

    fn inside(self) -> impl Iterator<Item = &'a ShownNode> {
        let depth = self.node().depth;
        self.frame.nodes[self.at + 1..].iter().take_while(move |node| node.depth > depth)
    }
}

fn takes_taps(node: &ShownNode) -> bool {
    node.clickable || node.class.ends_with("SeekBar")
}

fn holds((left, top, right, bottom): (i32, i32, i32, i32), (x, y): (i32, i32)) -> bool {
    (left..right).contains(&x) && (top..bottom).contains(&y)
}

/// Returns the control that a touch at a point would have reached in this frame.
pub fn control_at(frame: &Frame, point: (i32, i32)) -> Option<&ShownNode> {
    let here = frame.nodes.iter().filter(|node| takes_taps(node) && holds(node.visible, point));
    here.max_by_key(|node| node.drawn_at)
}

/// Returns all words that a thing shows, in order.
pub fn words(frame: &Frame, thing: &str) -> Vec<String> {
    let own =
        frame.nodes.iter().filter(|node| node.datum.as_ref().is_some_and(|datum| &*datum.thing == thing));
    let words = own.flat_map(|node| [&node.text, &node.description]);
    words.filter(|text| !text.is_empty()).cloned().collect()
}
