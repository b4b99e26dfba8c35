//! The tree, actions on its elements, and when an app is at rest.

use super::Point;

#[derive(Clone, PartialEq, prost::Message)]
pub struct AccessibilityInfoRequest {
    #[prost(message, optional, tag = "2")]
    pub point: Option<Point>,
    #[prost(enumeration = "TreeFormat", tag = "3")]
    pub format: i32,
    /// A part of what `match_key` of an element says.
    #[prost(string, tag = "4")]
    pub marker: String,
    #[prost(enumeration = "SearchableKey", tag = "5")]
    pub match_key: i32,
    /// How deep a marker is looked for.
    #[prost(uint32, tag = "6")]
    pub depth: u32,
    /// Nothing for the default keys.
    #[prost(string, repeated, tag = "7")]
    pub keys: Vec<String>,
    #[prost(enumeration = "TreeBackend", tag = "8")]
    pub backend: i32,
    #[prost(bool, tag = "9")]
    pub profile: bool,
    #[prost(bool, tag = "10")]
    pub collect_frame_coverage: bool,
    #[prost(bool, tag = "12")]
    pub ignore_case: bool,
    #[prost(enumeration = "TreeFilter", tag = "13")]
    pub filter: i32,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, prost::Enumeration)]
#[repr(i32)]
pub enum TreeFormat {
    /// A flat array, or one object for a point.
    Legacy = 0,
    /// The same keys, with children.
    Nested = 1,
    /// An object around the elements, with shorter keys.
    Complete = 2,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, prost::Enumeration)]
#[repr(i32)]
pub enum TreeBackend {
    Unspecified = 0,
    Ax = 1,
    AxBridge = 2,
    AxBridgePersistent = 3,
    AxCoreSimulator = 4,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, prost::Enumeration)]
#[repr(i32)]
pub enum TreeFilter {
    All = 0,
    Interactable = 1,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, prost::Enumeration)]
#[repr(i32)]
pub enum SearchableKey {
    Label = 0,
    UniqueId = 1,
    Value = 2,
    Title = 3,
    Role = 4,
    RoleDescription = 5,
    Subrole = 6,
    Help = 7,
    Placeholder = 8,
}

#[derive(Clone, PartialEq, prost::Message)]
pub struct AccessibilityInfoResponse {
    #[prost(string, tag = "1")]
    pub json: String,
}

#[derive(Clone, PartialEq, prost::Message)]
pub struct AccessibilityActionRequest {
    #[prost(oneof = "ActionTarget", tags = "1, 2")]
    pub target: Option<ActionTarget>,
    #[prost(enumeration = "SearchableKey", tag = "3")]
    pub match_key: i32,
    #[prost(uint32, tag = "4")]
    pub depth: u32,
    #[prost(bool, tag = "9")]
    pub ignore_case: bool,
    #[prost(oneof = "ElementAction", tags = "5, 6, 7, 8, 10")]
    pub action: Option<ElementAction>,
}

#[derive(Clone, PartialEq, prost::Oneof)]
pub enum ActionTarget {
    #[prost(string, tag = "1")]
    Marker(String),
    #[prost(message, tag = "2")]
    Point(Point),
}

#[derive(Clone, PartialEq, prost::Oneof)]
pub enum ElementAction {
    #[prost(message, tag = "5")]
    Tap(ElementTap),
    #[prost(message, tag = "6")]
    Scroll(ElementScroll),
    #[prost(message, tag = "7")]
    SetValue(ElementSetValue),
    #[prost(message, tag = "8")]
    Drag(ElementDrag),
    #[prost(message, tag = "10")]
    Wait(ElementWait),
}

#[derive(Clone, PartialEq, prost::Message)]
pub struct ElementTap {
    #[prost(bool, tag = "1")]
    pub check_expected_value: bool,
    #[prost(string, tag = "2")]
    pub expected_value: String,
    #[prost(enumeration = "SearchableKey", tag = "3")]
    pub expected_key: i32,
}

