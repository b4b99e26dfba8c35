//! The label (name) and the value of an element.

mod sibling;

use std::borrow::Cow;

use crate::meaning::state;
use crate::screen::element::{Element, Role};
use crate::screen::snapshot::Snapshot;
use crate::text::quote::is_unreadable;

pub(crate) use sibling::{any_sibling, sibling};

/// The source of a label, best first.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LabelSource {
    Own,
    Descendants,
    /// A text next to the element.
    Sibling,
    Hint,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Label<'a> {
    pub text: Cow<'a, str>,
    pub source: LabelSource,
    /// The words of every own descendant before this index are part of the label.
    pub covers_until: u32,
    /// The sibling whose text it is.
    pub from: Option<u32>,
}

/// The content of a control, as the platform wrote it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Value<'a> {
    Text(&'a str),
    /// A secret, of which only the length is reported (ST-07).
    Hidden {
        chars: usize,
    },
}

/// A label joined from descendants ends after this many texts or characters; the other texts stay separate.
const JOINED_TEXTS_MAX: usize = 6;
const JOINED_CHARS_MAX: usize = 100;

/// Returns the label: the element's own words, else those of its own descendants, else a sibling text, else the hint.
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
    let hint = readable(element.hint.as_deref());
    // A hint wins over a sibling: the text above the first field may be the heading of the form.
    if let Some(sibling) = hint.is_none().then(|| sibling(snapshot, index)).flatten() {
        let text = Cow::Borrowed(sibling.text);
        return Some(Label { text, source: LabelSource::Sibling, covers_until, from: Some(sibling.index) });
    }
    Some(Label { text: Cow::Borrowed(hint?), source: LabelSource::Hint, covers_until, from: None })
}

/// Returns the element's own name: its text if that is not a value, else its description.
pub fn own_words(element: &Element) -> Option<&str> {
    let description = readable(element.description.as_deref());
    if element.password {
        // Some apps repeat the secret in the description.
        let repeated = [&element.text, &element.value].contains(&&element.description);
        return description.filter(|_| !repeated);
    }
    let text = readable(element.text.as_deref()).filter(|_| !element.role.text_is_value());
    let words = text.and_then(|text| without_state(element, text)).or(description);
    // Flutter writes a slider's value where other toolkits write its name.
    words.filter(|words| !is_only_value(element, words))
}

fn is_only_value(element: &Element, words: &str) -> bool {
    matches!(element.role, Role::Slider | Role::Progress) && crate::meaning::value::read(words).is_some()
}

/// Returns the content of a control; `None` if it is empty or not reported.
pub fn value(element: &Element) -> Option<Value<'_>> {
    // The platform's value takes precedence over the text.
    let content = if element.value.is_some() { &element.value } else { &element.text };
    // An empty field reports its hint as its text.
    if let Some(text) = content.as_deref().filter(|_| *content != element.hint) {
        if element.password {
            return Some(Value::Hidden { chars: text.chars().count() });
        }
        return element.role.text_is_value().then_some(Value::Text(text));
    }
    let words = readable(element.description.as_deref()).filter(|_| !element.password)?;
    is_only_value(element, words).then_some(Value::Text(words))
}

/// Returns the descendants that are not inside another tappable element, a scroll container or a web view, in document
/// order.
pub(crate) fn own_descendants(snapshot: &Snapshot, index: usize) -> impl Iterator<Item = usize> + '_ {
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
    for inner in own_descendants(snapshot, index) {
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

/// Returns the trimmed text, or `None` if it only has icon-font or invisible characters.
fn readable(text: Option<&str>) -> Option<&str> {
    let is_readable = |character: char| !character.is_whitespace() && !is_unreadable(character);
    text.map(str::trim).filter(|text| text.chars().any(is_readable))
}

/// Removes the state from a switch's text: it can be the whole text, or follow the name.
fn without_state<'a>(element: &Element, text: &'a str) -> Option<&'a str> {
    if element.role != Role::Switch || element.state.checked.is_none() {
        return Some(text);
    }
    if state::parse_on_off(text).is_some() {
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
    fn a_row_is_labelled_by_its_texts_but_not_by_its_buttons() {
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
    fn a_joined_label_stops_at_its_limit() {
        let mut elements = vec![clickable(node(None, 9, ""))];
        elements.extend((1..9).map(|i| node(Some(0), i + 1, ["one", "two"][i as usize % 2])));
        let snapshot = Snapshot { elements, ..Snapshot::default() };
        let label = label(&snapshot, 0).unwrap();
        assert_eq!((label.text.as_ref(), label.covers_until), ("two, one, two, one, two, one", 7));
    }

    #[test]
    fn the_text_of_a_password_is_never_a_label() {
        // ST-07
        let secret = Element {
            password: true,
            role: Role::TextField,
            hint: Some("Password".into()),
            description: Some("hunter2".into()),
            ..node(Some(0), 2, "hunter2")
        };
        assert_eq!(value(&secret), Some(Value::Hidden { chars: 7 }));
        // Also if its role is not a text field.
        let plain = Element { role: Role::Text, hint: None, ..secret.clone() };
        let all = labels(vec![clickable(node(None, 3, "")), secret, Element { end: 3, ..plain }]);
        assert_eq!(all, [None, Some("Password".into()), None]);
    }

    #[test]
    fn a_field_is_labelled_by_its_hint_and_has_its_text_as_value() {
        let field =
            Element { role: Role::TextField, hint: Some("Email".into()), ..node(None, 1, "ada@example.com") };
        assert_eq!(value(&field), Some(Value::Text("ada@example.com")));
        assert_eq!(labels(vec![field.clone()]), [Some("Email".into())]);
        let empty = Element { text: Some("Email".into()), ..field };
        assert_eq!(value(&empty), None);
    }

    #[test]
    fn an_icon_is_labelled_by_its_description() {
        let icon = node(None, 1, "\u{E722}");
        assert_eq!(own_words(&icon), None);
        assert_eq!(own_words(&Element { description: Some("Camera".into()), ..icon }), Some("Camera"));
    }

    #[test]
    fn the_state_of_a_switch_is_not_its_label() {
        let state = State { checked: Some(false), ..State::default() };
        let switch = Element { role: Role::Switch, state, ..clickable(node(None, 1, "OFF")) };
        assert_eq!(labels(vec![Element { role: Role::Switch, ..switch }]), [None]);
    }
}
