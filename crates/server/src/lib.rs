//! The tools of the server, and the protocol in front of them. The binary adds the command line.
//!
//! Architecture invariant: only this crate knows MCP and JSON. Handlers translate arguments and answers; what a tool
//! does lives in `mdm-engine`.

pub mod answer;
pub mod app;
pub mod args;
pub mod audit;
pub mod basis;
pub mod caller;
pub mod compat;
mod expect;
mod facts_text;
pub mod found;
#[cfg(fuzzing)]
pub mod fuzzing;
pub mod handles;
mod har;
pub mod http;
mod journal;
pub mod killed;
pub mod leases;
pub mod log_file;
pub mod mcp;
pub mod offer;
pub mod paths;
pub mod pattern;
mod picture;
pub mod policy;
pub mod proxies;
mod refusal;
mod resource;
pub mod secrets;
mod shapes;
pub mod state_folder;
mod subscribe;
pub mod symbols;
pub mod target;
pub mod tools;
pub mod trace_file;
mod transport;
pub mod tree;
