//! Uses the product as its tool descriptions tell an agent to.

use serde_json::{Value, json};
use tokio::time::Duration;

use super::rows::RowIntent;
use super::{Intent, Report};
use crate::claim::{Claim, State};
use crate::plan::{PACKAGE, Plan};
use crate::world::{ToolAnswer, World};

/// How often the agent closes what covers the target, or waits once more, before it gives up.
const ROUNDS_MAX: usize = 4;
const CLOSING_LABELS: [&str; 6] = ["\"Later\"", "\"No\"", "\"OK\"", "\"Cancel\"", "\"Dismiss ", "\"Close\""];
/// How long the agent waits for a device that is offline.
const OFFLINE_PAUSE: Duration = Duration::from_secs(2);

pub async fn act(world: &mut World, intent: &Intent) -> Report {
    let mut arguments = json!({
        "selector": {"text": intent.item.label}, "expect": intent.claim.expectation(), "timeout_ms": 6000,
    });
    for _ in 0..ROUNDS_MAX {
        let wait =
            json!({"selector": {"text": intent.item.label}, "condition": "clickable", "timeout_ms": 6000});
        world.call("wait_for_ui", wait).await;
        let call = world.call("tap_element", arguments.clone()).await;
        let reported_at_ms = world.now_ms();
        let Some(answer) = call.answer else { break };
        // A refused call has an error in place of the action's envelope.
        if answer.facts.get("error").is_none() || answer.text("dispatched") == "unknown" {
            return Report { success: answer.text("verdict") == "confirmed", taps: 1, reported_at_ms };
        }
        match answer.code() {
            "AMBIGUOUS_TARGET" => choose(&mut arguments, &answer, &world.plan, intent),
            "DEVICE_OFFLINE" | "CONNECTION_LOST" => tokio::time::sleep(OFFLINE_PAUSE).await,
            _ => clear_the_way(world).await,
        }
    }
    Report { success: false, taps: 0, reported_at_ms: world.now_ms() }
}

/// Deletes a row: scrolls to it, taps its button, answers the question about it.
pub async fn delete(world: &mut World, intent: &RowIntent) -> Report {
    let subtitle = intent.row.subtitle.as_str();
    for _ in 0..ROUNDS_MAX {
        let scroll = json!({"selector": {"text": subtitle}, "inside": {"resource_id": intent.list}, "direction": "down"});
        world.call("scroll_to_element", scroll).await;
        let mut tap =
            json!({"selector": {"text": "Delete", "inside": {"text": subtitle}}, "timeout_ms": 6000});
        let asked = format!("Delete {}?", intent.row.title);
        tap["expect"] =
            if intent.asks { json!({"text": asked}) } else { json!({"text": subtitle, "exists": false}) };
        let Some(answer) = world.call("tap_element", tap).await.answer else { break };
        let refused = answer.facts.get("error").is_some() && answer.text("dispatched") != "unknown";
        if refused {
            match answer.code() {
                "DEVICE_OFFLINE" | "CONNECTION_LOST" => tokio::time::sleep(OFFLINE_PAUSE).await,
                _ => clear_the_way(world).await,
            }
            continue;
        }
        let mut success = answer.text("verdict") == "confirmed";
        if intent.asks && success {
            let confirm = json!({"selector": {"text": "Delete", "role": "button"}, "expect": {"text": asked, "exists": false}});
            let answer = world.call("tap_element", confirm).await.answer;
            success = answer.is_some_and(|answer| answer.text("verdict") == "confirmed");
        }
        return Report { success, taps: 1, reported_at_ms: world.now_ms() };
    }
    Report { success: false, taps: 0, reported_at_ms: world.now_ms() }
}

/// Chooses among elements with the same label: the one that is meant is the first or the last on its screen.
fn choose(arguments: &mut Value, answer: &ToolAnswer, plan: &Plan, intent: &Intent) {
    let screen = plan.screen_of(&format!("{PACKAGE}/{}", intent.activity));
    let is_first =
        screen.and_then(|screen| screen.items.first()).is_some_and(|item| item.id == intent.item.id);
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
