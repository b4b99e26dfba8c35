//! The adb daemon: transports, streams and services.

mod auth;
mod connection;
mod install;
pub mod mux;
mod reverse;
mod service;
mod shell;
pub mod stream;
mod sync;

pub use connection::{features, serve};
pub use reverse::Reverse;

/// Features beyond the first protocol, as recent phones announce them.
pub const FEATURES: [&str; 11] = [
    "shell_v2",
    "cmd",
    "stat_v2",
    "ls_v2",
    "fixed_push_mkdir",
    "apex",
    "abb",
    "fixed_push_symlink_timestamp",
    "abb_exec",
    "remount_shell",
    "sendrecv_v2",
];
