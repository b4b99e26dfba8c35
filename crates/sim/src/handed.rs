//! The ids that answers showed to the agent, and what each stood for when it was first shown.

use std::collections::{BTreeMap, BTreeSet};

use mdm_virtual_device::{Applied, Datum, DumpShown, Fault, Frame};
use serde_json::Value;

use crate::datum::{Shown, control_at, words};
use crate::judge::{Judged, Oracle, TAP_FAULTS, Violation};
use crate::world::{Call, ToolAnswer};

/// Ids that are remembered; later ones are not.
const IDS_MAX: usize = 20_000;

/// What an id stood for when it was first shown.
#[derive(Debug, Clone)]
struct Handed {
    /// The thing and part of the node itself.
    own: Datum,
    /// What a touch that means it may land on.
    touchable: Vec<Datum>,
    /// All words of the thing.
    words: Vec<String>,
    /// Where it was when it was last shown.
    place: (i32, i32, i32, i32),
    at_ms: u64,
}

/// Ids by device and name.
#[derive(Debug, Default)]
pub struct HandedOut {
    ids: BTreeMap<(String, String), Handed>,
}

/// Something that an answer shows: its id and where it is.
struct Mention {
    id: String,
    at: usize,
}

impl HandedOut {
    /// Remembers the ids of an answer. An id that is shown again must stand for the same thing.
    pub fn learn(&mut self, call: &Call) -> (Judged, Vec<Violation>) {
        let (mut judged, mut violations) = (Judged::default(), Vec::new());
        let Some(answer) = &call.answer else { return (judged, violations) };
        let mut reported = BTreeSet::new();
        let Some((frame, mentions)) = mentions(call, answer) else { return (judged, violations) };
        for mention in mentions {
            let shown = Shown { frame, at: mention.at };
            let Some(own) = shown.node().datum.clone().filter(|_| shown.has_meaning()) else { continue };
            let key = (call.device.clone(), mention.id);
            let Some(first) = self.ids.get_mut(&key) else {
                let words = words(frame, &own.thing);
                let place = shown.spot();
                let handed = Handed { own, touchable: shown.touchable(), words, place, at_ms: call.to_ms };
                if self.ids.len() < IDS_MAX {
                    self.ids.insert(key, handed);
                }
                continue;
            };
            judged.ids_seen += 1;
            if first.own.thing == own.thing {
                first.place = shown.spot();
                continue;
            }
            let twin = first.words == words(frame, &own.thing) && first.place == shown.spot();
            if twin {
                judged.twins += 1;
            } else if reported.insert((first.own.thing.clone(), own.thing.clone())) {
                let why = format!(
                    "{} shows {} for {own}, and at {} ms it was {}",
                    call.tool, key.1, first.at_ms, first.own
                );
                violations.push(Violation { oracle: Oracle::Datum, why });
            }
            // One change of meaning is reported once.
            let (words, place) = (words(frame, &own.thing), shown.spot());
            let touchable = shown.touchable();
            self.ids.insert(key, Handed { own, touchable, words, place, at_ms: call.to_ms });
        }
        (judged, violations)
    }

    /// Checks that a touch by id landed on what the id was handed out for.
    pub fn touched(&self, call: &Call) -> (Judged, Vec<Violation>) {
        let mut judged = Judged::default();
        let id = call.arguments.get("elementId").and_then(Value::as_str);
        let key = id.map(|id| (call.device.clone(), id.to_owned()));
        let Some((key, first)) = key.and_then(|key| Some((key.clone(), self.ids.get(&key)?))) else {
            return (judged, Vec::new());
        };
        if call.had_fault(&TAP_FAULTS) || !matches!(call.tool, "tap_element" | "long_press" | "double_tap") {
            return (judged, Vec::new());
        }
        let mut violations = Vec::new();
        for (at, input, met) in call.own_touches() {
            let (Applied::Tap { at: point, hit } | Applied::Swipe { from: point, hit, .. }) = &input else {
                continue;
            };
            judged.by_id += 1;
            let datum = hit.as_ref().and_then(|hit| hit.datum.clone());
            if datum.as_ref().is_some_and(|datum| first.touchable.contains(datum)) {
                continue;
            }
            let seen = call.seen_before(at, met);
            // Counted by the oracle of the aim.
            if call.answer.as_ref().is_some_and(ToolAnswer::tells_doubt) {
                continue;
            }
            if hit.is_none()
                && call.film.frames.get(met).is_some_and(|frame| shows(frame, &first.own, *point))
            {
                continue;
            }
            let there = seen.and_then(|frame| control_at(frame, *point)).and_then(|node| node.datum.clone());
            if there.is_some_and(|there| first.touchable.contains(&there)) {
                judged.moved += 1;
                continue;
            }
            let same_words =
                |frame: &Frame| datum.as_ref().is_some_and(|datum| words(frame, &datum.thing) == first.words);
            if seen.is_some_and(same_words) && inside(first.place, *point) {
                judged.twins += 1;
                continue;
            }
            let met = datum.map_or_else(|| "nothing".to_owned(), |datum| datum.to_string());
            let why = format!(
                "{} was handed out at {} ms for {}, and the touch met {met}",
                key.1, first.at_ms, first.own
            );
            violations.push(Violation { oracle: Oracle::Datum, why });
        }
        (judged, violations)
    }
}

