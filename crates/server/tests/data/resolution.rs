//! Checks that selectors which people used resolve to the elements on which they acted.

use std::collections::BTreeMap;
use std::path::Path;

use mdm_core::change::tracker::Observation;
use mdm_core::intent::resolve::{Reason, Resolution, candidates, owner, to_act, to_tap};
use mdm_core::intent::selector::{Selector, TextMatch};
use mdm_core::meaning::role;
use mdm_core::screen::element::Element;
use mdm_core::screen::geometry::Rect;
use mdm_core::screen::snapshot::Snapshot;
use mobile_debug_mcp::tree;
use serde::Deserialize;
use serde_json::Value;

use crate::files::{below, load};

#[derive(Deserialize)]
struct Trace {
    steps: Vec<Step>,
}

#[derive(Deserialize)]
struct Step {
    tree: Option<String>,
    #[serde(default)]
    target_nodes: Vec<BTreeMap<String, String>>,
    action: Option<Action>,
}

#[derive(Deserialize)]
struct Action {
    #[serde(rename = "type")]
    kind: String,
    bounds_px: Option<Bounds>,
    identifier: Option<Value>,
    identifier_raw: Option<String>,
}

#[derive(Deserialize)]
struct Bounds {
    x1: f64,
    y1: f64,
    x2: f64,
    y2: f64,
}

/// One recorded action of a person, with the name and the position of its element.
struct RecordedAction {
    name: String,
    seen: std::sync::Arc<Observation>,
    identifier: BTreeMap<String, String>,
    nodes: Vec<BTreeMap<String, String>>,
    places: Vec<Rect>,
}

impl Action {
    fn identifier(&self) -> Option<BTreeMap<String, String>> {
        // Some texts were recorded with line breaks inside.
        let raw = || serde_json::from_str(&self.identifier_raw.as_ref()?.replace('\n', "\\n")).ok();
        let object = self.identifier.clone().or_else(raw)?;
        let known: BTreeMap<String, String> = serde_json::from_value(object).ok()?;
        let known: BTreeMap<_, _> = known.into_iter().filter(|(_, text)| !text.is_empty()).collect();
        (!known.is_empty()).then_some(known)
    }
}

fn node_rect(node: &BTreeMap<String, String>) -> Option<Rect> {
    if let Some(bounds) = node.get("bounds") {
        let numbers: Vec<i32> = bounds.split(['[', ']', ',']).filter_map(|part| part.parse().ok()).collect();
        let [left, top, right, bottom] = numbers[..] else { return None };
        return Some(Rect { left, top, right, bottom });
    }
    let number = |name: &str| node.get(name)?.parse::<i32>().ok();
    let (x, y) = (number("x")?, number("y")?);
    Some(Rect::new(x, y, x + number("width")?, y + number("height")?))
}

fn actions(platform: &str) -> Vec<RecordedAction> {
    let folders = below(&format!("{platform}-traces")).into_iter().filter(|path| path.is_dir());
    folders.flat_map(|folder| actions_of(platform, &folder)).collect()
}

fn actions_of(platform: &str, folder: &Path) -> Vec<RecordedAction> {
    let text = std::fs::read_to_string(folder.join("trace.json")).unwrap();
    let steps = serde_json::from_str::<Trace>(&text).unwrap().steps;
    let action = |step: Step| {
        let action = step.action.filter(|action| action.kind != "oracle" && action.kind != "back")?;
        let identifier = action.identifier()?;
        let file = step.tree?;
        let snapshot = load(&folder.join(&file))?;
        let mut places: Vec<Rect> = step.target_nodes.iter().filter_map(node_rect).collect();
        if let Some(b) = action.bounds_px.filter(|_| platform == "android") {
            places.push(Rect::new(b.x1 as i32, b.y1 as i32, b.x2 as i32, b.y2 as i32));
        }
        let name = format!("{} {file}", folder.file_name().unwrap().display());
        let seen = tree::seen(snapshot);
        (!places.is_empty()).then_some(RecordedAction {
            name,
            seen,
            identifier,
            nodes: step.target_nodes,
            places,
        })
    };
    steps.into_iter().filter_map(action).collect()
}

