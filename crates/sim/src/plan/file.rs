//! Writes a plan as an app file, whose format is in docs/virtual-apps.md.

use serde_json::{Map, Value, json};

use super::{Effect, Item, Kind, PACKAGE, Plan, Screen};

/// Repetitions of a change that never ends. Timers of the phone are limited, and no simulated stay on a screen is
/// longer.
const REPEATS: u64 = 25;

/// Returns the name of the value that counts how often an item was really acted on.
pub fn hits(id: &str) -> String {
    format!("hits_{id}")
}

pub(super) fn name(screen: &Screen, what: &str) -> String {
    format!("{}_{what}", screen.name.to_lowercase())
}

pub(super) struct Writer<'a> {
    plan: &'a Plan,
    values: Map<String, Value>,
    pub(super) lists: Map<String, Value>,
    pub(super) dialogs: Map<String, Value>,
}

pub fn of(plan: &Plan) -> Value {
    let mut writer = Writer { plan, values: Map::new(), lists: Map::new(), dialogs: Map::new() };
    let mut screens = Map::new();
    for screen in &plan.screens {
        screens.insert(screen.name.to_owned(), writer.screen(screen));
    }
    json!({
        "package": PACKAGE, "label": "Sim", "style": plan.style, "start": plan.screens[0].name,
        "values": writer.values, "lists": writer.lists, "dialogs": writer.dialogs, "screens": screens,
    })
}

pub(super) fn after(ms: u64, script: Vec<Value>) -> Vec<Value> {
    if ms == 0 { script } else { vec![json!({"after": {"ms": ms, "do": script}})] }
}

pub(super) fn set(value: &str, to: impl Into<Value>) -> Value {
    let mut values = Map::new();
    values.insert(value.to_owned(), to.into());
    json!({"set": values})
}

pub(super) fn add(value: &str) -> Value {
    let mut values = Map::new();
    values.insert(value.to_owned(), json!(1));
    json!({"add": values})
}

