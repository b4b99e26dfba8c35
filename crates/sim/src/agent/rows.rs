//! What the agent does with lists: it acts by ids that it kept, also old ones, and by words.

use serde_json::{Value, json};

use super::{ACTION_WINDOW_MS, Agent, Line, Meaning, PlannedCall, read_tree};
use crate::claim::{By, Claim, State};
use crate::plan::lists::List;
use crate::plan::{Plan, Screen};
use crate::world::Face;

/// Ids that the agent keeps; the oldest are forgotten first.
const KEPT_MAX: usize = 120;
/// Ids that are tapped one after the other.
const STREAK_MAX: usize = 4;
/// Labels of the buttons in rows and in the dialogs that they open.
const ROW_LABELS: [&str; 5] = ["Delete", "More options", "Keep", "Star", "Yes"];

pub(super) fn tap_id(id: &str) -> PlannedCall {
    let meaning = Meaning { window_ms: ACTION_WINDOW_MS, ..Meaning::default() };
    PlannedCall { tool: "tap_element", arguments: json!({"elementId": id}), meaning }
}

impl Agent {
    /// Keeps ids for later, besides those that are kept already.
    pub(super) fn keep(&mut self, lines: &[Line]) {
        for line in lines.iter().filter(|line| line.is_touchable) {
            if !self.kept.iter().any(|kept| kept.id == line.id) {
                self.kept.push(line.clone());
            }
        }
        let surplus = self.kept.len().saturating_sub(KEPT_MAX);
        self.kept.drain(..surplus);
    }

    /// Taps something that was seen at any time before, by the id that it had then.
    pub(super) fn tap_kept(&mut self) -> PlannedCall {
        let of_rows = self.random.percent(70);
        let fitting: Vec<&Line> = self
            .kept
            .iter()
            .filter(|line| !of_rows || ROW_LABELS.contains(&line.label.as_str()) || line.is_in_list)
            .collect();
        let Some(line) = self.random.pick(&fitting).copied().cloned() else { return read_tree() };
        let mut arguments = json!({"elementId": line.id});
        if self.random.percent(30) {
            arguments["settle"] = false.into();
        }
        let mut meaning = Meaning { window_ms: ACTION_WINDOW_MS, ..Meaning::default() };
        if self.random.percent(40) {
            let timeout = self.timeout();
            arguments["timeout_ms"] = timeout.into();
            meaning.timeout_ms = Some(timeout);
        }
        PlannedCall { tool: "tap_element", arguments, meaning }
    }

    /// Does something with the list of a screen.
    pub(super) fn use_list(&mut self, plan: &Plan, screen: &Screen, list: &List) -> PlannedCall {
        match self.random.below(10) {
            0..=2 => self.tap_kept(),
            3 => self.tap_one_after_the_other(),
            4 => self.tap_in_row(list),
            5 => self.tap_row(list),
            6 | 7 => self.swipe(plan),
            8 => self.scroll_to_row(plan, screen, list),
            _ => self.read(),
        }
    }

    /// Taps the buttons of some rows that were read together, without a look in between.
    fn tap_one_after_the_other(&mut self) -> PlannedCall {
        let buttons: Vec<String> =
            self.lines.iter().filter(|line| line.label == "Delete").map(|line| line.id.clone()).collect();
        let count = 2 + self.random.below(STREAK_MAX - 1);
        self.streak = (0..count).filter_map(|_| self.random.pick(&buttons).cloned()).collect();
        self.streak.pop().map_or_else(read_tree, |id| tap_id(&id))
    }

    /// Taps a button of the row that has certain words.
    fn tap_in_row(&mut self, list: &List) -> PlannedCall {
        let Some(row) = self.random.pick(&list.rows).cloned() else { return read_tree() };
        let inside = if self.random.percent(60) { row.subtitle } else { row.title };
        let label = if list.has_menu && self.random.percent(30) { "More options" } else { "Delete" };
        let selector = json!({"text": label, "inside": {"text": inside}});
        self.tap_words(json!({"selector": selector}))
    }

    fn tap_row(&mut self, list: &List) -> PlannedCall {
        let Some(row) = self.random.pick(&list.rows).cloned() else { return read_tree() };
        let text = if self.random.percent(60) { row.subtitle } else { row.title };
        self.tap_words(json!({"selector": {"text": text}}))
    }

    fn tap_words(&self, arguments: Value) -> PlannedCall {
        let meaning = Meaning { window_ms: ACTION_WINDOW_MS, ..Meaning::default() };
        PlannedCall { tool: "tap_element", arguments, meaning }
    }

    pub(super) fn scroll_to_row(&mut self, plan: &Plan, screen: &Screen, list: &List) -> PlannedCall {
        let Some(row) = self.random.pick(&list.rows).cloned() else { return self.swipe(plan) };
        let text = if self.random.percent(70) { row.subtitle } else { row.title };
        let direction = if self.random.percent(70) { "down" } else { "up" };
        let inside = json!({"resource_id": format!("{}_rows", screen.name.to_lowercase())});
        let arguments = json!({
            "selector": {"text": text}, "direction": direction, "inside": inside, "maxScrolls": 15,
        });
        let claim = Claim::Element { by: By::Text(text), state: State::Visible };
        let meaning = Meaning { claim: Some(claim), ..Meaning::default() };
        PlannedCall { tool: "scroll_to_element", arguments, meaning }
    }

    /// Taps a point of a screen that is only drawn.
    pub(super) fn tap_drawing(&mut self, plan: &Plan) -> PlannedCall {
        let at = self.random.below(25) as u64;
        let (x, y) = match plan.face {
            Face::Android | Face::AndroidWithHelper => (540, 300 + 60 * at),
            Face::Ios => (196, 100 + 25 * at),
        };
        let arguments = json!({"x": x, "y": y});
        let meaning = Meaning { window_ms: ACTION_WINDOW_MS, ..Meaning::default() };
        PlannedCall { tool: "tap", arguments, meaning }
    }
}
