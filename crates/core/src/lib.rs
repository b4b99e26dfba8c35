//! Pure model and policy: what a screen is, what it means, and the port through which a device is driven.
//!
//! Architecture invariant: no tokio, no serde, no I/O and no clock. Time arrives as data; JSON shapes belong to the
//! server.

pub mod action;
pub mod actionable;
pub mod adjust;
pub mod change;
pub mod classify;
pub mod condition;
pub mod delta;
pub mod device;
pub mod element;
pub mod error;
pub mod fingerprint;
pub mod geometry;
pub mod identity;
pub mod journal;
pub mod label;
pub mod lens;
pub mod loading;
pub mod outline;
pub mod pace;
pub mod query;
pub mod quote;
pub mod reading;
pub mod recover;
pub mod resolve;
pub mod role;
pub mod scroll;
pub mod selector;
pub mod semantics;
pub mod settle;
#[cfg(test)]
pub(crate) mod sketch;
pub mod snapshot;
pub mod state;
pub mod ticking;
pub mod tokens;
pub mod tracker;
pub mod value;
pub mod visible;
