//! Generates random screens and random edits of them. Each element carries its true identity.

use mdm_core::screen::element::{Element, Role};
use mdm_core::screen::geometry::Rect;
use mdm_core::screen::snapshot::Snapshot;
use proptest::prelude::*;

/// The true identity of an element, stored in its package, which no comparison reads.
#[derive(Debug, PartialEq, Eq)]
pub struct TrueIdentity<'a>(&'a str);

impl TrueIdentity<'_> {
    pub fn of(element: &Element) -> TrueIdentity<'_> {
        TrueIdentity(&element.app)
    }
}

#[derive(Debug, Clone)]
pub struct Edit {
    pub before: Snapshot,
    pub after: Snapshot,
}

#[derive(Debug, Clone)]
struct Node {
    element: Element,
    children: Vec<Node>,
}

fn leaf() -> impl Strategy<Value = Element> {
    let words = prop::option::weighted(0.7, prop::sample::select(vec!["a", "b", "c", "Delete", "12:41", ""]));
    let ids = prop::option::weighted(0.3, prop::sample::select(vec!["id1", "id2", "id3", "row"]));
    let kinds = prop::sample::select(vec![
        (Role::Button, true),
        (Role::Text, false),
        (Role::TextField, true),
        (Role::Switch, true),
        (Role::Container, false),
        (Role::Container, true),
    ]);
    (words, ids, kinds, prop::option::of(any::<bool>()), 0..50).prop_map(
        |(text, id, (role, tap), checked, y)| {
            let mut element = Element {
                role,
                class: format!("{role:?}").into(),
                text: text.map(Into::into),
                stable_id: id.map(Into::into),
                bounds: Rect::new(0, y, 10, y + 10),
                ..Element::default()
            };
            element.affordances.clickable = tap;
            element.state.checked = checked;
            element
        },
    )
}

fn tree() -> impl Strategy<Value = Node> {
    let end = leaf().prop_map(|element| Node { element, children: Vec::new() });
    end.prop_recursive(4, 40, 6, |inner| {
        (leaf(), prop::collection::vec(inner, 0..6))
            .prop_map(|(element, children)| Node { element, children })
    })
}

fn flatten(node: &Node, depth: u16, out: &mut Vec<Element>) {
    out.push(Element { depth, ..node.element.clone() });
    for child in &node.children {
        flatten(child, depth + 1, out);
    }
}

fn snapshot(roots: &[Node]) -> Snapshot {
    let mut elements = Vec::new();
    for root in roots {
        flatten(root, 0, &mut elements);
    }
    mdm_core::screen::nesting::set_parents_and_ends(&mut elements);
    Snapshot { elements, ..Snapshot::default() }
}

pub fn any_screen() -> impl Strategy<Value = Snapshot> {
    prop::collection::vec(tree(), 0..3).prop_map(|roots| snapshot(&roots))
}

fn assign_identities(node: &mut Node, next: &mut u32) {
    *next += 1;
    node.element.app = next.to_string().into();
    for child in &mut node.children {
        assign_identities(child, next);
    }
}

/// Follows `path`, which chooses a child at each level.
fn find<'a>(node: &'a mut Node, path: &[prop::sample::Index]) -> &'a mut Node {
    match path.split_first() {
        Some((turn, rest)) if !node.children.is_empty() => {
            let at = turn.index(node.children.len());
            find(&mut node.children[at], rest)
        }
        _ => node,
    }
}

#[derive(Debug, Clone)]
enum Change {
    Swap,
    Reverse,
    Remove,
    Add(Node),
    /// Replaces an element by another one.
    Replace(Node),
    Move(i32),
    Words(String),
    Toggle,
}

fn changes() -> impl Strategy<Value = Change> {
    prop_oneof![
        Just(Change::Swap),
        Just(Change::Reverse),
        Just(Change::Remove),
        tree().prop_map(Change::Add),
        tree().prop_map(Change::Replace),
        (-30..30).prop_map(Change::Move),
        "[a-c]{0,2}".prop_map(Change::Words),
        Just(Change::Toggle),
    ]
}

fn change(node: &mut Node, at: &prop::sample::Index, change: Change, next: &mut u32) {
    let count = node.children.len();
    let place = if count == 0 { 0 } else { at.index(count) };
    match change {
        Change::Swap if count > 1 => node.children.swap(place, (place + 1) % count),
        Change::Reverse => node.children.reverse(),
        Change::Remove if count > 0 => drop(node.children.remove(place)),
        Change::Add(mut new) => {
            assign_identities(&mut new, next);
            node.children.insert(place, new);
        }
        Change::Replace(mut new) if count > 0 => {
            assign_identities(&mut new, next);
            node.children[place] = new;
        }
        Change::Move(by) => node.element.bounds = Rect::new(0, by, 10, by + 10),
        // A target with other words is another target.
        Change::Words(text) if !node.element.affordances.clickable => node.element.text = Some(text.into()),
        Change::Toggle => node.element.state.checked = node.element.state.checked.map(|on| !on),
        _ => {}
    }
}

pub fn edited_screen() -> impl Strategy<Value = Edit> {
    let path = || prop::collection::vec(any::<prop::sample::Index>(), 0..5);
    let edits = prop::collection::vec((path(), any::<prop::sample::Index>(), changes()), 0..6);
    (tree(), edits).prop_map(|(mut root, edits)| {
        let mut next = 0;
        assign_identities(&mut root, &mut next);
        let before = snapshot(std::slice::from_ref(&root));
        for (path, at, edit) in edits {
            change(find(&mut root, &path), &at, edit, &mut next);
        }
        Edit { before, after: snapshot(std::slice::from_ref(&root)) }
    })
}
