//! Elements of a screen with the predecessor's keys.

use mdm_core::change::tracker::Observation;
use mdm_core::identity::ElementId;
use mdm_core::meaning::label::Value;
use mdm_core::meaning::semantics::{self, Control};
use mdm_core::meaning::state::{self, ControlState};
use mdm_core::screen::element::{Element, Role, State};
use mdm_core::screen::geometry::Rect;
use mdm_core::screen::snapshot::{Platform, Snapshot};
use serde::Serialize;

use super::expects::StateValue;
use super::parts::Asked;

/// Elements in one answer.
const ELEMENTS_MAX: usize = 4000;
/// The hexadecimal digits of an element id.
const ID_DIGITS: usize = 24;

/// Writes an id as the predecessor wrote its ids.
pub fn element_id(id: ElementId) -> String {
    format!("el_{:0width$x}", id.0, width = ID_DIGITS)
}

/// Reads an id that was written so.
pub fn parse_element_id(text: &str) -> Option<ElementId> {
    let digits = text.strip_prefix("el_").filter(|digits| digits.len() == ID_DIGITS)?;
    u32::from_str_radix(digits, 16).ok().map(ElementId)
}

/// The elements that the predecessor told of, in its order: those with words, and those that can be tapped.
pub struct Elements<'a> {
    seen: &'a Observation,
    listed: Vec<u32>,
}

impl<'a> Elements<'a> {
    pub fn of(seen: &'a Observation) -> Elements<'a> {
        let snapshot = &seen.reading.snapshot;
        let is_listed = |(_, element): &(usize, &Element)| is_listed(snapshot.platform, element);
        let all = snapshot.elements.iter().enumerate();
        let listed = all.filter(is_listed).map(|(index, _)| index as u32).take(ELEMENTS_MAX).collect();
        Elements { seen, listed }
    }

    pub fn tree(&self) -> Vec<TreeElement> {
        (0..self.listed.len()).map(|place| self.tree_element(place)).collect()
    }

    /// The place in the list, if it is listed.
    pub fn place(&self, index: u32) -> Option<usize> {
        self.listed.binary_search(&index).ok()
    }

    fn parent(&self, place: usize) -> Option<usize> {
        let elements = &self.seen.reading.snapshot.elements;
        let mut above = elements.get(self.listed[place] as usize)?.parent;
        while let Some(index) = above {
            if let Some(place) = self.place(index) {
                return Some(place);
            }
            above = elements.get(index as usize)?.parent;
        }
        None
    }

    fn depth(&self, place: usize) -> usize {
        std::iter::successors(self.parent(place), |above| self.parent(*above)).count()
    }

    /// Direct children only: one below an element that is not listed was nobody's child.
    fn children(&self, place: usize) -> Vec<usize> {
        let index = self.listed[place] as usize;
        self.seen.reading.snapshot.children(index).filter_map(|child| self.place(child as u32)).collect()
    }

    fn tree_element(&self, place: usize) -> TreeElement {
        let snapshot = &self.seen.reading.snapshot;
        let index = self.listed[place] as usize;
        let element = &snapshot.elements[index];
        let center = element.bounds.center();
        let identity = Identity::of(snapshot, index);
        TreeElement {
            text: text(snapshot.platform, element),
            content_description: description(snapshot.platform, element),
            class: element.class.to_string(),
            resource_id: identity.stable_id.clone(),
            clickable: element.affordances.clickable,
            enabled: element.state.enabled.unwrap_or(true),
            visible: self.seen.reading.nodes[index].visible.is_some(),
            bounds: bounds(element.bounds),
            center: [center.x, center.y],
            depth: self.depth(place),
            state: StateJson::of(snapshot, index),
            identity,
            parent_id: self.parent(place),
            children: self.children(place),
        }
    }

    pub fn resolved(&self, index: u32) -> Resolved {
        let snapshot = &self.seen.reading.snapshot;
        let element = &snapshot.elements[index as usize];
        Resolved {
            text: text(snapshot.platform, element),
            resource_id: element.stable_id.as_deref().map(str::to_owned),
            accessibility_id: description(snapshot.platform, element),
            class: Some(element.class.to_string()),
            bounds: bounds(element.bounds),
            index: self.place(index),
            element_id: self.seen.ids.get(index as usize).copied().map(element_id),
            state: StateJson::of(snapshot, index as usize),
        }
    }

    /// Those of the matches whose own words match: the predecessor knew no words of others.
    pub fn by_own_words(&self, matches: &[u32], asked: &Asked) -> Vec<u32> {
        let snapshot = &self.seen.reading.snapshot;
        let partly = asked.selector().and_then(|s| s.get("contains")).is_some_and(|flag| flag == true);
        let wanted = asked.selector().and_then(|selector| selector.get("text")?.as_str());
        let Some(wanted) = wanted.map(|text| text.trim().to_lowercase()) else { return matches.to_vec() };
        let is_own = |index: &&u32| {
            let words = text(snapshot.platform, &snapshot.elements[**index as usize]);
            let words = words.map(|words| words.trim().to_lowercase());
            words.is_some_and(|words| if partly { words.contains(&wanted) } else { words == wanted })
        };
        let own: Vec<u32> = matches.iter().filter(is_own).copied().collect();
        if own.is_empty() { matches.to_vec() } else { own }
    }

    pub fn full(&self, index: u32) -> FullElement {
        let identity = Identity::of(&self.seen.reading.snapshot, index as usize);
        FullElement { resolved: self.resolved(index), identity }
    }
}

fn is_listed(platform: Platform, element: &Element) -> bool {
    let has_words = text(platform, element).is_some() || description(platform, element).is_some();
    match platform {
        Platform::Android => !element.class.is_empty() && (element.affordances.clickable || has_words),
        Platform::Ios => {
            let class = kind_of_ios(&element.class);
            has_words || matches!(class, "button" | "cell" | "application" | "window")
        }
    }
}

/// `XCUIElementTypeButton` and `Button` are one kind.
fn kind_of_ios(class: &str) -> &'static str {
    let class = class.strip_prefix("XCUIElementType").unwrap_or(class);
    let kinds = ["button", "cell", "application", "window"];
    kinds.into_iter().find(|kind| class.eq_ignore_ascii_case(kind)).unwrap_or("")
}

