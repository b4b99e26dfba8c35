//! Elements that were handed out, and what can be asked of them.

use base64::Engine as _;
use serde_json::{Value, json};

use super::answer::{CommandResult, WdaError};
use super::gesture::Finger;
use super::route::Call;
use super::snapshot::Snapshot;
use super::{Agent, ELEMENTS_MAX, source};
use crate::app::keys;
use crate::iphone::SCALE;
use crate::iphone::element::{ElementValue, Frame};

/// Characters that one request may type.
const TEXT_CHARS_MAX: usize = 20_000;
/// The key under which the WebDriver standard puts an element's id.
const W3C_ID: &str = "element-6066-11e4-a52e-4f735466cecf";
const ATTRIBUTES: [&str; 22] = [
    "UID",
    "accessibilityContainer",
    "accessible",
    "customActions",
    "enabled",
    "focused",
    "frame",
    "hittable",
    "index",
    "label",
    "maxValue",
    "minValue",
    "name",
    "nativeAccessibilityElement",
    "nativeFrame",
    "placeholderValue",
    "rect",
    "selected",
    "traits",
    "type",
    "value",
    "visible",
];
/// Turns of a wheel that one request may make.
const PICKS_MAX: f64 = 100.0;

pub fn gone() -> WdaError {
    WdaError::stale(
        "The previously found element is not present in the current view anymore. Make sure the application UI has \
         the expected state",
    )
}

