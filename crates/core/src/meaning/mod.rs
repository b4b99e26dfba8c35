//! What one capture means to a person: roles, names, composed controls, their states and values, signs of loading.
//!
//! What may not enter: other captures, session ids, and what an agent wants. The same capture always means the same.

pub mod identifier;
pub mod label;
pub mod loading;
pub mod role;
pub mod semantics;
#[cfg(test)]
pub(crate) mod sketch;
pub mod state;
pub mod value;
