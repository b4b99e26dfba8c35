//! The full tree in the predecessor's keys, without nulls.

use mdm_core::element::{Element, Role};
use mdm_core::geometry::{Rect, Size};
use mdm_core::label::label;
use mdm_core::snapshot::Snapshot;
use mdm_core::visible::visible_rects;
use mdm_engine::Observed;
use serde::Serialize;

use super::observe::Partial;

/// Elements in one answer; the rest is counted.
const ELEMENTS_MAX: usize = 4000;

#[derive(Serialize)]
pub struct Resolution {
    width: u32,
    height: u32,
}

impl From<Size> for Resolution {
    fn from(size: Size) -> Resolution {
        Resolution { width: size.width, height: size.height }
    }
}

/// What every answer about a tree begins with; all come from one capture (SY-01).
#[derive(Serialize)]
pub struct TreeHead<'a> {
    device: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    screen: Option<String>,
    resolution: Resolution,
    snapshot_revision: u64,
    captured_at_ms: u64,
    #[serde(flatten)]
    partial: Option<Partial>,
}

impl<'a> TreeHead<'a> {
    pub fn new(device: &'a str, observed: &Observed) -> TreeHead<'a> {
        let snapshot = &observed.snapshot;
        TreeHead {
            device,
            screen: snapshot.screen.as_ref().map(|screen| screen.component()),
            resolution: snapshot.size.into(),
            snapshot_revision: observed.revision,
            captured_at_ms: observed.captured_at_ms,
            partial: Partial::of(snapshot),
        }
    }
}

#[derive(Serialize)]
pub struct TreeJson<'a> {
    #[serde(flatten)]
    head: TreeHead<'a>,
    #[serde(skip_serializing_if = "Option::is_none")]
    elements_left_out: Option<usize>,
    elements: Vec<ElementJson<'a>>,
}

impl<'a> TreeJson<'a> {
    pub fn new(device: &'a str, observed: &'a Observed) -> TreeJson<'a> {
        let snapshot = &observed.snapshot;
        let visible = visible_rects(snapshot);
        let shown = snapshot.elements.len().min(ELEMENTS_MAX);
        TreeJson {
            head: TreeHead::new(device, observed),
            elements_left_out: (snapshot.elements.len() > shown).then(|| snapshot.elements.len() - shown),
            elements: (0..shown).map(|index| ElementJson::new(snapshot, index, visible[index])).collect(),
        }
    }
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct ElementJson<'a> {
    index: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    text: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    content_description: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    hint: Option<&'a str>,
    #[serde(rename = "type")]
    class: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    resource_id: Option<&'a str>,
    clickable: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    enabled: Option<bool>,
    visible: bool,
    bounds: [i32; 4],
    center: [i32; 2],
    depth: u16,
    #[serde(skip_serializing_if = "StateJson::is_empty")]
    state: StateJson,
    #[serde(rename = "stable_id", skip_serializing_if = "Option::is_none")]
    stable_id: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    role: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    label: Option<String>,
    semantic: Semantic,
    #[serde(skip_serializing_if = "Option::is_none")]
    parent_id: Option<u32>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    children: Vec<usize>,
    /// A secret field: its text is never sent.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    password: bool,
}

#[derive(Serialize)]
struct StateJson {
    #[serde(skip_serializing_if = "Option::is_none")]
    checked: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    selected: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    focused: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    expanded: Option<bool>,
}

impl StateJson {
    fn is_empty(&self) -> bool {
        self.checked.or(self.selected).or(self.focused).or(self.expanded).is_none()
    }
}

#[derive(Serialize)]
struct Semantic {
    is_clickable: bool,
    is_container: bool,
}

impl<'a> ElementJson<'a> {
    fn new(snapshot: &'a Snapshot, index: usize, visible: Option<Rect>) -> ElementJson<'a> {
        let element = &snapshot.elements[index];
        let bounds = element.bounds;
        let center = bounds.center();
        let children: Vec<usize> = snapshot.children(index).filter(|child| *child < ELEMENTS_MAX).collect();
        ElementJson {
            index,
            text: element.text.as_deref().filter(|_| !element.password),
            // Some apps repeat a secret in its description.
            content_description: element
                .description
                .as_deref()
                .filter(|d| !(element.password && Some(*d) == element.text.as_deref())),
            hint: element.hint.as_deref(),
            class: &element.class,
            resource_id: element.stable_id.as_deref(),
            clickable: element.affordances.clickable,
            enabled: element.state.enabled,
            visible: visible.is_some(),
            bounds: [bounds.left, bounds.top, bounds.right, bounds.bottom],
            center: [center.x, center.y],
            depth: element.depth,
            state: state_of(element),
            stable_id: element.stable_id.as_deref(),
            role: role_name(element.role),
            label: label(snapshot, index).map(|label| label.text.into_owned()),
            semantic: Semantic {
                is_clickable: element.affordances.clickable,
                is_container: matches!(element.role, Role::Container | Role::List),
            },
            parent_id: element.parent,
            children,
            password: element.password,
        }
    }
}

/// A state is given where it says something: every node of a dump has `focused="false"`.
fn state_of(element: &Element) -> StateJson {
    let state = &element.state;
    StateJson {
        checked: state.checked,
        selected: state.selected.filter(|selected| *selected),
        focused: state.focused.filter(|focused| *focused),
        expanded: state.expanded,
    }
}

fn role_name(role: Role) -> Option<&'static str> {
    Some(match role {
        Role::Button => "button",
        Role::Link => "link",
        Role::Heading => "heading",
        Role::Picker => "picker",
        Role::Key => "key",
        Role::Row => "row",
        Role::Dialog => "dialog",
        Role::Text => "text",
        Role::TextField => "text_field",
        Role::Switch => "switch",
        Role::Checkbox => "checkbox",
        Role::Radio => "radio",
        Role::Slider => "slider",
        Role::Stepper => "stepper",
        Role::Dropdown => "dropdown",
        Role::SegmentedControl => "segmented_control",
        Role::Tab => "tab",
        Role::Image => "image",
        Role::Progress => "progress",
        Role::List => "list",
        Role::WebView => "web_view",
        Role::Container => "container",
        Role::Unknown => return None,
    })
}
