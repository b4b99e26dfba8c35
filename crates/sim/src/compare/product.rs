//! The product, as its descriptions tell an agent to use it.

use serde_json::{Value, json};
use tokio::time::Duration;

use super::{Intent, Report};
use crate::claim::{Claim, State};
use crate::plan::{PACKAGE, Plan};
use crate::world::{Said, World};

/// Rounds of clearing the way, or waiting once more, before it is given up.
const ROUNDS_MAX: usize = 4;
const CLOSERS: [&str; 6] = ["\"Later\"", "\"No\"", "\"OK\"", "\"Cancel\"", "\"Dismiss ", "\"Close\""];
/// What an agent lets a device have that says that it is offline.
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
        let said_at_ms = world.now_ms();
        let Some(said) = call.answer else { break };
        // What was refused has an error in the place of an envelope.
        if said.facts.get("error").is_none() || said.text("dispatched") == "unknown" {
            return Report { success: said.text("verdict") == "confirmed", taps: 1, said_at_ms };
        }
        match said.code() {
            "AMBIGUOUS_TARGET" => choose(&mut arguments, &said, &world.plan, intent),
            "DEVICE_OFFLINE" | "CONNECTION_LOST" => tokio::time::sleep(OFFLINE_PAUSE).await,
            _ => clear_the_way(world).await,
        }
    }
    Report { success: false, taps: 0, said_at_ms: world.now_ms() }
}

/// Of several with the same words, the one that is meant: the first or the last on its screen.
fn choose(arguments: &mut Value, said: &Said, plan: &Plan, intent: &Intent) {
    let screen = plan.screen_of(&format!("{PACKAGE}/{}", intent.activity));
    let is_first =
        screen.and_then(|screen| screen.items.first()).is_some_and(|item| item.id == intent.item.id);
    let mut lines = said.lines.lines();
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

/// Closes what an agent would see to be in the way.
async fn clear_the_way(world: &mut World) {
    let tree = world.call("get_ui_tree", json!({})).await;
    let lines = tree.answer.as_ref().map(|said| said.lines.clone()).unwrap_or_default();
    let closer = lines.lines().find(|line| CLOSERS.iter().any(|word| line.contains(word)));
    if let Some(id) = closer.and_then(|line| line.split_whitespace().next()) {
        world.call("tap_element", json!({"elementId": id})).await;
    }
}
