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

/// Every case with each adb, as tests of their own. `$runner` gets the part's variable, the case's name and the case.
macro_rules! with_both_adbs {
    ($runner:ident: $($case:ident),* $(,)?) => {
        mod adb29 {
            $(#[test] fn $case() { super::$runner("MDM_TEST_ADB29", stringify!($case), super::$case); })*
        }
        mod adb36 {
            $(#[test] fn $case() { super::$runner("MDM_TEST_ADB36", stringify!($case), super::$case); })*
        }
    };
}

mod adb;
mod adbutils;
mod agent_device;
mod appium;
mod both_ways;
mod client;
mod clients;
mod inspector;
mod mobile_mcp;
mod phone;
mod process;
mod python;
mod rust_clients;
mod stdio;
mod uiautomator2;
