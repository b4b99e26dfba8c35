//! A random agent that makes sense: it reads the screen, acts on what it read or knows of the app, waits and verifies.

mod claims;
mod rows;

use mdm_virtual_device::Random;
use serde_json::{Value, json};

use rows::tap_id;

use crate::claim::{By, Claim, State};
use crate::plan::{Effect, Item, Kind, PACKAGE, Plan, Screen};
use crate::world::{Call, Face, SECOND, ToolAnswer};

/// The quiet after which an action counts as settled, unless the answer says otherwise.
pub const ACTION_WINDOW_MS: u64 = 250;
/// Labels of buttons that close a dialog or an overlay.
const CLOSING_LABELS: [&str; 6] = ["Later", "Sure", "No", "Yes", "OK", "Cancel"];

/// A call that the agent will make, and what its answer will mean.
#[derive(Debug, Clone)]
pub struct PlannedCall {
    pub tool: &'static str,
    pub arguments: Value,
    pub meaning: Meaning,
}

/// What the agent expects of a call; the oracles judge the answer by it.
#[derive(Debug, Clone, Default)]
pub struct Meaning {
    /// What is true of the screen if the call succeeds or its verdict is confirmed.
    pub claim: Option<Claim>,
    /// The element to touch.
    pub target: Option<Target>,
    /// How long the screen must have been unchanged if the answer says stable.
    pub window_ms: u64,
    /// The time that the call may take, for tools that take it as the whole time.
    pub timeout_ms: Option<u64>,
    /// The text to type.
    pub text: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Target {
    pub label: String,
    /// Set if only one element has the label.
    pub id: Option<String>,
}

/// An element of the outline that was read last.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Line {
    id: String,
    label: String,
    is_touchable: bool,
    is_in_list: bool,
}

pub struct Agent {
    random: Random,
    lines: Vec<Line>,
    /// Elements of earlier answers, whose ids may be old.
    kept: Vec<Line>,
    /// An action was made whose outcome can be asked for.
    has_acted: bool,
    /// Ids that are to be tapped one after the other, the next one last.
    streak: Vec<String>,
    /// The last call was about the other device.
    strayed: bool,
    /// `package/.Activity` as it was read last.
    screen: String,
    revision: Option<u64>,
    fingerprint: Option<String>,
    /// The field that was tapped last: a text can be typed next.
    field: Option<Item>,
}

impl Agent {
    pub fn new(seed: u64) -> Agent {
        let random = Random::new(seed, 3);
        Agent {
            random,
            lines: Vec::new(),
            kept: Vec::new(),
            has_acted: false,
            streak: Vec::new(),
            strayed: false,
            screen: String::new(),
            revision: None,
            fingerprint: None,
            field: None,
        }
    }

    /// Returns how long to wait before the next call; mostly 0.
    pub fn pause_ms(&mut self) -> u64 {
        if self.random.percent(20) { self.random.between(5, 2500) } else { 0 }
    }

    /// Remembers what an answer said about the screen.
    pub fn heard(&mut self, planned: &PlannedCall, call: &Call) {
        let Some(answer) = call.answer.as_ref().filter(|answer| !answer.is_refused()) else { return };
        self.revision = answer.number("snapshot_revision").or(self.revision);
        match planned.tool {
            "get_ui_tree" => {
                self.screen = call.screen_of(answer);
                let elements = answer.facts.get("elements").and_then(Value::as_array);
                let lines: Vec<Line> = match elements {
                    Some(elements) => elements.iter().filter_map(element).collect(),
                    None => answer.lines.lines().filter_map(line).collect(),
                };
                self.keep(&lines);
                self.lines = lines;
            }
            "tap_element" | "tap" => self.has_acted = true,
            "get_screen_fingerprint" => self.fingerprint = Some(answer.text("fingerprint").to_owned()),
            _ => {}
        }
    }

    /// Names the device, mostly the first; sometimes none.
    pub fn choose_device(&mut self, planned: &mut PlannedCall, first: &str) {
        let reads = matches!(planned.tool, "get_ui_tree" | "find_element");
        let (omits, strays) = (self.random.percent(25), self.random.percent(30));
        let device = match (std::mem::replace(&mut self.strayed, reads && strays), reads && strays) {
            (_, true) => SECOND,
            (false, false) if omits => return,
            _ => first,
        };
        planned.arguments["deviceId"] = device.into();
    }

