//! The element type. Drivers fill it from what the platform reports; nothing in it is guessed.

use std::sync::Arc;

use crate::screen::geometry::Rect;

/// The thickness of a scroll bar of iOS, in points.
const SCROLL_BAR_POINTS_MAX: i32 = 40;

/// The kind of an element, as far as its class or traits tell it.
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
    /// A wheel or column with one chosen entry.
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
    /// True for roles that a person operates, even where the node is not marked clickable.
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

    /// True for controls whose own text is their value, not their name.
    pub fn text_is_value(self) -> bool {
        matches!(
            self,
            Role::TextField | Role::Slider | Role::Stepper | Role::Picker | Role::Dropdown | Role::Progress
        )
    }
}

/// A control's state as the platform reports it. `None` means not reported, which is not `false` (ST-01).
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub struct State {
    pub enabled: Option<bool>,
    pub checked: Option<bool>,
    pub selected: Option<bool>,
    pub focused: Option<bool>,
    pub expanded: Option<bool>,
}

/// The kinds of input that an element reports to accept.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub struct Affordances {
    pub clickable: bool,
    pub long_clickable: bool,
    pub scrollable: bool,
    pub focusable: bool,
    pub checkable: bool,
    /// The platform reports that its value can be raised and lowered.
    pub adjustable: bool,
}

/// The lowest and highest value of a control, where the platform reports them.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ValueRange {
    pub min: f64,
    pub max: f64,
}

/// One node of a snapshot. Elements are in document order, so the descendants of the element at index `i` are exactly
/// `i + 1 .. end`.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Element {
    pub parent: Option<u32>,
    /// One past the last descendant.
    pub end: u32,
    pub depth: u16,
    pub role: Role,
    /// The platform's type name, verbatim. Shared, because a screen has few different ones.
    pub class: Arc<str>,
    /// The owning app: the package on Android, the bundle id on iOS. Shared like the class.
    pub app: Arc<str>,
    /// The identifier set by the platform or the app's developer; never made from text, position or class (ID-03).
    pub stable_id: Option<Box<str>>,
    pub text: Option<Box<str>>,
    /// The accessibility description (Android content-desc, iOS label).
    pub description: Option<Box<str>>,
    pub hint: Option<Box<str>>,
    /// True for the text of a field in a tree that tells no hints: an empty field shows its hint there, and nothing tells
    /// it from a value (F83).
    pub text_may_be_hint: bool,
    /// The control's value as iOS reports it, verbatim. Android writes it into the text.
    pub value: Option<Box<str>>,
    pub value_range: Option<Box<ValueRange>>,
    pub bounds: Rect,
    /// The place among its siblings in the order of drawing, where the platform reports it; later is in front.
    pub drawing_order: Option<u16>,
    pub affordances: Affordances,
    pub state: State,
    /// A secret field: its text never leaves the server (ST-07).
    pub password: bool,
    /// The platform's own visibility flag. Most dumps leave invisible nodes out; page sources of other tools keep and
    /// mark them.
    pub displayed: Option<bool>,
    /// True for the root of a system window, which lies in front of any app.
    pub system_window: bool,
    /// True for views whose purpose is to show the current time.
    pub clock: bool,
    /// What only a helper on the device tells. Boxed, because few elements have it.
    pub details: Option<Box<Details>>,
}

/// Facts that the usual tree of a platform leaves out.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Details {
    /// The state in words of the app or the platform: "38%", "ON", "3 of 5 stars".
    pub state_description: Option<Box<str>>,
    /// The kind in words of the app.
    pub role_description: Option<Box<str>>,
    /// The mistake that a field shows.
    pub error: Option<Box<str>>,
    /// The title of a part of the screen that appears and goes as a whole.
    pub pane_title: Option<Box<str>>,
    pub collection: Option<CollectionSize>,
    pub item: Option<CollectionPlace>,
    /// A change of it is spoken by itself.
    pub live: bool,
    /// The platform's number of the view, the same for as long as its window is there.
    pub source: Option<u64>,
}

/// How much a list holds, with what is out of sight; -1 where the app does not know.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CollectionSize {
    pub rows: i32,
    pub columns: i32,
}

/// Where in its list an entry stands, counted from 0 over all entries.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CollectionPlace {
    pub row: i32,
    pub column: i32,
}

impl Element {
    /// True for a scroll bar of iOS: thin, not for tapping, its position as its value. Touches go through it.
    pub fn is_scroll_bar(&self) -> bool {
        let plain = matches!(self.role, Role::Container | Role::Unknown) && !self.affordances.clickable;
        let has_position = self.value.as_deref().is_some_and(|value| value.trim_end().ends_with('%'));
        let (width, height) = (self.bounds.width(), self.bounds.height());
        plain && has_position && width.min(height) <= SCROLL_BAR_POINTS_MAX && width != height
    }

    /// True if the element itself handles a tap.
    pub fn is_tappable(&self) -> bool {
        self.affordances.clickable
            || self.affordances.long_clickable
            || matches!(self.role, Role::TextField | Role::Slider)
    }
}
