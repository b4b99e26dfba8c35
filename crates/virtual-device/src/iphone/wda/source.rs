//! The tree as XML, JSON and text.

use serde_json::{Map, Value, json};

use super::answer::{CommandResult, WdaError};
use super::settings::Settings;
use super::snapshot::{Node, Snapshot};
use crate::iphone::element::Frame;

const FORMATS: &str = "(\n    xml,\n    json,\n    description\n)";
/// Attributes that a request may exclude.
const EXCLUDED_MAX: usize = 50;

/// What a request wants of the tree.
pub struct Wanted {
    pub format: String,
    pub excluded: Vec<String>,
    pub scope: String,
}

impl Wanted {
    pub fn of(query: &[(String, String)]) -> Wanted {
        let get = |name: &str| query.iter().find(|(key, _)| key == name).map(|(_, value)| value.clone());
        let excluded = get("excluded_attributes").unwrap_or_default();
        Wanted {
            format: get("format").unwrap_or_else(|| "xml".to_owned()),
            excluded: excluded.split(',').take(EXCLUDED_MAX).map(str::to_owned).collect(),
            scope: get("scope").unwrap_or_default(),
        }
    }

    pub fn is_xml(&self) -> bool {
        self.format.eq_ignore_ascii_case("xml")
    }
}

pub fn write(snapshot: &Snapshot, wanted: &Wanted, settings: &Settings) -> CommandResult {
    let format = wanted.format.to_ascii_lowercase();
    match format.as_str() {
        "xml" => Ok(Value::String(xml(snapshot, wanted, settings))),
        "json" => Ok(tree(snapshot, 0, &wanted.excluded)),
        "description" => Ok(Value::String(description(snapshot))),
        _ => Err(WdaError::argument(format!(
            "Unknown source format '{}'. Only {FORMATS} source formats are supported.",
            wanted.format
        ))),
    }
}

fn xml(snapshot: &Snapshot, wanted: &Wanted, settings: &Settings) -> String {
    let mut out = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n".to_owned();
    let scope: String = wanted.scope.chars().filter(|c| c.is_alphanumeric()).collect();
    if scope.is_empty() {
        write_element(&mut out, snapshot, 0, 0, wanted, settings);
        return out;
    }
    out.push_str(&format!("<{scope}>\n"));
    write_element(&mut out, snapshot, 0, 1, wanted, settings);
    out.push_str(&format!("</{scope}>\n"));
    out
}

fn write_element(
    out: &mut String,
    snapshot: &Snapshot,
    at: usize,
    depth: usize,
    wanted: &Wanted,
    settings: &Settings,
) {
    let node = &snapshot.nodes[at];
    let kind = node.wd_type();
    out.push_str(&"  ".repeat(depth));
    out.push('<');
    out.push_str(&kind);
    for (name, value) in attributes(snapshot, at, settings) {
        let excluded = wanted.excluded.iter().any(|word| word.eq_ignore_ascii_case(name));
        if let Some(value) = value.filter(|_| !excluded) {
            attribute(out, name, &value);
        }
    }
    if at == 0 {
        attribute(out, "processId", &snapshot.pid.to_string());
        attribute(out, "bundleId", &snapshot.bundle_id);
    }
    if node.children.is_empty() {
        out.push_str("/>\n");
        return;
    }
    out.push_str(">\n");
    for child in &node.children {
        write_element(out, snapshot, *child, depth + 1, wanted, settings);
    }
    out.push_str(&format!("{}</{kind}>\n", "  ".repeat(depth)));
}

/// Writes an attribute as libxml2 does. Characters that XML cannot hold are left out.
fn attribute(out: &mut String, name: &str, value: &str) {
    out.push_str(&format!(" {name}=\""));
    for c in value.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\n' => out.push_str("&#10;"),
            '\r' => out.push_str("&#13;"),
            '\t' => out.push_str("&#9;"),
            '\0'..'\u{20}' | '\u{fffe}' | '\u{ffff}' => {}
            c => out.push(c),
        }
    }
    out.push('"');
}

/// Returns the attributes of an element of the XML, in WebDriverAgent's order.
pub fn attributes(
    snapshot: &Snapshot,
    at: usize,
    settings: &Settings,
) -> Vec<(&'static str, Option<String>)> {
    let node = &snapshot.nodes[at];
    let (element, rect) = (&node.element, node.rect());
    let text = |text: Option<&str>| text.map(str::to_owned);
    let flag = |on: bool| Some(on.to_string());
    let mut all = vec![
        ("type", Some(node.wd_type())),
        ("value", node.value()),
        ("name", text(node.name())),
        ("label", text(node.label())),
        ("enabled", flag(element.enabled)),
        ("visible", flag(element.visible)),
        ("accessible", flag(snapshot.accessible(at))),
        ("x", Some(rect.x.to_string())),
        ("y", Some(rect.y.to_string())),
        ("width", Some(rect.width.to_string())),
        ("height", Some(rect.height.to_string())),
        ("index", Some(node.index.to_string())),
    ];
    if settings.flag("includeHittableInPageSource") {
        all.push(("hittable", flag(element.visible)));
    }
    if node.takes_text() {
        all.push(("placeholderValue", Some(element.placeholder.clone()).filter(|text| !text.is_empty())));
    }
    all.push(("traits", Some(node.traits())));
    if settings.flag("includeNativeFrameInPageSource") {
        all.push(("nativeFrame", Some(cg_rect(&element.frame))));
    }
    if settings.flag("includeMinMaxValueInPageSource") && element.kind == "Slider" {
        all.push(("minValue", element.range.map(|(least, _)| least.to_string())));
        all.push(("maxValue", element.range.map(|(_, most)| most.to_string())));
    }
    if settings.flag("includeCustomActionsInPageSource") {
        all.push(("customActions", custom_actions(node)));
    }
    all
}

