//! The one element type. Drivers fill it from what the platform says; nothing in it is guessed.

use std::sync::Arc;

use crate::screen::geometry::Rect;

/// What kind of thing an element is, as far as its class or traits say so.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Role {
    Button,
    Link,
    Text,
    Heading,
    TextField,
    Switch,
    Checkbox,
    Radio,
    Slider,
    Stepper,
    /// A wheel or column of which one entry is chosen.
    Picker,
    Dropdown,
    SegmentedControl,
    Tab,
    /// A key of an on-screen keyboard.
    Key,
    Image,
    Progress,
    List,
    /// One entry of a list.
    Row,
    WebView,
    Dialog,
    Container,
    #[default]
    Unknown,
}

impl Role {
    /// Something that is operated, whether or not its node says that it can be clicked.
    pub fn is_control(self) -> bool {
        !matches!(
            self,
            Role::Text
                | Role::Heading
                | Role::Image
                | Role::Progress
                | Role::List
                | Role::Row
                | Role::WebView
                | Role::Dialog
                | Role::Container
                | Role::Unknown
        )
    }

    /// Controls whose own text is their value rather than their name.
    pub fn text_is_value(self) -> bool {
        matches!(
            self,
            Role::TextField | Role::Slider | Role::Stepper | Role::Picker | Role::Dropdown | Role::Progress
        )
    }
}

/// What the platform exposes of a control's state. `None` means that it said nothing, which is not `false` (ST-01).
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub struct State {
    pub enabled: Option<bool>,
    pub checked: Option<bool>,
    pub selected: Option<bool>,
    pub focused: Option<bool>,
    pub expanded: Option<bool>,
}

/// What an element says that it reacts to.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub struct Affordances {
    pub clickable: bool,
    pub long_clickable: bool,
    pub scrollable: bool,
    pub focusable: bool,
    pub checkable: bool,
    /// The platform says that its value can be raised and lowered.
    pub adjustable: bool,
}

/// The ends of what a control can be set to, where the platform names them.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ValueRange {
    pub min: f64,
    pub max: f64,
}

/// One node of a snapshot. Elements stand in document order, so the descendants of the element at index `i` are
/// exactly `i + 1 .. end`.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Element {
    pub parent: Option<u32>,
    /// One past the last descendant.
    pub end: u32,
    pub depth: u16,
    pub role: Role,
    /// The platform's own type name, verbatim. Shared, because a screen has few of them.
    pub class: Arc<str>,
    /// The app that it belongs to: the package on Android, the bundle id on iOS. Shared like the class.
    pub app: Arc<str>,
    /// Set by the platform or the app's developer; never made from text, position or class (ID-03).
    pub stable_id: Option<Box<str>>,
    pub text: Option<Box<str>>,
    /// The accessibility description (Android content-desc, iOS label).
    pub description: Option<Box<str>>,
    pub hint: Option<Box<str>>,
    /// What the platform calls the control's value, verbatim (iOS). Android writes it into the text.
    pub value: Option<Box<str>>,
    pub value_range: Option<Box<ValueRange>>,
    pub bounds: Rect,
    pub affordances: Affordances,
    pub state: State,
    /// A secret field: its text never leaves the server (ST-07).
    pub password: bool,
    /// Whether the platform itself says that it can be seen. Most dumps leave invisible nodes out; page sources of
    /// other tools keep them and mark them.
    pub displayed: Option<bool>,
    /// The root of a window of the system, which stands in front of whichever app is there.
    pub system_window: bool,
    /// It exists to show the running time.
    pub clock: bool,
}

impl Element {
    /// A tap on it does something of its own.
    pub fn is_tappable(&self) -> bool {
        self.affordances.clickable
            || self.affordances.long_clickable
            || matches!(self.role, Role::TextField | Role::Slider)
    }
}
