//! Doors for the fuzzer to readers that nothing outside of the crate calls. Compiled with `--cfg fuzzing` only.

use mdm_core::port::{DeviceError, Picture};

use crate::lines::Lines;
pub use crate::real::fuzzing::*;
pub use crate::simctl::fuzzing::*;

pub async fn picture(png: Vec<u8>) -> Result<Picture, DeviceError> {
    crate::picture::decode(png).await
}

/// Entries and unread lines of a log that comes in pieces.
pub fn log_lines(bytes: &[u8], piece: usize) -> usize {
    let mut lines = Lines::default();
    let mut count = 0;
    for piece in bytes.chunks(piece) {
        lines.push(piece);
        let batch = lines.take_batch();
        count += batch.entries.len() + batch.unread_lines;
    }
    count
}
