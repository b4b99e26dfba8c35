//! Actions as data: what was asked, what happened on the way, what came of it, what may be tried again.
//!
//! What may not enter: performing anything (the engine does), names of tools and their arguments (the server's).

pub mod classify;
pub mod crash;
pub mod event;
pub mod kind;
pub mod outcome;
pub mod recover;
pub mod request;
pub mod trace;