pub fn text(platform: Platform, element: &Element) -> Option<String> {
    let words = match platform {
        Platform::Android => &element.text,
        Platform::Ios => {
            if element.text.is_some() {
                &element.text
            } else {
                &element.description
            }
        }
    };
    said(words, element)
}

/// The description; on iOS the value.
pub fn description(platform: Platform, element: &Element) -> Option<String> {
    match platform {
        Platform::Android => said(&element.description, element),
        Platform::Ios => said(&element.value, element),
    }
}

/// A secret is not said (ST-07).
fn said(words: &Option<Box<str>>, element: &Element) -> Option<String> {
    words.as_deref().filter(|words| !words.is_empty() && !element.password).map(str::to_owned)
}

pub fn bounds(rect: Rect) -> [i32; 4] {
    [rect.left, rect.top, rect.right, rect.bottom]
}

/// One element of a tree.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub struct TreeElement {
    text: Option<String>,
    content_description: Option<String>,
    #[serde(rename = "type")]
    class: String,
    resource_id: Option<String>,
    clickable: bool,
    enabled: bool,
    visible: bool,
    bounds: [i32; 4],
    center: [i32; 2],
    depth: usize,
    state: Option<StateJson>,
    #[serde(flatten)]
    identity: Identity,
    #[serde(skip_serializing_if = "Option::is_none")]
    parent_id: Option<usize>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    children: Vec<usize>,
}

/// What an action was done to.
#[derive(Clone, Default, Serialize)]
pub struct Resolved {
    #[serde(rename = "elementId")]
    pub element_id: Option<String>,
    pub text: Option<String>,
    pub resource_id: Option<String>,
    pub accessibility_id: Option<String>,
    pub class: Option<String>,
    pub bounds: [i32; 4],
    /// Its place in the tree.
    pub index: Option<usize>,
    pub state: Option<StateJson>,
}

/// The same with all by which it can be found again.
#[derive(Clone, Serialize)]
pub struct FullElement {
    #[serde(flatten)]
    pub resolved: Resolved,
    #[serde(flatten)]
    pub identity: Identity,
}

#[derive(Clone, Serialize)]
pub struct Identity {
    stable_id: Option<String>,
    role: Option<&'static str>,
    test_tag: Option<String>,
    selector: SelectorJson,
    semantic: Semantic,
}

impl Identity {
    pub fn of(snapshot: &Snapshot, index: usize) -> Identity {
        let element = &snapshot.elements[index];
        let stable_id = element.stable_id.as_deref().map(str::to_owned);
        Identity {
            role: role(element.role),
            // The predecessor had one identifier under two names.
            test_tag: stable_id.clone(),
            selector: SelectorJson::of(snapshot.platform, element),
            semantic: Semantic::of(snapshot, index),
            stable_id,
        }
    }
}

