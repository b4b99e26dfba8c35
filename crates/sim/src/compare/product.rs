//! Uses the product as its tool descriptions and the hints of its answers tell an agent to.

use serde_json::{Value, json};
use tokio::time::Duration;

use super::rows::RowIntent;
use super::{Intent, Report, sight};
use crate::claim::{Claim, State};
use crate::plan::{PACKAGE, Plan};
use crate::world::{ToolAnswer, World};

/// How often the agent follows a hint before it gives up.
const ROUNDS_MAX: usize = 10;
/// How often the agent goes on with a search that says that it may go on.
const SEARCHES_MAX: usize = 12;
/// How often the agent closes what covers the result, and looks again.
const CHECKS_MAX: usize = 3;
const CLOSING_LABELS: [&str; 8] =
    ["\"Later\"", "\"No\"", "\"OK\"", "\"Cancel\"", "\"Dismiss ", "\"Close\"", "\"Don't allow\"", "\"Wait\""];
/// How long the agent waits for a device that is offline, and how often.
const OFFLINE_PAUSE: Duration = Duration::from_secs(2);
const OFFLINE_PAUSES_MAX: usize = 30;

pub async fn act(world: &mut World, intent: &Intent) -> Report {
    let by_words = json!({
        "selector": {"text": intent.item.label}, "expect": intent.claim.expectation(), "timeout_ms": 6000,
    });
    let mut arguments = by_words.clone();
    let is_first = is_first_of_its_name(&world.plan, intent);
    for _ in 0..ROUNDS_MAX {
        let wait =
            json!({"selector": {"text": intent.item.label}, "condition": "clickable", "timeout_ms": 6000});
        world.call("wait_for_ui", wait).await;
        clear_the_way(world, "").await;
        let Some(answer) = world.call("tap_element", arguments.clone()).await.answer else { break };
        if !was_refused(&answer) {
            let confirmed = answer.text("verdict") == "confirmed";
            let success = confirmed || check(world, &arguments["expect"]).await;
            return Report { success, taps: 1, reported_at_ms: world.now_ms() };
        }
        match answer.code() {
            "AMBIGUOUS_TARGET" => choose(&mut arguments, &answer, is_first, intent),
            "STALE_REFERENCE" => arguments = by_words.clone(),
            _ if answer.hint().contains("draw it without a tree") => {
                return sight::act(world, intent, is_first).await;
            }
            _ => {
                follow(world, &answer).await;
                if answer.hint().contains("it may have to be scrolled to") {
                    let scroll = json!({"selector": {"text": intent.item.label}});
                    world.call("scroll_to_element", scroll).await;
                }
            }
        }
    }
    Report { success: false, taps: 0, reported_at_ms: world.now_ms() }
}

/// Deletes a row: scrolls to it, taps its button, answers the question about it.
pub async fn delete(world: &mut World, intent: &RowIntent) -> Report {
    let subtitle = intent.row.subtitle.as_str();
    let asked = format!("Delete {}?", intent.row.title);
    let expect =
        if intent.asks { json!({"text": asked}) } else { json!({"text": subtitle, "exists": false}) };
    for _ in 0..ROUNDS_MAX {
        clear_the_way(world, "").await;
        if !scroll_to(world, subtitle, &intent.list).await {
            continue;
        }
        let tap = json!({
            "selector": {"text": "Delete", "inside": {"text": subtitle}}, "timeout_ms": 6000, "expect": expect,
        });
        let Some(answer) = world.call("tap_element", tap).await.answer else { break };
        if was_refused(&answer) {
            follow(world, &answer).await;
            continue;
        }
        let mut success = answer.text("verdict") == "confirmed" || check(world, &expect).await;
        if intent.asks && success {
            success = confirm(world, subtitle).await;
        }
        return Report { success, taps: 1, reported_at_ms: world.now_ms() };
    }
    Report { success: false, taps: 0, reported_at_ms: world.now_ms() }
}

/// Brings a row into sight. Follows the hint of a search that did not find it, and returns true if it was found.
async fn scroll_to(world: &mut World, subtitle: &str, list: &str) -> bool {
    let mut scroll =
        json!({"selector": {"text": subtitle}, "inside": {"resource_id": list}, "direction": "down"});
    for _ in 0..SEARCHES_MAX {
        let Some(answer) = world.call("scroll_to_element", scroll.clone()).await.answer else { return false };
        if answer.facts.get("error").is_none() {
            return true;
        }
        let hint = answer.hint();
        if hint.contains("the same call goes on") {
            continue;
        }
        if hint.contains("get_ui_tree marks what scrolls") {
            match innermost_scroller(world).await {
                Some(id) => scroll["inside"] = json!({"elementId": id}),
                None => return false,
            }
        } else if hint.contains("the other way with direction") && scroll["direction"] == "down" {
            scroll["direction"] = "up".into();
        } else {
            follow(world, &answer).await;
            return false;
        }
    }
    false
}