impl Agent<'_> {
    /// Returns the element with an id that was handed out, in a new reading of the screen.
    pub async fn resolve(&self, id: &str) -> Result<(Snapshot, usize), WdaError> {
        let known =
            self.state.session.as_ref().is_some_and(|session| session.elements.iter().any(|e| e == id));
        if !known {
            return Err(WdaError::stale(format!(
                "The element identified by \"{id}\" is either not present or it has expired from the internal cache. \
                 Try to find it again"
            )));
        }
        let snapshot = self.snapshot().await?;
        match snapshot.find(id) {
            Some(at) => Ok((snapshot, at)),
            None => Err(gone()),
        }
    }

    /// Hands out an element.
    pub fn hand_out(&mut self, snapshot: &Snapshot, at: usize) -> Value {
        let node = &snapshot.nodes[at];
        if let Some(session) = &mut self.state.session {
            session.elements.retain(|id| *id != node.uid);
            if session.elements.len() >= ELEMENTS_MAX {
                session.elements.remove(0);
            }
            session.elements.push(node.uid.clone());
        }
        let mut answer = json!({ "ELEMENT": node.uid, W3C_ID: node.uid });
        if !self.state.settings.flag("shouldUseCompactResponses") {
            for field in self.state.settings.text("elementResponseAttributes").split(',') {
                let value = match field {
                    "name" | "type" => json!(node.wd_type()),
                    "text" => json!(node.value().or_else(|| node.label().map(str::to_owned))),
                    "rect" => source::rect(&node.rect()),
                    "enabled" => json!(node.element.enabled),
                    "displayed" => json!(node.element.visible),
                    "selected" => json!(node.element.selected),
                    "label" => json!(node.label()),
                    _ => {
                        match field.strip_prefix("attribute/").and_then(|name| attribute(snapshot, at, name))
                        {
                            Some(value) => value,
                            None => continue,
                        }
                    }
                };
                answer[field] = value;
            }
        }
        answer
    }

    pub async fn active_element(&mut self) -> CommandResult {
        let snapshot = self.snapshot().await?;
        match snapshot.nodes.iter().position(|node| node.element.focused) {
            Some(at) => Ok(self.hand_out(&snapshot, at)),
            None => Err(WdaError::no_such_element("(null)", "(null)")),
        }
    }

    pub async fn element_fact(&mut self, id: &str, what: &[&str]) -> CommandResult {
        if what == ["screenshot"] {
            return self.element_screenshot(id).await;
        }
        let (snapshot, at) = self.resolve(id).await?;
        let node = &snapshot.nodes[at];
        Ok(match what {
            ["enabled"] => json!(node.element.enabled),
            ["displayed"] => json!(node.element.visible),
            ["selected"] => json!(node.element.selected),
            ["name"] => json!(node.wd_type()),
            ["rect"] => source::rect(&node.rect()),
            ["text"] => json!(node.value().or_else(|| node.label().map(str::to_owned)).unwrap_or_default()),
            ["attribute", name] => {
                return attribute(&snapshot, at, name).ok_or_else(|| unknown_attribute(name));
            }
            _ => return Err(WdaError::unknown_command("Unhandled route")),
        })
    }

    pub async fn wda_element_fact(&mut self, id: &str, what: &str) -> CommandResult {
        let (snapshot, at) = self.resolve(id).await?;
        Ok(match what {
            "accessible" => json!(snapshot.accessible(at)),
            "accessibilityContainer" => json!(snapshot.is_container(at)),
            _ => {
                let cells = snapshot.below(at).into_iter().filter(|cell| {
                    let element = &snapshot.nodes[*cell].element;
                    element.kind == "Cell" && element.visible
                });
                Value::Array(
                    cells.collect::<Vec<_>>().into_iter().map(|c| self.hand_out(&snapshot, c)).collect(),
                )
            }
        })
    }

    pub async fn element_screenshot(&mut self, id: &str) -> CommandResult {
        let (snapshot, at) = self.resolve(id).await?;
        let Frame { x, y, width, height } = snapshot.nodes[at].element.frame;
        let px = |points: f64| (points * f64::from(SCALE)).round().max(0.0) as u32;
        let pixels = crate::shell::commands::pixels(self.phone.phone());
        let cut = pixels.cut(px(x), px(y), px(width), px(height));
        let picture = crate::draw::encode(&cut);
        if picture.is_empty() {
            return Err(WdaError::unknown("Cannot take a screenshot of the element"));
        }
        Ok(json!(base64::engine::general_purpose::STANDARD.encode(&picture)))
    }

    pub async fn element_command(&mut self, id: &str, what: &str, call: &Call) -> CommandResult {
        match what {
            "click" => self.tap_element(id).await?,
            "clear" => self.clear(id).await?,
            _ => return self.set_value(id, call).await,
        }
        Ok(Value::Null)
    }

    async fn set_value(&mut self, id: &str, call: &Call) -> CommandResult {
        let (snapshot, at) = self.resolve(id).await?;
        let value = [call.get("value"), call.get("text")].into_iter().find(|value| !value.is_null());
        let Some(value) = value else {
            return Err(WdaError::argument("Neither 'value' nor 'text' parameter is provided"));
        };
        let text = joined(value);
        match snapshot.nodes[at].element.kind {
            "Slider" => self.slide(&snapshot, at, &text).await?,
            "PickerWheel" => self.turn_wheel(id, &text).await?,
            _ => {
                self.focus(id, &snapshot, at).await?;
                self.type_text(&text).await;
            }
        }
        Ok(Value::Null)
    }

    /// Puts the cursor into a field by a tap unless it is there already.
    async fn focus(&mut self, id: &str, snapshot: &Snapshot, at: usize) -> Result<(), WdaError> {
        let focused = snapshot.below(at).iter().any(|inside| snapshot.nodes[*inside].element.focused);
        if focused { Ok(()) } else { self.tap_element(id).await }
    }

    async fn clear(&mut self, id: &str) -> Result<(), WdaError> {
        let (snapshot, at) = self.resolve(id).await?;
        let text = match &snapshot.nodes[at].element.value {
            Some(ElementValue::Text(text)) => text.clone(),
            Some(_) => {
                let message = "The value of the element is not a string and thus cannot be edited";
                return Err(WdaError::element_state(message));
            }
            None => String::new(),
        };
        if text.is_empty() {
            return Ok(());
        }
        self.focus(id, &snapshot, at).await?;
        self.rest_for_event().await;
        self.phone.phone().with(|state| {
            state.select_all();
            state.key(keys::DEL);
        });
        Ok(())
    }

    /// Types into whatever has the keyboard. Nothing happens when nothing has it.
    pub async fn type_text(&self, text: &str) {
        self.phone.note_request(&["keys", text]);
        self.rest_for_event().await;
        let frequency = self.state.settings.number("maxTypingFrequency").max(1.0);
        let text: String = text.chars().take(TEXT_CHARS_MAX).collect();
        let seconds = text.chars().count() as f64 / frequency;
        tokio::time::sleep(tokio::time::Duration::from_secs_f64(seconds)).await;
        let mut run = String::new();
        let flush = |run: &mut String| {
            if !run.is_empty() {
                self.phone.phone().with(|state| state.type_text(run));
                run.clear();
            }
        };
        for c in text.chars() {
            let code = match c {
                '\n' | '\r' | '\u{e006}' | '\u{e007}' => keys::ENTER,
                '\u{8}' | '\u{7f}' | '\u{e003}' => keys::DEL,
                '\t' | '\u{e004}' => keys::TAB,
                c => {
                    run.push(c);
                    continue;
                }
            };
            flush(&mut run);
            self.phone.phone().with(|state| state.key(code));
        }
        flush(&mut run);
    }

    pub async fn keys(&mut self, call: &Call) -> CommandResult {
        let Value::Array(_) = call.get("value") else {
            return Err(WdaError::unknown(
                "-[__NSCFString componentsJoinedByString:]: unrecognized selector",
            ));
        };
        self.type_text(&joined(call.get("value"))).await;
        Ok(Value::Null)
    }

    pub async fn dismiss_keyboard(&mut self, call: &Call) -> CommandResult {
        let names: Vec<&str> =
            call.get("keyNames").as_array().into_iter().flatten().filter_map(Value::as_str).collect();
        let shown = || self.phone.phone().with(|state| state.keyboard_shown());
        if !shown() {
            return Ok(Value::Null);
        }
        self.phone.note_request(&["dismiss", "keyboard"]);
        let snapshot = self.snapshot().await?;
        for at in 0..snapshot.nodes.len() {
            let node = &snapshot.nodes[at];
            let matches = names.contains(&node.element.identifier.as_str())
                || names.contains(&node.element.label.as_str());
            let in_keyboard =
                snapshot.parents(at).any(|parent| snapshot.nodes[parent].element.kind == "Keyboard");
            if matches && in_keyboard {
                self.tap_key(node.hit_point()).await;
                if !shown() {
                    return Ok(Value::Null);
                }
            }
        }
        Err(WdaError::element_state(
            "Did not know how to dismiss the keyboard. Try to dismiss it in the way supported by your application \
             under test.",
        ))
    }

    /// Drags the thumb of a slider.
    async fn slide(&mut self, snapshot: &Snapshot, at: usize, text: &str) -> Result<(), WdaError> {
        let wanted: f64 = text.trim().parse().unwrap_or(0.0);
        if !(0.0..=1.0).contains(&wanted) {
            return Err(WdaError::argument("Value of slider should be in 0..1 range"));
        }
        let node = &snapshot.nodes[at];
        let now = match node.element.value {
            Some(ElementValue::Fraction(now)) => now,
            _ => 0.5,
        };
        let spot = |share: f64| slider_spot(&node.element.frame, share);
        self.send(vec![Finger::drag(spot(now), spot(wanted), 0, 500, 100)]).await;
        Ok(())
    }

    /// Turns a wheel until it shows a text.
    async fn turn_wheel(&mut self, id: &str, wanted: &str) -> Result<(), WdaError> {
        let aim: Option<f64> = wanted.trim().parse().ok();
        let mut before = None;
        for _ in 0..PICKS_MAX as usize {
            let (snapshot, at) = self.resolve(id).await?;
            let shown = snapshot.nodes[at].value().unwrap_or_default();
            if shown == wanted {
                return Ok(());
            }
            if before.replace(shown.clone()) == Some(shown.clone()) {
                break;
            }
            let down = match (aim, shown.parse::<f64>().ok()) {
                (Some(aim), Some(now)) => aim > now,
                _ => true,
            };
            self.tap_wheel(&snapshot, at, if down { 0.2 } else { -0.2 }).await;
        }
        Err(WdaError::element_state(format!("Cannot adjust the picker wheel to the value '{wanted}'")))
    }

    async fn tap_wheel(&self, snapshot: &Snapshot, at: usize, offset: f64) {
        let Frame { x, y, width, height } = snapshot.nodes[at].element.frame;
        self.tap_at((x + width / 2.0, y + height * (0.5 + offset))).await;
    }

    pub async fn pick(&mut self, id: &str, call: &Call) -> CommandResult {
        let (snapshot, at) = self.resolve(id).await?;
        let kind = snapshot.nodes[at].wd_type();
        if snapshot.nodes[at].element.kind != "PickerWheel" {
            return Err(WdaError::argument(format!(
                "The element is expected to be a valid Picker Wheel control. '{kind}' was given instead"
            )));
        }
        let offset = call.number("offset").unwrap_or(0.2);
        if offset <= 0.0 || offset > 0.5 {
            return Err(WdaError::argument(format!(
                "'offset' value is expected to be in range (0.0, 0.5]. '{offset}' was given instead"
            )));
        }
        let order = call.text("order").unwrap_or("(null)");
        let signed = match order.to_lowercase().as_str() {
            "next" => offset,
            "previous" => -offset,
            _ => {
                return Err(WdaError::argument(format!(
                    "Only 'previous' and 'next' order values are supported. '{order}' was given instead"
                )));
            }
        };
        let attempts = call.number("maxAttempts").unwrap_or(25.0).clamp(0.0, PICKS_MAX) as usize;
        let wanted = call.text("value");
        for _ in 0..attempts {
            let (snapshot, at) = self.resolve(id).await?;
            self.tap_wheel(&snapshot, at, signed).await;
            let (snapshot, at) = self.resolve(id).await?;
            if wanted.is_none() || snapshot.nodes[at].value().as_deref() == wanted {
                return Ok(Value::Null);
            }
        }
        Err(WdaError::element_state(format!(
            "Cannot select the expected picker wheel value '{}' after {attempts} attempts",
            wanted.unwrap_or("(null)")
        )))
    }
}

