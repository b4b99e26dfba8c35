//! The raw attributes of one element, and their conversion to an [`Element`].

use super::role::{self, IosTraits};
use mdm_core::screen::element::{Affordances, Element, Role, State, ValueRange};
use mdm_core::screen::geometry::Rect;

use super::names::Names;
use super::text::{Faults, Text};

/// The tool whose keys the source uses.
#[derive(Clone, Copy, Default, PartialEq, Eq, Debug)]
pub(super) enum Dialect {
    #[default]
    Wda,
    Idb,
}

/// One element with raw values. Absent, null and empty are the same unless stated otherwise.
#[derive(Default)]
pub(super) struct RawNode<'a> {
    pub dialect: Dialect,
    pub offset: usize,
    pub class: Text<'a>,
    /// Replaces a missing type.
    pub role: Text<'a>,
    /// The identifier set by a developer. `Some` if the source has the key, even with an empty value.
    pub identifier: Option<Text<'a>>,
    /// The identifier, or the label if there is none.
    pub name: Text<'a>,
    pub label: Text<'a>,
    pub title: Text<'a>,
    pub value: Text<'a>,
    pub placeholder: Text<'a>,
    pub bundle_id: Text<'a>,
    /// `None` if the source has no list of traits.
    pub traits: Option<IosTraits>,
    pub subrole: IosTraits,
    pub enabled: Option<bool>,
    pub displayed: Option<bool>,
    pub focused: Option<bool>,
    pub expanded: Option<bool>,
    pub min: Option<f64>,
    pub max: Option<f64>,
    pub frame: Frame,
    /// The rectangle as text, `{{x, y}, {width, height}}`, for sources without another form.
    pub frame_text: Text<'a>,
    /// The source ended before the element did.
    pub cut: bool,
    /// The first fault found in the element.
    pub fault: Option<&'static str>,
}

/// A rectangle in points. An edge that the platform does not report is `None`.
#[derive(Default, Clone, Copy)]
pub(super) struct Frame {
    pub x: Option<f64>,
    pub y: Option<f64>,
    pub width: Option<f64>,
    pub height: Option<f64>,
}

impl<'a> RawNode<'a> {
    pub fn note(&mut self, fault: &'static str) {
        self.fault.get_or_insert(fault);
    }

    /// True if no attribute has a value.
    pub fn is_empty(&self) -> bool {
        let texts = [self.class, self.role, self.name, self.label, self.title, self.value, self.placeholder];
        texts.iter().all(|text| text.is_empty())
            && self.identifier.is_none_or(Text::is_empty)
            && self.frame.rect().is_none()
    }

    /// Converts to an element; the caller sets parent, end and depth.
    pub fn element(&self, names: &mut Names, bytes_max: usize, faults: &mut Faults) -> Element {
        let class = names.read(if self.class.is_empty() { self.role } else { self.class }, bytes_max, faults);
        let name = role::short_type(&class);
        let traits = self.traits.unwrap_or_default().with(self.subrole);
        let role = role::from_ios_type(&class, traits);
        let password = name == "SecureTextField" || traits.has(IosTraits::SECURE);
        let value = self.own_value(role);
        let mut read = |text: Text<'a>| text.read(bytes_max, faults);
        let text = match role {
            Role::Text | Role::Heading => self.label_or_title(),
            Role::TextField => value,
            _ => Text::Empty,
        };
        Element {
            role,
            stable_id: read(self.stable_id()),
            text: read(text),
            description: read(self.label_or_title()),
            hint: read(self.placeholder),
            // A secret is kept in `text` only, which is guarded (ST-07).
            value: if password { None } else { read(value) },
            value_range: self.value_range(),
            bounds: self.bounds(),
            affordances: affordances(name, role, traits),
            state: self.state(name, role),
            password,
            displayed: self.displayed,
            app: read(self.bundle_id).unwrap_or_default().into(),
            class,
            ..Element::default()
        }
    }

    fn label_or_title(&self) -> Text<'a> {
        if self.label.is_empty() { self.title } else { self.label }
    }

    /// Returns the identifier. A name that repeats the label or the value is not one (ID-03).
    fn stable_id(&self) -> Text<'a> {
        let shown = self.name.is_same(self.label) || self.name.is_same(self.value);
        self.identifier.unwrap_or(if shown { Text::Empty } else { self.name })
    }

    /// Returns the value. Sources repeat the placeholder of an empty field, or the label of a text, as its value; those
    /// are left out.
    fn own_value(&self, role: Role) -> Text<'a> {
        // An element that was cut off may be a secret (ST-07).
        let is_substitute = self.cut
            || (role == Role::TextField && self.value.is_same(self.placeholder))
            || (matches!(role, Role::Text | Role::Heading) && self.value.is_same(self.label));
        if is_substitute { Text::Empty } else { self.value }
    }

    fn value_range(&self) -> Option<Box<ValueRange>> {
        let (min, max) = (self.min?, self.max?);
        Some(Box::new(ValueRange { min, max }))
    }

    fn bounds(&self) -> Rect {
        self.frame.rect().or_else(|| frame_of_text(self.frame_text.raw()).rect()).unwrap_or_default()
    }

    fn state(&self, name: &str, role: Role) -> State {
        let traits = |one: IosTraits| self.traits.map(|traits| traits.has(one));
        let checkable = matches!(role, Role::Switch | Role::Checkbox | Role::Radio);
        let selected_button =
            || self.is_selected_by_value(name).then_some(true).or_else(|| self.selected_in_words());
        // WDA reports the focus of remote controls and keyboards, so `false` tells nothing about a text field.
        let focused = self.focused.filter(|&focused| focused || self.dialect == Dialect::Idb);
        State {
            enabled: self.enabled.or_else(|| traits(IosTraits::NOT_ENABLED).map(|off| !off)),
            checked: one_or_zero(self.value.raw()).filter(|_| checkable),
            selected: traits(IosTraits::SELECTED).or_else(selected_button),
            focused: focused.or_else(|| traits(IosTraits::EDITING).filter(|&editing| editing)),
            expanded: self.expanded,
        }
    }
}

