//! Reads the state of a control (ST-01 to ST-07).

use std::borrow::Cow;

use crate::meaning::label::{self, LabelSource, Value};
use crate::meaning::semantics::{self, Control, ControlKind};
use crate::meaning::value::{self, ParsedValue, Unit};
use crate::screen::element::{Element, Role, ValueRange};
use crate::screen::snapshot::Snapshot;

/// The chosen option of a group (ST-04).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Choice<'a> {
    /// The identifier, if the platform or the developer set one.
    pub id: Option<&'a str>,
    pub label: Option<Cow<'a, str>>,
    /// Index of the option's element.
    pub index: u32,
}

/// The state of a control. `None` means unknown, which is neither false nor zero nor empty.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ControlState<'a> {
    pub checked: Option<bool>,
    pub selected: Option<bool>,
    pub focused: Option<bool>,
    pub expanded: Option<bool>,
    pub enabled: Option<bool>,
    /// The content of a text field.
    pub text_value: Option<Value<'a>>,
    /// The number, in the control's own range if that is known, else in `unit`.
    pub value: Option<f64>,
    pub unit: Option<Unit<'a>>,
    /// The range in the unit of `value`, if both ends are known.
    pub value_range: Option<ValueRange>,
    /// The value's text, verbatim.
    pub raw_value: Option<&'a str>,
    pub choice: Option<Choice<'a>>,
}

/// Reads the state of the element at `index`. A row or group that is a control has the state of its parts.
pub fn read(snapshot: &Snapshot, index: usize) -> ControlState<'_> {
    let Some(element) = snapshot.elements.get(index) else { return ControlState::default() };
    let raw = element.state;
    let mut state = ControlState {
        checked: raw.checked,
        selected: raw.selected,
        focused: raw.focused,
        expanded: raw.expanded,
        enabled: raw.enabled,
        ..ControlState::default()
    };
    match element.role {
        Role::Text | Role::Heading | Role::Image | Role::Link | Role::Key | Role::WebView | Role::Tab => {}
        Role::TextField => state.text_value = label::value(element),
        Role::Switch | Role::Checkbox | Role::Radio if element.end as usize <= index + 1 => {
            state.checked = raw.checked.or_else(|| on_off_words(element));
        }
        Role::Progress => read_number(&mut state, element),
        _ => read_control(snapshot, index, &mut state),
    }
    if element.affordances.adjustable && state.value.is_none() && element.role != Role::TextField {
        read_number(&mut state, element);
    }
    state
}

fn read_control<'a>(snapshot: &'a Snapshot, index: usize, state: &mut ControlState<'a>) {
    let element = &snapshot.elements[index];
    // Nothing inside a secret field is read, whatever its structure (ST-07).
    if element.password {
        return;
    }
    let Some(control) = semantics::control(snapshot, index) else { return };
    match control.kind {
        ControlKind::Slider | ControlKind::Rating | ControlKind::CustomAdjustable => {
            read_number(state, element)
        }
        ControlKind::Stepper => read_stepper(snapshot, &control, element, state),
        ControlKind::Dropdown | ControlKind::Picker => {
            state.choice = shown_choice(snapshot, index);
            if control.kind == ControlKind::Picker {
                read_number(state, element);
            }
        }
        ControlKind::SegmentedControl | ControlKind::TabRow | ControlKind::RadioGroup => {
            state.choice = selected_option(snapshot, &control);
        }
        ControlKind::ToggleRow => {
            let toggle = control.parts.toggle.map(|toggle| &snapshot.elements[toggle as usize]);
            let derived = || toggle.and_then(|toggle| toggle.state.checked.or_else(|| on_off_words(toggle)));
            state.checked = state.checked.or_else(derived);
        }
        ControlKind::Expandable => {
            state.expanded = state.expanded.or_else(|| semantics::words_say_expanded(element));
        }
    }
}

/// Reads the number from the platform's value, else from the text, else from the description.
fn read_number<'a>(state: &mut ControlState<'a>, element: &'a Element) {
    if element.password {
        return;
    }
    let described = element.description.as_deref().filter(|_| element.value.is_none());
    let stated = [element.value.as_deref(), element.text.as_deref()].into_iter().flatten();
    let mut readings = stated
        .map(|raw| (raw, value::read_description(raw)))
        .chain(described.map(|raw| (raw, value::read_description(raw))))
        .filter_map(|(raw, reading)| Some((raw, reading?)));
    let range = element.value_range.as_deref().copied().filter(is_a_range);
    match readings.next() {
        Some((raw, reading)) => {
            state.raw_value = Some(raw);
            set_value(state, reading, range);
        }
        None => {
            // A value in words ("Medium") is kept as the raw value.
            state.raw_value = element.value.as_deref();
            state.value_range = range;
        }
    }
}