    pub fn next(&mut self, plan: &Plan) -> PlannedCall {
        if let Some(id) = self.streak.pop() {
            return tap_id(&id);
        }
        let is_drawn = plan.screen_of(&self.screen).is_some_and(|screen| screen.is_drawn);
        if (self.lines.is_empty() && !(is_drawn && self.random.percent(70))) || self.random.percent(12) {
            return self.read();
        }
        let Some(screen) = plan.screen_of(&self.screen) else { return self.return_to_app() };
        if std::mem::take(&mut self.has_acted) && self.random.percent(20) {
            let (arguments, meaning) = (json!({}), Meaning::default());
            return PlannedCall { tool: "classify_action_outcome", arguments, meaning };
        }
        if let Some(field) = self.field.take() {
            return self.type_into(&field);
        }
        if let Some(planned) = self.close_what_covers() {
            return planned;
        }
        if let Some(list) = screen.list.as_ref().filter(|_| self.random.percent(55)) {
            return self.use_list(plan, screen, list);
        }
        if screen.is_drawn && self.random.percent(60) {
            return self.tap_drawing(plan);
        }
        match self.random.below(100) {
            0..=37 => self.tap(plan, screen),
            38..=51 => self.wait_for(plan, screen),
            52..=60 => self.wait_for_change(),
            61..=72 => self.verify(plan, screen),
            73..=79 => self.find(plan, screen),
            80..=84 => self.back(plan),
            85..=86 => self.swipe(plan),
            87..=89 => self.tap_kept(),
            90..=91 => self.adjust(plan, screen),
            92..=93 => self.flow(plan, screen),
            94..=95 => self.restart(),
            _ => self.fingerprints(),
        }
    }

    /// Reads the screen, mostly in the form that tells where everything is.
    fn read(&mut self) -> PlannedCall {
        let arguments = if self.random.percent(70) { json!({"format": "json"}) } else { json!({}) };
        PlannedCall { tool: "get_ui_tree", arguments, meaning: Meaning::default() }
    }

    fn timeout(&mut self) -> u64 {
        if self.random.percent(20) { self.random.between(1, 600) } else { self.random.between(600, 7000) }
    }

    fn return_to_app(&mut self) -> PlannedCall {
        self.lines.clear();
        PlannedCall { tool: "start_app", arguments: json!({"appId": PACKAGE}), meaning: Meaning::default() }
    }

    /// Restarts the app, so that everything that a screen does by itself begins anew.
    fn restart(&mut self) -> PlannedCall {
        self.lines.clear();
        PlannedCall { tool: "restart_app", arguments: json!({"appId": PACKAGE}), meaning: Meaning::default() }
    }

    fn close_what_covers(&mut self) -> Option<PlannedCall> {
        let closes = |label: &str| CLOSING_LABELS.contains(&label) || label.starts_with("Dismiss ");
        let line = self.lines.iter().find(|line| closes(&line.label))?.clone();
        if self.random.percent(40) {
            return None;
        }
        self.lines.clear();
        let arguments = json!({"elementId": line.id});
        let target = Some(Target { label: line.label, id: None });
        let meaning = Meaning { target, window_ms: ACTION_WINDOW_MS, ..Meaning::default() };
        Some(PlannedCall { tool: "tap_element", arguments, meaning })
    }

    /// Names an element by the id that was read, by its label, or by its resource id.
    fn name(&mut self, plan: &Plan, item: &Item) -> Value {
        let read = self.lines.iter().find(|line| line.label == item.label && !item.shares_label);
        match (read, self.random.below(3)) {
            (Some(line), 0) => json!({"elementId": line.id}),
            (_, 1) if plan.style == "view" => json!({"selector": {"resource_id": item.id}}),
            _ => json!({"selector": {"text": item.label}}),
        }
    }

    fn tap(&mut self, plan: &Plan, screen: &Screen) -> PlannedCall {
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
        let mut meaning = Meaning { window_ms: ACTION_WINDOW_MS, ..Meaning::default() };
        meaning.target = Some(target(item, &arguments));
        if self.random.percent(60) {
            let claim = self.outcome(plan, item);
            arguments["expect"] = claim.expectation();
            meaning.claim = Some(claim);
        }
        if self.random.percent(25) {
            let settle = self.random.percent(30);
            arguments["settle"] = settle.into();
            meaning.window_ms = if settle { ACTION_WINDOW_MS } else { 0 };
        }
        if self.random.percent(60) {
            let timeout = self.timeout();
            arguments["timeout_ms"] = timeout.into();
            meaning.timeout_ms = Some(timeout);
        }
        if item.kind == Kind::Field {
            self.field = Some(item.clone());
        }
        PlannedCall { tool: "tap_element", arguments, meaning }
    }

