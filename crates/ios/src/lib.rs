//! Reads what iOS tells: screens as written by other tools, logs, crash reports.
//!
//! Architecture invariant: bytes in, a value out. No I/O, no clock, and no knowledge of how the bytes were fetched.

pub mod connect;
pub mod crash;
pub mod log;
pub mod real;
pub mod reports;
pub mod simctl;
pub mod tree;