#[derive(Clone, Copy, PartialEq, Eq, prost::Message)]
pub struct ElementScroll {
    #[prost(enumeration = "ScrollDirection", tag = "1")]
    pub direction: i32,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, prost::Enumeration)]
#[repr(i32)]
pub enum ScrollDirection {
    Up = 0,
    Down = 1,
    Left = 2,
    Right = 3,
    Visible = 4,
}

#[derive(Clone, PartialEq, prost::Message)]
pub struct ElementSetValue {
    #[prost(string, tag = "1")]
    pub value: String,
}

#[derive(Clone, PartialEq, prost::Message)]
pub struct ElementDrag {
    #[prost(oneof = "DragDestination", tags = "1, 2")]
    pub destination: Option<DragDestination>,
    #[prost(double, tag = "5")]
    pub press_duration: f64,
    #[prost(double, tag = "6")]
    pub duration: f64,
}

#[derive(Clone, PartialEq, prost::Oneof)]
pub enum DragDestination {
    #[prost(string, tag = "1")]
    Marker(String),
    #[prost(message, tag = "2")]
    Point(Point),
}

/// Times are seconds.
#[derive(Clone, Copy, PartialEq, prost::Message)]
pub struct ElementWait {
    #[prost(double, tag = "1")]
    pub timeout: f64,
    #[prost(double, tag = "2")]
    pub poll_interval: f64,
}

#[derive(Clone, PartialEq, prost::Message)]
pub struct AccessibilityActionResponse {
    #[prost(enumeration = "WaitResult", tag = "1")]
    pub wait_result: i32,
    #[prost(message, optional, tag = "2")]
    pub wait: Option<WaitResponse>,
}

#[derive(Clone, PartialEq, prost::Message)]
pub struct WaitResponse {
    #[prost(enumeration = "WaitResult", tag = "1")]
    pub result: i32,
    #[prost(string, tag = "2")]
    pub message: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, prost::Enumeration)]
#[repr(i32)]
pub enum WaitResult {
    Unspecified = 0,
    Found = 1,
    TimedOut = 2,
}

#[derive(Clone, PartialEq, prost::Message)]
pub struct AccessibilityQuiescenceRequest {
    #[prost(oneof = "QuiescenceTarget", tags = "1, 2")]
    pub target: Option<QuiescenceTarget>,
    #[prost(uint32, optional, tag = "3")]
    pub busy_threshold_ms: Option<u32>,
    #[prost(uint32, optional, tag = "4")]
    pub quiet_window_ms: Option<u32>,
}

#[derive(Clone, PartialEq, Eq, prost::Oneof)]
pub enum QuiescenceTarget {
    #[prost(uint64, tag = "1")]
    Pid(u64),
    #[prost(string, tag = "2")]
    BundleId(String),
}

#[derive(Clone, PartialEq, prost::Message)]
pub struct AccessibilityQuiescenceResponse {
    #[prost(uint64, tag = "1")]
    pub pid: u64,
    #[prost(oneof = "QuiescenceEvent", tags = "2, 3, 4, 5")]
    pub event: Option<QuiescenceEvent>,
}

#[derive(Clone, PartialEq, prost::Oneof)]
pub enum QuiescenceEvent {
    #[prost(message, tag = "2")]
    State(QuiescenceState),
    #[prost(message, tag = "3")]
    TouchesCompleted(super::Empty),
    #[prost(message, tag = "4")]
    TargetChanged(super::Empty),
    #[prost(message, tag = "5")]
    TargetExited(super::Empty),
}

#[derive(Clone, PartialEq, prost::Message)]
pub struct QuiescenceState {
    #[prost(enumeration = "AppActivity", tag = "1")]
    pub state: i32,
    #[prost(enumeration = "BusySignal", repeated, tag = "2")]
    pub busy_signals: Vec<i32>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, prost::Enumeration)]
#[repr(i32)]
pub enum AppActivity {
    Unspecified = 0,
    Busy = 1,
    Settling = 2,
    Quiet = 3,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, prost::Enumeration)]
#[repr(i32)]
pub enum BusySignal {
    Unspecified = 0,
    RunLoopIdle = 1,
    AnimationsInactive = 2,
}
