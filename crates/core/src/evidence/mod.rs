//! What a device tells besides its screen: log lines, requests, crashes; what each is, and to which action it belongs.
//!
//! What may not enter: formats of a platform's log (the drivers read them), names of tools (the server's).

pub mod bind;
pub mod crash_book;
pub mod exchange;
pub mod from_log;
pub mod join;
pub mod redact;
pub mod redact_log;
pub mod related;
pub mod sensitive;
pub mod signal;
pub mod stream;
pub mod window;
