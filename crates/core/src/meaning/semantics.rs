//! Recognises controls from an element's role, structure and repeated children (SM-01).
//!
//! Every result is deterministic and has a reason; an unsure one is `None`. What the platform reports takes precedence
//! over anything derived.

mod adjustable;
mod choice;
mod expandable;
mod stepper;
mod toggle;

use crate::meaning::label;
use crate::screen::element::{Element, Role};
use crate::screen::snapshot::Snapshot;

pub(crate) use expandable::words_say_expanded;
pub(crate) use toggle::is_toggle;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ControlKind {
    Slider,
    Stepper,
    Dropdown,
    /// Adjacent options, one of them selected.
    SegmentedControl,
    /// Like a segmented control, but each option shows another page.
    TabRow,
    RadioGroup,
    /// A wheel or column with one chosen entry.
    Picker,
    Rating,
    /// An element of no known kind that is reported as adjustable, or looks like it.
    CustomAdjustable,
    /// A name with a switch, check box or radio button.
    ToggleRow,
    /// An element that shows or hides others.
    Expandable,
}

/// The kind of values that a control's state has.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum StateShape {
    Continuous,
    Discrete,
    /// One of several named choices.
    Semantic,
}

impl StateShape {
    pub fn name(self) -> &'static str {
        match self {
            StateShape::Continuous => "continuous",
            StateShape::Discrete => "discrete",
            StateShape::Semantic => "semantic",
        }
    }
}

impl ControlKind {
    /// The role name in the tool contract. Kinds without a name there are composite controls.
    pub fn semantic_role(self) -> &'static str {
        match self {
            ControlKind::Slider | ControlKind::Rating => "slider",
            ControlKind::Stepper => "stepper",
            ControlKind::Dropdown => "dropdown",
            ControlKind::SegmentedControl | ControlKind::TabRow => "segmented_control",
            ControlKind::CustomAdjustable | ControlKind::Picker => "custom_adjustable",
            ControlKind::RadioGroup | ControlKind::ToggleRow | ControlKind::Expandable => "composite_control",
        }
    }

    pub fn supported_actions(self) -> &'static [&'static str] {
        match self {
            ControlKind::Slider
            | ControlKind::Rating
            | ControlKind::CustomAdjustable
            | ControlKind::Picker => &["adjust"],
            ControlKind::Stepper => &["increment", "decrement"],
            ControlKind::Dropdown | ControlKind::Expandable => &["tap", "expand"],
            ControlKind::SegmentedControl
            | ControlKind::TabRow
            | ControlKind::RadioGroup
            | ControlKind::ToggleRow => &["tap"],
        }
    }

    pub fn adjustable(self) -> bool {
        matches!(
            self,
            ControlKind::Slider
                | ControlKind::Rating
                | ControlKind::Stepper
                | ControlKind::CustomAdjustable
                | ControlKind::Picker
        )
    }

    pub fn state_shape(self) -> StateShape {
        match self {
            ControlKind::Slider | ControlKind::CustomAdjustable => StateShape::Continuous,
            ControlKind::Dropdown | ControlKind::Picker | ControlKind::RadioGroup => StateShape::Semantic,
            ControlKind::Stepper
            | ControlKind::Rating
            | ControlKind::SegmentedControl
            | ControlKind::TabRow
            | ControlKind::ToggleRow
            | ControlKind::Expandable => StateShape::Discrete,
        }
    }
}

/// The evidence by which a control was recognised.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Reason {
    Class,
    PlatformAdjustable,
    WideLeafWithValue,
    MinusValuePlus,
    OneOfSeveralSelected,
    RadiosInOneGroup,
    NameBesideToggle,
    PlatformExpanded,
    ExpandWords,
}