/// The role in the predecessor's words; others it did not tell.
fn role(role: Role) -> Option<&'static str> {
    Some(match role {
        Role::Slider => "slider",
        Role::Stepper => "stepper",
        Role::Dropdown | Role::Picker => "dropdown",
        Role::SegmentedControl => "segmented_control",
        Role::Switch => "switch",
        Role::Checkbox => "checkbox",
        Role::Radio => "radio",
        Role::TextField => "text_field",
        Role::Button => "button",
        Role::Image => "image",
        Role::Container | Role::List | Role::Dialog => "container",
        Role::Link
        | Role::Text
        | Role::Heading
        | Role::Tab
        | Role::Key
        | Role::Progress
        | Role::Row
        | Role::WebView
        | Role::Unknown => return None,
    })
}

#[derive(Clone, Serialize)]
struct SelectorJson {
    value: String,
    confidence: Confidence,
}

#[derive(Clone, Serialize)]
struct Confidence {
    score: f64,
    reason: &'static str,
}

impl SelectorJson {
    fn of(platform: Platform, element: &Element) -> SelectorJson {
        let (text, description) = (text(platform, element), description(platform, element));
        let id = element.stable_id.as_deref().map(str::to_owned);
        let class = || element.class.to_lowercase();
        let (value, score, reason) = match (platform, id, text, description) {
            (Platform::Android, Some(id), ..) => (id, 1.0, "resource_id"),
            (Platform::Ios, Some(id), ..) => (id, 1.0, "accessibility_identifier"),
            (Platform::Android, None, _, Some(words)) => (words, 0.9, "content_description"),
            (Platform::Android, None, Some(words), None) => (words, 0.6, "text_match"),
            (Platform::Ios, None, Some(label), _) => (label, 0.9, "label_match"),
            (Platform::Ios, None, None, Some(value)) => (value, 0.75, "value_match"),
            (Platform::Android, None, None, None) => (class(), 0.35, "class_match"),
            (Platform::Ios, None, None, None) => (element.class.to_string(), 0.35, "type_match"),
        };
        SelectorJson { value, confidence: Confidence { score, reason } }
    }
}

#[derive(Clone, Serialize)]
struct Semantic {
    is_clickable: bool,
    is_container: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    semantic_role: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    adjustable: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    supported_actions: Option<&'static [&'static str]>,
    #[serde(skip_serializing_if = "Option::is_none")]
    state_shape: Option<&'static str>,
}

impl Semantic {
    fn of(snapshot: &Snapshot, index: usize) -> Semantic {
        let element = &snapshot.elements[index];
        // Groups that are controls as a whole were not known: an element was a control by itself or none.
        let itself = |control: &Control| {
            control.target as usize == index && control.kind.semantic_role() != "composite_control"
        };
        let kind = semantics::control(snapshot, index).filter(itself).map(|control| control.kind);
        let is_clickable = semantics::is_clickable(element);
        Semantic {
            is_clickable,
            is_container: semantics::is_container(snapshot, index),
            semantic_role: kind.map(|kind| kind.semantic_role()),
            adjustable: kind.and_then(|kind| kind.adjustable().then_some(true)),
            supported_actions: match kind {
                Some(kind) => Some(kind.supported_actions()),
                None => is_clickable.then_some(&["tap"]),
            },
            state_shape: kind.map(|kind| kind.state_shape().name()),
        }
    }
}

#[derive(Clone, Serialize)]
pub struct StateJson {
    #[serde(skip_serializing_if = "Option::is_none")]
    checked: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    selected: Option<Selected>,
    #[serde(skip_serializing_if = "Option::is_none")]
    focused: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    expanded: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    enabled: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    text_value: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    raw_value: Option<Reading>,
    /// Null of a slider whose range is not known.
    #[serde(skip_serializing_if = "Option::is_none")]
    value_range: Option<Option<Range>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    value: Option<Reading>,
}

/// A number, or the text that stands for one.
#[derive(Clone, Serialize)]
#[serde(untagged)]
pub enum Reading {
    Number(Number),
    Text(String),
}

/// Whole numbers are written without a fraction, as JavaScript does.
#[derive(Clone, Copy, PartialEq)]
pub struct Number(pub f64);

impl Serialize for Number {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        /// Above it a whole number cannot be told from its neighbours.
        const WHOLE_MAX: f64 = 9_007_199_254_740_992.0;
        if self.0.fract() == 0.0 && self.0.abs() <= WHOLE_MAX {
            return serializer.serialize_i64(self.0 as i64);
        }
        serializer.serialize_f64(self.0)
    }
}

impl Reading {
    pub fn of(text: &str) -> Reading {
        match text.trim().parse::<f64>() {
            Ok(number) if number.is_finite() => Reading::Number(Number(number)),
            _ => Reading::Text(text.to_owned()),
        }
    }
}

