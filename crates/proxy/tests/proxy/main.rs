//! The proxy with real servers, real clients and hostile ones on both sides.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "helpers of tests fail like tests"
)]
#![allow(clippy::print_stderr, reason = "a skipped test says so")]

mod clients;
mod hostile;
mod passing;
mod rules;
mod world;
