//! iOS: what the tools that can see its screens write, read into a snapshot.
//!
//! Architecture invariant: bytes in, a snapshot out. No I/O, no clock, and no knowledge of how the bytes were fetched.

pub mod tree;
