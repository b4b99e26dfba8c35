//! What the product says of every framework widget in its states, in four settings, judged by the view objects of the
//! framework phone (never by accessibility). The states stand in framework/app/res/raw/states.json.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "helpers of tests fail like tests"
)]
#![allow(clippy::print_stdout, reason = "the figures are of interest")]

mod faults;
mod judge;
#[path = "../framework/lines.rs"]
#[allow(dead_code, reason = "the other judge needs the rest")]
mod lines;
#[path = "../shared/page.rs"]
#[expect(dead_code, reason = "nothing here has times")]
mod page;
#[path = "../framework/reading.rs"]
#[allow(dead_code, reason = "the other judge needs the rest")]
mod reading;
#[path = "../../../virtual-device/tests/matrix/table.rs"]
#[allow(dead_code, reason = "the other judge needs the rest")]
mod table;
#[path = "../framework/views.rs"]
#[allow(dead_code, reason = "the other judge needs the rest")]
mod views;
mod walk;
