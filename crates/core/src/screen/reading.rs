//! A snapshot with data computed once per capture: visible rectangles, and hashes of the relevant fields.

use xxhash_rust::xxh3::xxh3_64;

use crate::screen::element::Element;
use crate::screen::geometry::Rect;
use crate::screen::snapshot::Snapshot;
use crate::screen::visible::visible_rects;

#[derive(Debug, Clone, Default, PartialEq)]
pub struct ScreenReading {
    pub snapshot: Snapshot,
    /// One entry per element.
    pub nodes: Vec<Node>,
    /// Hash of the whole screen. Two captures differ in it if something changed that an agent must know (SY-03).
    pub relevant: u64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Node {
    pub visible: Option<Rect>,
    /// Hash of the element's own relevant fields.
    pub own_hash: u64,
    /// Hash of the relevant fields of the element and all its descendants, in order.
    pub subtree_hash: u64,
}

impl ScreenReading {
    pub fn new(snapshot: Snapshot) -> ScreenReading {
        let rects = visible_rects(&snapshot);
        let mut nodes: Vec<Node> = snapshot
            .elements
            .iter()
            .zip(rects)
            .map(|(element, visible)| {
                let own_hash = own_hash(element);
                Node { visible, own_hash, subtree_hash: own_hash }
            })
            .collect();
        let mut relevant = screen_hash(&snapshot);
        // Runs backwards, so that a child's hash is complete before it is mixed into its parent.
        for index in (0..nodes.len()).rev() {
            let subtree_hash = nodes[index].subtree_hash;
            match snapshot.elements[index].parent.filter(|parent| (*parent as usize) < index) {
                Some(parent) => {
                    let parent_hash = &mut nodes[parent as usize].subtree_hash;
                    *parent_hash = mix(*parent_hash, subtree_hash);
                }
                None => relevant = mix(relevant, subtree_hash),
            }
        }
        ScreenReading { snapshot, nodes, relevant }
    }

    pub fn element(&self, index: u32) -> &Element {
        &self.snapshot.elements[index as usize]
    }

