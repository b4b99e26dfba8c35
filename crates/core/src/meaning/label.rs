//! The label (name) and the value of an element.

mod sibling;

use std::borrow::Cow;

use crate::meaning::state;
use crate::screen::element::{Element, Role};
use crate::screen::geometry::Rect;
use crate::screen::snapshot::{Platform, Snapshot};
use crate::text::quote::is_unreadable;

pub(crate) use sibling::{any_sibling, sibling};

/// Elements inside another whose words are compared with its own.
const SPOKEN_FOR_MAX: usize = 64;

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
    /// False for a text that only lies near the element: it may be a title or a message of its own (F87).
    pub sure: bool,
}

/// The content of a control, as the platform wrote it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Value<'a> {
    Text(&'a str),
    /// A secret, of which only the length is reported (ST-07). `None` if the shown text may be a hint: most dumps do
    /// not say which of the two it is (F83).
    Hidden {
        chars: Option<usize>,
    },
}

/// A label joined from descendants ends after this many texts or characters; the other texts stay separate.
const JOINED_TEXTS_MAX: usize = 6;
/// Characters of a label that is joined from descendants.
const JOINED_CHARS_MAX: usize = 100;

/// Returns the label: the element's own words, else those of its own descendants, else a sibling text, else the hint.
/// The words inside a drop-down are its choice, so a text beside it comes before them.
pub fn label(snapshot: &Snapshot, index: usize) -> Option<Label<'_>> {
    let element = snapshot.elements.get(index)?;
    let covers_until = index as u32 + 1;
    let plain =
        |text, source| Label { text: Cow::Borrowed(text), source, covers_until, from: None, sure: true };
    if let Some(own) = own_words(element) {
        return Some(plain(own, LabelSource::Own));
    }
    let hint = readable(element.hint.as_deref());
    // A hint wins over a sibling: the text above the first field may be the heading of the form.
    let beside = || {
        let sibling = hint.is_none().then(|| sibling(snapshot, index)).flatten()?;
        let (from, sure) = (Some(sibling.index), sibling.sure);
        Some(Label { from, sure, ..plain(sibling.text, LabelSource::Sibling) })
    };
    if element.role == Role::Dropdown {
        return beside().or_else(|| hint.map(|hint| plain(hint, LabelSource::Hint)));
    }
    if takes_words_from_descendants(snapshot, index)
        && let Some(joined) = joined(snapshot, index)
    {
        return Some(joined);
    }
    beside().or_else(|| hint.map(|hint| plain(hint, LabelSource::Hint)))
}

/// Returns the words of the choice that a closed drop-down shows, with the element that shows them.
pub(crate) fn shown_inside(snapshot: &Snapshot, index: usize) -> Option<(&str, usize)> {
    own_descendants(snapshot, index).find_map(|inner| Some((own_words(&snapshot.elements[inner])?, inner)))
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

/// True if the element itself handles a tap, as far as the tree tells. Controls of React Native, and those that an app of
/// iOS draws itself, are plain views that speak for themselves, as no view does that only holds others.
pub fn may_act(snapshot: &Snapshot, index: usize) -> bool {
    let element = &snapshot.elements[index];
    let is_view =
        snapshot.platform == Platform::Ios && matches!(element.role, Role::Container | Role::Unknown);
    element.is_tappable() || is_view && !element.is_scroll_bar() && speaks_for_itself(snapshot, index)
}

/// True if the element says words that nothing inside it says.
pub fn speaks_for_itself(snapshot: &Snapshot, index: usize) -> bool {
    let element = &snapshot.elements[index];
    let Some(words) = own_words(element) else { return false };
    let end = (element.end as usize).clamp(index + 1, snapshot.elements.len());
    let inside = snapshot.elements[index + 1..end].iter().take(SPOKEN_FOR_MAX);
    let mut rest = words.to_owned();
    for said in inside.filter_map(own_words) {
        rest = rest.replacen(said, "", 1);
    }
    rest.chars().any(char::is_alphanumeric)
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
            let chars = text.chars().count();
            let known = element.hint.is_some() || text.chars().all(is_mask);
            return Some(Value::Hidden { chars: known.then_some(chars) });
        }
        // A hint may be a picture alone, which the platform writes as blanks.
        let is_blank_hint = element.text_may_be_hint && readable(Some(text)).is_none();
        return (element.role.text_is_value() && !is_blank_hint).then_some(Value::Text(text));
    }
    let words = readable(element.description.as_deref()).filter(|_| !element.password)?;
    is_only_value(element, words).then_some(Value::Text(words))
}

