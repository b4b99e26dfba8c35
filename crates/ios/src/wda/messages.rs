//! What is sent to WebDriverAgent and what it answers.

use mdm_core::screen::geometry::Rect;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

#[derive(Deserialize)]
pub struct Envelope<'a> {
    #[serde(default, rename = "sessionId")]
    pub session: Option<String>,
    #[serde(borrow)]
    pub value: &'a RawValue,
}

#[derive(Deserialize)]
pub struct ErrorValue {
    pub error: String,
    #[serde(default)]
    pub message: String,
}

#[derive(Debug, Clone, Deserialize)]
pub struct Status {
    pub os: Os,
    #[serde(default)]
    pub ios: Option<Ios>,
}

#[derive(Debug, Clone, Deserialize)]
pub struct Os {
    pub version: String,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Ios {
    /// Only simulators have it.
    #[serde(default)]
    pub simulator_version: Option<String>,
}

#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default)]
pub struct WdaDevice {
    pub name: Option<String>,
    pub model: Option<String>,
    pub uuid: Option<String>,
}

#[derive(Debug, Clone, Copy, Deserialize)]
pub struct WdaScreen {
    pub scale: f64,
}

#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ActiveApp {
    pub pid: u32,
    pub bundle_id: String,
}

/// An element is named by the key of the standard, and by an older one.
#[derive(Deserialize)]
pub struct ElementId {
    #[serde(default, rename = "element-6066-11e4-a52e-4f735466cecf")]
    pub standard: Option<String>,
    #[serde(default, rename = "ELEMENT")]
    pub old: Option<String>,
}

impl ElementId {
    pub fn id(&self) -> Option<&str> {
        self.standard.as_deref().or(self.old.as_deref())
    }
}

#[derive(Deserialize)]
pub struct Frame {
    pub x: f64,
    pub y: f64,
    pub width: f64,
    pub height: f64,
}

impl Frame {
    pub fn rect(&self) -> Rect {
        let round = |points: f64| points.round() as i32;
        Rect::new(round(self.x), round(self.y), round(self.x + self.width), round(self.y + self.height))
    }
}

/// What an app does, as XCTest counts it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AppState {
    NotInstalledOrUnknown,
    NotRunning,
    Background,
    Foreground,
}

#[derive(Serialize)]
pub struct NewSession {
    pub capabilities: Capabilities,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Capabilities {
    pub always_match: SessionWishes,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub struct SessionWishes {
    pub should_wait_for_quiescence: bool,
    /// Without it the app in front is ended with the session.
    pub should_terminate_app: bool,
}

#[derive(Serialize)]
pub struct SettingsBody {
    pub settings: Settings,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Settings {
    pub snapshot_max_depth: u32,
    pub wait_for_idle_timeout: f64,
    pub animation_cool_off_timeout: f64,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub struct AppBody<'a> {
    pub bundle_id: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub should_wait_for_quiescence: Option<bool>,
}

#[derive(Serialize)]
pub struct NameBody<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<&'a str>,
}

#[derive(Serialize)]
pub struct KeysBody<'a> {
    pub value: Vec<&'a str>,
}

#[derive(Serialize)]
pub struct FindBody {
    pub using: &'static str,
    pub value: &'static str,
}

#[derive(Serialize)]
pub struct UrlBody<'a> {
    pub url: &'a str,
    #[serde(rename = "bundleId", skip_serializing_if = "Option::is_none")]
    pub bundle: Option<&'a str>,
}

#[derive(Serialize)]
pub struct OrientationBody {
    pub orientation: &'static str,
}

#[derive(Serialize)]
pub struct PasteboardBody {
    #[serde(rename = "contentType")]
    pub content_type: &'static str,
    pub content: String,
}

#[derive(Serialize)]
pub struct AppearanceBody {
    pub name: &'static str,
}

#[derive(Serialize)]
pub struct LocationBody {
    pub latitude: f64,
    pub longitude: f64,
}

#[derive(Serialize)]
pub struct Nothing {}
