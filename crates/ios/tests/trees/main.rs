//! ScreenReading the screens of iOS, in every format, on trees written for these tests, on hostile bytes and on real captures.

#![expect(clippy::unwrap_used, reason = "helpers of tests may fail a test")]

mod check;
mod controls;
mod cost;
mod formats;
mod hostile;
mod reading;
mod real_data;
