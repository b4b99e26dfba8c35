//! Actions as data: what was asked, how it went, why it failed, what may be tried again.
//!
//! What may not enter: performing anything (the engine does), names of tools and their arguments (the server's).

pub mod classify;
pub mod failure;
pub mod kind;
pub mod recover;
pub mod trace;
