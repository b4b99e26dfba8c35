//! A random but sensible agent: it reads, acts on what it has read or knows of the app, waits and verifies.

mod claims;

use serde_json::{Value, json};

use crate::claim::{By, Claim, State};
use crate::plan::{Effect, Item, Kind, PACKAGE, Plan, Screen};
use crate::world::{Call, Said};
use mdm_virtual_device::Random;

/// The quiet after which an action counts as settled, unless the answer says otherwise.
pub const ACTION_WINDOW_MS: u64 = 250;
/// Words on buttons that close what came up by itself.
const CLOSERS: [&str; 6] = ["Later", "Sure", "No", "Yes", "OK", "Cancel"];

/// One call, and what its answer will mean.
#[derive(Debug, Clone)]
pub struct Step {
    pub tool: &'static str,
    pub arguments: Value,
    pub about: About,
}

#[derive(Debug, Clone, Default)]
pub struct About {
    /// What success, or a confirmed verdict, says of the screen.
    pub claim: Option<Claim>,
    /// What is to be touched.
    pub target: Option<Target>,
    /// How long nothing may have changed when the answer says stable.
    pub window_ms: u64,
    /// What the caller allowed, where the tool takes it as the whole time.
    pub timeout_ms: Option<u64>,
    /// What is typed.
    pub text: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Target {
    pub label: String,
    /// Where only one thing has the label.
    pub id: Option<String>,
}

/// A line of the outline that was read last.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Line {
    id: String,
    label: String,
}

pub struct Agent {
    random: Random,
    lines: Vec<Line>,
    /// `package/.Activity` as it was read last.
    screen: String,
    revision: Option<u64>,
    fingerprint: Option<String>,
    /// A field was touched, so a text can be typed next.
    field: Option<Item>,
}

impl Agent {
    pub fn new(seed: u64) -> Agent {
        let random = Random::new(seed, 3);
        Agent {
            random,
            lines: Vec::new(),
            screen: String::new(),
            revision: None,
            fingerprint: None,
            field: None,
        }
    }

    /// Milliseconds to do nothing before the next call; mostly none.
    pub fn pause_ms(&mut self) -> u64 {
        if self.random.percent(20) { self.random.between(5, 2500) } else { 0 }
    }

    /// Takes in what an answer said.
    pub fn read(&mut self, step: &Step, call: &Call) {
        let Some(said) = call.answer.as_ref().filter(|said| !said.is_error) else { return };
        self.revision = said.number("snapshot_revision").or(self.revision);
        match step.tool {
            "get_ui_tree" => {
                self.screen = said.text("screen").to_owned();
                self.lines = said.lines.lines().filter_map(line).collect();
            }
            "get_screen_fingerprint" => self.fingerprint = Some(said.text("fingerprint").to_owned()),
            _ => {}
        }
    }

    pub fn next(&mut self, plan: &Plan) -> Step {
        if self.lines.is_empty() || self.random.percent(12) {
            return read_tree();
        }
        let Some(screen) = plan.screen_of(&self.screen) else { return self.return_to_app() };
        if let Some(field) = self.field.take() {
            return self.type_into(&field);
        }
        if let Some(step) = self.close_what_covers() {
            return step;
        }
        match self.random.below(100) {
            0..=37 => self.tap(plan, screen),
            38..=51 => self.wait_for(plan, screen),
            52..=60 => self.wait_for_change(),
            61..=72 => self.verify(plan, screen),
            73..=79 => self.find(plan, screen),
            80..=84 => self.back(plan),
            85..=86 => self.swipe(),
            87..=89 => self.scroll_to(screen),
            90..=91 => self.adjust(screen),
            92..=93 => self.flow(plan, screen),
            94..=95 => self.restart(),
            _ => self.fingerprints(),
        }
    }

    fn timeout(&mut self) -> u64 {
        if self.random.percent(20) { self.random.between(1, 600) } else { self.random.between(600, 7000) }
    }

    fn return_to_app(&mut self) -> Step {
        self.lines.clear();
        Step { tool: "start_app", arguments: json!({"appId": PACKAGE}), about: About::default() }
    }

    /// Everything that a screen does by itself begins anew.
    fn restart(&mut self) -> Step {
        self.lines.clear();
        Step { tool: "restart_app", arguments: json!({"appId": PACKAGE}), about: About::default() }
    }

    fn close_what_covers(&mut self) -> Option<Step> {
        let closes = |label: &str| CLOSERS.contains(&label) || label.starts_with("Dismiss ");
        let line = self.lines.iter().find(|line| closes(&line.label))?.clone();
        if self.random.percent(40) {
            return None;
        }
        self.lines.clear();
        let arguments = json!({"elementId": line.id});
        let target = Some(Target { label: line.label, id: None });
        let about = About { target, window_ms: ACTION_WINDOW_MS, ..About::default() };
        Some(Step { tool: "tap_element", arguments, about })
    }

