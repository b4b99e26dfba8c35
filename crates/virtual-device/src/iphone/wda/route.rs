//! Which command a request means.

use serde_json::{Map, Value, json};

use super::Agent;
use super::answer::{CommandResult, WdaError};
use super::settings::number;

/// Words that a query may have.
const QUERY_MAX: usize = 20;

/// A request, read.
pub struct Call {
    pub method: String,
    pub path: String,
    /// The session in the path.
    session: Option<String>,
    /// The path after the session, in parts.
    parts: Vec<String>,
    pub query: Vec<(String, String)>,
    /// What the body says; nothing for a body that is not an object.
    pub body: Map<String, Value>,
}

impl Call {
    pub fn new(method: &str, uri: &hyper::Uri, body: &[u8]) -> Call {
        let mut parts: Vec<String> =
            uri.path().split('/').filter(|part| !part.is_empty()).map(unescape).collect();
        let session = match parts.first().map(String::as_str) {
            Some("session") if parts.len() > 1 => {
                let id = parts.remove(1);
                parts.remove(0);
                Some(id)
            }
            _ => None,
        };
        let query = uri.query().unwrap_or("").split('&').filter(|word| !word.is_empty()).take(QUERY_MAX);
        let query = query.map(|word| {
            let (name, value) = word.split_once('=').unwrap_or((word, ""));
            (unescape(name), unescape(&value.replace('+', " ")))
        });
        let body = match serde_json::from_slice(body) {
            Ok(Value::Object(body)) => body,
            _ => Map::new(),
        };
        let (method, path, query) = (method.to_owned(), uri.path().to_owned(), query.collect());
        Call { method, path, session, parts, query, body }
    }

    pub fn get(&self, name: &str) -> &Value {
        self.body.get(name).unwrap_or(&Value::Null)
    }

    pub fn text(&self, name: &str) -> Option<&str> {
        self.get(name).as_str()
    }

    pub fn number(&self, name: &str) -> Option<f64> {
        number(self.get(name))
    }

    pub fn bundle_id(&self) -> Result<&str, WdaError> {
        self.text("bundleId").ok_or_else(|| WdaError::argument("bundleId is required"))
    }
}