/// True if the element has the recorded attribute, as the platform writes it.
fn carries(element: &Element, name: &str, text: &str) -> bool {
    let is = |field: &Option<Box<str>>| field.as_deref() == Some(text);
    match name {
        "resource-id" => is(&element.stable_id),
        "content-desc" | "label" => is(&element.description),
        "text" => is(&element.text),
        // iOS reports the label if there is no identifier.
        "name" => is(&element.stable_id) || (element.stable_id.is_none() && is(&element.description)),
        "value" => is(&element.value) || is(&element.text),
        _ => false,
    }
}

fn holders(snapshot: &Snapshot, identifier: &BTreeMap<String, String>) -> Vec<Rect> {
    let all = |element: &&Element| identifier.iter().all(|(name, text)| carries(element, name, text));
    snapshot.elements.iter().filter(all).map(|element| element.bounds).collect()
}

fn add(selector: &Selector, name: &str, text: &str) -> Option<Selector> {
    let mut selector = selector.clone();
    let is = || Some(TextMatch::Is(text.to_owned()));
    match name {
        "resource-id" if selector.resource_id.is_none() => selector.resource_id = Some(text.to_owned()),
        "content-desc" | "name" if selector.accessibility_id.is_none() => selector.accessibility_id = is(),
        "text" | "label" | "value" if selector.text.is_none() => selector.text = is(),
        "class" | "type" => selector.class = Some(text.to_owned()),
        _ => return None,
    }
    Some(selector)
}

impl RecordedAction {
    fn selector(&self) -> Selector {
        let add_one = |selector: Selector, (name, text): (&String, &String)| {
            add(&selector, name, text).unwrap_or(selector)
        };
        self.identifier.iter().fold(Selector::default(), add_one)
    }

    fn resolve(&self, selector: &Selector) -> Outcome {
        match to_act(&self.seen, selector) {
            Resolution::Found(target) if self.places.iter().any(|rect| rect.contains(target.point)) => {
                Outcome::Right
            }
            Resolution::Found(target) => Outcome::Wrong(format!("{:?} {:?}", target.point, target.reasons)),
            Resolution::Ambiguous(_) => Outcome::Ambiguous,
            Resolution::NotFound { .. } => Outcome::Refused("not found".to_owned()),
            Resolution::NotActionable { why, .. } => Outcome::Refused(format!("{why:?}")),
        }
    }

    /// Selectors with one more property of the element on which the person acted.
    fn with_one_more(&self) -> Vec<Selector> {
        let selector = self.selector();
        let mut more = Vec::new();
        for node in &self.nodes {
            for name in ["resource-id", "content-desc", "text", "name", "label", "value", "class", "type"] {
                let text = node.get(name).filter(|text| !text.is_empty());
                more.extend(text.and_then(|text| add(&selector, name, text)));
            }
            let rect = node_rect(node);
            let elements = &self.seen.reading.snapshot.elements;
            let at = elements.iter().position(|element| Some(element.bounds) == rect);
            let role = at.map(|at| role::in_context(&self.seen.reading.snapshot, at));
            more.push(Selector { role, ..selector.clone() });
        }
        more
    }

    fn with_index(&self) -> Vec<Selector> {
        let numbers = 0..candidates(&self.seen, &self.selector()).len();
        numbers.map(|number| Selector { index: Some(number), ..self.selector() }).collect()
    }
}

#[derive(Debug, PartialEq)]
enum Outcome {
    Right,
    Wrong(String),
    Ambiguous,
    Refused(String),
}

#[derive(Default, Debug)]
struct Score {
    unique: usize,
    unique_right: usize,
    several: usize,
    several_ambiguous: usize,
    several_right: usize,
    one_more: usize,
    by_number: usize,
    absent: usize,
    elsewhere: usize,
    wrong: usize,
}