    /// By the id that was read, by its words, or by the developer's identifier.
    fn name(&mut self, plan: &Plan, item: &Item) -> Value {
        let read = self.lines.iter().find(|line| line.label == item.label && !item.is_twin);
        match (read, self.random.below(3)) {
            (Some(line), 0) => json!({"elementId": line.id}),
            (_, 1) if plan.style == "view" => json!({"selector": {"resource_id": item.id}}),
            _ => json!({"selector": {"text": item.label}}),
        }
    }

    fn tap(&mut self, plan: &Plan, screen: &Screen) -> Step {
        let elsewhere = self.random.percent(6);
        let items: Vec<&Item> =
            if elsewhere { plan.items().collect() } else { screen.items.iter().collect() };
        let ways: Vec<&Item> =
            items.iter().copied().filter(|item| matches!(item.effect, Effect::Go { .. })).collect();
        let onward = self.random.percent(20) && !ways.is_empty();
        let Some(item) = self.random.pick(if onward { &ways } else { &items }).copied() else {
            return read_tree();
        };
        let mut arguments = self.name(plan, item);
        let mut about = About { window_ms: ACTION_WINDOW_MS, ..About::default() };
        about.target = Some(target(item, &arguments));
        if self.random.percent(60) {
            let claim = self.outcome(plan, item);
            arguments["expect"] = claim.expectation();
            about.claim = Some(claim);
        }
        if self.random.percent(25) {
            let settle = self.random.percent(30);
            arguments["settle"] = settle.into();
            about.window_ms = if settle { ACTION_WINDOW_MS } else { 0 };
        }
        if self.random.percent(60) {
            let timeout = self.timeout();
            arguments["timeout_ms"] = timeout.into();
            about.timeout_ms = Some(timeout);
        }
        if item.kind == Kind::Field {
            self.field = Some(item.clone());
        }
        Step { tool: "tap_element", arguments, about }
    }

    /// Into what has the focus, or into a field that is named.
    fn type_into(&mut self, field: &Item) -> Step {
        let text = format!("{} {}", field.label.to_lowercase(), self.random.below(1000));
        let mut about = About { text: Some(text.clone()), window_ms: ACTION_WINDOW_MS, ..About::default() };
        let mut arguments = json!({"text": text});
        if !field.is_twin && self.random.percent(60) {
            arguments["selector"] = json!({"text": field.label});
            arguments["clear"] = self.random.percent(30).into();
            about.target = Some(Target { label: field.label.clone(), id: Some(field.id.clone()) });
        }
        Step { tool: "type_text", arguments, about }
    }

    fn scroll_to(&mut self, screen: &Screen) -> Step {
        let Some(row) = self.random.pick(&screen.rows).cloned() else { return self.swipe() };
        let direction = if self.random.percent(70) { "down" } else { "up" };
        let inside = json!({"resource_id": format!("{}_rows", screen.name.to_lowercase())});
        let arguments = json!({
            "selector": {"text": row}, "direction": direction, "inside": inside, "maxScrolls": 15,
        });
        let claim = Claim::Element { by: By::Text(row), state: State::Visible };
        Step { tool: "scroll_to_element", arguments, about: About { claim: Some(claim), ..About::default() } }
    }

    /// A tap and a look at what came of it, in one call.
    fn flow(&mut self, plan: &Plan, screen: &Screen) -> Step {
        let wanted: Vec<&Item> = screen.items.iter().filter(|item| aimed_at(plan, item).is_some()).collect();
        let Some(item) = self.random.pick(&wanted).copied() else { return read_tree() };
        let claim = self.outcome(plan, item);
        let tap = json!({"selector": {"text": item.label}, "expect": claim.expectation()});
        let look = json!({"selector": {"text": item.label}, "condition": "not_exists", "timeout_ms": 300});
        let mut steps = vec![json!({"tool": "tap_element", "arguments": tap})];
        if self.random.percent(30) {
            // Mostly fails, and then nothing after it may be done.
            steps.push(json!({"tool": "wait_for_ui", "arguments": look}));
        }
        let about = About { claim: Some(claim), ..About::default() };
        Step { tool: "run_flow", arguments: json!({"steps": steps}), about }
    }

    fn wait_for_change(&mut self) -> Step {
        let (timeout, window) = (self.timeout(), [0, 100, 250, 500, 1000][self.random.below(5)]);
        let mut arguments = json!({"timeout_ms": timeout, "stability_window_ms": window});
        if let Some(revision) = self.revision.filter(|_| self.random.percent(40)) {
            arguments["since_revision"] = revision.into();
        }
        if self.random.percent(25) {
            arguments["expected_change"] =
                ["hierarchy_diff", "text_change", "state_change"][self.random.below(3)].into();
        }
        let about = About { window_ms: window, timeout_ms: Some(timeout), ..About::default() };
        Step { tool: "wait_for_ui_change", arguments, about }
    }

