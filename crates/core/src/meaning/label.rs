//! What an element is called, and what it holds.

mod sibling;

use std::borrow::Cow;

use crate::meaning::state;
use crate::screen::element::{Element, Role};
use crate::screen::snapshot::Snapshot;
use crate::text::quote::is_unreadable;

pub(crate) use sibling::sibling_of_value;
pub use sibling::{Beside, sibling};

/// Where a label was found, best first.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LabelSource {
    Own,
    Descendants,
    /// A text beside it.
    Sibling,
    Hint,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Label<'a> {
    pub text: Cow<'a, str>,
    pub source: LabelSource,
    /// Every text of its own descendants that stands before this index is part of the label.
    pub covers_until: u32,
    /// The element beside it whose text it is.
    pub from: Option<u32>,
}

/// What a control holds, as the platform wrote it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Value<'a> {
    Text(&'a str),
    /// A secret: only its length is told (ST-07).
    Hidden {
        chars: usize,
    },
}

/// A label joined from descendants ends after this many texts or characters; the rest stays text of its own.
const JOINED_TEXTS_MAX: usize = 6;
const JOINED_CHARS_MAX: usize = 100;

/// Its own words, else those of the descendants that belong to it alone, else those of a text beside it, else its
/// hint.
pub fn label(snapshot: &Snapshot, index: usize) -> Option<Label<'_>> {
    let element = snapshot.elements.get(index)?;
    let covers_until = index as u32 + 1;
    if let Some(own) = own_words(element) {
        return Some(Label { text: Cow::Borrowed(own), source: LabelSource::Own, covers_until, from: None });
    }
    if takes_words_from_descendants(element)
        && let Some(joined) = joined(snapshot, index)
    {
        return Some(joined);
    }
    let hint = said(element.hint.as_deref());
    // A heading above a form must not push the hint of its first field away; a name above it keeps its own line.
    if let Some(beside) = hint.is_none().then(|| sibling(snapshot, index)).flatten() {
        let text = Cow::Borrowed(beside.text);
        return Some(Label { text, source: LabelSource::Sibling, covers_until, from: Some(beside.index) });
    }
    Some(Label { text: Cow::Borrowed(hint?), source: LabelSource::Hint, covers_until, from: None })
}

/// What the element itself says it is called: its text where that is no value, else its description.
pub fn own_words(element: &Element) -> Option<&str> {
    let description = said(element.description.as_deref());
    if element.password {
        // Some apps repeat the content in the description.
        let repeated = [&element.text, &element.value].contains(&&element.description);
        return description.filter(|_| !repeated);
    }
    let text = said(element.text.as_deref()).filter(|_| !element.role.text_is_value());
    let words = text.and_then(|text| without_state(element, text)).or(description);
    // Flutter writes the value of a slider where others write its name.
    words.filter(|words| !is_only_value(element, words))
}

fn is_only_value(element: &Element, words: &str) -> bool {
    matches!(element.role, Role::Slider | Role::Progress) && crate::meaning::value::read(words).is_some()
}

/// `None` for an element that holds nothing, or that does not say.
pub fn value(element: &Element) -> Option<Value<'_>> {
    // What the platform calls the value is meant before the text is.
    let held = if element.value.is_some() { &element.value } else { &element.text };
    // An empty field reports its hint as its text.
    if let Some(text) = held.as_deref().filter(|_| *held != element.hint) {
        if element.password {
            return Some(Value::Hidden { chars: text.chars().count() });
        }
        return element.role.text_is_value().then_some(Value::Text(text));
    }
    let words = said(element.description.as_deref()).filter(|_| !element.password)?;
    is_only_value(element, words).then_some(Value::Text(words))
}

/// The descendants that no other tappable element stands between, in document order. What scrolls is a world of
/// its own and is passed over too.
pub fn belonging(snapshot: &Snapshot, index: usize) -> impl Iterator<Item = usize> + '_ {
    let end = snapshot.elements.get(index).map_or(0, |element| element.end as usize);
    let mut next = index.saturating_add(1);
    std::iter::from_fn(move || {
        while next < end {
            let current = next;
            let element = snapshot.elements.get(current)?;
            if element.is_tappable() || element.affordances.scrollable || element.role == Role::WebView {
                next = (element.end as usize).max(current + 1);
            } else {
                next = current + 1;
                return Some(current);
            }
        }
        None
    })
}

fn takes_words_from_descendants(element: &Element) -> bool {
    (element.is_tappable() || element.affordances.checkable)
        && !matches!(element.role, Role::List | Role::WebView)
}

