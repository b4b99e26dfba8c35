//! The meaning of one capture: roles, labels, composed controls with their states and values, signs of loading.
//!
//! What may not enter: other captures, session ids, and what an agent wants. Equal captures give equal results.

pub mod drawn;
pub mod identifier;
pub mod label;
pub mod loading;
pub mod role;
pub mod semantics;
#[cfg(test)]
pub(crate) mod sketch;
pub mod state;
pub mod value;
