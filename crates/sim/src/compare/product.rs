//! The product, as its descriptions tell an agent to use it.

use serde_json::{Value, json};

use super::{Intent, Report};
use crate::world::{Said, World};

/// Rounds of clearing the way, or waiting once more, before it is given up.
const ROUNDS_MAX: usize = 3;
const CLOSERS: [&str; 6] = ["\"Later\"", "\"No\"", "\"OK\"", "\"Cancel\"", "\"Dismiss ", "\"Close\""];

pub async fn act(world: &mut World, intent: &Intent) -> Report {
    let mut taps = 0;
    let mut selector = json!({"text": intent.item.label});
    for _ in 0..ROUNDS_MAX {
        let wait = json!({"selector": {"text": intent.item.label}, "condition": "clickable", "timeout_ms": 6000});
        world.call("wait_for_ui", wait).await;
        let arguments =
            json!({"selector": selector, "expect": intent.claim.expectation(), "timeout_ms": 6000});
        let call = world.call("tap_element", arguments).await;
        let said_at_ms = world.now_ms();
        let Some(said) = call.answer else { return Report { success: false, taps, said_at_ms } };
        let sent = !said.text("action_id").is_empty() || said.text("dispatched") == "unknown";
        if sent {
            taps += 1;
            return Report { success: said.text("verdict") == "confirmed", taps, said_at_ms };
        }
        match said.code() {
            "AMBIGUOUS_TARGET" if world.plan.style == "view" => {
                selector = json!({"resource_id": intent.item.id});
            }
            _ => clear_the_way(world).await,
        }
    }
    Report { success: false, taps, said_at_ms: world.now_ms() }
}

/// Closes what an agent would see to be in the way.
async fn clear_the_way(world: &mut World) {
    let tree = world.call("get_ui_tree", json!({})).await;
    let lines = tree.answer.as_ref().map(|said: &Said| said.lines.clone()).unwrap_or_default();
    let closer = lines.lines().find(|line| CLOSERS.iter().any(|word| line.contains(word)));
    if let Some(id) = closer.and_then(|line| line.split_whitespace().next()) {
        world.call("tap_element", json!({"elementId": Value::from(id)})).await;
    }
}
