//! Every framework widget in its states, in four settings: what Android's own views show is recorded in `recorded.xml`,
//! and the model phone is compared with it field by field. The states stand in framework/app/res/raw/states.json,
//! which the app on the framework phone reads too.
#![expect(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a failed expectation is a failed test"
)]
#![expect(clippy::print_stdout, reason = "the figures are of interest")]

mod compare;
mod framework;
#[path = "../phone/host.rs"]
#[expect(dead_code, reason = "the other tests need more of it")]
mod host;
mod levels;
mod model;
#[path = "../../../server/tests/shared/page.rs"]
#[expect(dead_code, reason = "nothing here has times")]
mod page;
mod report;
mod table;
mod tree;