    /// Returns the indexes of the element and all its descendants.
    pub fn range(&self, index: u32) -> std::ops::Range<u32> {
        index..self.element(index).end.max(index + 1).min(self.nodes.len() as u32)
    }
}

fn screen_hash(snapshot: &Snapshot) -> u64 {
    let Some(screen) = &snapshot.screen else { return 1 };
    mix(xxh3_64(screen.app.as_bytes()), xxh3_64(screen.name.as_deref().unwrap_or_default().as_bytes()))
}

/// Combines two hashes. Order matters, and neither zero nor a repeated value cancels out.
pub(crate) fn mix(seed: u64, value: u64) -> u64 {
    let wide = u128::from(seed ^ 0x9E37_79B9_7F4A_7C15) * u128::from(value ^ 0xD6E8_FEB8_6659_FD93);
    (wide as u64 ^ (wide >> 64) as u64).wrapping_add(seed.rotate_left(5))
}

/// Hashes an element without its bounds and focus: movement, resizing and focus alone are cosmetic (SY-04, W13).
/// Scrollable and focusable are left out too, because they flip when a keyboard opens or an animation ends.
fn own_hash(element: &Element) -> u64 {
    let mut hash = mix(flags(element), xxh3_64(element.class.as_bytes()));
    if let Some(id) = &element.stable_id {
        hash = mix(hash, xxh3_64(id.as_bytes()));
    }
    mix(hash, texts_hash(element))
}

/// The part of [`own_hash`] that stays the same when only texts change.
pub(crate) fn hash_without_texts(element: &Element) -> u64 {
    let id = element.stable_id.as_deref().unwrap_or_default();
    mix(mix(flags(element), xxh3_64(element.class.as_bytes())), xxh3_64(id.as_bytes()))
}

fn texts_hash(element: &Element) -> u64 {
    let mut hash = 0;
    let mut add = |field: u64, text: &Option<Box<str>>| {
        if let Some(text) = text {
            hash = mix(hash, xxh3_64(text.as_bytes()) ^ field);
        }
    };
    add(1, &element.hint);
    if let Some(details) = &element.details {
        add(5, &details.state_description);
        add(6, &details.error);
        add(7, &details.pane_title);
    }
    if !element.password {
        add(2, &element.description);
        add(3, &element.text);
        add(4, &element.value);
        return hash;
    }
    // Only a secret's length is hashed (ST-07): a hash of its text could be compared with hashes of guesses. Some apps
    // repeat the secret in the description, and iOS in the value.
    if element.description != element.text {
        add(2, &element.description);
    }
    let length = element.text.as_deref().or(element.value.as_deref()).map_or(0, |text| text.chars().count());
    mix(hash, length as u64)
}

fn flags(element: &Element) -> u64 {
    let two_bits = |value: Option<bool>| value.map_or(0, |value| 1 + u64::from(value));
    let state = element.state;
    let can = element.affordances;
    // Empty bounds count as a visibility change, not as a change of size.
    let bits = [can.clickable, can.long_clickable, can.checkable, can.adjustable, element.password]
        .into_iter()
        .chain([element.bounds.is_empty()]);
    let states = [state.enabled, state.checked, state.selected, state.expanded, element.displayed];
    let mut packed = element.role as u64;
    for value in states.map(two_bits).into_iter().chain(bits.map(u64::from)) {
        packed = packed << 2 | value;
    }
    // An absent text differs from an empty one.
    let texts = [&element.stable_id, &element.hint, &element.description, &element.text, &element.value];
    texts.iter().fold(packed, |packed, text| packed << 1 | u64::from(text.is_some()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::screen::element::{Role, State};
    use crate::screen::geometry::{Rect, Size};
    use crate::screen::snapshot::Screen;

    fn form() -> Snapshot {
        let root =
            Element { end: 4, class: "Layout".into(), bounds: Rect::new(0, 0, 9, 9), ..Element::default() };
        let field = Element {
            parent: Some(0),
            end: 2,
            depth: 1,
            role: Role::TextField,
            class: "EditText".into(),
            stable_id: Some("email".into()),
            text: Some("ada".into()),
            bounds: Rect::new(1, 1, 5, 5),
            state: State { enabled: Some(true), focused: Some(true), ..State::default() },
            ..Element::default()
        };
        let secret = Element { end: 3, password: true, text: Some("abc".into()), ..field.clone() };
        let toggle = Element {
            end: 4,
            role: Role::Switch,
            class: "Switch".into(),
            text: None,
            description: Some("Remember".into()),
            state: State { checked: Some(false), selected: Some(false), ..field.state },
            ..field.clone()
        };
        Snapshot { elements: vec![root, field, secret, toggle], ..Snapshot::default() }
    }

    fn relevant(snapshot: &Snapshot) -> u64 {
        ScreenReading::new(snapshot.clone()).relevant
    }

    fn changed(change: impl FnOnce(&mut Snapshot)) -> bool {
        let mut after = form();
        change(&mut after);
        relevant(&after) != relevant(&form())
    }

    #[test]
    fn relevant_changes_change_the_hash() {
        // SY-03
        assert!(changed(|s| s.elements[1].text = Some("adb".into())), "text");
        assert!(changed(|s| s.elements[1].text = None), "text removed");
        assert!(changed(|s| s.elements[3].description = Some("Forget".into())), "description");
        assert!(changed(|s| s.elements[1].stable_id = Some("name".into())), "id");
        assert!(changed(|s| s.elements[1].state.enabled = Some(false)), "enabled");
        assert!(changed(|s| s.elements[3].state.checked = Some(true)), "checked");
        assert!(changed(|s| s.elements[3].state.checked = None), "absent is not false (ST-01)");
        assert!(changed(|s| s.elements[3].state.selected = Some(true)), "selected");
        assert!(changed(|s| s.elements[2].text = Some("abcd".into())), "length of a password");
        assert!(changed(|s| drop(s.elements.pop())), "removed");
        assert!(changed(|s| s.elements.swap(1, 3)), "order");
        assert!(changed(|s| s.elements[3].value = Some("1".into())), "value");
        let deeper = |s: &mut Snapshot| {
            s.elements[2].end = 4;
            s.elements[3].parent = Some(2);
        };
        assert!(changed(deeper), "structure");
        assert!(changed(|s| s.elements[3].bounds.bottom = 1), "no longer visible");
        assert!(changed(|s| s.screen = Some(Screen::default())), "navigation");
    }

    #[test]
    fn cosmetic_changes_keep_the_hash() {
        // SY-04, W13
        assert!(!changed(|s| s.elements[1].state.focused = Some(false)), "focus");
        assert!(!changed(|s| s.elements[1].bounds = Rect::new(1, 2, 5, 6)), "moved by a pixel");
        assert!(!changed(|s| s.elements[3].bounds = Rect::new(0, 0, 8, 9)), "resized");
        assert!(!changed(|s| s.elements[0].affordances.scrollable = true), "scrollable");
        assert!(!changed(|s| s.rotation = 1), "rotation");
        assert!(!changed(|s| s.size = Size { width: 1, height: 1 }), "screen size");
        // ST-07
        assert!(!changed(|s| s.elements[2].text = Some("xyz".into())), "a password's characters");
        let repeated = |secret: &str| {
            let mut snapshot = form();
            snapshot.elements[2].text = Some(secret.into());
            snapshot.elements[2].description = Some(secret.into());
            relevant(&snapshot)
        };
        assert_eq!(repeated("abc"), repeated("xyz"), "a password repeated in the description");
    }

    #[test]
    fn text_moved_between_fields_changes_the_hash() {
        let pair = |text: &str, description: &str| {
            let element = Element {
                text: Some(text.into()),
                description: Some(description.into()),
                ..Element::default()
            };
            relevant(&Snapshot { elements: vec![element], ..Snapshot::default() })
        };
        assert_ne!(pair("ab", "c"), pair("a", "bc"));
    }
}