#[derive(Clone, Serialize)]
#[serde(untagged)]
enum Selected {
    Flag(bool),
    Choice(String),
}

#[derive(Clone, Serialize)]
struct Range {
    min: Number,
    max: Number,
}

impl StateJson {
    pub fn of(snapshot: &Snapshot, index: usize) -> Option<StateJson> {
        let element = &snapshot.elements[index];
        let read = state::read(snapshot, index);
        let mut told = match snapshot.platform {
            Platform::Android => StateJson::flags_of_android(element.state),
            Platform::Ios => StateJson::flags_of_ios(element.state),
        };
        if let Some(choice) = &read.choice {
            told.selected = choice.label.as_deref().map(|label| Selected::Choice(label.to_owned()));
        }
        told.add_values(snapshot.platform, element, &read);
        (!told.is_empty()).then_some(told)
    }

    /// Android's trees have these flags of every element, whatever it is.
    fn flags_of_android(state: State) -> StateJson {
        StateJson {
            checked: Some(state.checked.unwrap_or(false)),
            selected: Some(Selected::Flag(state.selected.unwrap_or(false))),
            focused: Some(state.focused.unwrap_or(false)),
            enabled: Some(state.enabled.unwrap_or(true)),
            ..StateJson::nothing(state.expanded)
        }
    }

    /// Of iOS only what is true was told.
    fn flags_of_ios(state: State) -> StateJson {
        let told = |flag: Option<bool>| flag.filter(|flag| *flag);
        StateJson {
            selected: told(state.selected).map(Selected::Flag),
            focused: told(state.focused),
            ..StateJson::nothing(state.expanded)
        }
    }

    fn nothing(expanded: Option<bool>) -> StateJson {
        StateJson {
            checked: None,
            selected: None,
            focused: None,
            expanded,
            enabled: None,
            text_value: None,
            raw_value: None,
            value_range: None,
            value: None,
        }
    }

    fn add_values(&mut self, platform: Platform, element: &Element, read: &ControlState<'_>) {
        if element.password {
            return;
        }
        if let Some(Value::Text(text)) = read.text_value.as_ref().filter(|_| element.role == Role::TextField)
        {
            self.text_value = Some((*text).to_owned());
        }
        if element.role == Role::Slider || element.affordances.adjustable {
            let number = read.value.map(|value| Reading::Number(Number(value)));
            self.raw_value = number.clone().or_else(|| read.raw_value.map(Reading::of));
            self.value = number.or_else(|| self.raw_value.clone());
            let range = read.value_range.map(|r| Range { min: Number(r.min), max: Number(r.max) });
            self.value_range = match (platform, range) {
                (Platform::Ios, None) => None,
                (_, range) => self.value.is_some().then_some(range),
            };
            return;
        }
        match platform {
            Platform::Android => self.value = said(&element.text, element).map(Reading::Text),
            Platform::Ios => {
                self.value = said(&element.value, element).map(|value| Reading::of(&value));
                let is_number = matches!(self.value, Some(Reading::Number(_)));
                self.raw_value = self.value.clone().filter(|_| is_number);
            }
        }
    }

    /// The member with this name, where it is told.
    pub fn property(&self, name: &str) -> Option<StateValue> {
        let flag = |flag: Option<bool>| flag.map(StateValue::Flag);
        match name {
            "checked" => flag(self.checked),
            "focused" => flag(self.focused),
            "expanded" => flag(self.expanded),
            "enabled" => flag(self.enabled),
            "selected" => self.selected.as_ref().map(|selected| match selected {
                Selected::Flag(flag) => StateValue::Flag(*flag),
                Selected::Choice(choice) => StateValue::Reading(Reading::Text(choice.clone())),
            }),
            "text_value" => self.text_value.clone().map(|text| StateValue::Reading(Reading::Text(text))),
            "value" => self.value.clone().map(StateValue::Reading),
            "raw_value" => self.raw_value.clone().or(self.value.clone()).map(StateValue::Reading),
            _ => None,
        }
    }

    /// The value and what it was read from, where it is a number.
    pub fn number(&self) -> Option<(Reading, Option<Reading>)> {
        let value = self.value.clone().filter(|value| matches!(value, Reading::Number(_)))?;
        Some((value, self.raw_value.clone()))
    }

    fn is_empty(&self) -> bool {
        let flags = self.checked.or(self.focused).or(self.expanded).or(self.enabled);
        flags.is_none() && self.selected.is_none() && self.text_value.is_none() && self.value.is_none()
    }
}