impl Writer<'_> {
    pub(super) fn value(&mut self, name: &str, value: impl Into<Value>) {
        self.values.insert(name.to_owned(), value.into());
    }

    fn screen(&mut self, screen: &Screen) -> Value {
        let mut on_open = Vec::new();
        let mut content = Vec::new();
        self.banner(screen, &mut content, &mut on_open);
        content.push(json!({"type": "heading", "text": format!("{} page", screen.name)}));
        self.texts(screen, &mut content, &mut on_open);
        for item in &screen.items {
            self.item(item, &mut content, &mut on_open);
        }
        let content = self.readiness(screen, content, &mut on_open);
        let mut content = self.overlay(screen, content, &mut on_open);
        self.dialog(screen, &mut on_open);
        self.interruptions(screen, &mut on_open);
        if let Some(list) = &screen.list {
            content.push(self.list(screen, list, &mut on_open));
        }
        if screen.has_back_pane {
            content = vec![self.back_pane(screen, content)];
        }
        let mut about =
            json!({"title": format!("{} title", screen.name), "content": content, "on_open": on_open});
        if screen.is_drawn {
            about["style"] = "game".into();
        }
        about
    }

    fn banner(&mut self, screen: &Screen, content: &mut Vec<Value>, on_open: &mut Vec<Value>) {
        let Some((from, until)) = screen.timed_changes.banner_ms else { return };
        let banner = name(screen, "banner");
        self.value(&banner, false);
        content.push(json!({
            "type": "card", "id": banner, "height": 96, "when": [{"value": banner, "is": true}],
            "children": [{"type": "text", "text": format!("{} news", screen.name)}],
        }));
        on_open.push(set(&banner, false));
        on_open.extend(after(from, vec![set(&banner, true)]));
        if let Some(until) = until {
            on_open.extend(after(until, vec![set(&banner, false)]));
        }
    }

    /// Shows the content only when the screen has loaded.
    fn readiness(&mut self, screen: &Screen, content: Vec<Value>, on_open: &mut Vec<Value>) -> Vec<Value> {
        let Some(ms) = screen.timed_changes.ready_ms else { return content };
        let ready = name(screen, "ready");
        self.value(&ready, false);
        on_open.push(set(&ready, false));
        on_open.extend(after(ms, vec![set(&ready, true)]));
        vec![
            json!({"type": "spinner", "id": name(screen, "spinner"), "when": [{"value": ready, "is": false}]}),
            json!({"type": "column", "when": [{"value": ready, "is": true}], "gap": 12, "children": content}),
        ]
    }

    fn overlay(&mut self, screen: &Screen, content: Vec<Value>, on_open: &mut Vec<Value>) -> Vec<Value> {
        let Some(ms) = screen.timed_changes.overlay_ms else { return content };
        let over = name(screen, "over");
        let counted = hits(&over);
        self.value(&over, false);
        self.value(&counted, 0);
        on_open.extend(after(ms, vec![set(&over, true)]));
        let dismiss = format!("Dismiss {}", screen.name);
        vec![json!({"type": "stack", "children": [
            {"type": "column", "gap": 12, "children": content},
            {"type": "card", "id": over, "height": 560, "when": [{"value": over, "is": true}],
             "on_tap": [add(&counted)],
             "children": [
                {"type": "text", "text": format!("{} offer", screen.name)},
                {"type": "button", "text": dismiss, "id": format!("{over}_dismiss"), "on_tap": [set(&over, false)]},
             ]},
        ]})]
    }

    /// Puts another page behind the content. It is later in the document, but drawn first and below.
    fn back_pane(&mut self, screen: &Screen, content: Vec<Value>) -> Value {
        let counted = hits(&name(screen, "behind"));
        self.value(&counted, 0);
        json!({"type": "stack", "children": [
            {"type": "column", "gap": 12, "raised": 1, "children": content},
            {"type": "column", "gap": 12, "height": 560, "id": name(screen, "back_pane"), "children": [
                {"type": "text", "text": format!("{} pane behind", screen.name)},
                {"type": "card", "id": name(screen, "behind"), "height": 400, "on_tap": [add(&counted)],
                 "children": [{"type": "text", "text": format!("{} card behind", screen.name)}]},
            ]},
        ]})
    }

    /// Adds what the system and the app do without being asked.
    fn interruptions(&mut self, screen: &Screen, on_open: &mut Vec<Value>) {
        if let Some(ms) = screen.timed_changes.permission_ms {
            let name = format!("android.permission.{}", screen.name.to_uppercase());
            let question = format!("Allow Sim to use {}?", screen.name);
            on_open.extend(after(ms, vec![json!({"permission": {"name": name, "question": question}})]));
        }
        if let Some((from, ms)) = screen.timed_changes.freeze_ms {
            on_open.extend(after(from, vec![json!({"freeze": ms})]));
        }
    }

    fn dialog(&mut self, screen: &Screen, on_open: &mut Vec<Value>) {
        let Some(ms) = screen.timed_changes.dialog_ms else { return };
        let dialog = name(screen, "promo");
        self.dialogs.insert(
            dialog.clone(),
            json!({
                "title": format!("{} survey", screen.name),
                "message": "A minute of your time",
                "answers": [{"text": "Later"}, {"text": "Sure"}],
            }),
        );
        on_open.extend(after(ms, vec![json!({"dialog": dialog})]));
    }

    /// Adds texts that change by themselves.
    fn texts(&mut self, screen: &Screen, content: &mut Vec<Value>, on_open: &mut Vec<Value>) {
        let changes = &screen.timed_changes;
        if let Some(every) = changes.tick_ms {
            let tick = name(screen, "tick");
            self.value(&tick, 0);
            content.push(json!({"type": "caption", "id": tick, "text": format!("Elapsed {{{tick}}} s")}));
            for n in 1..=REPEATS {
                on_open.extend(after(every * n, vec![add(&tick)]));
            }
        }
        if let Some(every) = changes.churn_ms {
            let churn = name(screen, "churn");
            let moods = ["calm", "windy", "rainy", "sunny", "foggy"];
            self.value(&churn, "still");
            content.push(json!({"type": "text", "id": churn, "text": format!("It is {{{churn}}}")}));
            for n in 1..=REPEATS {
                on_open.extend(after(every * n, vec![set(&churn, moods[n as usize % moods.len()])]));
            }
        }
        if let Some((from, time)) = changes.flash_ms {
            let flash = name(screen, "flash");
            self.value(&flash, false);
            let shown = [json!({"value": flash, "is": true})];
            content.push(json!({"type": "text", "text": format!("{} hint", screen.name), "when": shown}));
            on_open.extend(after(from, vec![set(&flash, true)]));
            on_open.extend(after(from + time, vec![set(&flash, false)]));
        }
        if let Some(ms) = changes.becomes_ms {
            let state = name(screen, "state");
            self.value(&state, "Connecting");
            content.push(json!({"type": "text", "id": state, "text": format!("{{{state}}}")}));
            on_open.push(set(&state, "Connecting"));
            on_open.extend(after(ms, vec![set(&state, "Connected")]));
        }
    }

    fn item(&mut self, item: &Item, content: &mut Vec<Value>, on_open: &mut Vec<Value>) {
        let counted = hits(&item.id);
        self.value(&counted, 0);
        let mut on_tap = vec![add(&counted)];
        on_tap.extend(self.effect(item, content));
        let mut widget = json!({"id": item.id, "text": item.label, "on_tap": on_tap});
        let held = format!("value_{}", item.id);
        let kind = match item.kind {
            Kind::Button => "button",
            Kind::Switch => "switch",
            Kind::CheckBox => "check_box",
            Kind::Field => "field",
            Kind::Slider { .. } => "slider",
        };
        widget["type"] = kind.into();
        match item.kind {
            Kind::Button => {}
            Kind::Switch | Kind::CheckBox => {
                self.value(&held, false);
                widget["value"] = held.into();
            }
            Kind::Field => {
                self.value(&held, "");
                widget["value"] = held.into();
                widget["hint"] = item.label.clone().into();
                if let Some(fields) = widget.as_object_mut() {
                    fields.remove("text");
                    fields.remove("on_tap");
                }
            }
            Kind::Slider { max, step } => {
                self.value(&held, 0);
                widget["value"] = held.into();
                widget["max"] = max.into();
                if let Some(step) = step {
                    widget["step"] = step.into();
                }
                widget["description"] = item.label.clone().into();
                if let Some(fields) = widget.as_object_mut() {
                    fields.remove("text");
                }
            }
        }
        if let Some(ms) = item.enabled_after_ms {
            let enabled = format!("enabled_{}", item.id);
            self.value(&enabled, false);
            on_open.push(set(&enabled, false));
            on_open.extend(after(ms, vec![set(&enabled, true)]));
            widget["enabled_when"] = json!([{"value": enabled, "is": true}]);
        }
        content.push(widget);
    }

    fn effect(&mut self, item: &Item, content: &mut Vec<Value>) -> Vec<Value> {
        match &item.effect {
            Effect::Nothing | Effect::OwnState => Vec::new(),
            Effect::Go { screen, after_ms } => {
                after(*after_ms, vec![json!({"go": self.plan.screens[*screen].name})])
            }
            Effect::Show { text, after_ms } => {
                let shown = format!("shown_{}", item.id);
                self.value(&shown, false);
                content.push(json!({"type": "text", "text": text, "when": [{"value": shown, "is": true}]}));
                after(*after_ms, vec![set(&shown, true)])
            }
            Effect::Count { before, after_ms } => {
                let count = format!("count_{}", item.id);
                self.value(&count, 0);
                content.push(json!({"type": "text", "text": format!("{before}: {{{count}}}")}));
                after(*after_ms, vec![add(&count)])
            }
            Effect::Dialog { title, after_ms } => {
                let dialog = format!("ask_{}", item.id);
                let answers = json!([{"text": "No"}, {"text": "Yes"}]);
                self.dialogs.insert(dialog.clone(), json!({"title": title, "answers": answers}));
                after(*after_ms, vec![json!({"dialog": dialog})])
            }
            Effect::Toast { text } => vec![json!({"toast": text})],
            Effect::Freeze { ms } => vec![json!({"freeze": ms})],
            Effect::Permission { text } => {
                let shown = format!("shown_{}", item.id);
                self.value(&shown, false);
                content.push(json!({"type": "text", "text": text, "when": [{"value": shown, "is": true}]}));
                let name = format!("android.permission.{}", item.label.to_uppercase());
                let question = format!("Allow Sim to use {}?", item.label);
                vec![
                    json!({"permission": {"name": name, "question": question, "granted": [set(&shown, true)]}}),
                ]
            }
        }
    }
}