/// Returns the middle of the thumb of a slider at a position. The thumb moves between insets of a third of the
/// height; a slider that is higher than wide goes upwards.
fn slider_spot(frame: &Frame, share: f64) -> (f64, f64) {
    let inset = frame.height.min(frame.width) / 3.0;
    if frame.height > frame.width {
        let along = (frame.height - 2.0 * inset) * share;
        return (frame.x + frame.width / 2.0, frame.y + frame.height - inset - along);
    }
    (frame.x + inset + (frame.width - 2.0 * inset) * share, frame.y + frame.height / 2.0)
}

fn joined(value: &Value) -> String {
    match value {
        Value::Array(parts) => parts.iter().map(joined).collect(),
        Value::String(text) => text.clone(),
        Value::Null => String::new(),
        other => other.to_string(),
    }
}

fn unknown_attribute(name: &str) -> WdaError {
    WdaError::argument(format!(
        "The attribute '{name}' is unknown. Valid attribute names are: {}",
        ATTRIBUTES.join(",")
    ))
}

/// Returns an attribute by any of its names; nothing for an unknown one.
pub fn attribute(snapshot: &Snapshot, at: usize, name: &str) -> Option<Value> {
    let node = &snapshot.nodes[at];
    let element = &node.element;
    let plain = name.strip_prefix("isWD").or_else(|| name.strip_prefix("wd")).unwrap_or(name);
    let plain = plain.strip_prefix("is").unwrap_or(plain);
    let mut letters = plain.chars();
    let plain =
        letters.next().map_or(String::new(), |first| first.to_lowercase().chain(letters).collect::<String>());
    Some(match plain.as_str() {
        "name" => json!(node.name()),
        "label" => json!(node.label()),
        "value" => json!(node.value()),
        "type" => json!(node.wd_type()),
        "enabled" => json!(element.enabled),
        "visible" | "displayed" => json!(element.visible),
        "accessible" => json!(snapshot.accessible(at)),
        "accessibilityContainer" => json!(snapshot.is_container(at)),
        "nativeAccessibilityElement" => json!(element.accessible),
        "selected" => json!(element.selected),
        "hittable" => json!(element.visible && super::gesture::on_screen(snapshot, at)),
        "focused" => json!(false),
        "hasKeyboardFocus" => json!(element.focused),
        "index" => json!(node.index),
        "rect" | "frame" | "nativeFrame" => source::rect(&node.rect()),
        "x" => json!(node.rect().x as i64),
        "y" => json!(node.rect().y as i64),
        "width" => json!(node.rect().width as i64),
        "height" => json!(node.rect().height as i64),
        "placeholderValue" => json!(Some(&element.placeholder).filter(|text| !text.is_empty())),
        "traits" => json!(node.traits()),
        "minValue" => json!(element.range.map(|(least, _)| least)),
        "maxValue" => json!(element.range.map(|(_, most)| most)),
        "customActions" => Value::Null,
        "identifier" | "rawIdentifier" => json!(Some(&element.identifier).filter(|text| !text.is_empty())),
        "uID" | "uid" => json!(node.uid),
        _ => return None,
    })
}
