//! CO-01: every recorded call of the predecessor is made again with `--compat`, on virtual phones in the recorded
//! situation, and the answers are compared key for key. What differs stands in `differences.toml` with its reason.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "helpers of tests fail like tests"
)]
#![allow(clippy::print_stdout, reason = "the table is what the test is for")]

mod arguments;
mod differences;
mod play;
mod protocol;
mod recordings;
mod shape;
mod stage;
mod table;