impl Score {
    fn note(&mut self, action: &RecordedAction) {
        let outcome = action.resolve(&action.selector());
        let holders = holders(&action.seen.reading.snapshot, &action.identifier);
        let on_it = |holder: &Rect| action.places.iter().any(|place| place.intersection(*holder).is_some());
        if !holders.is_empty() && !holders.iter().any(on_it) {
            // A wrong record: the element with this name is elsewhere on the screen.
            self.elsewhere += 1;
            println!(
                "elsewhere: {} {:?} at {holders:?}, acted on {:?}",
                action.name, action.identifier, action.places
            );
            return;
        }
        let holders = holders.len();
        self.wrong += usize::from(matches!(outcome, Outcome::Wrong(_)));
        let expected = match holders {
            0 => {
                self.absent += 1;
                !matches!(outcome, Outcome::Wrong(_))
            }
            1 => {
                self.unique += 1;
                self.unique_right += usize::from(outcome == Outcome::Right);
                outcome == Outcome::Right
            }
            _ => self.note_several(action, &outcome),
        };
        if !expected {
            println!(
                "{outcome:?}: {} {:?} on {holders}, {:?}",
                action.name, action.identifier, action.places
            );
        }
    }

    fn note_several(&mut self, action: &RecordedAction, outcome: &Outcome) -> bool {
        self.several += 1;
        self.several_ambiguous += usize::from(*outcome == Outcome::Ambiguous);
        self.several_right += usize::from(*outcome == Outcome::Right);
        let right = |selector: &Selector| action.resolve(selector) == Outcome::Right;
        let more = *outcome == Outcome::Right || action.with_one_more().iter().any(right);
        let number = more || action.with_index().iter().any(right);
        self.one_more += usize::from(more);
        self.by_number += usize::from(number);
        number && matches!(outcome, Outcome::Right | Outcome::Ambiguous)
    }

    fn all(&self) -> usize {
        self.unique + self.several + self.absent
    }
}

#[test]
fn recorded_selectors_resolve_to_the_recorded_elements() {
    // AC-01, AC-08, ID-04, W23
    for platform in ["android", "ios"] {
        let mut score = Score::default();
        for action in actions(platform) {
            score.note(&action);
        }
        println!("{platform}: {} actions, {score:?}", score.all());
        if score.all() == 0 {
            continue;
        }
        assert_eq!(score.unique_right, score.unique, "{platform}: {score:?}");
        assert_eq!(score.by_number, score.several, "{platform}: {score:?}");
        assert_eq!(score.wrong, 0, "{platform}: {score:?}");
    }
}

impl RecordedAction {
    /// The elements on which the person acted.
    fn targets(&self) -> Vec<u32> {
        let reading = &self.seen.reading;
        let is_target = |index: &u32| {
            let element = reading.element(*index);
            self.nodes.iter().any(|node| {
                let class = node.get("class").or(node.get("type"));
                node_rect(node) == Some(element.bounds)
                    && class.is_some_and(|class| **class == *element.class)
            })
        };
        (0..reading.nodes.len() as u32).filter(is_target).collect()
    }
}

#[test]
fn what_people_did_next_is_not_refused() {
    // F4, F30
    for platform in ["android", "ios"] {
        let (mut acted, mut doubted, mut silent) = (0, 0, 0);
        let mut refused = Vec::new();
        for action in actions(platform) {
            let targets = action.targets();
            let by_id = |target: &u32| {
                let id = Some(action.seen.ids[*target as usize]);
                to_tap(&action.seen, &Selector { id, ..Selector::default() })
            };
            let found = |target: &u32| match by_id(target) {
                Resolution::Found(found) => Some(found),
                _ => None,
            };
            let Some(first) = targets.first() else { continue };
            acted += 1;
            match targets.iter().find_map(found) {
                Some(found) => doubted += usize::from(found.reasons.contains(&Reason::MaybeCovered)),
                None => refused.push(format!("{} {:?}", action.name, by_id(first))),
            }
            silent +=
                usize::from(!targets.iter().any(|target| owner(&action.seen.reading, *target).is_some()));
        }
        println!(
            "{platform}: {acted} actions, {} refused, {doubted} on what may be covered, {silent} on what the tree does not \
             call tappable",
            refused.len()
        );
        assert_eq!(refused, Vec::<String>::new(), "{platform}");
    }
}
