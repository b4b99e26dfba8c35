//! Plays a recorded folder of trees, pictures and actions as a phone. docs/replay.md describes the folder.
//!
//! The phone shows one recorded tree. The recorded action on it leads to the recorded next one; anything else leaves
//! it as it is, because nobody recorded what would have happened.

mod format;
mod load;
mod picture;
mod play;
mod tree;

pub use load::{Recording, RecordingError};
pub(crate) use play::Replay;
