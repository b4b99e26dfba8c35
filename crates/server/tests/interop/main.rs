//! The built binary against programs of others, and the virtual phone against the real adb: what both sides of a
//! protocol agree on cannot be a misreading of ours.
//!
//! The parts arrive in environment variables that `cargo xtask test` sets. A test whose part is missing says so and
//! skips; with CI=true it fails.
#![allow(clippy::disallowed_methods, reason = "these tests are about starting programs")]
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "helpers of tests fail like tests"
)]

mod adb;
mod both_ways;
mod inspector;
mod phone;
mod process;
mod python;
mod stdio;
