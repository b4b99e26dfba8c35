//! The whole product in one runtime: tools, engine, adb client, adbd, app. With tokio's clock paused, minutes of phone
//! time pass in milliseconds, and every run is the same.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "helpers of tests fail like tests"
)]
#![allow(clippy::print_stdout, reason = "a test with a seed says which")]

mod act;
mod adjust;
mod answers;
mod bad_input;
mod clients;
mod command_line;
mod crash;
mod cuts;
mod envelope;
mod evidence;
mod expects;
mod faults;
mod find;
mod fleet;
mod flow;
mod gestures;
mod hints;
mod hostile_trees;
mod iphone;
mod iphone_without_wda;
mod json_delta;
mod manage;
mod mcp;
mod network;
mod network_binding;
mod pace;
#[path = "../shared/page.rs"]
mod page;
mod phone_pace;
mod pictures;
mod read_list;
mod recover;
mod run;
mod screen;
mod scroll;
mod story;
mod typing;
mod verdicts;
mod waits;
mod world;