fn is_a_range(range: &ValueRange) -> bool {
    range.min.is_finite() && range.max.is_finite() && range.min < range.max
}

/// Sets value, unit and range without mixing percent and own unit (W25). With a range, a percentage is converted to it;
/// without one, it stays a percentage. A range that does not contain the value is left out.
fn set_value<'a>(state: &mut ControlState<'a>, reading: ParsedValue<'a>, range: Option<ValueRange>) {
    let ParsedValue { number, unit } = reading;
    let (value, unit, range) = match (unit, range) {
        (Unit::Percent, Some(range)) if (0.0..=100.0).contains(&number) => {
            (range.min + number * (range.max - range.min) / 100.0, Unit::None, Some(range))
        }
        (Unit::Percent, _) => (number, Unit::Percent, None),
        (unit, range) => (number, unit, range.filter(|range| (range.min..=range.max).contains(&number))),
    };
    state.value = Some(value);
    state.unit = Some(unit);
    state.value_range = range;
}

fn read_stepper<'a>(
    snapshot: &'a Snapshot,
    control: &Control,
    element: &'a Element,
    state: &mut ControlState<'a>,
) {
    read_number(state, element);
    let Some(part) = control.parts.value.filter(|_| state.value.is_none()) else { return };
    let part = &snapshot.elements[part as usize];
    let text = match label::value(part) {
        Some(Value::Text(text)) => Some(text),
        Some(Value::Hidden { .. }) => None,
        None => label::own_words(part),
    };
    if let Some(raw) = text {
        state.raw_value = Some(raw);
        if let Some(reading) = value::read(raw) {
            set_value(state, reading, state.value_range);
        }
    }
}

/// Returns the choice shown by a closed drop-down or a wheel: its value, its text, else the first text inside.
fn shown_choice(snapshot: &Snapshot, index: usize) -> Option<Choice<'_>> {
    let element = &snapshot.elements[index];
    let (text, index) = match label::value(element) {
        Some(Value::Text(text)) => (text, index),
        _ => label::shown_inside(snapshot, index)?,
    };
    Some(Choice { id: None, label: Some(Cow::Borrowed(text)), index: index as u32 })
}

fn selected_option<'a>(snapshot: &'a Snapshot, control: &Control) -> Option<Choice<'a>> {
    let is_chosen = |option: &&u32| {
        let state = snapshot.elements[**option as usize].state;
        state.checked == Some(true) || (state.checked.is_none() && state.selected == Some(true))
    };
    let mut chosen = control.parts.options.iter().filter(is_chosen);
    let option = *chosen.next()?;
    if chosen.next().is_some() {
        return None;
    }
    let element = &snapshot.elements[option as usize];
    let named = label::label(snapshot, option as usize).filter(|label| label.source != LabelSource::Hint);
    // A selected tab is often not tappable, so `label` does not join its descendants' words.
    let first = || {
        label::own_descendants(snapshot, option as usize)
            .find_map(|i| label::own_words(&snapshot.elements[i]))
    };
    let label = named.map(|label| label.text).or_else(|| first().map(Cow::Borrowed));
    Some(Choice { id: element.stable_id.as_deref(), label, index: option })
}

/// Reads the state from a switch's text, for platforms that do not report it.
fn on_off_words(element: &Element) -> Option<bool> {
    let words =
        element.value.as_deref().or(element.text.as_deref()).filter(|_| element.role == Role::Switch)?;
    parse_on_off(words)
}

/// Longer texts are not a state.
const STATE_BYTES_MAX: usize = 32;

/// Parses the words that platforms write on a switch for its state.
pub(crate) fn parse_on_off(text: &str) -> Option<bool> {
    let text = text.trim().trim_end_matches('.');
    if text.is_empty() || text.len() > STATE_BYTES_MAX {
        return None;
    }
    let same = |word: &str| {
        word.chars().count() == text.chars().count()
            && word.chars().eq(text.chars().flat_map(char::to_lowercase))
    };
    if ON.iter().any(|word| same(word)) {
        return Some(true);
    }
    OFF.iter().any(|word| same(word)).then_some(false)
}

const ON: [&str; 15] = [
    "on", "an", "ein", "activé", "activado", "ativado", "attivato", "вкл", "オン", "开启", "開啟", "켜짐",
    "사용", "açık", "aan",
];
const OFF: [&str; 16] = [
    "off",
    "aus",
    "désactivé",
    "desactivado",
    "desativado",
    "disattivato",
    "выкл",
    "откл",
    "オフ",
    "关闭",
    "關閉",
    "꺼짐",
    "사용 안함",
    "사용 안 함",
    "kapalı",
    "uit",
];

#[cfg(test)]
mod tests;
