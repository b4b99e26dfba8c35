//! What the agent claims or asks about the screen, rightly or wrongly.

use serde_json::json;

use super::{Agent, Meaning, PlannedCall, intended_claim};
use crate::claim::{By, Claim, State};
use crate::plan::{Effect, Item, Kind, Plan, Screen};

impl Agent {
    /// Returns mostly what the touch brings about, sometimes something else.
    pub(super) fn outcome(&mut self, plan: &Plan, item: &Item) -> Claim {
        let element = |by: By, state: State| Claim::Element { by, state };
        if self.random.percent(12) {
            return element(By::Text("Nowhere".to_owned()), State::Visible);
        }
        if self.random.percent(8) {
            return element(By::Text(item.label.clone()), State::Gone);
        }
        match &item.effect {
            Effect::Count { before, .. } => {
                let known =
                    self.lines.iter().find_map(|line| line.label.strip_prefix(&format!("{before}: ")));
                let count = known.and_then(|count| count.parse::<u64>().ok()).unwrap_or(0);
                let next = count + 1 + u64::from(self.random.percent(10));
                element(By::Text(format!("{before}: {next}")), State::Visible)
            }
            Effect::OwnState if matches!(item.kind, Kind::Switch | Kind::CheckBox) => {
                element(By::Text(item.label.clone()), State::Checked(self.random.percent(60)))
            }
            Effect::Nothing => element(By::Text(item.label.clone()), State::Enabled(self.random.percent(80))),
            _ => intended_claim(plan, item)
                .unwrap_or_else(|| element(By::Text(format!("{} noted", item.label)), State::Exists)),
        }
    }

    /// Returns a text that may be on the screen.
    pub(super) fn words(&mut self, plan: &Plan, screen: &Screen) -> String {
        let screen =
            if self.random.percent(15) { self.random.pick(&plan.screens).unwrap_or(screen) } else { screen };
        let item = self.random.pick(&screen.items);
        let label = item.map(|item| item.label.clone()).unwrap_or_default();
        match self.random.below(12) {
            0 => format!("{} news", screen.name),
            1 => format!("{} hint", screen.name),
            2 => format!("{} offer", screen.name),
            3 => format!("{} survey", screen.name),
            4 => "Connected".to_owned(),
            5 => "Connecting".to_owned(),
            6 => "Nowhere".to_owned(),
            7 => format!("{label} finished"),
            8 => format!("{label} total: {}", self.random.below(3)),
            _ => label,
        }
    }

    /// Waits for a claim about one element, or for a stable screen.
    pub(super) fn wait_for(&mut self, plan: &Plan, screen: &Screen) -> PlannedCall {
        let timeout = self.timeout();
        let window = [0, 0, 100, 250, 600][self.random.below(5)];
        let mut meaning = Meaning { window_ms: window, timeout_ms: Some(timeout), ..Meaning::default() };
        let mut arguments = json!({"timeout_ms": timeout, "stability_window_ms": window});
        if self.random.percent(15) {
            arguments["condition"] = "stable".into();
            return PlannedCall { tool: "wait_for_ui", arguments, meaning };
        }
        let (by, condition, state) = match self.random.below(10) {
            0..=3 => (By::Text(self.words(plan, screen)), "exists", State::Exists),
            4 | 5 => (By::Text(self.words(plan, screen)), "not_exists", State::Gone),
            6 | 7 => (By::Text(self.words(plan, screen)), "visible", State::Visible),
            _ => self.state_of_item(plan, screen),
        };
        arguments["selector"] = by.selector();
        arguments["condition"] = condition.into();
        match &state {
            State::Enabled(flag) | State::Checked(flag) => arguments["expected"] = (*flag).into(),
            State::Value(number) => arguments["expected_value"] = (*number).into(),
            State::Text(text) => arguments["expected_text"] = text.clone().into(),
            State::Exists | State::Gone | State::Visible => {}
        }
        meaning.claim = Some(Claim::Element { by, state });
        PlannedCall { tool: "wait_for_ui", arguments, meaning }
    }

    fn state_of_item(&mut self, plan: &Plan, screen: &Screen) -> (By, &'static str, State) {
        let Some(item) = self.random.pick(&screen.items) else {
            return (By::Text("Nowhere".to_owned()), "exists", State::Exists);
        };
        let by_id = plan.style == "view" && self.random.percent(50);
        let by = if by_id { By::Id(item.id.clone()) } else { By::Text(item.label.clone()) };
        match item.kind {
            Kind::Switch | Kind::CheckBox => (by, "checked", State::Checked(self.random.percent(50))),
            Kind::Field => (by, "text", State::Text(format!("{} 7", item.label.to_lowercase()))),
            Kind::Slider { max, .. } => {
                (by, "value", State::Value(plan.slider_max(max) * self.random.below(5) as f64 / 4.0))
            }
            Kind::Button => (by, "enabled", State::Enabled(self.random.percent(80))),
        }
    }

    pub(super) fn verify(&mut self, plan: &Plan, screen: &Screen) -> PlannedCall {
        let timeout = self.timeout();
        let mut meaning = Meaning { window_ms: super::ACTION_WINDOW_MS, ..Meaning::default() };
        match self.random.below(3) {
            0 => {
                let claim = plan.screen_claim(self.random.below(plan.screens.len()));
                let (tool, arguments) = match &claim {
                    Claim::Screen(name) => ("expect_screen", json!({"screen": name, "timeout_ms": timeout})),
                    Claim::Element { by, .. } => {
                        ("expect_element_visible", json!({"selector": by.selector(), "timeout_ms": timeout}))
                    }
                };
                meaning.claim = Some(claim);
                PlannedCall { tool, arguments, meaning }
            }
            1 => {
                let by = By::Text(self.words(plan, screen));
                let arguments = json!({"selector": by.selector(), "timeout_ms": timeout});
                meaning.claim = Some(Claim::Element { by, state: State::Visible });
                PlannedCall { tool: "expect_element_visible", arguments, meaning }
            }
            _ => {
                let (by, property, state) = self.state_of_item(plan, screen);
                let (property, expected) = match &state {
                    State::Enabled(flag) | State::Checked(flag) => (property, flag.to_string()),
                    State::Value(number) => (property, number.to_string()),
                    State::Text(text) => ("text_value", text.clone()),
                    State::Exists | State::Gone | State::Visible => ("enabled", "true".to_owned()),
                };
                let arguments = json!({
                    "selector": by.selector(), "property": property, "expected": expected, "timeout_ms": timeout,
                });
                meaning.claim = Some(Claim::Element { by, state });
                PlannedCall { tool: "expect_state", arguments, meaning }
            }
        }
    }
}
