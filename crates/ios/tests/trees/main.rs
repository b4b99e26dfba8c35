//! Reads iOS screens in every format: trees written for these tests, hostile bytes and real captures.

#![expect(clippy::unwrap_used, reason = "helpers of tests may fail a test")]

mod check;
mod controls;
mod cost;
mod formats;
mod hostile;
mod reading;
mod real_data;
#[path = "../../../server/tests/shared/recorded.rs"]
mod recorded;
