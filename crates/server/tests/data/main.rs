//! Real screens of third-party apps, read with the code of the tools. The files are not part of the project: without
//! them these tests report that they skip, and with CI=true they fail unless MDM_TEST_DATA=absent.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "helpers of tests fail like tests"
)]
#![allow(clippy::print_stdout, reason = "figures are there to be read")]

#[path = "../shared/page.rs"]
#[expect(dead_code, reason = "only the comparison is needed here")]
mod page;

mod covers;
mod facts;
mod figures;
mod files;
mod findable;
mod logs;
mod noise;
#[path = "../shared/recorded.rs"]
mod recorded;
mod requests;
mod resolution;
mod traces;
