//! Writes the text of one outline line.

use std::fmt::Write;

use super::{Kind, Writer};
use crate::intent::actionable::tap_point;
use crate::meaning::label::{self, Label, LabelSource, Value};
use crate::meaning::role;
use crate::meaning::state::{self, ControlState};
use crate::meaning::value::Unit;
use crate::screen::element::{Element, Role};
use crate::screen::geometry::Rect;
use crate::text::quote::push_quoted;

const ID_MAX_CHARS: usize = 60;

impl Writer<'_> {
    pub(super) fn line(
        &self,
        index: usize,
        kind: Kind,
        label: Option<&Label<'_>>,
        carrier: Option<usize>,
        rect: Rect,
    ) -> String {
        let element = &self.snapshot.elements[index];
        let state_source = carrier.map_or(element, |carrier| &self.snapshot.elements[carrier]);
        let mut line = String::with_capacity(64);
        let role = match carrier {
            Some(_) => state_source.role,
            None if self.is_unnamed_slider(index) => Role::Slider,
            None => role::in_context(self.snapshot, index),
        };
        line.push_str(word(role, kind));
        let state = state::read(self.snapshot, index);
        self.push_label(&mut line, index, kind, label);
        self.push_value(&mut line, element, &state);
        // A toggle's own line shows the derived state, other lines only the reported one.
        let toggles = matches!(element.role, Role::Switch | Role::Checkbox | Role::Radio);
        let checked = if toggles { state.checked } else { element.state.checked };
        push_checked(&mut line, role, checked.or(state_source.state.checked));
        push_expanded(&mut line, state.expanded);
        let nameless = label.is_none();
        self.push_id(&mut line, element, nameless && kind != Kind::Shown);
        let inside_tappable = self.frames.last().is_some_and(|frame| frame.kind == Kind::Tappable);
        // Android views pass "selected" on to their children.
        push_states(&mut line, element, !(kind == Kind::Shown && inside_tappable));
        if kind == Kind::Scrolls || element.affordances.scrollable {
            self.push_scrolling(&mut line, index);
        }
        if self.options.points && matches!(kind, Kind::Tappable | Kind::Control) {
            let point = tap_point(self.reading, index).unwrap_or_else(|| rect.center());
            let _ = write!(line, " @{},{}", point.x, point.y);
        }
        line
    }

    fn push_label(&self, line: &mut String, index: usize, kind: Kind, label: Option<&Label<'_>>) {
        let element = &self.snapshot.elements[index];
        let Some(label) = label else {
            let nameless = kind == Kind::Tappable || kind == Kind::Control;
            if nameless && label::value(element).is_none() {
                self.push_no_label(line, element);
            }
            return;
        };
        // The text inside a closed drop-down is its choice, not its name.
        let choice = element.role == Role::Dropdown && label.source == LabelSource::Descendants;
        if choice && let Some(name) = label::sibling(self.snapshot, index) {
            line.push(' ');
            push_quoted(line, name.text, self.options.text_max_chars);
        }
        line.push_str(if choice { " = " } else { " " });
        push_quoted(line, &label.text, self.options.text_max_chars);
        // A description next to a short text tells what the element does ("PRIVATE", "Add tab").
        let operated = matches!(kind, Kind::Tappable | Kind::Control);
        if operated && label.source == LabelSource::Own && !element.password {
            let description = element.description.as_deref().map(str::trim).unwrap_or_default();
            if !label.text.contains(description) {
                line.push_str(" desc ");
                push_quoted(line, description, self.options.text_max_chars);
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

    fn push_value(&self, line: &mut String, element: &Element, state: &ControlState<'_>) {
        if let Some(number) = state.value {
            let _ = write!(line, " {number}");
            return self.push_unit(line, state);
        }
        match label::value(element) {
            Some(Value::Text(text)) => {
                line.push_str(" = ");
                push_quoted(line, text, self.options.text_max_chars);
            }
            Some(Value::Hidden { chars }) => {
                let _ = write!(line, " = (hidden, {chars})");
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

fn word(role: Role, kind: Kind) -> &'static str {
    match role {
        Role::Button => "button",
        Role::Link => "link",
        Role::Text => "text",
        Role::Heading => "heading",
        Role::TextField => "field",
        Role::Switch => "switch",
        Role::Checkbox => "checkbox",
        Role::Radio => "radio",
        Role::Slider => "slider",
        Role::Stepper => "stepper",
        Role::Picker => "picker",
        Role::Dropdown => "dropdown",
        Role::SegmentedControl => "segments",
        Role::Tab => "tab",
        Role::Key => "key",
        Role::Image => "image",
        Role::Progress => "progress",
        Role::List => "list",
        Role::Row => "row",
        Role::WebView => "webview",
        Role::Dialog => "dialog",
        Role::Container | Role::Unknown => match kind {
            Kind::Scrolls => "area",
            Kind::Tappable => "button",
            Kind::Control | Kind::Shown => "text",
        },
    }
}

fn push_checked(line: &mut String, role: Role, checked: Option<bool>) {
    let Some(checked) = checked else { return };
    line.push_str(match (role, checked) {
        (Role::Switch, true) => " on",
        (Role::Switch, false) => " off",
        (_, true) => " checked",
        (_, false) => " unchecked",
    });
}

fn push_expanded(line: &mut String, expanded: Option<bool>) {
    match expanded {
        Some(true) => line.push_str(" expanded"),
        Some(false) => line.push_str(" collapsed"),
        None => {}
    }
}

fn push_states(line: &mut String, element: &Element, own_selection: bool) {
    if element.state.enabled == Some(false) {
        line.push_str(" disabled");
    }
    if own_selection && element.state.selected == Some(true) {
        line.push_str(" selected");
    }
    if element.state.focused == Some(true) && element.role == Role::TextField {
        line.push_str(" focused");
    }
    if element.affordances.long_clickable && !element.affordances.clickable && element.role == Role::Button {
        line.push_str(" long-press");
    }
}
