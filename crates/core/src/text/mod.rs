//! Words from a device on their way to an agent: quoted so that they cannot pose as ours, and what they cost.
//!
//! What may not enter: anything that knows what a screen is.

pub mod quote;
pub mod tokens;
