//! Recognises elements that show or hide others.

use crate::meaning::label;
use crate::screen::element::Element;

use super::{Control, ControlKind, Reason};

pub(super) fn expandable(element: &Element, index: usize) -> Option<Control> {
    let reason = match element.state.expanded {
        Some(_) => Reason::PlatformExpanded,
        None => words_say_expanded(element).map(|_| Reason::ExpandWords)?,
    };
    Some(Control::new(ControlKind::Expandable, reason, index))
}

/// A longer text that begins with "expand" or "collapse" is a sentence.
const WORDS_MAX: usize = 4;

/// Reads the state from the offered action: an element that offers "Expand" is collapsed. "Expand all" is not a state
/// of one element.
pub(crate) fn words_say_expanded(element: &Element) -> Option<bool> {
    let words = label::own_words(element)?;
    let initial = words.as_bytes().first()?;
    if !matches!(initial, b'E' | b'e' | b'C' | b'c') {
        return None;
    }
    let mut parts = words.split_whitespace();
    let expanded = match parts.next()? {
        first if first.eq_ignore_ascii_case("expand") => false,
        first if first.eq_ignore_ascii_case("collapse") => true,
        _ => return None,
    };
    let rest = || parts.clone();
    let is_one = rest().count() < WORDS_MAX && !rest().any(|word| word.eq_ignore_ascii_case("all"));
    is_one.then_some(expanded)
}
