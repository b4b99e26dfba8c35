//! A local HTTP(S) proxy that records what passes through it, and answers in a server's place when told to.
//!
//! It listens on the loopback interface. Plain requests are recorded whole; a `CONNECT` is a tunnel of which only host,
//! sizes and times are known, unless an [`Authority`] was given: then TLS is opened with a certificate of its own, and a
//! client that refuses that certificate is tunnelled from then on.
//!
//! Architecture invariant: nothing here knows a device, an action or a tool. Who caused a request is asked of the caller
//! ([`Config::cause`]) when its head arrives, and kept as it was said.

#![cfg_attr(
    test,
    allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests fail by panicking")
)]

mod authority;
mod body;
mod connect;
mod forward;
mod record;
mod rules;
mod serve;
mod upstream;

pub use authority::{Authority, AuthorityError};
pub use body::decoded;
pub use record::{Kind, Message, Page, Record, Tls};
pub use rules::{Answer, Effect, Lifetime, Match, Pattern, Rule, RuleError, RuleState};
pub use rustls::RootCertStore;
pub use serve::{Cause, Config, Head, Loopback, Proxy, is_alive};
pub use upstream::{Via, can_connect, system_roots};

/// Where a running proxy says who it is, asked without a host: `GET /mobile-debug-mcp`.
pub const IDENTITY_PATH: &str = "/mobile-debug-mcp";
