//! The states on the model phone: each is an app of one screen, written in the language of the phone's apps.

use mdm_virtual_device::{AppFile, Phone, PhoneConfig};
use serde_json::{Value, json};
use tokio::time::{Duration, sleep};

use crate::host::Host;
use crate::table::{Setting, State};
use crate::tree::{Node, parse};

/// Pixels of a dp.
const DENSITY: f64 = 420.0 / 160.0;
const START: &str = "am start -n org.mdm.widgets/.StateActivity";

/// Returns the node of a state; `Ok(None)` if it has none, and why the phone cannot show it otherwise.
pub async fn node(state: &State, setting: Setting) -> Result<Option<Node>, String> {
    let file = AppFile::parse(&app(state).to_string()).map_err(|error| error.to_string())?;
    let config = PhoneConfig { sdk: 34, apps: vec![file], ..PhoneConfig::default() };
    let phone = Phone::new(config);
    let mut host = Host::connect(&phone).await;
    host.run(START).await;
    for command in setting.commands() {
        host.shell(command).await;
    }
    sleep(Duration::from_secs(1)).await;
    let mut root = parse(&host.dump().await).ok_or("no dump")?;
    if state.model.get("open").is_some() {
        let (x, y) = slot(&root).and_then(|slot| slot.children.first()).ok_or("nothing to open")?.centre();
        host.run(&format!("input tap {x} {y}")).await;
        sleep(Duration::from_secs(1)).await;
        root = parse(&host.dump().await).ok_or("no dump")?;
    }
    if let Some(by) = state.model.get("scroll_dp") {
        let moved = slot(&root).and_then(|slot| slot.children.first()).ok_or("nothing to drag")?;
        host.run(&drag(moved.centre(), by)).await;
        sleep(Duration::from_secs(3)).await;
        root = parse(&host.dump().await).ok_or("no dump")?;
    }
    if state.window.is_some() && slot(&root).is_none() {
        return Ok(Some(root));
    }
    let slot = slot(&root).ok_or("the screen has no slot")?;
    Ok(slot.children.first().cloned())
}

/// Drags content by so many dp, so slowly that it does not glide.
fn drag((x, y): (i32, i32), by: &Value) -> String {
    let px = |at: usize| by.get(at).and_then(Value::as_f64).unwrap_or(0.0) * DENSITY;
    format!("input swipe {x} {y} {} {} 4000", x - px(0) as i32, y - px(1) as i32)
}

fn slot(root: &Node) -> Option<&Node> {
    let mut slots = Vec::new();
    root.find_all("org.mdm.widgets:id/slot", &mut slots);
    slots.first().copied()
}

fn app(state: &State) -> Value {
    let model = &state.model;
    let mut widget = model.clone();
    if let Some(open) = model.get("open") {
        widget = open.clone();
    }
    let mut dialogs = json!({});
    let mut on_open = json!([]);
    if let Some(dialog) = model.get("dialog") {
        dialogs = json!({"it": dialog});
        on_open = json!([{"dialog": "it"}]);
        widget = json!({"type": "text", "text": "Anchor"});
    }
    if let Some(widget) = widget.as_object_mut() {
        widget.insert("id".to_owned(), json!(state.id));
        widget.remove("scroll_dp");
    }
    json!({
        "package": "org.mdm.widgets",
        "label": "Widgets",
        "start": "State",
        "values": values(),
        "lists": lists(),
        "dialogs": dialogs,
        "screens": {"State": {
            "activity": ".StateActivity",
            "on_open": on_open,
            "content": [{"type": "stack", "id": "slot", "children": [widget]}],
        }},
    })
}

const LONG: &str =
    "A long sentence that goes on and on until the end of its line is reached and passed by far";

fn values() -> Value {
    json!({
        "on": true, "off": false, "none": "", "one": "1", "two": "2", "ada": "Ada", "abc": "abc", "answer": "42",
        "pin": "1234", "lines": "one\ntwo", "x": "x", "fixed": "fixed", "long": LONG, "email": "a@b.c",
        "fig": "fig", "ab": "a, b", "zero": 0, "one_n": 1, "two_n": 2, "three": 3, "half": 3.5, "seven": 7,
        "twenty": 20, "minute": 75, "ap": "ap", "some": 38, "fifty": 50, "hundred": 100, "mercury": "Mercury", "venus": "Venus",
        "earth": "Earth", "row2": "Row 2", "tab_one": "One", "tab_two": "Two", "date": "2026-03-14",
        "time": "9:41",
    })
}

fn lists() -> Value {
    let rows = |count: usize| -> Vec<Value> {
        (1..=count)
            .map(|number| json!({"name": format!("Row {number}"), "on": (number == 2).to_string()}))
            .collect()
    };
    json!({
        "three": {"columns": ["name", "on"], "rows": rows(3)},
        "four": {"columns": ["name", "on"], "rows": rows(4)},
        "forty": {"columns": ["name", "on"], "rows": rows(40)},
        "nothing": {"columns": ["name"]},
        "groups": {"columns": ["name"], "rows": [{"name": "Fruit"}, {"name": "Tools"}]},
        "opened": {"columns": ["name"], "rows": [{"name": "Fruit"}, {"name": "Pear"}, {"name": "Tools"}]},
        "trips": {"columns": ["a", "b"], "rows": [{"a": "Lake", "b": "12 km"}, {"a": "Hill", "b": "8 km"}]},
    })
}
