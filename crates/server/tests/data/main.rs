//! Real screens of other people's apps, read with everything that the tools use. The files stay outside the project:
//! without them these tests say that they skip, and with CI=true they fail.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "helpers of tests fail like tests"
)]
#![allow(clippy::print_stdout, reason = "figures are there to be read")]

mod figures;
mod files;
mod resolution;
mod traces;
