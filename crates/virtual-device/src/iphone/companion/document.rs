//! Writes elements as idb does, in its three formats.

use std::collections::BTreeSet;

use super::elements::{AxNode, AxTree};
use super::number;
use super::roles;
use crate::iphone::element::{ElementValue, Frame};
use crate::iphone::names::package_of;
use crate::iphone::{IPhone, SPRINGBOARD};

/// The keys of an element in the old formats, and in the complete one. Nothing: that format has no such key.
const KEYS: [(&str, Option<&str>); 21] = [
    ("AXLabel", Some("label")),
    ("AXFrame", None),
    ("AXValue", Some("value")),
    ("AXUniqueId", Some("identifier")),
    ("type", Some("type")),
    ("title", Some("title")),
    ("frame", Some("frame")),
    ("help", Some("help")),
    ("enabled", Some("enabled")),
    ("custom_actions", Some("custom_actions")),
    ("role", None),
    ("role_description", Some("role_description")),
    ("subrole", Some("subrole")),
    ("content_required", Some("content_required")),
    ("pid", Some("pid")),
    ("traits", Some("traits")),
    ("expanded", Some("expanded")),
    ("placeholder", Some("placeholder")),
    ("hidden", Some("hidden")),
    ("focused", Some("focused")),
    ("is_remote", Some("is_remote")),
];
/// Written if no keys are named.
const DEFAULT_KEYS: usize = 16;
/// A companion of 2022 does not have the last two of them.
const OLD_KEYS: usize = 14;
/// Keys about reachability: this reader has no answer to the first and no key for the second.
const REACHABILITY: [&str; 2] = ["interactable", "occluded_by"];
const EVERYTHING: &str = "all";

/// Which attributes of an element are written, and how.
#[derive(Debug, Clone)]
pub struct Writer {
    keys: BTreeSet<&'static str>,
    numeric_values: bool,
    pid: u32,
    /// The application is the system's own, with an alert over the app.
    system_alert: bool,
    complete: bool,
    nested: bool,
}

/// A read with its target, as the complete format names it.
#[derive(Debug, Clone, PartialEq)]
pub enum ReadTarget {
    Frontmost,
    Point { x: f64, y: f64 },
    Marker { value: String, key: &'static str },
}

impl Writer {
    /// Nothing if keys were named and none of them is known.
    pub fn new(iphone: &IPhone, asked: &[String], nested: bool, complete: bool) -> Option<Writer> {
        let faults = iphone.config().iphone_faults;
        let known = KEYS.iter().map(|(key, _)| *key).chain(REACHABILITY);
        let keys: BTreeSet<&'static str> = if faults.old_companion {
            KEYS.iter().take(OLD_KEYS).map(|(key, _)| *key).collect()
        } else if asked.is_empty() {
            KEYS.iter().take(DEFAULT_KEYS).map(|(key, _)| *key).collect()
        } else if asked.iter().any(|key| key == EVERYTHING) {
            known.collect()
        } else {
            known.filter(|key| asked.iter().any(|asked| asked == key)).collect()
        };
        let system_alert = iphone.applications().is_some_and(|front| front.system.is_some());
        let pid = iphone.phone().with(|state| {
            let front = if system_alert { package_of(SPRINGBOARD) } else { state.front().0 }.to_owned();
            state.processes.pid(&front).unwrap_or(0)
        });
        let writer =
            Writer { keys, numeric_values: faults.numeric_values, pid, system_alert, complete, nested };
        (!writer.keys.is_empty()).then_some(writer)
    }

    /// The whole application, as a list.
    pub fn tree(&self, tree: &AxTree<'_>) -> String {
        let mut out = String::from("[");
        if self.nested || self.complete {
            self.node(&tree.root, &mut out);
        } else {
            let mut first = true;
            tree.root.walk(&mut |node| {
                if !std::mem::take(&mut first) {
                    out.push(',');
                }
                self.node(node, &mut out);
            });
        }
        out.push(']');
        out
    }

    /// One element, or `null`.
    pub fn single(&self, node: Option<&AxNode<'_>>) -> String {
        let mut out = String::new();
        match node {
            Some(node) => self.node(node, &mut out),
            None => out.push_str("null"),
        }
        out
    }

