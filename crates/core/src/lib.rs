//! Pure model and policy: what a screen is, what it means, and the port through which a device is driven.
//!
//! Architecture invariant: no tokio, no serde, no I/O and no clock. Time arrives as data; JSON shapes belong to the
//! server.

pub mod device;
pub mod element;
pub mod error;
pub mod geometry;
pub mod label;
pub mod loading;
pub mod outline;
pub mod quote;
pub mod relevance;
pub mod role;
pub mod semantics;
#[cfg(test)]
pub(crate) mod sketch;
pub mod snapshot;
pub mod state;
pub mod value;
pub mod visible;
