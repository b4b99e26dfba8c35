//! Reads and outlines hierarchies: dumps written for these tests, hostile bytes and real captures.

#![expect(clippy::unwrap_used, reason = "helpers of tests may fail a test")]

mod dump;
mod framework;
mod golden;
mod hostile;
mod reading;
mod real_data;
#[path = "../../../server/tests/shared/recorded.rs"]
mod recorded;
