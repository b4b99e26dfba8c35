//! Recordings played as phones, over the same protocol as any other phone.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "helpers of tests fail like tests"
)]
#![allow(clippy::print_stdout, reason = "a test over data says how much of it there was")]

#[path = "../phone/host.rs"]
#[allow(dead_code, reason = "the other test program uses the rest")]
mod host;

mod folder;
#[path = "../../../server/tests/shared/recorded.rs"]
mod recorded;
mod traces;
