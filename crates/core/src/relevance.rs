//! Which changes of a screen count.

use xxhash_rust::xxh3::Xxh3;

use crate::element::Element;
use crate::snapshot::Snapshot;

/// Equal for two captures unless something changed that an agent has to know about (SY-03).
///
/// Left out are bounds, rotation and focus, because movement, resizing and focus alone do not count (SY-04, W13).
/// Scrollable and focusable are left out too: they flip when a keyboard opens or an animation ends.
pub fn relevant_hash(snapshot: &Snapshot) -> u64 {
    let mut digest = Digest { hasher: Xxh3::new(), pending: Vec::with_capacity(PENDING_BYTES * 2) };
    match &snapshot.screen {
        Some(screen) => {
            digest.text(Some(&screen.package));
            digest.text(Some(&screen.activity));
        }
        None => digest.text(None),
    }
    for element in &snapshot.elements {
        digest.element(element);
    }
    digest.finish()
}

/// Hashing many small pieces one by one is several times slower than hashing them together.
const PENDING_BYTES: usize = 16 << 10;

struct Digest {
    hasher: Xxh3,
    pending: Vec<u8>,
}

impl Digest {
    fn element(&mut self, element: &Element) {
        self.pending.extend_from_slice(&element.depth.to_le_bytes());
        self.pending.push(element.role as u8);
        self.flags(element);
        self.text(Some(&element.class));
        self.text(element.stable_id.as_deref());
        self.text(element.hint.as_deref());
        // A hash could be compared with the hashes of guesses, so of a secret only the length goes in (ST-07). Some
        // apps repeat it in the description.
        let repeats_secret = element.password && element.description == element.text;
        self.text(element.description.as_deref().filter(|_| !repeats_secret));
        if element.password {
            let length = element.text.as_deref().map_or(0, |text| text.chars().count());
            self.pending.extend_from_slice(&(length as u64).to_le_bytes());
        } else {
            self.text(element.text.as_deref());
        }
        if self.pending.len() >= PENDING_BYTES {
            self.flush();
        }
    }

    fn flags(&mut self, element: &Element) {
        let three = |value: Option<bool>| value.map_or(0, |value| 1 + u8::from(value));
        let state = element.state;
        let states = [state.enabled, state.checked, state.selected, state.expanded, element.displayed];
        self.pending.extend(states.map(three));
        // A collapsed element is on the screen without being seen: that is visibility, not size.
        let hidden = element.bounds.is_empty();
        let can = element.affordances;
        let bits = [can.clickable, can.long_clickable, can.checkable, element.password, hidden];
        self.pending.extend(bits.map(u8::from));
    }

    /// Lengths keep neighbouring texts apart; absent is not the same as empty.
    fn text(&mut self, text: Option<&str>) {
        let length = text.map_or(u64::MAX, |text| text.len() as u64);
        self.pending.extend_from_slice(&length.to_le_bytes());
        self.pending.extend_from_slice(text.unwrap_or_default().as_bytes());
    }

    fn flush(&mut self) {
        self.hasher.update(&self.pending);
        self.pending.clear();
    }

    fn finish(mut self) -> u64 {
        self.flush();
        self.hasher.digest()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::element::{Role, State};
    use crate::geometry::{Rect, Size};
    use crate::snapshot::Screen;

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

    fn changed(change: impl FnOnce(&mut Snapshot)) -> bool {
        let mut after = form();
        change(&mut after);
        relevant_hash(&after) != relevant_hash(&form())
    }

    #[test]
    fn what_an_agent_must_know_changes_it() {
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
        assert!(changed(|s| s.elements[3].depth = 2), "structure");
        assert!(changed(|s| s.elements[3].bounds.bottom = 1), "no longer visible");
        assert!(changed(|s| s.screen = Some(Screen::default())), "navigation");
    }

    #[test]
    fn cosmetic_changes_leave_it() {
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
            relevant_hash(&snapshot)
        };
        assert_eq!(repeated("abc"), repeated("xyz"), "a password repeated in the description");
    }

    #[test]
    fn neighbouring_texts_do_not_run_together() {
        let pair = |text: &str, description: &str| {
            let element = Element {
                text: Some(text.into()),
                description: Some(description.into()),
                ..Element::default()
            };
            relevant_hash(&Snapshot { elements: vec![element], ..Snapshot::default() })
        };
        assert_ne!(pair("ab", "c"), pair("a", "bc"));
    }
}
