//! Fingers, keys and buttons. Points of the upright screen, seconds, and USB HID usages.

use super::Point;

#[derive(Clone, PartialEq, prost::Message)]
pub struct HidEvent {
    #[prost(oneof = "HidAction", tags = "1, 2, 3, 4, 5, 6")]
    pub event: Option<HidAction>,
}

#[derive(Clone, PartialEq, prost::Oneof)]
pub enum HidAction {
    #[prost(message, tag = "1")]
    Press(HidPress),
    #[prost(message, tag = "2")]
    Swipe(HidSwipe),
    #[prost(message, tag = "3")]
    Delay(HidDelay),
    #[prost(message, tag = "4")]
    Pinch(HidPinch),
    #[prost(message, tag = "5")]
    Orientation(HidOrientation),
    #[prost(message, tag = "6")]
    Shake(super::Empty),
}

#[derive(Clone, PartialEq, prost::Message)]
pub struct HidPress {
    #[prost(message, optional, tag = "1")]
    pub action: Option<HidPressAction>,
    #[prost(enumeration = "HidDirection", tag = "2")]
    pub direction: i32,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, prost::Enumeration)]
#[repr(i32)]
pub enum HidDirection {
    Down = 0,
    Up = 1,
}

#[derive(Clone, PartialEq, prost::Message)]
pub struct HidPressAction {
    #[prost(oneof = "HidPressed", tags = "1, 2, 3")]
    pub action: Option<HidPressed>,
}

#[derive(Clone, PartialEq, prost::Oneof)]
pub enum HidPressed {
    #[prost(message, tag = "1")]
    Touch(HidTouch),
    #[prost(message, tag = "2")]
    Button(HidButton),
    #[prost(message, tag = "3")]
    Key(HidKey),
}

#[derive(Clone, Copy, PartialEq, prost::Message)]
pub struct HidTouch {
    #[prost(message, optional, tag = "1")]
    pub point: Option<Point>,
}

#[derive(Clone, Copy, PartialEq, Eq, prost::Message)]
pub struct HidButton {
    #[prost(enumeration = "HidButtonKind", tag = "1")]
    pub button: i32,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, prost::Enumeration)]
#[repr(i32)]
pub enum HidButtonKind {
    ApplePay = 0,
    Home = 1,
    Lock = 2,
    Side = 3,
    Siri = 4,
    PlayPause = 5,
    VolumeUp = 6,
    VolumeDown = 7,
    Eject = 8,
}

#[derive(Clone, Copy, PartialEq, Eq, prost::Message)]
pub struct HidKey {
    #[prost(uint64, tag = "1")]
    pub keycode: u64,
}

#[derive(Clone, Copy, PartialEq, prost::Message)]
pub struct HidSwipe {
    #[prost(message, optional, tag = "1")]
    pub start: Option<Point>,
    #[prost(message, optional, tag = "2")]
    pub end: Option<Point>,
    /// Points between two positions of the finger; 0 for the companion's own.
    #[prost(double, tag = "5")]
    pub delta: f64,
    #[prost(double, tag = "6")]
    pub duration: f64,
}

#[derive(Clone, Copy, PartialEq, prost::Message)]
pub struct HidDelay {
    #[prost(double, tag = "1")]
    pub duration: f64,
}

#[derive(Clone, Copy, PartialEq, prost::Message)]
pub struct HidPinch {
    #[prost(message, optional, tag = "1")]
    pub center: Option<Point>,
    #[prost(double, tag = "2")]
    pub scale: f64,
    /// 0 for the companion's own half second.
    #[prost(double, tag = "3")]
    pub duration: f64,
    /// Distance of each finger from the center at the start; 0 for the companion's own 100 points.
    #[prost(double, tag = "4")]
    pub radius: f64,
}

#[derive(Clone, Copy, PartialEq, Eq, prost::Message)]
pub struct HidOrientation {
    #[prost(enumeration = "HidOrientationKind", tag = "1")]
    pub orientation: i32,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, prost::Enumeration)]
#[repr(i32)]
pub enum HidOrientationKind {
    Portrait = 0,
    PortraitUpsideDown = 1,
    LandscapeLeft = 2,
    LandscapeRight = 3,
}

#[derive(Clone, Copy, PartialEq, Eq, prost::Message)]
pub struct GetOrientationResponse {
    #[prost(enumeration = "DeviceOrientation", tag = "1")]
    pub orientation: i32,
}

/// Its numbers are not those of [`HidOrientationKind`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, prost::Enumeration)]
#[repr(i32)]
pub enum DeviceOrientation {
    Unknown = 0,
    Portrait = 1,
    PortraitUpsideDown = 2,
    LandscapeLeft = 3,
    LandscapeRight = 4,
    FaceUp = 5,
    FaceDown = 6,
}

#[derive(Clone, Copy, PartialEq, Eq, prost::Message)]
pub struct SetOrientationRequest {
    #[prost(enumeration = "HidOrientationKind", tag = "1")]
    pub orientation: i32,
}
