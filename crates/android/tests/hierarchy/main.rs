//! ScreenReading a hierarchy and showing it, on dumps written for these tests, on hostile bytes and on real captures.

#![expect(clippy::unwrap_used, reason = "helpers of tests may fail a test")]

mod dump;
mod golden;
mod hostile;
mod reading;
mod real_data;
