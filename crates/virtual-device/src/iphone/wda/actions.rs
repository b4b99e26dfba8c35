//! W3C actions: fingers that move at the same time, and keys.

use serde::Deserialize;
use serde_json::Value;

use super::Agent;
use super::answer::{CommandResult, WdaError};
use super::gesture::{Finger, Spot};
use super::route::Call;
use super::settings::number;

const SOURCES_MAX: usize = 10;
const ITEMS_MAX: usize = 500;
/// The longest pause or movement.
const ITEM_MS_MAX: f64 = 60_000.0;

#[derive(Deserialize)]
struct Source {
    #[serde(rename = "type")]
    kind: String,
    #[serde(default)]
    parameters: Value,
    #[serde(default)]
    actions: Vec<Item>,
}

#[derive(Deserialize)]
struct Item {
    #[serde(rename = "type")]
    kind: String,
    #[serde(default)]
    x: Option<Value>,
    #[serde(default)]
    y: Option<Value>,
    #[serde(default)]
    duration: Option<Value>,
    #[serde(default)]
    origin: Option<Value>,
    #[serde(default)]
    value: Option<String>,
}

impl Agent<'_> {
    pub async fn actions(&mut self, call: &Call) -> CommandResult {
        let asked: Vec<Source> = serde_json::from_value(call.get("actions").clone())
            .map_err(|error| WdaError::unknown(format!("Valid input actions are expected: {error}")))?;
        if asked.is_empty() || asked.len() > SOURCES_MAX {
            return Err(WdaError::unknown("At least one and at most ten input sources are expected"));
        }
        let (mut fingers, mut text) = (Vec::new(), String::new());
        for source in &asked {
            if source.actions.len() > ITEMS_MAX {
                return Err(WdaError::unknown("Too many action items"));
            }
            match source.kind.as_str() {
                "pointer" => fingers.extend(self.finger(source).await?),
                "key" => text.push_str(&keys(&source.actions)?),
                "none" => {}
                kind => {
                    return Err(WdaError::unknown(format!(
                        "Only 'pointer', 'key' and 'none' action types are supported. '{kind}' is given instead"
                    )));
                }
            }
        }
        if !fingers.is_empty() {
            self.perform_in_order(fingers).await;
        }
        if !text.is_empty() {
            self.type_text(&text).await;
        }
        Ok(Value::Null)
    }

    /// Fingers whose times meet are one gesture; others follow each other.
    async fn perform_in_order(&self, mut fingers: Vec<Finger>) {
        let start = |finger: &Finger| finger.points.first().map_or(0, |(at, _)| *at);
        let end = |finger: &Finger| finger.points.last().map_or(0, |(at, _)| *at);
        fingers.sort_by_key(start);
        let mut passed = 0;
        while !fingers.is_empty() {
            let until = fingers.first().map_or(0, end);
            let together = fingers.iter().take_while(|finger| start(finger) < until).count().max(1);
            let mut now: Vec<Finger> = fingers.drain(..together).collect();
            let last = now.iter().map(end).max().unwrap_or(passed);
            for finger in &mut now {
                for (at, _) in &mut finger.points {
                    *at = at.saturating_sub(passed);
                }
            }
            passed = last;
            self.send(now).await;
        }
    }

    /// Returns what one pointer does: a finger for each time that it is down.
    async fn finger(&self, source: &Source) -> Result<Vec<Finger>, WdaError> {
        let pointer = source.parameters.get("pointerType").and_then(Value::as_str).unwrap_or("touch");
        if pointer != "touch" {
            return Err(WdaError::unknown(format!(
                "Only pointer type 'touch' is supported. '{pointer}' is given instead"
            )));
        }
        let (mut fingers, mut now, mut at): (Vec<Finger>, u64, Option<Spot>) = (Vec::new(), 0, None);
        let mut down: Option<Finger> = None;
        for item in &source.actions {
            let ms = item.duration.as_ref().and_then(number).unwrap_or(0.0);
            if ms < 0.0 {
                return Err(WdaError::unknown("The duration must be a positive number"));
            }
            let start = now;
            now += ms.min(ITEM_MS_MAX) as u64;
            match item.kind.as_str() {
                "pause" => {}
                "pointerMove" => {
                    let to = self.position(item, at).await?;
                    if let (Some(finger), Some(from)) = (&mut down, at) {
                        finger.points.extend([(start, from), (now, to)]);
                    }
                    at = Some(to);
                }
                "pointerDown" => {
                    let spot = at.ok_or_else(|| {
                        WdaError::unknown(
                            "The 'pointerDown' action item must be preceded by pointerMove item",
                        )
                    })?;
                    down = Some(Finger { points: vec![(now, spot)] });
                }
                "pointerUp" => {
                    let (Some(mut finger), Some(spot)) = (down.take(), at) else {
                        return Err(WdaError::unknown("Pointer Up must not be the first action"));
                    };
                    finger.points.push((now, spot));
                    fingers.push(finger);
                }
                "pointerCancel" => down = None,
                kind => return Err(WdaError::unknown(format!("Unknown action item '{kind}' is set"))),
            }
        }
        Ok(fingers)
    }

    async fn position(&self, item: &Item, before: Option<Spot>) -> Result<Spot, WdaError> {
        let (x, y) = (item.x.as_ref().and_then(number), item.y.as_ref().and_then(number));
        if x.is_some() != y.is_some() {
            return Err(WdaError::unknown("Both 'x' and 'y' options should be set for the action item"));
        }
        let given = x.zip(y);
        match &item.origin {
            None => given.ok_or_else(|| WdaError::unknown("Both 'x' and 'y' options should be set")),
            Some(Value::String(word)) if word == "viewport" => {
                given.ok_or_else(|| WdaError::unknown("Both 'x' and 'y' options should be set"))
            }
            Some(Value::String(word)) if word == "pointer" => {
                let from = before.ok_or_else(|| {
                    WdaError::unknown("There is no previous item, however origin is set to 'pointer'")
                })?;
                let (dx, dy) = given.unwrap_or((0.0, 0.0));
                Ok((from.0 + dx, from.1 + dy))
            }
            Some(Value::Object(element)) => {
                let id = element.values().find_map(Value::as_str).unwrap_or("");
                let (snapshot, at) = self.resolve(id).await?;
                let (x, y) = snapshot.nodes[at].hit_point();
                let (dx, dy) = given.unwrap_or((0.0, 0.0));
                Ok((x + dx, y + dy))
            }
            Some(Value::String(id)) => {
                let (snapshot, at) = self.resolve(id).await?;
                let (x, y) = snapshot.nodes[at].hit_point();
                let (dx, dy) = given.unwrap_or((0.0, 0.0));
                Ok((x + dx, y + dy))
            }
            Some(_) => Err(WdaError::unknown("Unsupported origin type is set for the action item")),
        }
    }
}

/// Returns the text of the keys that were released; each must have been pressed before.
fn keys(items: &[Item]) -> Result<String, WdaError> {
    let (mut text, mut down) = (String::new(), Vec::new());
    for item in items {
        let value = item.value.as_deref().unwrap_or("");
        match item.kind.as_str() {
            "keyDown" => down.push(value),
            "keyUp" => {
                let Some(at) = down.iter().position(|key| *key == value) else {
                    return Err(WdaError::unknown(format!(
                        "Key Up action '{value}' is not balanced with a preceding Key Down one"
                    )));
                };
                down.remove(at);
                text.push_str(value);
            }
            _ => {}
        }
    }
    if let Some(left) = down.first() {
        return Err(WdaError::unknown(format!(
            "Key Down action '{left}' must have a closing Key Up successor"
        )));
    }
    Ok(text)
}