fn joined(snapshot: &Snapshot, index: usize) -> Option<Label<'_>> {
    let mut text = Cow::Borrowed("");
    let mut last = "";
    let mut covers_until = index as u32 + 1;
    let mut parts = 0;
    let mut chars = 0;
    for inner in belonging(snapshot, index) {
        let Some(words) = own_words(&snapshot.elements[inner]) else { continue };
        let repeated = words == last;
        let full = parts == JOINED_TEXTS_MAX || chars + words.chars().count() > JOINED_CHARS_MAX;
        if full && parts > 0 && !repeated {
            break;
        }
        covers_until = inner as u32 + 1;
        if repeated {
            continue;
        }
        if parts == 0 {
            text = Cow::Borrowed(words);
        } else {
            let joined = text.to_mut();
            joined.push_str(", ");
            joined.push_str(words);
        }
        last = words;
        chars += words.chars().count();
        parts += 1;
    }
    (parts > 0).then_some(Label { text, source: LabelSource::Descendants, covers_until, from: None })
}

/// Icon fonts and invisible characters are no words.
fn said(text: Option<&str>) -> Option<&str> {
    let readable = |character: char| !character.is_whitespace() && !is_unreadable(character);
    text.map(str::trim).filter(|text| text.chars().any(readable))
}

/// Switches write their state as their text, or behind their name.
fn without_state<'a>(element: &Element, text: &'a str) -> Option<&'a str> {
    if element.role != Role::Switch || element.state.checked.is_none() {
        return Some(text);
    }
    if state::on_off(text).is_some() {
        return None;
    }
    let name = text.rsplit_once(' ').filter(|(_, last)| *last == "ON" || *last == "OFF");
    Some(name.map_or(text, |(name, _)| name.trim_end()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::screen::element::{Affordances, State};

    fn node(parent: Option<u32>, end: u32, text: &str) -> Element {
        let text = (!text.is_empty()).then(|| text.into());
        Element { parent, end, text, role: Role::Text, ..Element::default() }
    }

    fn clickable(element: Element) -> Element {
        let affordances = Affordances { clickable: true, ..Affordances::default() };
        Element { affordances, role: Role::Button, ..element }
    }

    fn labels(elements: Vec<Element>) -> Vec<Option<String>> {
        let snapshot = Snapshot { elements, ..Snapshot::default() };
        (0..snapshot.elements.len())
            .map(|i| label(&snapshot, i).map(|label| label.text.into_owned()))
            .collect()
    }

    #[test]
    fn a_row_is_called_after_its_texts_but_not_after_its_buttons() {
        let elements = vec![
            clickable(node(None, 5, "")),
            node(Some(0), 2, "Milk"),
            node(Some(0), 3, "2 left"),
            clickable(node(Some(0), 5, "")),
            node(Some(3), 5, "Delete"),
        ];
        let expect = [Some("Milk, 2 left"), Some("Milk"), Some("2 left"), Some("Delete"), Some("Delete")];
        assert_eq!(labels(elements), expect.map(|label| label.map(String::from)));
    }

    #[test]
    fn a_long_row_leaves_the_rest_to_be_read() {
        let mut elements = vec![clickable(node(None, 9, ""))];
        elements.extend((1..9).map(|i| node(Some(0), i + 1, ["one", "two"][i as usize % 2])));
        let snapshot = Snapshot { elements, ..Snapshot::default() };
        let label = label(&snapshot, 0).unwrap();
        assert_eq!((label.text.as_ref(), label.covers_until), ("two, one, two, one, two, one", 7));
    }

    #[test]
    fn the_text_of_a_password_is_never_words() {
        // ST-07
        let secret = Element {
            password: true,
            role: Role::TextField,
            hint: Some("Password".into()),
            description: Some("hunter2".into()),
            ..node(Some(0), 2, "hunter2")
        };
        assert_eq!(value(&secret), Some(Value::Hidden { chars: 7 }));
        // Also where the platform does not call it a field.
        let plain = Element { role: Role::Text, hint: None, ..secret.clone() };
        let all = labels(vec![clickable(node(None, 3, "")), secret, Element { end: 3, ..plain }]);
        assert_eq!(all, [None, Some("Password".into()), None]);
    }

    #[test]
    fn a_field_is_called_by_description_or_hint_and_holds_its_text() {
        let field =
            Element { role: Role::TextField, hint: Some("Email".into()), ..node(None, 1, "ada@example.com") };
        assert_eq!(value(&field), Some(Value::Text("ada@example.com")));
        assert_eq!(labels(vec![field.clone()]), [Some("Email".into())]);
        let empty = Element { text: Some("Email".into()), ..field };
        assert_eq!(value(&empty), None);
    }

    #[test]
    fn an_icon_is_called_by_its_description() {
        let icon = node(None, 1, "\u{E722}");
        assert_eq!(own_words(&icon), None);
        assert_eq!(own_words(&Element { description: Some("Camera".into()), ..icon }), Some("Camera"));
    }

    #[test]
    fn a_switch_is_not_called_off() {
        let state = State { checked: Some(false), ..State::default() };
        let switch = Element { role: Role::Switch, state, ..clickable(node(None, 1, "OFF")) };
        assert_eq!(labels(vec![Element { role: Role::Switch, ..switch }]), [None]);
    }
}
