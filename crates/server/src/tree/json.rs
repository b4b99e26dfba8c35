//! The full tree as JSON with the predecessor's keys and without nulls, for writing and reading back.

use std::sync::Arc;

use mdm_core::change::tracker::{Comparison, Observation};
use mdm_core::identity::{ElementId, NONE};
use mdm_core::meaning::identifier::{Census, stable_id, test_tag};
use mdm_core::meaning::label::{Value, label};
use mdm_core::meaning::semantics;
use mdm_core::meaning::state::{self, ControlState};
use mdm_core::meaning::value::Unit;
use mdm_core::screen::element::{Affordances, Element, Role, State, ValueRange};
use mdm_core::screen::geometry::Rect;
use mdm_core::screen::snapshot::{Defect, Snapshot};
use serde::{Deserialize, Serialize};

use super::TreeHead;

/// Limit of elements in one answer; the number of the others is given.
const ELEMENTS_MAX: usize = 4000;

/// A whole tree. Its elements are serialized directly from the capture.
#[derive(Debug)]
pub struct TreeJson {
    head: TreeHead,
    seen: Arc<Observation>,
    root: Option<usize>,
}

impl TreeJson {
    /// `root`: only this element and its descendants.
    pub fn new(head: TreeHead, seen: Arc<Observation>, root: Option<usize>) -> TreeJson {
        TreeJson { head, seen, root }
    }
}

impl Serialize for TreeJson {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        TreeView::new(&self.head, &self.seen, self.root).serialize(serializer)
    }
}

#[derive(Serialize)]
struct TreeView<'a> {
    platform: &'static str,
    #[serde(flatten)]
    head: &'a TreeHead,
    fingerprint: String,
    #[serde(skip_serializing_if = "is_upright")]
    rotation: u8,
    #[serde(skip_serializing_if = "Option::is_none")]
    elements_left_out: Option<usize>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    defect_list: Vec<DefectJson>,
    elements: Vec<ElementJson>,
}

fn is_upright(rotation: &u8) -> bool {
    *rotation == 0
}

#[derive(Serialize, Deserialize)]
pub(super) struct DefectJson {
    pub kind: String,
    pub offset: usize,
    pub detail: String,
}

impl From<&Defect> for DefectJson {
    fn from(defect: &Defect) -> DefectJson {
        DefectJson {
            kind: format!("{:?}", defect.kind),
            offset: defect.offset,
            detail: defect.detail.clone(),
        }
    }
}

impl<'a> TreeView<'a> {
    fn new(head: &'a TreeHead, seen: &'a Observation, root: Option<usize>) -> TreeView<'a> {
        let snapshot = &seen.reading.snapshot;
        let range = root.map_or(0..snapshot.elements.len(), |root| {
            let range = seen.reading.range(root as u32);
            range.start as usize..range.end as usize
        });
        let census = Census::of(snapshot);
        let shown = range.start..range.end.min(range.start + ELEMENTS_MAX);
        TreeView {
            platform: snapshot.platform.as_str(),
            head,
            fingerprint: seen.fingerprint.to_string(),
            rotation: snapshot.rotation,
            elements_left_out: (range.end > shown.end).then(|| range.end - shown.end),
            defect_list: snapshot.defects.iter().map(DefectJson::from).collect(),
            elements: shown.map(|index| ElementJson::new(seen, index, &census)).collect(),
        }
    }
}

/// One element. Facts of the parser, the resolver and the session have separate fields (ID-07).
#[derive(Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
struct ElementJson {
    #[serde(rename = "element_id")]
    element_id: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    index: Option<usize>,
    #[serde(flatten)]
    raw: RawJson,
    visible: bool,
    center: [i32; 2],
    #[serde(rename = "stable_id", skip_serializing_if = "Option::is_none")]
    stable_id: Option<String>,
    /// Several elements carry this stable_id (ID-04).
    #[serde(rename = "stable_id_collision", skip_serializing_if = "Option::is_none")]
    collision: Option<usize>,
    #[serde(rename = "test_tag", skip_serializing_if = "Option::is_none")]
    test_tag: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    label: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    selector: Option<SelectorJson>,
    semantic: Semantic,
    #[serde(skip_serializing_if = "Option::is_none")]
    parent_id: Option<u32>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    children: Vec<usize>,
}

