//! One capture of a screen as the platform describes it: elements, their bounds, and which part of each is visible.
//!
//! What may not enter: guesses about what an element means (see `meaning`), time, and other captures (see `change`).

pub mod element;
pub mod geometry;
pub mod nesting;
pub mod reading;
pub mod snapshot;
pub mod visible;
