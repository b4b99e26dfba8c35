//! The JSON of selectors and of node information.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::app::geometry::Rect;
use crate::helpers::selector::{CHAIN_MAX, Relation, Selector, SelectorStep, Test};
use crate::helpers::tree::Node;

/// A UiSelector in the client's JSON: its own fields, and lists of child and sibling selectors.
#[derive(Debug, Deserialize)]
#[serde(transparent)]
pub struct UiSelector(BTreeMap<String, Field>);

/// A reference to an object: a name that the client received before, or a selector.
#[derive(Debug, Deserialize)]
#[serde(untagged)]
pub enum ObjectRef {
    Name(String),
    Fields(UiSelector),
}

#[derive(Debug, Deserialize)]
#[serde(untagged)]
enum Field {
    Flag(bool),
    Number(i64),
    Text(String),
    Words(Vec<String>),
    Selectors(Vec<UiSelector>),
    Null(()),
}

impl UiSelector {
    /// Returns the selector, or nothing when a field is unknown or of the wrong kind.
    pub fn selector(&self) -> Option<Selector> {
        let first = self.step()?;
        let relations = match self.0.get("childOrSibling") {
            Some(Field::Words(words)) => words.as_slice(),
            _ => &[],
        };
        let selectors = match self.0.get("childOrSiblingSelector") {
            Some(Field::Selectors(selectors)) => selectors.as_slice(),
            _ => &[],
        };
        if relations.len() != selectors.len() || relations.len() >= CHAIN_MAX {
            return None;
        }
        let mut then = Vec::new();
        for (word, inner) in relations.iter().zip(selectors) {
            let relation = if word == "child" { Relation::Child } else { Relation::Sibling };
            then.push((relation, inner.step()?));
        }
        Some(Selector { first, then })
    }

    fn step(&self) -> Option<SelectorStep> {
        let mut step = SelectorStep::default();
        for (name, field) in &self.0 {
            match (name.as_str(), field) {
                ("mask" | "childOrSibling" | "childOrSiblingSelector", _) | (_, Field::Null(())) => {}
                ("instance", Field::Number(n)) => step.instance = Some(usize::try_from(*n).ok()?),
                ("index", Field::Number(n)) => step.tests.push(Test::Index(i32::try_from(*n).ok()?)),
                (name, Field::Text(value)) => step.tests.push(Test::text(name, value)?),
                (name, Field::Flag(value)) => step.tests.push(Test::flag(name, *value)?),
                _ => return None,
            }
        }
        Some(step)
    }
}

#[derive(Debug, Serialize)]
pub struct Bounds {
    bottom: i32,
    left: i32,
    right: i32,
    top: i32,
}

impl From<Rect> for Bounds {
    fn from(rect: Rect) -> Bounds {
        Bounds { bottom: rect.bottom, left: rect.left, right: rect.right, top: rect.top }
    }
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ObjectInfo {
    bounds: Bounds,
    visible_bounds: Bounds,
    child_count: usize,
    class_name: String,
    content_description: String,
    package_name: String,
    resource_name: String,
    text: String,
    checkable: bool,
    checked: bool,
    clickable: bool,
    enabled: bool,
    focusable: bool,
    focused: bool,
    long_clickable: bool,
    scrollable: bool,
    selected: bool,
}

impl ObjectInfo {
    pub fn of(node: &Node) -> ObjectInfo {
        let text = |name| node.get(name).to_owned();
        ObjectInfo {
            bounds: node.bounds.into(),
            visible_bounds: node.bounds.into(),
            child_count: node.children.len(),
            class_name: text("class"),
            content_description: text("content-desc"),
            package_name: text("package"),
            resource_name: text("resource-id"),
            text: text("text"),
            checkable: node.is("checkable"),
            checked: node.is("checked"),
            clickable: node.is("clickable"),
            enabled: node.is("enabled"),
            focusable: node.is("focusable"),
            focused: node.is("focused"),
            long_clickable: node.is("long-clickable"),
            scrollable: node.is("scrollable"),
            selected: node.is("selected"),
        }
    }
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct DeviceInfo {
    pub current_package_name: String,
    pub display_height: i32,
    pub display_rotation: u32,
    pub display_size_dp_x: i32,
    pub display_size_dp_y: i32,
    pub display_width: i32,
    pub product_name: String,
    pub screen_on: bool,
    pub sdk_int: u32,
    pub natural_orientation: bool,
}