fn custom_actions(node: &Node) -> Option<String> {
    Some(node.element.custom_actions.join(",")).filter(|actions| !actions.is_empty())
}

/// Writes a rectangle as `NSStringFromCGRect` does.
fn cg_rect(frame: &Frame) -> String {
    format!("{{{{{}, {}}}, {{{}, {}}}}}", frame.x, frame.y, frame.width, frame.height)
}

pub fn rect(frame: &Frame) -> Value {
    // Whole numbers are written without a fraction.
    json!({
        "x": frame.x as i64, "y": frame.y as i64, "width": frame.width as i64, "height": frame.height as i64,
    })
}

fn tree(snapshot: &Snapshot, at: usize, excluded: &[String]) -> Value {
    let node = &snapshot.nodes[at];
    let element = &node.element;
    let text = |text: Option<&str>| text.map_or(Value::Null, Value::from);
    let flag = |on: bool| Value::from(if on { "1" } else { "0" });
    let own = Some(element.identifier.as_str()).filter(|own| !own.is_empty());
    let mut all = Map::new();
    all.insert("type".to_owned(), Value::from(element.kind));
    all.insert("rawIdentifier".to_owned(), text(own));
    all.insert("name".to_owned(), text(node.name()));
    all.insert("value".to_owned(), text(node.value().as_deref()));
    all.insert("label".to_owned(), text(node.label()));
    all.insert("rect".to_owned(), rect(&node.rect()));
    all.insert("customActions".to_owned(), text(custom_actions(node).as_deref()));
    let mut add = |word: &str, key: &str, value: Value| {
        if !excluded.iter().any(|name| name == word) {
            all.insert(key.to_owned(), value);
        }
    };
    add("frame", "frame", Value::from(cg_rect(&node.rect())));
    add("nativeFrame", "nativeFrame", Value::from(cg_rect(&element.frame)));
    add("enabled", "isEnabled", flag(element.enabled));
    add("visible", "isVisible", flag(element.visible));
    add("accessible", "isAccessible", flag(snapshot.accessible(at)));
    add("nativeAccessibilityElement", "isNativeAccessibilityElement", flag(element.accessible));
    add("focused", "isFocused", flag(false));
    add("traits", "traits", Value::from(node.traits()));
    if node.takes_text() {
        let placeholder = Some(element.placeholder.as_str()).filter(|text| !text.is_empty());
        add("placeholderValue", "placeholderValue", text(placeholder));
    }
    if let Some((least, most)) = element.range.filter(|_| element.kind == "Slider") {
        add("minValue", "minValue", Value::from(least));
        add("maxValue", "maxValue", Value::from(most));
    }
    if !node.children.is_empty() {
        let children = node.children.iter().map(|child| tree(snapshot, *child, excluded)).collect();
        all.insert("children".to_owned(), Value::Array(children));
    }
    Value::Object(all)
}

/// The tree of what VoiceOver reads.
pub fn accessible_tree(snapshot: &Snapshot, at: usize) -> Option<Value> {
    let node = &snapshot.nodes[at];
    let mut all = Map::new();
    let text = |text: Option<&str>| text.map_or(Value::Null, Value::from);
    if snapshot.accessible(at) {
        if node.element.visible {
            all.insert("value".to_owned(), text(node.value().as_deref()));
            all.insert("label".to_owned(), text(node.label()));
        }
    } else {
        let children: Vec<Value> =
            node.children.iter().filter_map(|child| accessible_tree(snapshot, *child)).collect();
        if !children.is_empty() {
            all.insert("children".to_owned(), Value::Array(children));
        }
    }
    if all.is_empty() {
        return None;
    }
    let own = Some(node.element.identifier.as_str()).filter(|own| !own.is_empty());
    all.insert("type".to_owned(), Value::from(node.element.kind));
    all.insert("rawIdentifier".to_owned(), text(own));
    all.insert("name".to_owned(), text(node.name()));
    Some(Value::Object(all))
}

/// The form of `debugDescription`.
fn description(snapshot: &Snapshot) -> String {
    let mut out = String::new();
    let depths: Vec<usize> = (0..snapshot.nodes.len()).map(|at| snapshot.parents(at).count()).collect();
    for at in snapshot.below(0) {
        let node = &snapshot.nodes[at];
        let Frame { x, y, width, height } = node.element.frame;
        let indent = "  ".repeat(depths[at] + 1);
        out.push_str(&format!(
            "{indent}{}, {{{{{x:.1}, {y:.1}}}, {{{width:.1}, {height:.1}}}}}",
            node.element.kind
        ));
        if !node.element.identifier.is_empty() {
            out.push_str(&format!(", identifier: '{}'", node.element.identifier));
        }
        if !node.element.label.is_empty() {
            out.push_str(&format!(", label: '{}'", node.element.label));
        }
        if let Some(value) = node.value() {
            out.push_str(&format!(", value: {value}"));
        }
        out.push('\n');
    }
    out
}
