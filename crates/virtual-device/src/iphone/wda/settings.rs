//! The settings of a session, with WebDriverAgent's defaults.

use serde_json::{Map, Value, json};

use super::answer::WdaError;

/// Settings that one request may change.
const CHANGES_MAX: usize = 100;
/// The longest time that a client may set, in seconds.
const SECONDS_MAX: f64 = 600.0;

/// The settings by their names. Only those that the phone follows have a reader.
#[derive(Debug, Clone)]
pub struct Settings {
    values: Map<String, Value>,
}

impl Default for Settings {
    fn default() -> Settings {
        let defaults = json!({
            "shouldUseCompactResponses": true,
            "elementResponseAttributes": "type,label",
            "mjpegServerScreenshotQuality": 25,
            "mjpegServerFramerate": 10,
            "mjpegScalingFactor": 100,
            "mjpegFixOrientation": false,
            "screenshotQuality": 3,
            "keyboardAutocorrection": 0,
            "keyboardPrediction": 0,
            "snapshotMaxDepth": 50,
            "snapshotMaxChildren": i32::MAX,
            "useFirstMatch": false,
            "boundElementsByIndex": false,
            "reduceMotion": false,
            "defaultActiveApplication": "auto",
            "activeAppDetectionPoint": "64.00,64.00",
            "defaultAlertAction": "",
            "acceptAlertButtonSelector": "",
            "dismissAlertButtonSelector": "",
            "autoClickAlertSelector": "",
            "screenshotOrientation": "auto",
            "waitForIdleTimeout": 10,
            "animationCoolOffTimeout": 2,
            "maxTypingFrequency": 60,
            "respectSystemAlerts": false,
            "useClearTextShortcut": true,
            "limitXPathContextScope": true,
            "includeHittableInPageSource": false,
            "includeNativeFrameInPageSource": false,
            "includeNativeAccessibilityElementInPageSource": false,
            "includeMinMaxValueInPageSource": false,
            "includeCustomActionsInPageSource": false,
            "enforceCustomSnapshots": false,
        });
        let values = if let Value::Object(values) = defaults { values } else { Map::new() };
        Settings { values }
    }
}

impl Settings {
    pub fn all(&self) -> Value {
        Value::Object(self.values.clone())
    }

    /// Changes the settings that are known; others are ignored.
    pub fn change(&mut self, asked: &Value) -> Result<(), WdaError> {
        let asked = match asked {
            Value::Null => return Ok(()),
            Value::Object(asked) => asked,
            _ => return Err(WdaError::argument("settings must be a dictionary")),
        };
        for (name, value) in asked.iter().take(CHANGES_MAX) {
            if let Some(known) = self.values.get_mut(name) {
                known.clone_from(value);
            }
        }
        Ok(())
    }

    pub fn flag(&self, name: &str) -> bool {
        self.values.get(name).is_some_and(truthy)
    }

    pub fn seconds(&self, name: &str) -> f64 {
        self.number(name).clamp(0.0, SECONDS_MAX)
    }

    pub fn number(&self, name: &str) -> f64 {
        self.values.get(name).and_then(number).unwrap_or(0.0)
    }

    pub fn text(&self, name: &str) -> &str {
        self.values.get(name).and_then(Value::as_str).unwrap_or("")
    }
}

/// Reads a number as Objective-C's `doubleValue` does: texts count too.
pub fn number(value: &Value) -> Option<f64> {
    match value {
        Value::Number(number) => number.as_f64(),
        Value::String(text) => text.trim().parse().ok(),
        Value::Bool(on) => Some(f64::from(u8::from(*on))),
        _ => None,
    }
    .filter(|number: &f64| number.is_finite())
}

pub fn truthy(value: &Value) -> bool {
    match value {
        Value::Bool(on) => *on,
        Value::String(text) => matches!(text.to_ascii_lowercase().as_str(), "1" | "true" | "yes"),
        other => number(other).is_some_and(|number| number != 0.0),
    }
}
