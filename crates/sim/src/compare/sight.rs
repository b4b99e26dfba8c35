//! Uses the product on a screen that is only drawn, as its answers tell an agent to: looks at the picture, taps a point.
//!
//! The simulation cannot read pictures. What an agent would see in one is taken from the phone's film, as it was when
//! the picture was asked for.

use mdm_virtual_device::{Frame, ShownNode};
use serde_json::json;
use tokio::time::Duration;

use super::{Intent, Report};
use crate::datum::{Shown, control_at};
use crate::world::World;

/// Looks before the agent gives up.
const LOOKS_MAX: usize = 8;
const CLOSING_LABELS: [&str; 2] = ["Later", "No"];
/// The time between two looks at a screen on which the target cannot be touched yet.
const PAUSE: Duration = Duration::from_secs(1);
/// The time in which an agent decides what to do.
const THOUGHT: Duration = Duration::from_millis(500);

/// Taps what is meant where the picture shows it. `is_first` tells which of two with the same words is meant.
pub async fn act(world: &mut World, intent: &Intent, is_first: bool) -> Report {
    for _ in 0..LOOKS_MAX {
        let Some(picture) = look(world).await else { break };
        let places = |fits: &dyn Fn(&ShownNode) -> bool| {
            let all = (0..picture.nodes.len()).map(|at| Shown { frame: &picture, at });
            all.filter(|shown| fits(shown.node())).collect::<Vec<_>>()
        };
        let label = &intent.item.label;
        let fitting = places(&|node| node.text == *label || node.description == *label);
        let target = if is_first { fitting.first() } else { fitting.last() };
        if let Some(point) = target.and_then(|shown| free_point(*shown)) {
            world.call("tap", json!({"x": point.0, "y": point.1})).await;
            return Report { success: is_seen(world, intent).await, taps: 1, reported_at_ms: world.now_ms() };
        }
        let closers =
            places(&|node| node.text.starts_with("Dismiss ") || CLOSING_LABELS.contains(&&*node.text));
        match closers.first().and_then(|shown| free_point(*shown)) {
            Some(point) => drop(world.call("tap", json!({"x": point.0, "y": point.1})).await),
            None => tokio::time::sleep(PAUSE).await,
        }
    }
    Report { success: false, taps: 0, reported_at_ms: world.now_ms() }
}

/// Takes a picture and returns what it shows; nothing if the screen is no longer only drawn.
async fn look(world: &mut World) -> Option<Frame> {
    // What the last tap changed is drawn by then; no agent is quicker.
    tokio::time::sleep(THOUGHT).await;
    let picture = world.phone.film().pictures.last().filter(|picture| !picture.nodes.is_empty()).cloned();
    world.call("capture_screenshot", json!({})).await;
    picture
}

/// Returns the middle of what is meant, if it is enabled and a touch there would reach it.
fn free_point(shown: Shown<'_>) -> Option<(i32, i32)> {
    let (left, top, right, bottom) = shown.node().visible;
    let point = ((left + right) / 2, (top + bottom) / 2);
    let there = control_at(shown.frame, point)?;
    let is_meant = there.datum.as_ref().is_some_and(|datum| shown.touchable().contains(datum));
    (shown.node().enabled && there.enabled && is_meant).then_some(point)
}

/// Looks whether what was meant has come about, in the tree or in the picture.
async fn is_seen(world: &mut World, intent: &Intent) -> bool {
    for _ in 0..LOOKS_MAX {
        let film = world.phone.film();
        let now = film.frames.last().into_iter().chain(film.pictures.last());
        if now.into_iter().any(|frame| intent.claim.could_hold(frame)) {
            return true;
        }
        world.call("capture_screenshot", json!({})).await;
        tokio::time::sleep(PAUSE).await;
    }
    false
}
