//! The shape of an answer: which keys it has at every level, of which types, and the values that are compared.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

/// Keys whose values are words of the contract, or follow from the situation.
const WORDS: &str = "success status failure_code retryable runtime_code failure_class retry_allowed is_terminal \
    recovery_attempts max_recovery_attempts retry_depth max_retry_depth lifecycle_state action_type source_module stage \
    result final_outcome condition expected_condition condition_satisfied found platform simulator booted semantic_role \
    supported_actions state_shape adjustable is_clickable is_container kind axis basis matched property expected outcome \
    converged within_tolerance adjustment_mode mimeType tool code clickable enabled visible checked focused role package \
    activity shortActivity appId dataCleared appTerminated installed crash_detected stream_started source filtered \
    overall ready timeout observed_change expected_change active level method crash appIdProvided pidExplicit mode \
    appInstalled matchedTarget has_activity has_ui_tree has_screenshot has_visible_text has_clickable_elements \
    fallback_available terminated_before_restart jsonrpc name type";
/// Keys whose values are those of the screen; the iPhone of the recordings showed another one.
const SCREEN: &str =
    "text resourceId resource_id stable_id class contentDescription contentDesc accessibility_id";

/// By path: `.elements[].text`.
pub type Shape = BTreeMap<String, Place>;

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Place {
    pub kinds: BTreeSet<String>,
    pub values: BTreeSet<String>,
    /// False for a key that some objects of an array have and others have not.
    pub always: bool,
}

/// What differs at one path.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Difference {
    pub path: String,
    pub what: What,
    pub detail: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum What {
    /// A recorded key is not there.
    Missing,
    /// A key is there that was not recorded.
    Extra,
    Type,
    Value,
}

impl What {
    pub fn name(self) -> &'static str {
        match self {
            What::Missing => "missing",
            What::Extra => "extra",
            What::Type => "type",
            What::Value => "value",
        }
    }
}

impl Difference {
    /// False if there was an object, whose keys were recorded, and there is none.
    pub fn loses_no_object(&self) -> bool {
        let Some((was, is)) = self.detail.split_once(" -> ") else { return true };
        let has = |kinds: &str| kinds.split('|').any(|kind| kind == "object");
        self.what != What::Type || !has(was) || has(is)
    }
}

/// How a list is told of in which something was recorded.
pub const NOTHING: &str = "nothing in it";

#[derive(Default)]
struct Node {
    kinds: BTreeSet<String>,
    values: BTreeSet<String>,
    objects: usize,
    keys: BTreeMap<String, (Node, usize)>,
    item: Option<Box<Node>>,
}

fn kind(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "boolean",
        Value::Number(_) => "number",
        Value::String(_) => "string",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
    }
}

fn is_one_of(words: &str, key: &str) -> bool {
    words.split_whitespace().any(|word| word == key)
}

impl Node {
    fn add(&mut self, value: &Value, key: &str, in_array: bool, with_screen: bool) {
        self.kinds.insert(kind(value).to_owned());
        match value {
            Value::Object(object) => {
                self.objects += 1;
                for (key, value) in object {
                    let (node, count) = self.keys.entry(key.clone()).or_default();
                    *count += 1;
                    node.add(value, key, in_array, with_screen);
                }
            }
            Value::Array(items) => {
                let item = self.item.get_or_insert_default();
                items.iter().for_each(|value| item.add(value, key, true, with_screen));
            }
            Value::Null => {}
            value if is_one_of(WORDS, key) || with_screen && !in_array && is_one_of(SCREEN, key) => {
                let text = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
                self.values.insert(text);
            }
            _ => {}
        }
    }

    fn flatten(self, path: &str, always: bool, shape: &mut Shape) {
        for (key, (node, count)) in self.keys {
            node.flatten(&format!("{path}.{key}"), count == self.objects, shape);
        }
        if let Some(item) = self.item.filter(|item| !item.kinds.is_empty()) {
            item.flatten(&format!("{path}[]"), true, shape);
        }
        shape.insert(path.to_owned(), Place { kinds: self.kinds, values: self.values, always });
    }
}

/// The shape of several values as one: of the lines of a text, or of one answer.
pub fn of<'a>(values: impl IntoIterator<Item = &'a Value>, in_array: bool, with_screen: bool) -> Shape {
    let (mut node, mut shape) = (Node::default(), Shape::new());
    values.into_iter().for_each(|value| node.add(value, "", in_array, with_screen));
    node.flatten("", true, &mut shape);
    shape
}

/// Reads a shape as the recordings write it.
pub fn read(written: &Value) -> Shape {
    let mut shape = Shape::new();
    read_at("", written, true, &mut shape);
    shape
}

