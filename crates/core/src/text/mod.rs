//! Text from a device, prepared for an agent: quoting that marks it as foreign, and its cost in tokens.
//!
//! What may not enter: anything that knows what a screen is.

pub mod calendar;
pub mod quote;
pub mod tokens;
