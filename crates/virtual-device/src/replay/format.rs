//! The format of `trace.json`. Unknown members are ignored, so that a recorder may write more.

use std::collections::BTreeMap;

use serde::Deserialize;

#[derive(Debug, Deserialize)]
pub struct Trace {
    /// The app that was recorded. Without it, the package that occurs most in identifiers is used.
    pub package: Option<String>,
    #[serde(default)]
    pub steps: Vec<TraceStep>,
}

#[derive(Debug, Deserialize)]
pub struct TraceStep {
    pub state: String,
    /// The file of the tree. Without one the recorder did not capture this step.
    pub tree: Option<String>,
    /// The file with a PNG of the screen.
    pub screenshot: Option<String>,
    pub activity: Option<String>,
    pub action: Option<Action>,
    /// The state to which the action leads, if that is not the next step.
    pub to: Option<String>,
}

#[derive(Debug, Deserialize)]
pub struct Action {
    #[serde(rename = "type")]
    pub kind: String,
    pub bounds_px: Option<Bounds>,
    /// Attributes of the target node, used if there are no bounds.
    #[serde(default)]
    pub identifier: BTreeMap<String, String>,
    /// The text of an action that types.
    pub input: Option<String>,
    /// The direction of the finger: `up`, `down`, `left` or `right`.
    pub direction: Option<String>,
    /// Key code or name.
    pub key: Option<String>,
    /// How long a `wait` takes.
    pub ms: Option<u64>,
}

#[derive(Debug, Clone, Copy, Deserialize)]
pub struct Bounds {
    pub x1: i32,
    pub y1: i32,
    pub x2: i32,
    pub y2: i32,
}
