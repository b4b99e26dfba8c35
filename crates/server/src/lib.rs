//! The tools of the server, and the protocol in front of them. The binary adds the command line.
//!
//! Architecture invariant: only this crate knows MCP and JSON. Handlers translate arguments and answers; what a tool
//! does lives in `mdm-engine`.

pub mod answer;
pub mod app;
pub mod args;
mod expect;
mod facts_text;
pub mod found;
mod har;
pub mod http;
mod journal;
pub mod log_file;
pub mod mcp;
pub mod paths;
mod picture;
pub mod proxies;
mod refusal;
mod resource;
pub mod secrets;
pub mod state_folder;
mod subscribe;
pub mod symbols;
pub mod target;
pub mod tools;
mod transport;
pub mod tree;
