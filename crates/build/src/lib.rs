//! Builds app projects on this machine, from a folder to the file that the build made.
//!
//! Architecture invariant: nothing here knows a device, a tool or an answer. Programs are started by argument list and
//! never through a shell, and only [`process`] starts them. What a build tool prints is hostile until it is parsed.

pub mod apk;
pub mod artifact;
mod build;
pub mod diagnose;
mod environment;
pub mod plan;
pub mod process;
pub mod project;
pub mod toolchain;

pub use build::{BuildError, BuildFailure, BuildRequest, Built, build};
pub use environment::Environment;
