//! What a device is and what it can do.

use crate::screen::geometry::Scale;
use crate::screen::snapshot::Platform;

/// Facts that do not change while a connection lasts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DeviceInfo {
    pub platform: Platform,
    pub id: String,
    pub os_version: String,
    pub model: String,
    pub simulator: bool,
    pub scale: Scale,
}

/// Whether a listed device can be used, and if not, why.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Availability {
    Ready,
    Unauthorized,
    Offline,
    /// The platform's own word for another state: recovery, sideload, no permissions, …
    Other(String),
}

impl Availability {
    pub fn as_str(&self) -> &str {
        match self {
            Availability::Ready => "device",
            Availability::Unauthorized => "unauthorized",
            Availability::Offline => "offline",
            Availability::Other(state) => state,
        }
    }
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Support {
    #[default]
    No,
    Yes,
    /// Only trying tells: it depends on rights or programs that the device does not announce.
    Maybe,
}

/// What a device can do besides showing its screen and taking taps, swipes and text. Nothing is assumed.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Capabilities {
    /// Keys with a meaning of their own: home, volume, direction keys.
    pub keys: Support,
    /// A back action of the system, apart from what apps draw; `Maybe` where it is a gesture that an app need not take.
    pub back: Support,
    /// Two fingers at a time.
    pub pinch: Support,
    /// Replaces a field's text through accessibility.
    pub set_text: Support,
    /// Acts on an element through accessibility instead of a touch.
    pub native_actions: Support,
    /// Tells of toasts.
    pub toasts: Support,
    /// Tells of changes by itself.
    pub events: Support,
    pub clear_data: Support,
    pub log_stream: Support,
    pub install: Support,
    pub files: Support,
    pub links: Support,
    /// Dark mode, network, languages and the like.
    pub settings: Support,
    /// Answers dialogs of the system by name.
    pub alerts: Support,
}
