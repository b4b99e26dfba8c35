//! Builds against folders, recorded outputs and real processes.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "helpers of tests fail like tests"
)]

mod artifact;
mod diagnose;
mod folder;
mod plan;
mod process;
mod project;
mod toolchain;