/// Returns true if a node with this meaning is at a point.
fn shows(frame: &Frame, meaning: &Datum, point: (i32, i32)) -> bool {
    let same = frame.nodes.iter().filter(|node| node.datum.as_ref() == Some(meaning));
    same.into_iter().any(|node| inside(node.visible, point))
}

fn inside((left, top, right, bottom): (i32, i32, i32, i32), (x, y): (i32, i32)) -> bool {
    (left..right).contains(&x) && (top..bottom).contains(&y)
}

/// Returns the frame that an answer shows and where in it each of its ids is.
fn mentions<'a>(call: &'a Call, answer: &ToolAnswer) -> Option<(&'a Frame, Vec<Mention>)> {
    if call.had_fault(&[Fault::DroppedConnection, Fault::Offline, Fault::Unauthorized]) {
        return None;
    }
    let looks = call.film.dumps.iter().rev().filter(|look| look.is_whole && look.at_ms <= call.to_ms);
    let within = |look: &&DumpShown| look.at_ms >= call.from_ms;
    let mut frames = looks.take_while(within).filter_map(|look| call.film.frames.get(look.frame));
    if let Some(elements) = answer.facts.get("elements").and_then(Value::as_array) {
        return frames.find_map(|frame| Some((frame, whole_tree(frame, elements)?)));
    }
    let frame = frames.next()?;
    let lines = answer.lines.lines().filter_map(|line| named_line(frame, line));
    Some((frame, lines.collect()))
}

/// Matches the elements of a tree in JSON with the nodes of a frame: all of them, or the answer shows another frame.
fn whole_tree(frame: &Frame, elements: &[Value]) -> Option<Vec<Mention>> {
    // The product gathers what idb tells into an element of its own.
    let is_told = |element: &&Value| element.get("type").and_then(Value::as_str) != Some("Content");
    let elements: Vec<&Value> = elements.iter().filter(is_told).collect();
    if elements.len() != frame.nodes.len() {
        return None;
    }
    let mut mentions = Vec::new();
    for (at, (element, node)) in elements.iter().zip(frame.nodes.iter()).enumerate() {
        let (left, top, right, bottom) = node.told;
        let same_place = element.get("bounds") == Some(&Value::from(vec![left, top, right, bottom]));
        let class = element.get("type").and_then(Value::as_str);
        if !same_place || class != Some(node.class) {
            return None;
        }
        let id = element.get("element_id").and_then(Value::as_str)?.to_owned();
        mentions.push(Mention { id, at });
    }
    Some(mentions)
}

/// Matches a line of an outline with the only control or text of that label, if there is only one.
fn named_line(frame: &Frame, line: &str) -> Option<Mention> {
    let (id, label) = crate::agent::labelled(line.trim_start_matches(['+', '~', ' ']))?;
    let mut fitting = frame
        .nodes
        .iter()
        .enumerate()
        .filter(|(_, node)| [&node.text, &node.description].into_iter().any(|text| text == label));
    let (at, _) = fitting.next()?;
    let control = |at: usize| Shown { frame, at }.control();
    fitting.all(|(other, _)| control(other) == control(at)).then(|| Mention { id: id.to_owned(), at })
}
