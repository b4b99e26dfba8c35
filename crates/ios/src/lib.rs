//! iPhones and simulators behind the port, and what iOS tells: screens as written by other tools, logs, crash reports.
//!
//! Architecture invariant: `tree`, `log` and `crash` take bytes and return a value; they know nothing of how the bytes
//! were fetched. Backends (`wda`, …) translate one protocol each; `route` says which of them serves a request, and
//! `device` is the only one that asks it. Nothing here waits for a screen or repeats a command.

pub mod connect;
pub mod crash;
pub mod device;
#[cfg(fuzzing)]
pub mod fuzzing;
mod gesture;
pub mod idb;
mod lines;
pub mod log;
mod picture;
pub mod real;
pub mod reports;
pub mod route;
pub mod served;
pub mod simctl;
pub mod source;
pub mod tree;
pub mod wda;
