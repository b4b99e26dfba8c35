//! How a phone misbehaves: what may go wrong and how often, all from the phone's seed.

mod kinds;
mod mischief;
mod strike;

pub use kinds::{Fault, Faults};
pub(crate) use mischief::{Due, Mischief, TapFate};
