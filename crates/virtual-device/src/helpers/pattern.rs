//! Java's `String.matches`, as far as selectors need it.

use crate::shell::commands::Expression;

/// Whether the whole text matches; a pattern that cannot be read matches nothing.
pub fn matches(pattern: &str, text: &str) -> bool {
    Expression::parse(&format!("^({pattern})$"), false, true, false).is_some_and(|e| e.is_in(text))
}