impl Reason {
    pub fn text(self) -> &'static str {
        match self {
            Reason::Class => "its class says so",
            Reason::PlatformAdjustable => "the platform says that it can be adjusted",
            Reason::WideLeafWithValue => "a wide focusable leaf whose text is a value",
            Reason::MinusValuePlus => "two buttons that lower and raise, and a value",
            Reason::OneOfSeveralSelected => "adjacent options of one kind, one of them selected",
            Reason::RadiosInOneGroup => "radio buttons in one group",
            Reason::NameBesideToggle => "a name and one switch, check box or radio button",
            Reason::PlatformExpanded => "the platform says whether it is expanded",
            Reason::ExpandWords => "its description offers to expand or to collapse",
        }
    }
}

/// The elements that a control is made of, by index.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Parts {
    pub label: Option<u32>,
    pub value: Option<u32>,
    pub decrease: Option<u32>,
    pub increase: Option<u32>,
    /// The switch, check box or radio button of a row.
    pub toggle: Option<u32>,
    /// The options in document order.
    pub options: Vec<u32>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Control {
    pub kind: ControlKind,
    pub reason: Reason,
    /// The element to operate: the adjustable node itself, never a wrapper (AC-07).
    pub target: u32,
    pub parts: Parts,
}

impl Control {
    fn new(kind: ControlKind, reason: Reason, target: usize) -> Control {
        Control { kind, reason, target: target as u32, parts: Parts::default() }
    }
}

/// A group with more options is a list, not a control.
const OPTIONS_MAX: usize = 16;

/// Recognises the control whose root is the element at `index`.
pub fn control(snapshot: &Snapshot, index: usize) -> Option<Control> {
    let element = snapshot.elements.get(index)?;
    match element.role {
        Role::Text
        | Role::Heading
        | Role::Image
        | Role::Link
        | Role::TextField
        | Role::Key
        | Role::Tab
        | Role::Switch
        | Role::Radio
        | Role::Progress
        | Role::WebView => adjustable::reported(element, index),
        Role::Slider => Some(adjustable::slider(snapshot, index)),
        Role::Picker => Some(with_sibling_label(snapshot, index, ControlKind::Picker)),
        Role::Dropdown => Some(with_sibling_label(snapshot, index, ControlKind::Dropdown)),
        Role::Stepper => Some(stepper::by_class(snapshot, index)),
        Role::SegmentedControl => Some(choice::by_class(snapshot, index)),
        Role::Button | Role::Checkbox => adjustable::reported(element, index)
            .or_else(|| expandable::expandable(element, index))
            .or_else(|| toggle::row(snapshot, index)),
        Role::Container | Role::List | Role::Row | Role::Dialog | Role::Unknown => {
            adjustable::reported(element, index).or_else(|| by_structure(snapshot, index, element))
        }
    }
}

fn by_structure(snapshot: &Snapshot, index: usize, element: &Element) -> Option<Control> {
    if element.state.expanded.is_some() {
        return expandable::expandable(element, index);
    }
    if end_of(snapshot, index) == index + 1 {
        return adjustable::unnamed_slider(snapshot, index, element);
    }
    let group = ChildCounts::of(snapshot, index)?;
    if group.tappable >= 2 {
        if group.selected == 1
            && let Some(found) = choice::options_in_row(snapshot, index)
        {
            return Some(found);
        }
        if let Some(found) = stepper::by_structure(snapshot, index) {
            return Some(found);
        }
    }
    if group.radios >= 2
        && let Some(found) = choice::radio_group(snapshot, index)
    {
        return Some(found);
    }
    toggle::row(snapshot, index)
}

/// Counts of an element's children, which rule out most containers cheaply.
#[derive(Default)]
struct ChildCounts {
    tappable: usize,
    selected: usize,
    radios: usize,
}

impl ChildCounts {
    fn of(snapshot: &Snapshot, index: usize) -> Option<ChildCounts> {
        let mut group = ChildCounts::default();
        for (count, child) in snapshot.children(index).enumerate() {
            if count == OPTIONS_MAX {
                return None;
            }
            let (at, child) = (child, &snapshot.elements[child]);
            let selected = is_selected(snapshot, at);
            group.selected += usize::from(selected);
            // A selected option is often not clickable.
            group.tappable += usize::from(child.is_tappable() || selected);
            let radio = child.role == Role::Radio || is_radio_row(snapshot, at);
            group.radios += usize::from(radio);
        }
        Some(group)
    }
}

