//! Screens over time: element ids, changes, deltas and fingerprints.

#![expect(clippy::expect_used, clippy::panic, reason = "tests")]

mod change;
mod draw;
mod identity;
mod lists;
mod random;
mod tracker;
