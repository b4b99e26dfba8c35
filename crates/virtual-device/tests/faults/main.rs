//! Faults: each one does what it says, is recorded, and repeats with the same seed.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "helpers of tests fail like tests"
)]

#[path = "../phone/host.rs"]
#[allow(dead_code, reason = "the other test program uses the rest")]
mod host;

mod kinds;
mod repeat;
mod secret;
