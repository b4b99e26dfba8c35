//! The program itself under attack: devices that flood, never read or never end, and clients that send nonsense, never
//! read or go away. A process each, so that its memory can be measured.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "helpers of tests fail like tests"
)]
#![allow(
    clippy::disallowed_methods,
    reason = "real processes in real time: a hostile device waits as long as it likes, and answers are timed"
)]
#![allow(clippy::print_stdout, reason = "figures are the result")]

mod adbd;
mod canary;
mod client;
mod device;
mod fate;
mod http;
mod http_return;
mod injection;
mod killed;
#[path = "../support/lines.rs"]
mod lines;
mod proxy;
mod regexes;
mod server;
