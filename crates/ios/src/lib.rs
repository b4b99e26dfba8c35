//! Reads the screens of iOS, as written by other tools, into snapshots.
//!
//! Architecture invariant: bytes in, a snapshot out. No I/O, no clock, and no knowledge of how the bytes were fetched.

pub mod tree;