    /// Puts elements into the complete document. Every key is there, also without a value.
    pub fn document(&self, elements: &str, tree: &AxTree<'_>, target: &ReadTarget) -> String {
        let modal = tree.modal.map_or_else(
            || "null".to_owned(),
            |modal| {
                let owner = if self.system_alert { "system" } else { "app" };
                let (kind, label) = (text(modal.kind), optional(Some(&modal.label)));
                format!(r#"{{"kind":"{owner}","element_type":{kind},"label":{label}}}"#)
            },
        );
        let Frame { width, height, .. } = tree.root.frame();
        let (width, height) = (number::short(width), number::short(height));
        let frames = frame_counts(tree);
        format!(
            r#"{{"elements":{elements},"modal":{modal},"truncated":{},"screen":{{"width":{width},"height":{height},"coordinate_space":"screen"}},"backend":"ax","target":{},"profile":null,"coverage":null,"interaction":null,"frames":{frames},"automation":null}}"#,
            tree.truncated,
            target.json()
        )
    }

    fn node(&self, node: &AxNode<'_>, out: &mut String) {
        out.push('{');
        let first = out.len();
        for (old, new) in KEYS {
            let key = if self.complete { new } else { Some(old) };
            let Some(key) = key.filter(|_| self.keys.contains(old)) else { continue };
            let value = self.attribute(node, old);
            push(out, first, key, &value);
        }
        if self.keys.contains(REACHABILITY[0]) {
            push(out, first, REACHABILITY[0], "null");
        }
        if self.nested || self.complete {
            push(out, first, "children", "[");
            for (index, child) in node.children.iter().enumerate() {
                if index > 0 {
                    out.push(',');
                }
                self.node(child, out);
            }
            out.push(']');
        }
        out.push('}');
    }

    fn attribute(&self, node: &AxNode<'_>, key: &str) -> String {
        let element = node.element;
        match key {
            "AXLabel" => optional(Some(&node.label)),
            "AXFrame" => text(&frame_text(node.frame())),
            "AXValue" => self.value(node),
            "AXUniqueId" => optional(Some(&element.identifier)),
            "type" => text(node.role.kind()),
            "frame" => self.frame(node.frame()),
            "enabled" => element.enabled.to_string(),
            "custom_actions" => list(&element.custom_actions),
            "role" => text(node.role.role),
            "role_description" => text(node.role.description),
            "subrole" => optional(node.role.subrole),
            "pid" => self.pid.to_string(),
            "traits" => list(&roles::traits(element)),
            "placeholder" => optional(Some(&element.placeholder)),
            "focused" => element.focused.to_string(),
            "content_required" | "expanded" | "hidden" | "is_remote" => "false".to_owned(),
            _ => "null".to_owned(),
        }
    }

    fn value(&self, node: &AxNode<'_>) -> String {
        match (&node.element.value, self.numeric_values) {
            (Some(ElementValue::On(on)), true) => u8::from(*on).to_string(),
            (Some(ElementValue::Fraction(at)), true) => self.number(*at),
            _ => optional(node.value().as_deref()),
        }
    }

    fn frame(&self, frame: Frame) -> String {
        let [x, y, width, height] =
            [frame.x, frame.y, frame.width, frame.height].map(|edge| self.number(edge));
        format!(r#"{{"x":{x},"y":{y},"width":{width},"height":{height}}}"#)
    }

    fn number(&self, value: f64) -> String {
        if self.complete { number::short(value) } else { number::long(value) }
    }
}

impl ReadTarget {
    fn json(&self) -> String {
        let null = || "null".to_owned();
        let (kind, x, y, value, key) = match self {
            ReadTarget::Frontmost => ("frontmost", null(), null(), null(), null()),
            ReadTarget::Point { x, y } => ("point", number::short(*x), number::short(*y), null(), null()),
            ReadTarget::Marker { value, key } => ("marker", null(), null(), text(value), text(key)),
        };
        format!(r#"{{"kind":"{kind}","pid":null,"x":{x},"y":{y},"value":{value},"match_key":{key}}}"#)
    }
}

/// `{{16, 380}, {370, 52}}`, as `NSStringFromRect` writes it.
fn frame_text(frame: Frame) -> String {
    let [x, y, width, height] = [frame.x, frame.y, frame.width, frame.height].map(number::long);
    format!("{{{{{x}, {y}}}, {{{width}, {height}}}}}")
}

fn frame_counts(tree: &AxTree<'_>) -> String {
    let (mut total, mut framed) = (0u32, 0u32);
    tree.root.walk(&mut |node| {
        total += 1;
        framed += u32::from(node.frame().width > 0.0 && node.frame().height > 0.0);
    });
    format!(r#"{{"total":{total},"framed":{framed},"zero_frame":{}}}"#, total - framed)
}

fn push(out: &mut String, first: usize, key: &str, value: &str) {
    if out.len() > first {
        out.push(',');
    }
    out.push_str(&text(key));
    out.push(':');
    out.push_str(value);
}

fn text(value: &str) -> String {
    serde_json::Value::from(value).to_string()
}

/// An empty text is no text.
fn optional(value: Option<&str>) -> String {
    value.filter(|value| !value.is_empty()).map_or_else(|| "null".to_owned(), text)
}

fn list<T: AsRef<str>>(values: &[T]) -> String {
    let values: Vec<String> = values.iter().map(|value| text(value.as_ref())).collect();
    format!("[{}]", values.join(","))
}
