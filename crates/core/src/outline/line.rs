//! Writes the text of one outline line.

use std::fmt::Write;

use super::facts::{self, Fact, facts_of};
use super::{Kind, Writer};
use crate::intent::actionable::tap_point;
use crate::intent::selector::role_word;
use crate::meaning::label::{self, Label, Value};
use crate::meaning::role;
use crate::meaning::state::{self, ControlState};
use crate::meaning::value::{self, Unit};
use crate::screen::element::{Element, Role};
use crate::screen::geometry::Rect;
use crate::text::quote::push_quoted;

/// Characters of an identifier in one line.
const ID_MAX_CHARS: usize = 60;

/// Levels inside a row that are searched for it.
const ROW_LEVELS_MAX: usize = 8;

/// The text of a line, and what it says of its own element.
pub(super) struct LineText {
    pub(super) text: String,
    pub(super) said: Vec<Fact>,
}

impl Writer<'_> {
    pub(super) fn line(
        &self,
        index: usize,
        kind: Kind,
        label: Option<&Label<'_>>,
        carrier: Option<usize>,
        rect: Rect,
    ) -> LineText {
        let element = &self.snapshot.elements[index];
        let state_source = carrier.map_or(element, |carrier| &self.snapshot.elements[carrier]);
        let mut line = LineText { text: String::with_capacity(64), said: Vec::new() };
        let role = role::shown_given_carrier(self.snapshot, index, carrier);
        line.text.push_str(word(role));
        let state = state::read(self.snapshot, index);
        self.push_label(&mut line, index, kind, label);
        self.push_value(&mut line, index, &state);
        // A toggle's own line shows the derived state, other lines only the reported one.
        let toggles = matches!(element.role, Role::Switch | Role::Checkbox | Role::Radio);
        let checked = if toggles { state.checked } else { element.state.checked };
        let checked = checked.or(state_source.state.checked);
        self.push_rest(&mut line, element, label, checked);
        push_checked(&mut line, role, checked);
        push_expanded(&mut line, state.expanded);
        // A number alone is a poor name: it may count something.
        let nameless = label.is_none_or(|label| value::read(&label.text).is_some());
        self.push_id(&mut line.text, element, nameless && kind != Kind::Shown);
        let around =
            self.frames.iter().rev().find_map(|frame| self.out.record.line(frame.index, Fact::Selected));
        // Android views pass "selected" on to their children.
        push_states(&mut line, element, state_source, kind != Kind::Shown || around.is_none());
        if !line.said.contains(&Fact::Disabled) && self.is_in_disabled_row(index) {
            line.text.push_str(" disabled");
            line.said.push(Fact::Disabled);
        }
        if kind == Kind::Scrolls || element.affordances.scrollable {
            self.push_scrolling(&mut line.text, index);
        }
        if self.options.points && matches!(kind, Kind::Tappable | Kind::Control) {
            let point = tap_point(self.reading, index).unwrap_or_else(|| rect.center());
            let _ = write!(line.text, " @{},{}", point.x, point.y);
        }
        line
    }

    /// True inside a disabled row of a list, if no line says so yet. A row of a menu takes no taps itself: its list does.
    fn is_in_disabled_row(&self, index: usize) -> bool {
        let element = |index: u32| self.snapshot.elements.get(index as usize);
        let mut inner = index as u32;
        for _ in 0..ROW_LEVELS_MAX {
            let Some(outer) = element(inner).and_then(|inner| inner.parent) else { return false };
            if element(outer).is_some_and(|outer| outer.role == Role::List) {
                return element(inner).is_some_and(|row| row.state.enabled == Some(false))
                    && self.out.record.line(inner as usize, Fact::Disabled).is_none();
            }
            inner = outer;
        }
        false
    }

    fn push_label(&self, line: &mut LineText, index: usize, kind: Kind, label: Option<&Label<'_>>) {
        let element = &self.snapshot.elements[index];
        let Some(label) = label else {
            let scrolls = kind == Kind::Scrolls || element.affordances.scrollable;
            let unnamed_kind = matches!(element.role, Role::Progress | Role::WebView | Role::Dropdown);
            let says_words = facts_of(element).any(|fact| facts::words_of(element, fact).is_some());
            if !scrolls && !unnamed_kind && !says_words && label::value(element).is_none() {
                self.push_no_label(&mut line.text, element);
            }
            return;
        };
        line.text.push(' ');
        push_quoted(&mut line.text, &label.text, self.options.text_max_chars);
        for fact in [Fact::Text, Fact::Description, Fact::Value, Fact::Hint] {
            if facts::words_of(element, fact).is_some_and(|words| facts::says(&label.text, words)) {
                line.said.push(fact);
            }
        }
    }

    /// Writes the words that neither label nor value say: a description beside a text ("PRIVATE", "Add tab"), the value
    /// of an iOS cell, the hint of an empty field that has a name.
    fn push_rest(
        &self,
        line: &mut LineText,
        element: &Element,
        label: Option<&Label<'_>>,
        checked: Option<bool>,
    ) {
        for (fact, name) in [
            (Fact::Text, " text "),
            (Fact::Description, " desc "),
            (Fact::Value, " = "),
            (Fact::Hint, " hint "),
        ] {
            let Some(words) = facts::words_of(element, fact).filter(|_| !line.said.contains(&fact)) else {
                continue;
            };
            line.said.push(fact);
            // The state says it: "ON", or the 1 of a chosen tab.
            let named = label.is_some_and(|label| label::own_words(element) == Some(&*label.text));
            let is_state = (checked.is_some() && element.role == Role::Switch && fact == Fact::Text && named)
                || (checked.is_some() && label::on_off(element).is_some())
                || (fact == Fact::Value && is_state_value(element, words));
            let joined = label.is_some_and(|label| facts::says(&label.text, words));
            if !is_state && !joined {
                line.text.push_str(name);
                push_quoted(&mut line.text, words, self.options.text_max_chars);
            }
        }
    }

    /// Writes the element's position on the screen if it has neither words nor an identifier.
    fn push_no_label(&self, line: &mut String, element: &Element) {
        let screen = self.snapshot.size.rect();
        let root = self.snapshot.elements.first().map_or(screen, |root| root.bounds);
        let screen = if screen.is_empty() { root } else { screen };
        if element.stable_id.is_some() || screen.is_empty() {
            return line.push_str(" (no label)");
        }
        let third =
            |at: i32, start: i32, length: i32| (i64::from(at) - i64::from(start)) * 3 / i64::from(length);
        let center = element.bounds.center();
        let down = ["top", "middle", "bottom"];
        let across = ["left", "center", "right"];
        let word = |words: [&'static str; 3], third: i64| words[third.clamp(0, 2) as usize];
        let _ = write!(
            line,
            " (no label, {} {})",
            word(down, third(center.y, screen.top, screen.height())),
            word(across, third(center.x, screen.left, screen.width()))
        );
    }

    fn push_value(&self, line: &mut LineText, index: usize, state: &ControlState<'_>) {
        let element = &self.snapshot.elements[index];
        let say = |line: &mut LineText, raw: &str| {
            let raw = label::readable(Some(raw));
            let facts = [Fact::Text, Fact::Description, Fact::Value];
            line.said.extend(facts.into_iter().filter(|fact| {
                let words = facts::words_of(element, *fact);
                words.is_some() && words == raw
            }));
        };
        if let Some(number) = state.value {
            let _ = write!(line.text, " {number}");
            self.push_unit(&mut line.text, state);
            self.push_state_words(&mut line.text, element);
            // Words around the number are written after it.
            if let Some(raw) = state.raw_value.filter(|raw| value::read(raw).is_some()) {
                say(line, raw);
            }
            return;
        }
        match label::value(element) {
            Some(Value::Text(text)) => {
                line.text.push_str(if element.text_may_be_hint { " shows " } else { " = " });
                push_quoted(&mut line.text, text, self.options.text_max_chars);
                say(line, text);
            }
            Some(Value::Hidden { chars: Some(chars) }) => {
                let _ = write!(line.text, " = (hidden, {chars})");
            }
            Some(Value::Hidden { chars: None }) => line.text.push_str(" = (hidden, or empty)"),
            None if element.role == Role::Dropdown => {
                if let Some((choice, _)) = label::shown_inside(self.snapshot, index) {
                    line.text.push_str(" = ");
                    push_quoted(&mut line.text, choice, self.options.text_max_chars);
                }
            }
            None => {}
        }
    }

    fn push_unit(&self, line: &mut String, state: &ControlState<'_>) {
        match state.unit {
            Some(Unit::Percent) => line.push('%'),
            Some(Unit::Own(unit)) => {
                line.push(' ');
                push_quoted(line, unit, self.options.text_max_chars);
            }
            _ => {}
        }
        if let Some(range) = state.value_range {
            let _ = write!(line, " of {}..{}", range.min, range.max);
        } else if let Some(Unit::Of(max)) = state.unit {
            let _ = write!(line, " of {max}");
        }
    }

    /// Writes the state in the app's own words, where a helper tells it: "2.5 stars out of 5" of a bar that counts half stars.
    /// The percentage that Android makes up of the number is left out.
    fn push_state_words(&self, line: &mut String, element: &Element) {
        let words = element.details.as_ref().and_then(|details| details.state_description.as_deref());
        let is_percentage = |words: &str| {
            words.trim_end().strip_suffix('%').is_some_and(|number| number.trim().parse::<f64>().is_ok())
        };
        if let Some(words) = label::readable(words).filter(|words| !is_percentage(words)) {
            line.push(' ');
            push_quoted(line, words, self.options.text_max_chars);
        }
    }

    /// Writes the identifier. One shared by several elements identifies none, so it is written only without a label.
    fn push_id(&self, line: &mut String, element: &Element, even_if_shared: bool) {
        let Some(id) = element.stable_id.as_deref() else { return };
        if !even_if_shared && !self.options.stable_ids {
            return;
        }
        if !even_if_shared && self.shared_ids.is_shared(id) {
            return;
        }
        let short = id.split_once(":id/").map_or(id, |(_, name)| name);
        line.push_str(" #");
        let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"_-.:/$".contains(&byte);
        if !short.is_empty() && short.len() <= ID_MAX_CHARS && short.bytes().all(plain) {
            line.push_str(short);
        } else {
            push_quoted(line, short, ID_MAX_CHARS);
        }
    }

    fn push_scrolling(&self, line: &mut String, index: usize) {
        let element = &self.snapshot.elements[index];
        if element.affordances.scrollable {
            line.push_str(" scrollable");
        }
        if element.role == Role::List {
            let _ = write!(line, ", {} shown", self.rows_shown(index));
        }
    }
}

