//! W3C actions of one finger: taps, long presses, swipes and drags.

use serde::Deserialize;
use tokio::time::Duration;

use super::{CommandResult, WebDriverError, success};
use crate::helpers::touch;
use crate::phone::Phone;

const SOURCES_MAX: usize = 4;
const ACTIONS_MAX: usize = 200;
const PAUSE_MS_MAX: u64 = 60_000;

#[derive(Deserialize)]
pub struct Actions {
    actions: Vec<Source>,
}

#[derive(Deserialize)]
struct Source {
    #[serde(rename = "type")]
    kind: String,
    #[serde(default)]
    actions: Vec<Item>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Item {
    #[serde(rename = "type")]
    kind: String,
    #[serde(default)]
    x: f64,
    #[serde(default)]
    y: f64,
    #[serde(default)]
    duration: Option<f64>,
}

/// Performs the actions of one finger; more fingers are refused.
pub async fn perform(phone: &Phone, asked: Actions) -> CommandResult {
    let fingers: Vec<&Source> = asked.actions.iter().filter(|source| source.kind == "pointer").collect();
    let [finger] = fingers.as_slice() else {
        return Err(WebDriverError::new(400, "invalid argument", "Only one pointer is supported"));
    };
    if asked.actions.len() > SOURCES_MAX || finger.actions.len() > ACTIONS_MAX {
        return Err(WebDriverError::argument());
    }
    let mut at = (0, 0);
    for item in &finger.actions {
        let ms = item.duration.map_or(0, |ms| ms as u64).min(PAUSE_MS_MAX);
        if ms > 0 && matches!(item.kind.as_str(), "pause" | "pointerMove") {
            tokio::time::sleep(Duration::from_millis(ms)).await;
        }
        match item.kind.as_str() {
            "pointerMove" => at = (item.x as i32, item.y as i32),
            "pointerDown" => touch::down(phone, at),
            "pointerUp" => touch::up(phone, at),
            _ => {}
        }
    }
    success(())
}