#[derive(Debug, PartialEq, Serialize)]
struct SelectorJson {
    value: String,
    confidence: ConfidenceJson,
}

#[derive(Debug, PartialEq, Serialize)]
struct ConfidenceJson {
    score: f64,
    reason: &'static str,
}

#[derive(Debug, PartialEq, Serialize)]
struct Semantic {
    is_clickable: bool,
    is_container: bool,
    #[serde(flatten)]
    control: Option<ControlJson>,
}

/// A recognised control (SM-01); absent when unsure.
#[derive(Debug, PartialEq, Serialize)]
struct ControlJson {
    semantic_role: &'static str,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    adjustable: bool,
    supported_actions: &'static [&'static str],
    state_shape: &'static str,
    reason: &'static str,
    /// The element to operate, if it is another one.
    #[serde(skip_serializing_if = "Option::is_none")]
    operated: Option<String>,
}

impl ControlJson {
    fn of(seen: &Observation, index: usize) -> Option<ControlJson> {
        let control = semantics::control(&seen.reading.snapshot, index)?;
        let operated = Some(control.target as usize).filter(|target| *target != index);
        Some(ControlJson {
            semantic_role: control.kind.semantic_role(),
            adjustable: control.kind.adjustable(),
            supported_actions: control.kind.supported_actions(),
            state_shape: control.kind.state_shape().name(),
            reason: control.reason.text(),
            operated: operated.and_then(|target| seen.ids.get(target)).map(ToString::to_string),
        })
    }
}

impl ElementJson {
    fn new(seen: &Observation, index: usize, census: &Census) -> ElementJson {
        let snapshot = &seen.reading.snapshot;
        let element = &snapshot.elements[index];
        let center = element.bounds.center();
        let id = stable_id(element);
        let selector = census.identifier(snapshot, element).filter(|_| !element.password).map(|selector| {
            let confidence =
                ConfidenceJson { score: selector.confidence.score, reason: selector.confidence.reason };
            SelectorJson { value: selector.value.to_owned(), confidence }
        });
        ElementJson {
            element_id: seen.ids.get(index).copied().unwrap_or(ElementId(0)).to_string(),
            index: Some(index),
            raw: RawJson::from(element).with_state(&state::read(snapshot, index)),
            visible: seen.reading.nodes[index].visible.is_some(),
            center: [center.x, center.y],
            stable_id: id.map(str::to_owned),
            collision: id.map(|id| census.with_id(id)).filter(|holders| *holders > 1),
            test_tag: test_tag(snapshot, element).map(str::to_owned),
            label: label(snapshot, index).filter(|label| label.sure).map(|label| label.text.into_owned()),
            selector,
            semantic: Semantic {
                is_clickable: semantics::is_clickable(element),
                is_container: semantics::is_container(snapshot, index),
                control: ControlJson::of(seen, index),
            },
            parent_id: element.parent,
            children: snapshot.children(index).take(ELEMENTS_MAX).collect(),
        }
    }
}

