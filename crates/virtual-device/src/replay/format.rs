//! `trace.json`: what a recorder wrote. Unknown members are ignored, so that a recorder may say more.

use std::collections::BTreeMap;

use serde::Deserialize;

#[derive(Debug, Deserialize)]
pub struct Trace {
    /// The app that was recorded; without it, the package that most identifiers name.
    pub package: Option<String>,
    #[serde(default)]
    pub steps: Vec<Step>,
}

#[derive(Debug, Deserialize)]
pub struct Step {
    pub state: String,
    /// File of the tree; without one nobody looked.
    pub tree: Option<String>,
    /// PNG of the screen.
    pub screenshot: Option<String>,
    pub activity: Option<String>,
    pub action: Option<Action>,
    /// Where the action leads when that is not the next step.
    pub to: Option<String>,
}

#[derive(Debug, Deserialize)]
pub struct Action {
    #[serde(rename = "type")]
    pub kind: String,
    pub bounds_px: Option<Bounds>,
    /// Attributes of the node that was meant; used where there are no bounds.
    #[serde(default)]
    pub identifier: BTreeMap<String, String>,
    /// The text, of an action that types.
    pub input: Option<String>,
    /// `up`, `down`, `left` or `right`: where the finger goes.
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
