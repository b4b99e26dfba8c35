//! Uses the product as its tool descriptions and the hints of its answers tell an agent to.

use serde_json::{Value, json};
use tokio::time::Duration;

use super::rows::RowIntent;
use super::{Intent, Report, sight};
use crate::claim::{Claim, State};
use crate::plan::{PACKAGE, Plan};
use crate::world::{ToolAnswer, World};

/// How often the agent follows a hint before it gives up.
const ROUNDS_MAX: usize = 6;
/// How often the agent goes on with a search that says that it may go on.
const SEARCHES_MAX: usize = 12;
const CLOSING_LABELS: [&str; 8] = [
    "\"Later\"",
    "\"No\"",
    "\"OK\"",
    "\"Cancel\"",
    "\"Dismiss ",
    "\"Close\"",
    "\"Don't allow\"",
    "\"Wait\"",
];
/// How long the agent waits for a device that is offline.
const OFFLINE_PAUSE: Duration = Duration::from_secs(2);

pub async fn act(world: &mut World, intent: &Intent) -> Report {
    let mut arguments = json!({
        "selector": {"text": intent.item.label}, "expect": intent.claim.expectation(), "timeout_ms": 6000,
    });
    let is_first = is_first_of_its_name(&world.plan, intent);
    let mut taps = 0;
    for _ in 0..ROUNDS_MAX {
        let wait =
            json!({"selector": {"text": intent.item.label}, "condition": "clickable", "timeout_ms": 6000});
        world.call("wait_for_ui", wait).await;
        let call = world.call("tap_element", arguments.clone()).await;
        let reported_at_ms = world.now_ms();
        let Some(answer) = call.answer else { break };
        if !was_refused(&answer) {
            taps += 1;
            // Once more after a touch that demonstrably did nothing; that is no first try any more.
            if taps == 1 && answer.text("failure_reason") == "no_change" {
                continue;
            }
            return Report { success: answer.text("verdict") == "confirmed", taps, reported_at_ms };
        }
        match answer.code() {
            "AMBIGUOUS_TARGET" => choose(&mut arguments, &answer, is_first, intent),
            _ if answer.hint().contains("capture_screenshot shows it") => {
                return sight::act(world, intent, is_first).await;
            }
            _ => follow(world, &answer).await,
        }
    }
    Report { success: false, taps, reported_at_ms: world.now_ms() }
}

/// Deletes a row: scrolls to it, taps its button, answers the question about it.
pub async fn delete(world: &mut World, intent: &RowIntent) -> Report {
    let subtitle = intent.row.subtitle.as_str();
    for _ in 0..ROUNDS_MAX {
        if !scroll_to(world, subtitle, &intent.list).await {
            continue;
        }
        let mut tap =
            json!({"selector": {"text": "Delete", "inside": {"text": subtitle}}, "timeout_ms": 6000});
        let asked = format!("Delete {}?", intent.row.title);
        tap["expect"] =
            if intent.asks { json!({"text": asked}) } else { json!({"text": subtitle, "exists": false}) };
        let Some(answer) = world.call("tap_element", tap).await.answer else { break };
        if was_refused(&answer) {
            follow(world, &answer).await;
            continue;
        }
        let mut success = answer.text("verdict") == "confirmed";
        if intent.asks && success {
            success = confirm(world, &asked).await;
        }
        return Report { success, taps: 1, reported_at_ms: world.now_ms() };
    }
    Report { success: false, taps: 0, reported_at_ms: world.now_ms() }
}

/// Brings a row into sight. Follows the hint of a search that did not find it, and returns true if it was found.
async fn scroll_to(world: &mut World, subtitle: &str, list: &str) -> bool {
    let mut scroll = json!({"selector": {"text": subtitle}, "inside": {"resource_id": list}, "direction": "down"});
    for _ in 0..SEARCHES_MAX {
        let Some(answer) = world.call("scroll_to_element", scroll.clone()).await.answer else { return false };
        if answer.facts.get("error").is_none() {
            return true;
        }
        let hint = answer.hint().to_owned();
        if hint.contains("go on with the same call") {
            continue;
        }
        if hint.contains("inside may be left out") {
            scroll.as_object_mut().map(|members| members.remove("inside"));
        } else if hint.contains("look the other way") && scroll["direction"] == "down" {
            scroll["direction"] = "up".into();
        } else {
            follow(world, &answer).await;
            return false;
        }
    }
    false
}

/// Answers the question whether the row is to be deleted. What was refused is tried again, what was sent is not.
async fn confirm(world: &mut World, asked: &str) -> bool {
    let answer = json!({"selector": {"text": "Delete", "role": "button"}, "expect": {"text": asked, "exists": false}});
    for _ in 0..ROUNDS_MAX {
        let Some(answer) = world.call("tap_element", answer.clone()).await.answer else { return false };
        if !was_refused(&answer) {
            return answer.text("verdict") == "confirmed";
        }
        follow(world, &answer).await;
    }
    false
}

/// Returns true if nothing was sent. A refused call has an error in place of the action's envelope.
fn was_refused(answer: &ToolAnswer) -> bool {
    answer.facts.get("error").is_some() && answer.text("dispatched") != "unknown"
}

/// Does what the hint of a refused call asks for: waits for a device that is away, or closes what is in the way.
async fn follow(world: &mut World, answer: &ToolAnswer) {
    match answer.code() {
        "DEVICE_OFFLINE" | "CONNECTION_LOST" => tokio::time::sleep(OFFLINE_PAUSE).await,
        _ => clear_the_way(world).await,
    }
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

/// Closes a dialog or overlay that covers the target.
async fn clear_the_way(world: &mut World) {
    let tree = world.call("get_ui_tree", json!({})).await;
    let lines = tree.answer.as_ref().map(|answer| answer.lines.clone()).unwrap_or_default();
    let closer = lines.lines().find(|line| CLOSING_LABELS.iter().any(|word| line.contains(word)));
    if let Some(id) = closer.and_then(|line| line.split_whitespace().next()) {
        world.call("tap_element", json!({"elementId": id})).await;
    }
}