/// Everything that the parser extracted, so that the tree can be read back unchanged.
#[derive(Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct RawJson {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    text: Option<Box<str>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    content_description: Option<Box<str>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    hint: Option<Box<str>>,
    #[serde(default, rename = "type")]
    class: Box<str>,
    #[serde(default, skip_serializing_if = "str::is_empty")]
    package: Box<str>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    resource_id: Option<Box<str>>,
    #[serde(default)]
    clickable: bool,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    enabled: Option<bool>,
    bounds: [i32; 4],
    depth: u16,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    role: Option<Box<str>>,
    #[serde(default, skip_serializing_if = "StateJson::is_empty")]
    state: StateJson,
    /// The value and its range as the platform reports them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    platform_value: Option<Box<str>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    platform_range: Option<RangeJson>,
    /// Length of a secret field's text; the text itself is never sent.
    #[serde(default, rename = "password_length", skip_serializing_if = "Option::is_none")]
    password_length: Option<usize>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    displayed: Option<bool>,
    /// Names of the flags that are set: `long_click`, `scroll`, `password` and the others in [`can`].
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    can: Vec<Box<str>>,
}

#[derive(Debug, Default, PartialEq, Serialize, Deserialize)]
struct StateJson {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    checked: Option<bool>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    selected: Option<SelectedJson>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    focused: Option<bool>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    expanded: Option<bool>,
    /// Values derived from the other fields; ignored when the tree is read back.
    #[serde(default, skip_deserializing, flatten)]
    read: Option<ReadJson>,
}

/// The element's selected flag, or the option selected in it (ST-04).
#[derive(Debug, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
enum SelectedJson {
    Flag(bool),
    Choice {
        #[serde(default, skip_serializing_if = "Option::is_none")]
        id: Option<String>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        label: Option<String>,
        /// The platform's flag for the element itself.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        itself: Option<bool>,
    },
}

impl SelectedJson {
    fn flag(&self) -> Option<bool> {
        match self {
            SelectedJson::Flag(flag) => Some(*flag),
            SelectedJson::Choice { itself, .. } => *itself,
        }
    }
}

#[derive(Debug, Default, PartialEq, Serialize)]
struct ReadJson {
    #[serde(skip_serializing_if = "Option::is_none")]
    text_value: Option<String>,
    /// In the control's own range if it is known, else in `unit`.
    #[serde(skip_serializing_if = "Option::is_none")]
    value: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    unit: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    value_range: Option<RangeJson>,
    /// The platform's text.
    #[serde(skip_serializing_if = "Option::is_none")]
    raw_value: Option<String>,
}

impl ReadJson {
    fn of(state: &ControlState<'_>) -> Option<ReadJson> {
        let unit = state.unit.and_then(|unit| match unit {
            Unit::None => None,
            Unit::Percent => Some("%".to_owned()),
            Unit::Of(max) => Some(format!("of {max}")),
            Unit::Own(unit) => Some(unit.to_owned()),
        });
        let read = ReadJson {
            text_value: match state.text_value {
                Some(Value::Text(text)) => Some(text.to_owned()),
                Some(Value::Hidden { .. }) | None => None,
            },
            value: state.value,
            unit: unit.filter(|_| state.value.is_some()),
            value_range: state.value_range.map(|r| RangeJson { min: r.min, max: r.max }),
            raw_value: state.raw_value.map(str::to_owned),
        };
        let says = read.text_value.is_some() || read.value.is_some() || read.raw_value.is_some();
        says.then_some(read)
    }
}

#[derive(Debug, Clone, Copy, Serialize, Deserialize, PartialEq)]
struct RangeJson {
    min: f64,
    max: f64,
}

impl StateJson {
    fn is_empty(&self) -> bool {
        let flags = self.checked.or(self.focused).or(self.expanded);
        flags.is_none() && self.selected.is_none() && self.read.is_none()
    }
}

const CAN_PASSWORD: &str = "password";
const IS_SYSTEM_WINDOW: &str = "system_window";
const IS_CLOCK: &str = "clock";
const MAY_BE_HINT: &str = "text_may_be_hint";