/// True if the element is selected. iOS gives a selected button the value 1, but also a button that shows the count 1,
/// which is not selected.
fn is_selected(snapshot: &Snapshot, index: usize) -> bool {
    let element = &snapshot.elements[index];
    if element.state.selected != Some(true) {
        return false;
    }
    let shown = snapshot.elements.get(index + 1).filter(|_| end_of(snapshot, index) > index + 1);
    let is_shown = |value: &str| shown.and_then(label::own_words) == Some(value);
    !element.value.as_deref().is_some_and(is_shown)
}

/// True for a row that begins or ends with a radio button.
fn is_radio_row(snapshot: &Snapshot, index: usize) -> bool {
    let last = end_of(snapshot, index) - 1;
    let radio = |inner: usize| snapshot.elements.get(inner).is_some_and(|inner| inner.role == Role::Radio);
    last > index && (radio(index + 1) || radio(last))
}

/// Returns one past the last descendant, clamped for trees with a broken order.
fn end_of(snapshot: &Snapshot, index: usize) -> usize {
    let end = snapshot.elements.get(index).map_or(0, |element| element.end as usize);
    end.min(snapshot.elements.len()).max(index + 1)
}

fn with_sibling_label(snapshot: &Snapshot, index: usize, kind: ControlKind) -> Control {
    let mut control = Control::new(kind, Reason::Class, index);
    control.parts.label = label::sibling(snapshot, index).map(|text| text.index);
    control
}

/// Returns all controls of a screen with their indexes.
pub fn controls(snapshot: &Snapshot) -> impl Iterator<Item = (usize, Control)> + '_ {
    (0..snapshot.elements.len()).filter_map(|index| Some((index, control(snapshot, index)?)))
}

/// True if the platform reports that the element handles a tap (ID-08).
pub fn is_clickable(element: &Element) -> bool {
    element.is_tappable()
}

/// True if the element groups others (ID-08).
pub fn is_container(snapshot: &Snapshot, index: usize) -> bool {
    let Some(element) = snapshot.elements.get(index) else { return false };
    match element.role {
        Role::Container | Role::List | Role::Row | Role::Dialog | Role::WebView | Role::SegmentedControl => {
            true
        }
        Role::Button | Role::Checkbox | Role::Tab | Role::Unknown => element.end as usize > index + 1,
        _ => false,
    }
}

/// True if the developer's identifier contains one of `words` as a whole word.
pub(crate) fn id_contains_word(element: &Element, words: &[&str]) -> bool {
    let Some(id) = element.stable_id.as_deref() else { return false };
    let name = id.rsplit_once('/').map_or(id, |(_, name)| name);
    id_words(name).any(|word| words.iter().any(|wanted| word.eq_ignore_ascii_case(wanted)))
}

/// Splits an identifier into words: `btn_plusAction` is btn, plus and Action.
fn id_words(name: &str) -> impl Iterator<Item = &str> {
    let mut rest = name;
    std::iter::from_fn(move || {
        rest = rest.trim_start_matches(|c: char| !c.is_ascii_alphabetic());
        let bytes = rest.as_bytes();
        let first = bytes.first()?;
        let ends = |at: usize| {
            let (before, byte) = (bytes[at - 1], bytes[at]);
            !byte.is_ascii_alphabetic() || (byte.is_ascii_uppercase() && before.is_ascii_lowercase())
        };
        debug_assert!(first.is_ascii());
        let end = (1..bytes.len()).find(|&at| ends(at)).unwrap_or(bytes.len());
        let word = &rest[..end];
        rest = &rest[end..];
        Some(word)
    })
}

#[cfg(test)]
mod tests;