    /// Types into the focused field, or into a field that it names.
    fn type_into(&mut self, field: &Item) -> PlannedCall {
        let text = format!("{} {}", field.label.to_lowercase(), self.random.below(1000));
        let mut meaning =
            Meaning { text: Some(text.clone()), window_ms: ACTION_WINDOW_MS, ..Meaning::default() };
        let mut arguments = json!({"text": text});
        if !field.shares_label && self.random.percent(60) {
            arguments["selector"] = json!({"text": field.label});
            arguments["clear"] = self.random.percent(30).into();
            meaning.target = Some(Target { label: field.label.clone(), id: Some(field.id.clone()) });
        }
        PlannedCall { tool: "type_text", arguments, meaning }
    }

    /// Taps and checks the outcome, in one call.
    fn flow(&mut self, plan: &Plan, screen: &Screen) -> PlannedCall {
        let wanted: Vec<&Item> =
            screen.items.iter().filter(|item| intended_claim(plan, item).is_some()).collect();
        let Some(item) = self.random.pick(&wanted).copied() else { return read_tree() };
        let claim = self.outcome(plan, item);
        let tap = json!({"selector": {"text": item.label}, "expect": claim.expectation()});
        let look = json!({"selector": {"text": item.label}, "condition": "not_exists", "timeout_ms": 300});
        let mut steps = vec![json!({"tool": "tap_element", "arguments": tap})];
        if self.random.percent(30) {
            // This mostly fails, and then no later step may be done.
            steps.push(json!({"tool": "wait_for_ui", "arguments": look}));
        }
        let meaning = Meaning { claim: Some(claim), ..Meaning::default() };
        PlannedCall { tool: "run_flow", arguments: json!({"steps": steps}), meaning }
    }

    fn wait_for_change(&mut self) -> PlannedCall {
        let (timeout, window) = (self.timeout(), [0, 100, 250, 500, 1000][self.random.below(5)]);
        let mut arguments = json!({"timeout_ms": timeout, "stability_window_ms": window});
        if let Some(revision) = self.revision.filter(|_| self.random.percent(40)) {
            arguments["since_revision"] = revision.into();
        }
        if self.random.percent(25) {
            arguments["expected_change"] =
                ["hierarchy_diff", "text_change", "state_change"][self.random.below(3)].into();
        }
        let meaning = Meaning { window_ms: window, timeout_ms: Some(timeout), ..Meaning::default() };
        PlannedCall { tool: "wait_for_ui_change", arguments, meaning }
    }

    fn find(&mut self, plan: &Plan, screen: &Screen) -> PlannedCall {
        let text = self.words(plan, screen);
        let timeout = self.timeout().min(4000);
        let claim = Claim::Element { by: By::Text(text.clone()), state: State::Exists };
        let meaning = Meaning { claim: Some(claim), ..Meaning::default() };
        let arguments = json!({"selector": {"text": text}, "timeoutMs": timeout});
        PlannedCall { tool: "find_element", arguments, meaning }
    }

    fn back(&mut self, plan: &Plan) -> PlannedCall {
        let mut arguments = json!({});
        let mut meaning = Meaning { window_ms: ACTION_WINDOW_MS, ..Meaning::default() };
        if self.random.percent(50) {
            let claim = plan.screen_claim(self.random.below(plan.screens.len()));
            arguments["expect"] = claim.expectation();
            meaning.claim = Some(claim);
            meaning.window_ms = 0;
        } else if self.random.percent(50) {
            arguments["settle"] = true.into();
        }
        if self.random.percent(50) {
            let timeout = self.timeout();
            arguments["timeout_ms"] = timeout.into();
            meaning.timeout_ms = Some(timeout);
        }
        self.lines.clear();
        PlannedCall { tool: "press_back", arguments, meaning }
    }

    fn swipe(&mut self, plan: &Plan) -> PlannedCall {
        let (x, low, high) = match plan.face {
            Face::Android | Face::AndroidWithHelper => (540, 1900, 900),
            Face::Ios => (196, 680, 320),
        };
        let (from, to) = if self.random.percent(60) { (low, high) } else { (high, low) };
        let duration = self.random.between(80, 1200);
        let settle = self.random.percent(60);
        let arguments =
            json!({"x1": x, "y1": from, "x2": x, "y2": to, "duration": duration, "settle": settle});
        let meaning = Meaning { window_ms: ACTION_WINDOW_MS, ..Meaning::default() };
        PlannedCall { tool: "swipe", arguments, meaning }
    }

