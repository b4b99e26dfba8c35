//! What accessibility of iOS tells of one element, before a tool writes it in its own words.

use crate::app::datum::Datum;
use crate::app::geometry::Rect;

/// Points from the upper left corner of the screen as it is turned now.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Frame {
    pub x: f64,
    pub y: f64,
    pub width: f64,
    pub height: f64,
}

#[derive(Debug, Clone, PartialEq)]
pub enum ElementValue {
    Text(String),
    /// A switch, a check box or the selected one of several.
    On(bool),
    /// The position of a slider, from 0 to 1.
    Fraction(f64),
}

/// An element of the accessibility tree of iOS.
#[derive(Debug, Clone, PartialEq)]
pub struct UiElement {
    /// The name after `XCUIElementType`, such as `Button`.
    pub kind: &'static str,
    /// The accessibility identifier; empty when the app gave none.
    pub identifier: String,
    pub label: String,
    pub value: Option<ElementValue>,
    pub placeholder: String,
    pub frame: Frame,
    pub enabled: bool,
    pub visible: bool,
    /// VoiceOver stops at it.
    pub accessible: bool,
    pub selected: bool,
    pub focused: bool,
    /// Names of traits as tools print them, such as `Button` and `NotEnabled`.
    pub traits: Vec<&'static str>,
    /// What the ends of a slider stand for, where the app says it.
    pub range: Option<(f64, f64)>,
    pub custom_actions: Vec<String>,
    /// What it stands for, for tests and never for clients.
    pub datum: Option<Datum>,
    /// It takes taps, its place in the order of drawing, and the pixels of it that nothing clips: for tests too.
    pub takes_taps: bool,
    pub drawn_at: u32,
    pub unclipped: Option<Rect>,
    pub children: Vec<UiElement>,
}

impl UiElement {
    pub fn new(kind: &'static str, frame: Frame) -> UiElement {
        UiElement {
            kind,
            identifier: String::new(),
            label: String::new(),
            value: None,
            placeholder: String::new(),
            frame,
            enabled: true,
            visible: true,
            accessible: false,
            selected: false,
            focused: false,
            traits: Vec::new(),
            range: None,
            custom_actions: Vec::new(),
            datum: None,
            takes_taps: false,
            drawn_at: 0,
            unclipped: None,
            children: Vec::new(),
        }
    }

    pub fn walk<'a>(&'a self, visit: &mut dyn FnMut(&'a UiElement)) {
        visit(self);
        for child in &self.children {
            child.walk(visit);
        }
    }
}