/// True for a character that platforms show in place of a secret's.
fn is_mask(character: char) -> bool {
    matches!(character, '•' | '●' | '∙' | '·' | '*')
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

/// True for elements that are one thing for a person, whose words are written by elements inside: what takes a tap, has
/// a state, or is a tab (Compose and Material put the words of a chosen tab into a child).
fn takes_words_from_descendants(snapshot: &Snapshot, index: usize) -> bool {
    let element = &snapshot.elements[index];
    if element.affordances.scrollable || matches!(element.role, Role::List | Role::WebView) {
        return false;
    }
    if element.is_tappable() || element.affordances.checkable {
        return !is_ground(snapshot, index);
    }
    let is_one_thing = element.state.selected == Some(true) || element.role == Role::Tab;
    let end = (element.end as usize).min(snapshot.elements.len());
    is_one_thing
        && (index + 1..index + ONE_THING_ELEMENTS_MAX).contains(&end.saturating_sub(1))
        && !snapshot.elements[index + 1..end]
            .iter()
            .any(|inner| inner.is_tappable() || inner.affordances.scrollable)
}

/// A larger selected element is a page, not a tab.
const ONE_THING_ELEMENTS_MAX: usize = 16;
/// Ancestors that are searched for a scroll container.
const ANCESTORS_MAX: usize = 24;
/// Elements that are searched for a control inside a ground.
const GROUND_ELEMENTS_MAX: usize = 128;

/// True for a tappable background: it takes a quarter of the screen or more, does not scroll with other entries, and
/// holds other controls. The texts on it are not its name (F35): dialogs and pages take taps to close a keyboard or to
/// keep them from what is below.
pub(crate) fn is_ground(snapshot: &Snapshot, index: usize) -> bool {
    let element = &snapshot.elements[index];
    let screen = snapshot.size.rect();
    let screen = if screen.is_empty() { snapshot.elements[0].bounds } else { screen };
    if element.end as usize <= index + 1 || screen.is_empty() || area(element.bounds) * 4 < area(screen) {
        return false;
    }
    let end = (element.end as usize).min(snapshot.elements.len()).min(index + GROUND_ELEMENTS_MAX);
    let holds_controls = snapshot.elements[index + 1..end].iter().any(Element::is_tappable);
    holds_controls && !is_in_scroller(snapshot, element)
}

fn is_in_scroller(snapshot: &Snapshot, element: &Element) -> bool {
    let above = |element: &&Element| snapshot.elements.get(element.parent? as usize);
    std::iter::successors(above(&element), above)
        .take(ANCESTORS_MAX)
        .any(|outer| outer.affordances.scrollable || outer.role == Role::List)
}

/// True if the only words inside a control are a number over a larger picture: a badge, which counts something and
/// names nothing (F35). A day of a calendar is larger than the mark below it.
fn is_badge(snapshot: &Snapshot, index: usize, text: usize, words: &str) -> bool {
    /// Bytes of a text that counts as a badge.
    const BADGE_CHARS_MAX: usize = 4;
    let counts = |c: char| c.is_ascii_digit() || c == '+';
    let element = &snapshot.elements[index];
    let end = (element.end as usize).min(snapshot.elements.len()).min(index + ONE_THING_ELEMENTS_MAX);
    words.len() <= BADGE_CHARS_MAX
        && words.chars().all(counts)
        && snapshot.elements[index + 1..end].iter().any(|inner| {
            let over = inner.bounds.intersection(snapshot.elements[text].bounds).is_some();
            inner.role == Role::Image && over && area(inner.bounds) > area(snapshot.elements[text].bounds)
        })
}

/// Hostile trees have bounds whose area does not fit into 64 bits.
fn area(rect: Rect) -> i128 {
    i128::from(rect.width()) * i128::from(rect.height())
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
    if parts == 0 || (parts == 1 && is_badge(snapshot, index, covers_until as usize - 1, &text)) {
        return None;
    }
    Some(Label { text, source: LabelSource::Descendants, covers_until, from: None, sure: true })
}

/// Returns the text without space and icon-font characters around it; `None` if nothing readable is left. React Native
/// joins an icon and a text by a comma, which goes with the icon.
pub(crate) fn readable(text: Option<&str>) -> Option<&str> {
    let is_icon = |c: char| matches!(u32::from(c), 0xE000..=0xF8FF | 0xF0000..=0x10FFFF);
    let spaced = text?.trim();
    let mut text = spaced.trim_matches(|c: char| c.is_whitespace() || is_icon(c));
    if text.len() < spaced.len() {
        text = text.trim_matches([',', ' ']);
    }
    text.chars().any(|c| !c.is_whitespace() && !is_unreadable(c)).then_some(text)
}

/// Returns the state that the text of a switch is, if it is nothing else.
pub(crate) fn on_off(element: &Element) -> Option<bool> {
    let text = element.text.as_deref().or(element.value.as_deref());
    text.filter(|_| element.role == Role::Switch && !element.password).and_then(state::parse_on_off)
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
        assert_eq!(value(&secret), Some(Value::Hidden { chars: Some(7) }));
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