fn read_at(path: &str, written: &Value, always: bool, shape: &mut Shape) {
    let mut place = Place { always, ..Place::default() };
    let mut add = |text: &str| {
        let (kinds, values) = text.split_once('=').unwrap_or((text, ""));
        place.kinds.extend(kinds.split('|').filter(|kind| !kind.is_empty()).map(str::to_owned));
        place.values.extend(values.split('|').filter(|_| text.contains('=')).map(str::to_owned));
    };
    match written {
        Value::String(text) => add(text),
        Value::Object(keys) => {
            add("object");
            for (key, value) in keys {
                match (key.as_str(), key.strip_suffix('?')) {
                    ("", _) => add(value.as_str().unwrap_or_default()),
                    (_, Some(key)) => read_at(&format!("{path}.{key}"), value, false, shape),
                    (key, None) => read_at(&format!("{path}.{key}"), value, true, shape),
                }
            }
        }
        Value::Array(items) => {
            add("array");
            items.iter().skip(1).filter_map(Value::as_str).for_each(&mut add);
            if let Some(item) = items.first() {
                read_at(&format!("{path}[]"), item, true, shape);
            }
        }
        _ => {}
    }
    shape.insert(path.to_owned(), place);
}

fn parent(path: &str) -> &str {
    match path.strip_suffix("[]") {
        Some(array) => array,
        None => path.rfind('.').map_or("", |at| &path[..at]),
    }
}

/// What differs, without what only follows from a difference above it.
pub fn compare(recorded: &Shape, answered: &Shape) -> Vec<Difference> {
    let mut found: Vec<Difference> = Vec::new();
    // Shorter paths first, so that what is above is known.
    let mut paths: Vec<&String> = recorded.keys().chain(answered.keys()).collect();
    paths.sort_by_key(|path| (path.len(), (*path).clone()));
    paths.dedup();
    for path in paths {
        let follows = |known: &Difference| {
            (known.what != What::Value || known.path.ends_with("[]"))
                && path.len() > known.path.len()
                && path.starts_with(&known.path)
                && path[known.path.len()..].starts_with(['.', '['])
        };
        if found.iter().any(follows) {
            continue;
        }
        let (was, is) = (recorded.get(path), answered.get(path));
        if let Some((what, detail)) = difference(path, was, is, (recorded, answered)) {
            found.push(Difference { path: path.clone(), what, detail });
        }
    }
    found
}

fn difference(
    path: &str,
    was: Option<&Place>,
    is: Option<&Place>,
    (recorded, answered): (&Shape, &Shape),
) -> Option<(What, String)> {
    let in_array = path.contains("[]");
    // A list without elements says nothing about their keys.
    let is_list = |shape: &Shape| shape.get(parent(path)).is_some_and(|list| list.kinds.contains("array"));
    let lists = path.ends_with("[]") && is_list(recorded) && is_list(answered);
    let (was, is) = match (was, is) {
        (Some(was), Some(is)) => (was, is),
        (Some(_), None) if lists => return Some((What::Value, NOTHING.to_owned())),
        (None, Some(_)) if lists => return Some((What::Value, "something in it".to_owned())),
        (Some(was), None) => {
            // The keys of an object that is not there are not missed one by one.
            let above = answered.get(parent(path));
            let expected = if path.ends_with("[]") { "array" } else { "object" };
            let is_there = above.is_some_and(|above| above.kinds.contains(expected));
            return (is_there && was.always).then(|| (What::Missing, kinds(was)));
        }
        (None, Some(is)) => return Some((What::Extra, kinds(is))),
        (None, None) => return None,
    };
    let same_kinds = if in_array { is.kinds.is_subset(&was.kinds) } else { is.kinds == was.kinds };
    if !same_kinds {
        return Some((What::Type, format!("{} -> {}", kinds(was), kinds(is))));
    }
    if was.always && !is.always {
        return Some((What::Missing, "from some".to_owned()));
    }
    let whole = !in_array || path.ends_with(".stage");
    let same_values = if whole {
        is.values == was.values
    } else {
        is.values.is_subset(&was.values) || was.values.is_empty()
    };
    let shown = |place: &Place| place.values.iter().cloned().collect::<Vec<_>>().join("|");
    (!same_values).then(|| (What::Value, format!("{} -> {}", shown(was), shown(is))))
}

fn kinds(place: &Place) -> String {
    place.kinds.iter().cloned().collect::<Vec<_>>().join("|")
}

#[test]
fn shapes_differ_in_keys_types_and_values() {
    let written =
        r#"{"success":"boolean=true","note":"null|string","rows":[{"stage":"string=a|b","at?":"number"}]}"#;
    let recorded = read(&serde_json::from_str(written).unwrap());
    let told = |answer: &str| {
        let answer: Value = serde_json::from_str(answer).unwrap();
        let found = compare(&recorded, &of([&answer], false, true));
        found.into_iter().map(|one| format!("{} {}", one.what.name(), one.path)).collect::<Vec<_>>()
    };
    let same = r#"{"success":true,"note":"x","rows":[{"stage":"a","at":1},{"stage":"b"}]}"#;
    // A place that was both is compared only within arrays.
    assert_eq!(told(same), ["type .note"]);
    assert_eq!(
        told(r#"{"success":false,"rows":[{"stage":"a"}],"more":{"x":1}}"#),
        ["extra .more", "missing .note", "value .success", "value .rows[].stage"]
    );
    assert_eq!(
        told(r#"{"success":1,"note":null,"rows":[]}"#),
        ["type .note", "value .rows[]", "type .success"]
    );
}