    fn adjust(&mut self, plan: &Plan, screen: &Screen) -> PlannedCall {
        let sliders: Vec<&Item> = screen
            .items
            .iter()
            .filter(|item| matches!(item.kind, Kind::Slider { .. }) && !item.shares_label)
            .collect();
        let Some(item) = self.random.pick(&sliders).copied() else { return read_tree() };
        let Kind::Slider { max, .. } = item.kind else { return read_tree() };
        let wanted = (plan.slider_max(max) * self.random.below(21) as f64 / 20.0).round();
        let tolerance = [0.0, 1.0, 5.0][self.random.below(3)];
        let arguments =
            json!({"selector": {"text": item.label}, "targetValue": wanted, "tolerance": tolerance});
        let target = Some(Target { label: item.label.clone(), id: Some(item.id.clone()) });
        PlannedCall { tool: "adjust_control", arguments, meaning: Meaning { target, ..Meaning::default() } }
    }

    fn fingerprints(&mut self) -> PlannedCall {
        match self.fingerprint.take() {
            None => PlannedCall {
                tool: "get_screen_fingerprint",
                arguments: json!({}),
                meaning: Meaning::default(),
            },
            Some(print) => {
                let timeout = self.timeout();
                let arguments = json!({"previousFingerprint": print, "timeoutMs": timeout});
                let meaning =
                    Meaning { window_ms: ACTION_WINDOW_MS, timeout_ms: Some(timeout), ..Meaning::default() };
                PlannedCall { tool: "wait_for_screen_change", arguments, meaning }
            }
        }
    }
}

fn target(item: &Item, arguments: &Value) -> Target {
    let by_id = arguments.get("selector").is_some_and(|selector| selector.get("resource_id").is_some());
    Target { label: item.label.clone(), id: (by_id || !item.shares_label).then(|| item.id.clone()) }
}

fn read_tree() -> PlannedCall {
    PlannedCall { tool: "get_ui_tree", arguments: json!({}), meaning: Meaning::default() }
}

/// Parses the beginning of a line such as `e12 switch "Remember me" off`.
pub fn labelled(line: &str) -> Option<(&str, &str)> {
    let (id, rest) = line.trim_start().split_once(' ')?;
    let is_id = id.strip_prefix('e').is_some_and(|number| number.bytes().all(|b| b.is_ascii_digit()));
    let label = rest.split('"').nth(1)?;
    is_id.then_some((id, label))
}

fn line(text: &str) -> Option<Line> {
    let (id, label) = labelled(text)?;
    let indent = text.len() - text.trim_start().len();
    let is_touchable = text.trim_start().split(' ').nth(1).is_none_or(|role| role != "text");
    Some(Line { id: id.to_owned(), label: label.to_owned(), is_touchable, is_in_list: indent > 2 })
}

/// Reads an element of a tree in JSON.
fn element(element: &Value) -> Option<Line> {
    let text = |name: &str| element.get(name).and_then(Value::as_str);
    let is_touchable = element.get("clickable").and_then(Value::as_bool).unwrap_or_default();
    let is_in_list = matches!(text("resourceId"), Some(id) if id.ends_with("delete") || id.ends_with("more"));
    let label = text("label").unwrap_or_default();
    Some(Line { id: text("element_id")?.to_owned(), label: label.to_owned(), is_touchable, is_in_list })
}

/// Returns what a touch is meant to bring about, if a screen can show it.
pub fn intended_claim(plan: &Plan, item: &Item) -> Option<Claim> {
    let visible = |text: &str| Some(Claim::Element { by: By::Text(text.to_owned()), state: State::Visible });
    match &item.effect {
        Effect::Nothing | Effect::Toast { .. } | Effect::Permission { .. } | Effect::Freeze { .. } => None,
        Effect::Go { screen, .. } => Some(plan.screen_claim(*screen)),
        Effect::Show { text, .. } => visible(text),
        Effect::Count { before, .. } => visible(&format!("{before}: 1")),
        Effect::Dialog { title, .. } => visible(title),
        Effect::OwnState => match item.kind {
            Kind::Switch | Kind::CheckBox => {
                Some(Claim::Element { by: By::Text(item.label.clone()), state: State::Checked(true) })
            }
            Kind::Button | Kind::Field | Kind::Slider { .. } => None,
        },
    }
}

/// Returns true if the answer says that an action was sent to the device.
pub fn was_dispatched(answer: &ToolAnswer) -> bool {
    answer.facts.get("action_id").is_some() && answer.flag("success")
}
