//! The built binary against third-party programs, and the virtual phones against real clients. They show that we did not
//! misread a protocol.
//!
//! `cargo xtask test` names the programs in environment variables. A test whose program is missing reports that and
//! skips; with CI=true it fails.
#![allow(clippy::disallowed_methods, reason = "these tests are about starting programs")]
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "helpers of tests fail like tests"
)]

/// Makes one test for every case and adb. `$runner` gets the program's variable, the case's name and the case.
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
mod build;
mod client;
mod clients;
mod companion;
mod conformance;
mod dist;
mod facebook_wda;
mod framework;
mod http;
mod idb;
mod inspector;
mod iphone;
mod libimobiledevice;
#[path = "../support/lines.rs"]
mod lines;
mod mobile_mcp;
mod node_simctl;
mod phone;
mod process;
mod pymobiledevice3;
mod python;
mod rust_clients;
mod stdio;
mod uiautomator2;
mod xcuitest;