fn unescape(text: &str) -> String {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((first, after)) = rest.split_first() {
        let hex = after.get(..2).and_then(|hex| std::str::from_utf8(hex).ok());
        match hex.and_then(|hex| u8::from_str_radix(hex, 16).ok()).filter(|_| *first == b'%') {
            Some(byte) => {
                bytes.push(byte);
                rest = &after[2..];
            }
            None => {
                bytes.push(*first);
                rest = after;
            }
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

impl Agent<'_> {
    pub async fn run(&mut self, call: &Call) -> CommandResult {
        let parts: Vec<&str> = call.parts.iter().map(String::as_str).collect();
        let method = call.method.as_str();
        match &call.session {
            None => match self.without_session(method, &parts, call).await {
                Some(result) => result,
                None => Err(unhandled(call)),
            },
            Some(id) => {
                let known = is_session_route(method, &parts);
                if !known {
                    return Err(unhandled(call));
                }
                if self.state.session.as_ref().is_none_or(|session| session.id != *id) {
                    return Err(WdaError::no_session());
                }
                match self.shared(method, &parts, call).await {
                    Some(result) => result,
                    None => self.within_session(method, &parts, call).await,
                }
            }
        }
    }

    async fn without_session(&mut self, method: &str, parts: &[&str], call: &Call) -> Option<CommandResult> {
        Some(match (method, parts) {
            ("GET", ["status"]) => self.status(),
            ("POST", ["session"]) => self.create_session(call).await,
            ("GET", ["wda", "healthcheck"]) => Ok(Value::Null),
            ("POST", ["wda", "homescreen"]) => self.home().await,
            ("POST", ["wda", "device", "appearance"]) => self.set_appearance(call),
            ("POST", ["wda", "apps", "launchUnattached"]) => self.launch_unattached(call),
            ("OPTIONS", _) => Ok(Value::Null),
            _ => return self.shared(method, parts, call).await,
        })
    }

    /// Commands that work with a session and without.
    async fn shared(&mut self, method: &str, parts: &[&str], call: &Call) -> Option<CommandResult> {
        Some(match (method, parts) {
            ("GET", ["source"]) => self.source(call).await,
            ("GET", ["wda", "accessibleSource"]) => self.accessible_source().await,
            ("GET", ["screenshot"]) => Ok(self.screenshot()),
            ("GET", ["window", "size"]) => self.window_size(),
            ("GET", ["wda", "screen"]) => Ok(self.screen()),
            ("GET", ["wda", "activeAppInfo"]) => self.active_app(),
            ("GET", ["wda", "device", "info"]) => Ok(self.device_info()),
            ("GET", ["wda", "device", "location"]) => Ok(self.location()),
            ("GET", ["wda", "locked"]) => Ok(Value::Bool(self.is_locked())),
            ("POST", ["wda", "lock"]) => self.set_locked(true),
            ("POST", ["wda", "unlock"]) => self.set_locked(false),
            ("GET", ["orientation"]) => Ok(self.orientation()),
            ("POST", ["orientation"]) => self.set_orientation(call),
            ("GET", ["rotation"]) => Ok(self.rotation()),
            ("POST", ["rotation"]) => self.set_rotation(call),
            ("GET", ["wda", "deviceOrientation"]) => Ok(self.orientation()),
            ("GET", ["alert", "text"]) => self.alert_text().await,
            ("POST", ["alert", "accept"]) => self.answer_alert(call, true).await,
            ("POST", ["alert", "dismiss"]) => self.answer_alert(call, false).await,
            ("POST", ["wda", "setPasteboard"]) => self.set_pasteboard(call),
            ("POST", ["wda", "getPasteboard"]) => self.pasteboard(call),
            _ => return None,
        })
    }

    async fn within_session(&mut self, method: &str, parts: &[&str], call: &Call) -> CommandResult {
        match (method, parts) {
            ("GET", []) => Ok(self.session_information()),
            ("DELETE", []) => self.delete_session(),
            ("POST", ["timeouts"]) => Ok(Value::Null),
            ("GET", ["appium", "settings"]) => Ok(self.state.settings.all()),
            ("POST", ["appium", "settings"]) => {
                self.state.settings.change(call.get("settings"))?;
                Ok(self.state.settings.all())
            }
            ("POST", ["wda", "apps", what]) => self.app_command(what, call).await,
            ("GET", ["wda", "apps", "list"]) => Ok(self.active_apps()),
            ("POST", ["url"]) => self.open_url(call).await,
            ("POST", ["wda", "deactivateApp"]) => self.deactivate(call).await,
            ("POST", ["wda", "pressButton"]) => self.press_button(call).await,
            ("POST", ["wda", "performIoHidEvent"]) => self.hid_event(call).await,
            ("GET", ["wda", "batteryInfo"]) => Ok(json!({ "level": 0.87, "state": 1 })),
            ("GET", ["window", "rect"]) => self.window_rect(),
            ("POST", ["alert", "text"]) => self.type_into_alert(call).await,
            ("GET", ["wda", "alert", "buttons"]) => self.alert_buttons().await,
            ("POST", ["actions"]) => self.actions(call).await,
            ("POST", ["wda", "keys"]) => self.keys(call).await,
            ("POST", ["wda", "keyboard", "dismiss"]) => self.dismiss_keyboard(call).await,
            ("POST", ["element" | "elements"]) => self.find(None, parts[0] == "elements", call).await,
            ("GET", ["element", "active"]) => self.active_element().await,
            ("POST", ["element", id, what @ ("element" | "elements")]) => {
                self.find(Some(id), *what == "elements", call).await
            }
            ("GET", ["screenshot", id]) => self.element_screenshot(id).await,
            ("GET", ["element", id, what @ ..]) => self.element_fact(id, what).await,
            ("POST", ["element", id, what]) => self.element_command(id, what, call).await,
            ("GET", ["wda", "element", id, what]) => self.wda_element_fact(id, what).await,
            ("POST", ["wda", "element", id, what]) => self.gesture(Some(id), what, call).await,
            ("POST", ["wda", "pickerwheel", id, "select"]) => self.pick(id, call).await,
            ("POST", ["wda", what]) => self.gesture(None, what, call).await,
            _ => Err(unhandled(call)),
        }
    }
}

fn unhandled(call: &Call) -> WdaError {
    WdaError::unknown_command(format!("Unhandled endpoint: {} with parameters {{\n}}", call.path))
}

const GESTURES: [&str; 14] = [
    "swipe",
    "pinch",
    "rotate",
    "doubleTap",
    "twoFingerTap",
    "tapWithNumberOfTaps",
    "touchAndHold",
    "scroll",
    "scrollTo",
    "dragfromtoforduration",
    "pressAndDragWithVelocity",
    "forceTouch",
    "tap",
    "keyboardInput",
];

/// Returns true for a path that some command of a session has, so that a wrong session is told apart from a wrong
/// path.
fn is_session_route(method: &str, parts: &[&str]) -> bool {
    match (method, parts) {
        ("GET" | "DELETE", []) => true,
        ("GET", ["source" | "screenshot" | "orientation" | "rotation"] | ["window", "size" | "rect"]) => true,
        ("GET", ["alert", "text"] | ["appium", "settings"] | ["screenshot", _]) => true,
        ("GET", ["element", "active"]) => true,
        ("GET", ["element", _, "attribute", _]) => true,
        ("GET", ["element", _, what]) => {
            matches!(*what, "enabled" | "rect" | "text" | "displayed" | "selected" | "name" | "screenshot")
        }
        ("GET", ["wda", "element", _, what]) => {
            matches!(*what, "accessible" | "accessibilityContainer" | "getVisibleCells")
        }
        (
            "GET",
            ["wda", "device", "info" | "location"] | ["wda", "apps", "list"] | ["wda", "alert", "buttons"],
        ) => true,
        ("GET", ["wda", what]) => matches!(
            *what,
            "accessibleSource" | "screen" | "activeAppInfo" | "locked" | "deviceOrientation" | "batteryInfo"
        ),
        ("POST", ["url" | "timeouts" | "actions" | "element" | "elements" | "orientation" | "rotation"]) => {
            true
        }
        ("POST", ["alert", "text" | "accept" | "dismiss"] | ["appium", "settings"]) => true,
        ("POST", ["element", _, what]) => {
            matches!(*what, "value" | "click" | "clear" | "element" | "elements")
        }
        ("POST", ["wda", "apps", what]) => matches!(*what, "launch" | "activate" | "terminate" | "state"),
        ("POST", ["wda", "keyboard", "dismiss"] | ["wda", "pickerwheel", _, "select"]) => true,
        ("POST", ["wda", "element", _, what]) => GESTURES.contains(what),
        ("POST", ["wda", what]) => {
            let more = [
                "keys",
                "lock",
                "unlock",
                "setPasteboard",
                "getPasteboard",
                "deactivateApp",
                "pressButton",
                "performIoHidEvent",
            ];
            more.contains(what) || GESTURES.contains(what) && !matches!(*what, "scrollTo" | "keyboardInput")
        }
        _ => false,
    }
}
