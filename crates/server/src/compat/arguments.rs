//! The predecessor's arguments as ours. What it did not know it ignored, so that is reported and does not end the call.

use mdm_core::identity::ElementId;
use serde_json::Value;

use super::element::parse_element_id;
use crate::args::{self, JsonObject};
use crate::target;
use crate::tools::{Effect, Entry};

/// Pixels of the longer side of a picture, more than any phone has.
const PICTURE_SIDE: u32 = 4096;
/// The id of no element: what is no id at all means nothing that is on the screen.
const NO_ELEMENT: ElementId = ElementId(u32::MAX);
/// Digits of our fingerprints; the predecessor's had more.
const PRINT_DIGITS: usize = 16;
/// Properties of an element's state. Any other was never met, whatever the element.
pub const PROPERTIES: [&str; 8] =
    ["checked", "selected", "focused", "expanded", "enabled", "value", "raw_value", "text_value"];

/// The arguments of one call.
pub struct Taken {
    pub arguments: JsonObject,
    /// What was not known, by its path.
    pub unknown: Vec<String>,
    /// Another property stands for one that is none.
    has_no_such_property: bool,
}

pub fn take(entry: &Entry, given: &JsonObject) -> Taken {
    let mut taken = Taken { arguments: JsonObject::new(), unknown: Vec::new(), has_no_such_property: false };
    for (name, value) in given {
        let known = entry.arguments().iter().find(|argument| args::is_named(&argument.name, name));
        match known {
            None if is_spare(name) => {}
            None => taken.unknown.push(name.clone()),
            Some(known) => taken.add(entry, &known.name, name, value.clone()),
        }
    }
    taken.settle(entry);
    taken
}

/// Arguments that the predecessor took and that nothing depends on.
fn is_spare(name: &str) -> bool {
    ["project_type", "poll_interval_ms", "session_id", "platform", "since"]
        .into_iter()
        .any(|spare| args::is_named(spare, name))
}

impl Taken {
    fn add(&mut self, entry: &Entry, name: &str, given: &str, value: Value) {
        let tool = entry.name;
        let value = match (name, value) {
            ("platform", Value::String(platform)) => {
                // Typing was for Android alone, whatever was said.
                if tool == "type_text" {
                    return;
                }
                // A wait names what is wrong with it, and nothing is done to a device that nobody meant.
                let is_harmless = entry.effect == Effect::ReadOnly && tool != "wait_for_ui";
                if !matches!(platform.as_str(), "android" | "ios") && is_harmless {
                    self.unknown.push(format!("{given} = {platform:.40}"));
                    return;
                }
                Value::String(platform)
            }
            ("element_id" | "target", Value::String(id)) => Value::String(our_id(&id)),
            ("previous_fingerprint", Value::String(print)) => Value::String(our_print(&print)),
            ("selector" | "inside", Value::Object(selector)) => {
                let (known, unknown) = known_keys(selector);
                self.unknown.extend(unknown.into_iter().map(|key| format!("{given}.{key}")));
                Value::Object(known)
            }
            ("match" | "retry", Value::Object(object)) => Value::Object(self.only_known(name, object)),
            ("property", Value::String(property)) if tool == "expect_state" => {
                self.has_no_such_property = !PROPERTIES.contains(&property.as_str());
                // The element is looked at in any case.
                Value::String(if self.has_no_such_property { "enabled".to_owned() } else { property })
            }
            (_, value) => value,
        };
        self.arguments.insert(name.to_owned(), value);
    }

    fn only_known(&mut self, name: &str, object: JsonObject) -> JsonObject {
        let keys: &[&str] = if name == "match" { &["index"] } else { &["max_attempts", "backoff_ms"] };
        let (known, unknown): (Vec<_>, Vec<_>) =
            object.into_iter().partition(|(key, _)| keys.contains(&key.as_str()));
        self.unknown.extend(unknown.into_iter().map(|(key, _)| format!("{name}.{key}")));
        known.into_iter().collect()
    }

    /// The predecessor looked before and after an action whose platform it knew. Ours does so when it waits for rest.
    fn settle(&mut self, entry: &Entry) {
        let looks = match entry.name {
            "tap" => self.arguments.contains_key("platform"),
            "swipe" | "type_text" | "press_back" | "start_app" | "restart_app" => true,
            _ => false,
        };
        if looks && entry.takes("settle") {
            self.arguments.entry("settle").or_insert(Value::Bool(true));
        }
        // Pictures were as large as the screen: points on them are points on it.
        if entry.name == "capture_screenshot" {
            self.arguments.entry("max_size").or_insert(PICTURE_SIDE.into());
        }
        if self.has_no_such_property && self.arguments.contains_key("expected") {
            self.arguments.insert("expected".to_owned(), Value::Bool(true));
        }
    }
}

/// The keys of a selector that are known, and the names of the others.
pub fn known_keys(selector: JsonObject) -> (JsonObject, Vec<String>) {
    let mut unknown = Vec::new();
    let mut known = JsonObject::new();
    for (key, value) in selector {
        match (target::is_selector_key(&key), value) {
            (false, _) => unknown.push(key),
            (true, Value::String(id)) if args::is_named(&key, "element_id") => {
                known.insert(key, Value::String(our_id(&id)));
            }
            (true, value) => {
                known.insert(key, value);
            }
        }
    }
    (known, unknown)
}

/// `el_00000000000000000000000c` is `e12`.
fn our_id(id: &str) -> String {
    let ours = || id.parse::<ElementId>().ok();
    parse_element_id(id).or_else(ours).unwrap_or(NO_ELEMENT).to_string()
}

/// A fingerprint that was kept from the predecessor is that of no screen.
fn our_print(print: &str) -> String {
    let digits: String = print.chars().filter(char::is_ascii_hexdigit).take(PRINT_DIGITS).collect();
    format!("{digits:0>PRINT_DIGITS$}").to_ascii_lowercase()
}
