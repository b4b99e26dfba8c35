//! Where an action goes.

use crate::intent::selector::Selector;
use crate::screen::geometry::Point;

#[derive(Debug, Clone, PartialEq)]
pub enum Target {
    /// A place on the screen; nothing checks what is there (AC-02).
    Point(Point),
    Element(Selector),
}

impl Target {
    pub fn selector(&self) -> Option<&Selector> {
        match self {
            Target::Point(_) => None,
            Target::Element(selector) => Some(selector),
        }
    }
}