fn can(element: &Element) -> Vec<Box<str>> {
    let Affordances { clickable: _, long_clickable, scrollable, focusable, checkable, adjustable } =
        element.affordances;
    let named = [
        (long_clickable, "long_click"),
        (scrollable, "scroll"),
        (focusable, "focus"),
        (checkable, "check"),
        (adjustable, "adjust"),
        (element.password, CAN_PASSWORD),
        (element.system_window, IS_SYSTEM_WINDOW),
        (element.clock, IS_CLOCK),
        (element.text_may_be_hint, MAY_BE_HINT),
    ];
    named.into_iter().filter(|(yes, _)| *yes).map(|(_, name)| name.into()).collect()
}

impl From<&Element> for RawJson {
    fn from(element: &Element) -> RawJson {
        let Rect { left, top, right, bottom } = element.bounds;
        let open = !element.password;
        // Some apps repeat a secret in the field's description.
        let description = element.description.clone().filter(|d| open || Some(d) != element.text.as_ref());
        RawJson {
            text: element.text.clone().filter(|_| open),
            content_description: description,
            hint: element.hint.clone(),
            class: (&*element.class).into(),
            package: (&*element.app).into(),
            resource_id: element.stable_id.clone(),
            clickable: element.affordances.clickable,
            enabled: element.state.enabled,
            bounds: [left, top, right, bottom],
            depth: element.depth,
            role: Some(role_name(element.role).into()),
            state: StateJson {
                checked: element.state.checked,
                selected: element.state.selected.map(SelectedJson::Flag),
                focused: element.state.focused,
                expanded: element.state.expanded,
                read: None,
            },
            platform_value: element.value.clone().filter(|_| open),
            platform_range: element.value_range.as_ref().map(|r| RangeJson { min: r.min, max: r.max }),
            password_length: element
                .text
                .as_ref()
                .filter(|_| element.password)
                .map(|text| text.chars().count()),
            displayed: element.displayed,
            can: can(element),
        }
    }
}

impl RawJson {
    /// Adds the values that are derived from the element and its parts.
    fn with_state(mut self, state: &ControlState<'_>) -> RawJson {
        self.state.read = ReadJson::of(state);
        if let Some(choice) = &state.choice {
            let itself = self.state.selected.as_ref().and_then(SelectedJson::flag);
            self.state.selected = Some(SelectedJson::Choice {
                id: choice.id.map(str::to_owned),
                label: choice.label.as_deref().map(str::to_owned),
                itself,
            });
        }
        self
    }
}

impl From<RawJson> for Element {
    fn from(raw: RawJson) -> Element {
        let [left, top, right, bottom] = raw.bounds;
        let has = |name: &str| raw.can.iter().any(|other| **other == *name);
        let password = has(CAN_PASSWORD);
        let hidden = raw.password_length.filter(|_| password).map(|length| dots(length).into());
        Element {
            details: None,
            parent: None,
            end: 0,
            depth: raw.depth,
            role: raw.role.as_deref().and_then(role_of).unwrap_or_default(),
            affordances: Affordances {
                clickable: raw.clickable,
                long_clickable: has("long_click"),
                scrollable: has("scroll"),
                focusable: has("focus"),
                checkable: has("check"),
                adjustable: has("adjust"),
            },
            class: raw.class.into(),
            app: raw.package.into(),
            stable_id: raw.resource_id,
            text: raw.text.or(hidden),
            description: raw.content_description,
            hint: raw.hint,
            text_may_be_hint: has(MAY_BE_HINT),
            value: raw.platform_value,
            value_range: raw.platform_range.map(|r| Box::new(ValueRange { min: r.min, max: r.max })),
            bounds: Rect { left, top, right, bottom },
            drawing_order: None,
            state: State {
                enabled: raw.enabled,
                checked: raw.state.checked,
                selected: raw.state.selected.as_ref().and_then(SelectedJson::flag),
                focused: raw.state.focused,
                expanded: raw.state.expanded,
            },
            password,
            displayed: raw.displayed,
            system_window: has(IS_SYSTEM_WINDOW),
            clock: has(IS_CLOCK),
        }
    }
}

/// Limit of a secret's length in a file.
const PASSWORD_LENGTH_MAX: usize = 4096;