/// Returns the id of the last thing that the outline marks as scrollable: a list comes after the page around it.
async fn innermost_scroller(world: &mut World) -> Option<String> {
    let answer = world.call("get_ui_tree", json!({})).await.answer?;
    let line = answer.lines.lines().rfind(|line| line.contains(" scrollable"))?;
    line.split_whitespace().next().map(str::to_owned)
}

/// Answers the question whether the row is to be deleted. What was refused is tried again, what was sent is not.
async fn confirm(world: &mut World, subtitle: &str) -> bool {
    // The question shows the row's subtitle too.
    let gone = json!({"text": subtitle, "exists": false});
    let tap = json!({"selector": {"text": "Delete", "role": "button"}, "expect": gone});
    for _ in 0..ROUNDS_MAX {
        let Some(answer) = world.call("tap_element", tap.clone()).await.answer else { return false };
        if !was_refused(&answer) {
            return answer.text("verdict") == "confirmed" || check(world, &gone).await;
        }
        follow(world, &answer).await;
    }
    false
}

/// Looks once more for what was expected and not confirmed, after closing what came up in front of it.
async fn check(world: &mut World, expect: &Value) -> bool {
    let text = |name: &str| expect.get(name).and_then(Value::as_str).unwrap_or_default().to_owned();
    for _ in 0..CHECKS_MAX {
        let is_shown = clear_the_way(world, &text("text")).await;
        let is_wanted = expect.get("exists") != Some(&Value::Bool(false)) && expect.get("checked").is_none();
        if is_shown && is_wanted {
            return true;
        }
        let (tool, arguments) = match (expect.get("screen"), expect.get("checked")) {
            (Some(screen), _) => ("expect_screen", json!({"screen": screen, "timeout_ms": 3000})),
            (None, checked) => {
                let condition = match (checked, expect.get("exists")) {
                    (Some(_), _) => "checked",
                    (None, Some(Value::Bool(false))) => "not_exists",
                    _ => "exists",
                };
                let selector = match expect.get("elementId") {
                    Some(id) => json!({"elementId": id}),
                    None => json!({"text": text("text")}),
                };
                let mut arguments = json!({"selector": selector, "condition": condition, "timeout_ms": 3000});
                if let Some(checked) = checked {
                    arguments["expected"] = checked.clone();
                }
                ("wait_for_ui", arguments)
            }
        };
        let answer = world.call(tool, arguments).await.answer;
        if answer.is_some_and(|answer| answer.flag("success")) {
            return true;
        }
    }
    false
}

/// Returns true if nothing was sent. A refused call has an error in place of the action's envelope.
fn was_refused(answer: &ToolAnswer) -> bool {
    answer.facts.get("error").is_some() && answer.text("dispatched") != "unknown"
}

/// Does what the hint of a refused call asks for: waits for a device that is away, or closes what is in the way.
async fn follow(world: &mut World, answer: &ToolAnswer) {
    if !is_away(answer.code()) {
        clear_the_way(world, "").await;
        return;
    }
    for _ in 0..OFFLINE_PAUSES_MAX {
        tokio::time::sleep(OFFLINE_PAUSE).await;
        let seen = world.call("get_ui_tree", json!({})).await.answer;
        if seen.is_some_and(|seen| !is_away(seen.code())) {
            return;
        }
    }
}

fn is_away(code: &str) -> bool {
    matches!(code, "DEVICE_OFFLINE" | "DEVICE_NOT_FOUND" | "CONNECTION_LOST")
}

fn is_first_of_its_name(plan: &Plan, intent: &Intent) -> bool {
    let screen = plan.screen_of(&format!("{PACKAGE}/{}", intent.activity));
    screen.and_then(|screen| screen.items.first()).is_some_and(|item| item.id == intent.item.id)
}

/// Chooses among elements with the same label: the one that is meant is the first or the last on its screen.
fn choose(arguments: &mut Value, answer: &ToolAnswer, is_first: bool, intent: &Intent) {
    let mut lines = answer.lines.lines();
    let line = if is_first { lines.next() } else { lines.next_back() };
    let Some(id) = line.and_then(|line| line.split_whitespace().next()) else { return };
    arguments["elementId"] = id.into();
    if let Some(members) = arguments.as_object_mut() {
        members.remove("selector");
    }
    if let Claim::Element { state: State::Checked(flag), .. } = intent.claim {
        arguments["expect"] = json!({"elementId": id, "checked": flag});
    }
}

/// Reads the screen, and closes a dialog or overlay in front of the app unless the screen shows the wanted text. Returns
/// whether it does.
async fn clear_the_way(world: &mut World, wanted: &str) -> bool {
    let tree = world.call("get_ui_tree", json!({})).await;
    let lines = tree.answer.as_ref().map(|answer| answer.lines.clone()).unwrap_or_default();
    if !wanted.is_empty() && lines.contains(&format!("\"{wanted}\"")) {
        return true;
    }
    let closer = lines.lines().find(|line| CLOSING_LABELS.iter().any(|word| line.contains(word)));
    if let Some(id) = closer.and_then(|line| line.split_whitespace().next()) {
        world.call("tap_element", json!({"elementId": id})).await;
    }
    false
}