    fn find(&mut self, plan: &Plan, screen: &Screen) -> Step {
        let text = self.words(plan, screen);
        let timeout = self.timeout().min(4000);
        let claim = Claim::Element { by: By::Text(text.clone()), state: State::Exists };
        let about = About { claim: Some(claim), ..About::default() };
        let arguments = json!({"selector": {"text": text}, "timeoutMs": timeout});
        Step { tool: "find_element", arguments, about }
    }

    fn back(&mut self, plan: &Plan) -> Step {
        let mut arguments = json!({});
        let mut about = About { window_ms: ACTION_WINDOW_MS, ..About::default() };
        if self.random.percent(50) {
            let claim = Claim::Screen(plan.activity(self.random.below(plan.screens.len())));
            arguments["expect"] = claim.expectation();
            about.claim = Some(claim);
            about.window_ms = 0;
        } else if self.random.percent(50) {
            arguments["settle"] = true.into();
        }
        if self.random.percent(50) {
            let timeout = self.timeout();
            arguments["timeout_ms"] = timeout.into();
            about.timeout_ms = Some(timeout);
        }
        self.lines.clear();
        Step { tool: "press_back", arguments, about }
    }

    fn swipe(&mut self) -> Step {
        let (from, to) = if self.random.percent(60) { (1900, 900) } else { (900, 1900) };
        let duration = self.random.between(80, 1200);
        let settle = self.random.percent(60);
        let arguments =
            json!({"x1": 540, "y1": from, "x2": 540, "y2": to, "duration": duration, "settle": settle});
        let about = About { window_ms: ACTION_WINDOW_MS, ..About::default() };
        Step { tool: "swipe", arguments, about }
    }

    fn adjust(&mut self, screen: &Screen) -> Step {
        let sliders: Vec<&Item> = screen
            .items
            .iter()
            .filter(|item| matches!(item.kind, Kind::Slider { .. }) && !item.is_twin)
            .collect();
        let Some(item) = self.random.pick(&sliders).copied() else { return read_tree() };
        let Kind::Slider { max, .. } = item.kind else { return read_tree() };
        let wanted = (max * self.random.below(21) as f64 / 20.0).round();
        let tolerance = [0.0, 1.0, 5.0][self.random.below(3)];
        let arguments =
            json!({"selector": {"text": item.label}, "targetValue": wanted, "tolerance": tolerance});
        let target = Some(Target { label: item.label.clone(), id: Some(item.id.clone()) });
        Step { tool: "adjust_control", arguments, about: About { target, ..About::default() } }
    }

    fn fingerprints(&mut self) -> Step {
        match self.fingerprint.take() {
            None => Step { tool: "get_screen_fingerprint", arguments: json!({}), about: About::default() },
            Some(print) => {
                let timeout = self.timeout();
                let arguments = json!({"previousFingerprint": print, "timeoutMs": timeout});
                let about =
                    About { window_ms: ACTION_WINDOW_MS, timeout_ms: Some(timeout), ..About::default() };
                Step { tool: "wait_for_screen_change", arguments, about }
            }
        }
    }
}

fn target(item: &Item, arguments: &Value) -> Target {
    let by_id = arguments.get("selector").is_some_and(|selector| selector.get("resource_id").is_some());
    Target { label: item.label.clone(), id: (by_id || !item.is_twin).then(|| item.id.clone()) }
}

fn read_tree() -> Step {
    Step { tool: "get_ui_tree", arguments: json!({}), about: About::default() }
}

/// `e12 switch "Remember me" off`.
fn line(text: &str) -> Option<Line> {
    let text = text.trim_start();
    let (id, rest) = text.split_once(' ')?;
    let is_id = id.strip_prefix('e').is_some_and(|number| number.bytes().all(|b| b.is_ascii_digit()));
    let label = rest.split('"').nth(1)?;
    is_id.then(|| Line { id: id.to_owned(), label: label.to_owned() })
}

/// What a touch is meant to bring about, as far as it can be read from a screen.
pub fn aimed_at(plan: &Plan, item: &Item) -> Option<Claim> {
    let visible = |text: &str| Some(Claim::Element { by: By::Text(text.to_owned()), state: State::Visible });
    match &item.effect {
        Effect::Nothing | Effect::Toast { .. } => None,
        Effect::Go { screen, .. } => Some(Claim::Screen(plan.activity(*screen))),
        Effect::Show { text, .. } => visible(text),
        Effect::Count { before, .. } => visible(&format!("{before}: 1")),
        Effect::Dialog { title, .. } => visible(title),
        Effect::Own => match item.kind {
            Kind::Switch | Kind::CheckBox => {
                Some(Claim::Element { by: By::Text(item.label.clone()), state: State::Checked(true) })
            }
            Kind::Button | Kind::Field | Kind::Slider { .. } => None,
        },
    }
}

/// Whether an answer is one of an action that the device took.
pub fn was_dispatched(said: &Said) -> bool {
    said.facts.get("action_id").is_some() && said.flag("success")
}