/// Returns the word for a role. Every word is accepted as the name of that role (F21).
fn word(role: Role) -> &'static str {
    match role {
        Role::Container | Role::Unknown => "area",
        role => role_word(role),
    }
}

/// True if the value is the platform's word for a state that the line says: WDA writes 1 for what is selected.
fn is_state_value(element: &Element, words: &str) -> bool {
    let toggle = matches!(element.role, Role::Switch | Role::Checkbox | Role::Radio);
    let checked = toggle && element.state.checked.is_some() && matches!(words, "0" | "1" | "true" | "false");
    checked
        || (element.state.selected == Some(true) && (words == "1" || words.eq_ignore_ascii_case("selected")))
}

fn push_checked(line: &mut LineText, role: Role, checked: Option<bool>) {
    let Some(checked) = checked else { return };
    line.said.push(Fact::Checked);
    line.text.push_str(match (role, checked) {
        (Role::Switch, true) => " on",
        (Role::Switch, false) => " off",
        (_, true) => " checked",
        (_, false) => " unchecked",
    });
}

fn push_expanded(line: &mut LineText, expanded: Option<bool>) {
    let Some(expanded) = expanded else { return };
    line.said.push(Fact::Expanded);
    line.text.push_str(if expanded { " expanded" } else { " collapsed" });
}

fn push_states(line: &mut LineText, element: &Element, carrier: &Element, own_selection: bool) {
    if element.state.enabled == Some(false) || carrier.state.enabled == Some(false) {
        line.text.push_str(" disabled");
        line.said.push(Fact::Disabled);
    }
    if own_selection && element.state.selected == Some(true) {
        line.text.push_str(" selected");
        line.said.push(Fact::Selected);
    }
    if element.state.focused == Some(true) && element.role == Role::TextField {
        line.text.push_str(" focused");
    }
    if element.affordances.long_clickable && !element.affordances.clickable && !element.role.is_control() {
        line.text.push_str(" long-press");
    }
}
