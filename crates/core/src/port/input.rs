//! Inputs that can be sent to a device.

use crate::screen::geometry::{Point, Rect};

/// One input. Coordinates are in the units of the tree that the device gives ([`crate::screen::snapshot::Snapshot`]).
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Input {
    Tap(Point),
    Swipe {
        from: Point,
        to: Point,
        duration_ms: u32,
    },
    /// Moves content without throwing it: it stays where it lies when the finger is lifted. The duration is meant for a
    /// device that can only move a finger evenly; one that can hold it still at the end may be quicker.
    Scroll {
        from: Point,
        to: Point,
        duration_ms: u32,
    },
    LongPress {
        point: Point,
        duration_ms: u32,
    },
    DoubleTap(Point),
    /// Presses at `from` for `hold_ms` to pick something up, and releases it at `to`. Without a hold it is a swipe.
    Drag {
        from: Point,
        to: Point,
        hold_ms: u32,
        duration_ms: u32,
    },
    /// Two fingers on opposite sides of `center` whose distance changes from `from_px` to `to_px`. A driver may scale
    /// both by the same factor, so that the platform accepts the pinch and it stays inside the target.
    Pinch {
        center: Point,
        within: Option<Rect>,
        from_px: u32,
        to_px: u32,
        duration_ms: u32,
    },
    /// Types into the focused field.
    Text(String),
    /// Deletes this many characters from the end of the focused field.
    Erase {
        characters: u32,
        /// The field has several lines, in which keys move the cursor no further than to the end of its line (F81).
        has_lines: bool,
    },
    Back,
    Key(Key),
    /// Hides the keyboard if it is shown; nothing else may react.
    HideKeyboard,
    Orientation(Orientation),
}

impl Input {
    /// True for gestures and for back: what they do depends on what is on the screen when they begin.
    pub fn is_aimed(&self) -> bool {
        match self {
            Input::Tap(_)
            | Input::Swipe { .. }
            | Input::Scroll { .. }
            | Input::LongPress { .. }
            | Input::DoubleTap(_)
            | Input::Drag { .. }
            | Input::Pinch { .. }
            | Input::Back
            | Input::HideKeyboard => true,
            Input::Text(_) | Input::Erase { .. } | Input::Key(_) | Input::Orientation(_) => false,
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Orientation {
    Portrait,
    Landscape,
    /// Follows how the device is held.
    Auto,
}

/// A key that has a meaning of its own. Characters are typed as text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Key {
    Home,
    Back,
    Recents,
    Enter,
    /// Deletes before the cursor.
    Delete,
    ForwardDelete,
    Tab,
    Space,
    Escape,
    Menu,
    Search,
    Power,
    Wakeup,
    Sleep,
    VolumeUp,
    VolumeDown,
    VolumeMute,
    DpadUp,
    DpadDown,
    DpadLeft,
    DpadRight,
    DpadCenter,
    PageUp,
    PageDown,
    MoveHome,
    MoveEnd,
    MediaPlayPause,
    Camera,
    /// A key by its Android key code.
    Android(u16),
}

impl Key {
    /// Every key that has a name.
    pub const NAMED: [(&'static str, Key); 28] = [
        ("home", Key::Home),
        ("back", Key::Back),
        ("recents", Key::Recents),
        ("enter", Key::Enter),
        ("delete", Key::Delete),
        ("forward_delete", Key::ForwardDelete),
        ("tab", Key::Tab),
        ("space", Key::Space),
        ("escape", Key::Escape),
        ("menu", Key::Menu),
        ("search", Key::Search),
        ("power", Key::Power),
        ("wakeup", Key::Wakeup),
        ("sleep", Key::Sleep),
        ("volume_up", Key::VolumeUp),
        ("volume_down", Key::VolumeDown),
        ("volume_mute", Key::VolumeMute),
        ("dpad_up", Key::DpadUp),
        ("dpad_down", Key::DpadDown),
        ("dpad_left", Key::DpadLeft),
        ("dpad_right", Key::DpadRight),
        ("dpad_center", Key::DpadCenter),
        ("page_up", Key::PageUp),
        ("page_down", Key::PageDown),
        ("move_home", Key::MoveHome),
        ("move_end", Key::MoveEnd),
        ("media_play_pause", Key::MediaPlayPause),
        ("camera", Key::Camera),
    ];
}
