//! The phone from the outside: a small test host speaks frames to it, on a paused clock.
#![expect(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a failed expectation is a failed test"
)]

mod agent_device;
mod apps;
mod behaviour;
mod capture;
mod daemon;
mod dash;
mod files;
mod framework;
mod gallery;
mod helpers;
mod host;
mod hostile;
mod network;
mod panel;
mod random_input;
#[path = "../../../server/tests/shared/recorded.rs"]
mod recorded;
mod reverse;
mod scrolling;
mod server;
mod shell;
mod statistics;
mod story;
mod transcripts;
mod transport;
mod user_apps;
mod user_rules;
mod versions;