fn dots(length: usize) -> String {
    "•".repeat(length.min(PASSWORD_LENGTH_MAX))
}

/// Replaces secrets by dots, as in every answer of the server.
pub fn redacted(mut snapshot: Snapshot) -> Snapshot {
    for element in snapshot.elements.iter_mut().filter(|element| element.password) {
        if element.description == element.text {
            element.description = None;
        }
        element.text = element.text.take().map(|text| dots(text.chars().count()).into());
        element.value = None;
    }
    snapshot
}

const ROLES: [(Role, &str); 23] = [
    (Role::Button, "button"),
    (Role::Link, "link"),
    (Role::Text, "text"),
    (Role::Heading, "heading"),
    (Role::TextField, "text_field"),
    (Role::Switch, "switch"),
    (Role::Checkbox, "checkbox"),
    (Role::Radio, "radio"),
    (Role::Slider, "slider"),
    (Role::Stepper, "stepper"),
    (Role::Picker, "picker"),
    (Role::Dropdown, "dropdown"),
    (Role::SegmentedControl, "segmented_control"),
    (Role::Tab, "tab"),
    (Role::Key, "key"),
    (Role::Image, "image"),
    (Role::Progress, "progress"),
    (Role::List, "list"),
    (Role::Row, "row"),
    (Role::WebView, "web_view"),
    (Role::Dialog, "dialog"),
    (Role::Container, "container"),
    (Role::Unknown, "unknown"),
];

/// The contract's name of a role (ID-09).
pub fn role_name(role: Role) -> &'static str {
    ROLES.iter().find(|(other, _)| *other == role).map_or("unknown", |(_, name)| name)
}

fn role_of(name: &str) -> Option<Role> {
    ROLES.iter().find(|(_, other)| *other == name).map(|(role, _)| *role)
}

/// A later tree as changes to an earlier one (SY-15): kept ranges, changed and new elements, in the later tree's order.
/// The elements are those of the whole tree without `index`, `parentId` and `children`, which follow from the order and
/// `depth`. Applied to the earlier tree they give the later one, derived fields too (F17).
#[derive(Debug, Serialize)]
pub struct DeltaJson {
    #[serde(flatten)]
    head: TreeHead,
    since_revision: u64,
    ops: Vec<OpJson>,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "lowercase")]
enum OpJson {
    /// First index in the earlier tree, and the number of elements.
    Keep([u32; 2]),
    Patch {
        from: u32,
        element: Box<ElementJson>,
    },
    Put(Box<ElementJson>),
}

impl DeltaJson {
    pub fn new(head: TreeHead, since: &Comparison, now: &Observation) -> DeltaJson {
        let (before, after) = (unplaced(&since.base), unplaced(now));
        let mut ops: Vec<OpJson> = Vec::new();
        for (new, element) in after.into_iter().enumerate() {
            let old = since.pairing.to_old.get(new).copied().unwrap_or(NONE);
            match before.get(old as usize) {
                None => ops.push(OpJson::Put(Box::new(element))),
                Some(was) if *was != element => {
                    ops.push(OpJson::Patch { from: old, element: Box::new(element) });
                }
                Some(_) => match ops.last_mut() {
                    Some(OpJson::Keep([from, count])) if *from + *count == old => *count += 1,
                    _ => ops.push(OpJson::Keep([old, 1])),
                },
            }
        }
        DeltaJson { head, since_revision: since.base.revision, ops }
    }
}

/// The elements of a capture without what depends on their place in the list.
fn unplaced(seen: &Observation) -> Vec<ElementJson> {
    let census = Census::of(&seen.reading.snapshot);
    let unplaced = |index: usize| ElementJson {
        index: None,
        parent_id: None,
        children: Vec::new(),
        ..ElementJson::new(seen, index, &census)
    };
    (0..seen.reading.nodes.len()).map(unplaced).collect()
}
