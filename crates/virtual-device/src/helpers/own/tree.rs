//! The tree of all windows, with a number of its own, and what is remembered of the last two.

use std::collections::VecDeque;
use std::sync::Arc;

use mdm_wire::helper::{Flags, Node, Tree, Window, WindowFlags};

use crate::helpers::tree::{Node as DumpNode, Tree as Dump};
use crate::state::State;

/// Trees whose nodes can still be named.
const KEPT: usize = 2;

#[derive(Default)]
pub struct KeptTrees {
    last_serial: u32,
    trees: VecDeque<Tree>,
}

impl KeptTrees {
    /// Numbers a tree and keeps it.
    pub fn keep(&mut self, tree: &mut Tree) {
        self.last_serial = self.last_serial.wrapping_add(1).max(1);
        tree.serial = self.last_serial;
        if self.trees.len() == KEPT {
            self.trees.pop_front();
        }
        self.trees.push_back(tree.clone());
    }

    /// True if a tree of this hash is kept, so that its nodes can still be named.
    pub fn has(&self, hash: u64) -> bool {
        self.trees.iter().any(|tree| tree.hash() == hash)
    }

    /// Forgets all trees, but not how many there were.
    pub fn clear(&mut self) {
        self.trees.clear();
    }

    pub fn tree(&self, serial: u32) -> Option<&Tree> {
        self.trees.iter().find(|tree| tree.serial == serial)
    }
}

/// Nodes of all windows, in the order in which the tree has them.
pub fn all_nodes(tree: &Tree) -> impl Iterator<Item = (&Window, &Node)> {
    tree.windows.iter().flat_map(|window| window.nodes.iter().map(move |node| (window, node)))
}

/// Returns the windows of the screen now.
pub fn present(state: &State) -> Tree {
    let screen = state.screen();
    let told = match &state.fixed_tree {
        Some(_) => None,
        None => state.surface.accessible(&screen, state.config.sdk),
    };
    let mut tree = told.unwrap_or_else(|| from_dump(state));
    tree.uptime_ms = state.clock.uptime_ms(state.now);
    tree
}

/// All that a surface tells which knows only its hierarchy: one window.
fn from_dump(state: &State) -> Tree {
    let screen = state.screen();
    let dump = Dump::read(&String::from_utf8_lossy(&state.hierarchy()));
    let (package, activity) = state.front();
    let area = [0, 0, screen.width, screen.height];
    let mut nodes: Vec<Node> = dump.nodes.iter().map(node).collect();
    // A window has one root; more of them, which no phone dumps, become children of the first.
    let roots = dump.nodes.iter().filter(|node| node.parent.is_none()).count();
    if let Some(first) = nodes.first_mut() {
        first.children += roots.saturating_sub(1);
    }
    let window = Window {
        id: 10,
        kind: 1,
        flags: WindowFlags(WindowFlags::ACTIVE | WindowFlags::FOCUSED),
        bounds: area,
        nodes,
        ..Window::default()
    };
    Tree {
        width: screen.width.clamp(0, u16::MAX.into()) as u16,
        height: screen.height.clamp(0, u16::MAX.into()) as u16,
        rotation: (dump.rotation % 4) as u8,
        component: match activity.strip_prefix('.') {
            Some(short) => format!("{package}/{package}.{short}"),
            None => format!("{package}/{activity}"),
        },
        complete: true,
        windows: vec![window],
        ..Tree::default()
    }
}

fn node(told: &DumpNode) -> Node {
    let flags = [
        ("checkable", Flags::CHECKABLE),
        ("checked", Flags::CHECKED),
        ("clickable", Flags::CLICKABLE),
        ("enabled", Flags::ENABLED),
        ("focusable", Flags::FOCUSABLE),
        ("focused", Flags::FOCUSED),
        ("scrollable", Flags::SCROLLABLE),
        ("long-clickable", Flags::LONG_CLICKABLE),
        ("password", Flags::PASSWORD),
        ("selected", Flags::SELECTED),
    ];
    let bits = flags.iter().filter(|(name, _)| told.is(name)).fold(0, |bits, (_, bit)| bits | bit);
    let text = |name: &str| Arc::<str>::from(told.get(name));
    let (left, top, right, bottom) = told.bounds.sides();
    Node {
        flags: Flags(bits),
        children: told.children.len(),
        class: text("class"),
        package: text("package"),
        id: text("resource-id"),
        text: text("text"),
        description: text("content-desc"),
        bounds: [left, top, right, bottom],
        drawing_order: told.get("drawing-order").parse().unwrap_or(0),
        hint: Some(text("hint")).filter(|hint| !hint.is_empty()),
        ..Node::default()
    }
}
