//! Screens over time: what differs between two captures, which differences are relevant, when a screen has settled, and
//! the session's memory of its captures.
//!
//! What may not enter: what an agent wants (see `intent`), a clock, a device. Times arrive with the captures.

pub mod diff;
pub mod fingerprint;
pub mod pace;
pub mod settle;
pub mod ticking;
pub mod tracker;
