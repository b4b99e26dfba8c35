//! The id that the session gives to an element.

/// An element's id in the session, written `e12` (ID-01). It is never reused for another element.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ElementId(pub u32);

impl std::fmt::Display for ElementId {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "e{}", self.0)
    }
}

impl std::str::FromStr for ElementId {
    type Err = InvalidElementId;

    fn from_str(text: &str) -> Result<ElementId, InvalidElementId> {
        let digits = text.strip_prefix('e').filter(|digits| digits.bytes().all(|b| b.is_ascii_digit()));
        digits.and_then(|digits| digits.parse().ok()).map(ElementId).ok_or(InvalidElementId)
    }
}

/// The error for text that is not `e` and a number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct InvalidElementId;
