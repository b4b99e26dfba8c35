//! Doors for the fuzzer to what simctl prints.

use mdm_core::port::DeviceError;

use super::error::{Effect, Said, failed};
pub use super::list::{
    app as simulator_app, apps as simulator_apps, devices as simulators, running as running_apps,
};
use super::process::Output;

/// The error that simctl means by these words.
pub fn simulator_error(stderr: &str) -> DeviceError {
    assert!(Said::of(stderr).words.len() <= stderr.len().max(1000));
    failed("udid", &Output { code: Some(1), stdout: Vec::new(), stderr: stderr.to_owned() }, Effect::Acts)
}