impl RawNode<'_> {
    /// True for a button that may be selected: WDA gives a selected button without a value the value 1, and any other
    /// button none. A number that the button shows, such as a badge, looks the same.
    pub fn is_selected_by_value(&self, name: &str) -> bool {
        let wda = self.dialect == Dialect::Wda && self.traits.is_none();
        wda && name == "Button" && self.value.raw() == b"1"
    }

    /// Reads a value by which apps say themselves whether something is selected.
    fn selected_in_words(&self) -> Option<bool> {
        match self.value.raw().to_ascii_lowercase().as_slice() {
            b"selected" => Some(true),
            b"not selected" | b"unselected" => Some(false),
            _ => None,
        }
    }
}

/// Parses 1 and 0. Words for on and off are not parsed, because they may be translated.
fn one_or_zero(raw: &[u8]) -> Option<bool> {
    match raw {
        b"1" | b"true" => Some(true),
        b"0" | b"false" => Some(false),
        _ => None,
    }
}

/// Derives the affordances from type and traits, because iOS does not report them.
fn affordances(name: &str, role: Role, traits: IosTraits) -> Affordances {
    let operated = matches!(
        role,
        Role::Button
            | Role::Link
            | Role::TextField
            | Role::Switch
            | Role::Checkbox
            | Role::Radio
            | Role::Dropdown
            | Role::Tab
            | Role::Key
            | Role::Row
    );
    let scrolls = matches!(
        name,
        "ScrollView"
            | "ScrollArea"
            | "Table"
            | "CollectionView"
            | "WebView"
            | "WebArea"
            | "TextView"
            | "TextArea"
    );
    let adjusted = matches!(name, "Slider" | "Stepper" | "PickerWheel" | "SegmentedControl");
    Affordances {
        clickable: operated || traits.has(IosTraits::BUTTON.with(IosTraits::LINK)),
        scrollable: scrolls || traits.has(IosTraits::SCROLLABLE),
        checkable: matches!(role, Role::Switch | Role::Checkbox | Role::Radio),
        adjustable: adjusted || role == Role::Picker || traits.has(IosTraits::ADJUSTABLE),
        ..Affordances::default()
    }
}

impl Frame {
    /// Rounds each edge, so that adjacent frames stay adjacent.
    fn rect(self) -> Option<Rect> {
        let (x, y) = (self.x?, self.y?);
        let (right, bottom) = (x + self.width?, y + self.height?);
        // The cast saturates.
        let edge = |points: f64| points.round() as i32;
        Some(Rect::new(edge(x), edge(y), edge(right), edge(bottom)))
    }
}

pub(super) fn number(raw: &[u8]) -> Option<f64> {
    /// Numbers with so few digits cannot overflow.
    const PLAIN_DIGITS_MAX: usize = 9;
    // Fast path for whole points, which nearly all are: it makes the largest page source an eighth faster.
    if (1..=PLAIN_DIGITS_MAX).contains(&raw.len()) && raw.iter().all(u8::is_ascii_digit) {
        let whole = raw.iter().fold(0, |whole, digit| whole * 10 + u32::from(digit - b'0'));
        return Some(f64::from(whole));
    }
    let number: f64 = std::str::from_utf8(raw).ok()?.trim().parse().ok()?;
    number.is_finite().then_some(number)
}

fn frame_of_text(raw: &[u8]) -> Frame {
    let mut numbers = raw.split(|byte| b"{}, ".contains(byte)).filter(|part| !part.is_empty()).map(number);
    let mut next = || numbers.next().flatten();
    Frame { x: next(), y: next(), width: next(), height: next() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_frame_text_becomes_a_rectangle() {
        let rect = |raw: &str| frame_of_text(raw.as_bytes()).rect();
        assert_eq!(rect("{{16, -8.5}, {370.25, 52}}"), Some(Rect::new(16, -9, 386, 44)));
        assert_eq!(rect("{{1e300, 0}, {1, 1}}"), Some(Rect::new(i32::MAX, 0, i32::MAX, 1)));
        for raw in ["", "{{1, 2}, {3}}", "{{inf, 0}, {1, 1}}", "{{nan, 0}, {1, 1}}", "{{a, 0}, {1, 1}}"] {
            assert_eq!(rect(raw), None, "{raw}");
        }
    }

    #[test]
    fn adjacent_frames_stay_adjacent() {
        let frame = |x: f64| Frame { x: Some(x), y: Some(0.0), width: Some(33.4), height: Some(1.0) };
        let rects: Vec<Rect> = (0..3).filter_map(|i| frame(33.4 * f64::from(i)).rect()).collect();
        assert_eq!((rects[0].right, rects[1].right), (rects[1].left, rects[2].left));
    }

    #[test]
    fn only_1_and_0_are_parsed_as_state() {
        assert_eq!(one_or_zero(b"1"), Some(true));
        assert_eq!(one_or_zero(b"false"), Some(false));
        for raw in ["", "on", "Ein", "2", "1.0", "null"] {
            assert_eq!(one_or_zero(raw.as_bytes()), None, "{raw}");
        }
    }
}
