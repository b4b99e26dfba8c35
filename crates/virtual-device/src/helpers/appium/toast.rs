//! Toasts: they are in no dump, but the server hears of them and shows them beside the tree for a while.

use tokio::time::{Duration, Instant};

use crate::helpers::tree::{Node, Tree};
use crate::phone::Phone;

pub const CLASS: &str = "android.widget.Toast";
/// How long the server remembers one.
const REMEMBERED: Duration = Duration::from_millis(3500);

/// Returns the tree of the screen, with the last toast as a second root.
pub fn tree(phone: &Phone) -> Tree {
    let mut tree = Tree::of(phone);
    let now = Instant::now();
    let heard = phone.with(|state| {
        let mut toasts = state.surface.toasts().iter();
        let last = toasts.rfind(|toast| toast.from <= now && now < toast.from + REMEMBERED);
        last.map(|toast| (toast.text.clone(), state.front().0.to_owned()))
    });
    if let Some((text, package)) = heard.filter(|_| !tree.nodes.is_empty()) {
        let index = ("index", "1");
        let what = [index, ("package", &package), ("class", CLASS), ("text", &text), ("enabled", "false")];
        tree.nodes.push(Node::new(&what));
    }
    tree
}

/// Returns the index of the toast in such a tree.
pub fn find(tree: &Tree) -> Option<usize> {
    let last = tree.nodes.len().checked_sub(1)?;
    tree.nodes.get(last).filter(|node| node.parent.is_none() && node.get("class") == CLASS).map(|_| last)
}
