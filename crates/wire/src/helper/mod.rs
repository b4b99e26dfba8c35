//! Messages of the helper that a phone runs for us. `docs/helper-protocol.md` says what each means; here are their bytes, in
//! both directions.

mod event;
mod message;
mod number;
mod tree;

pub use event::UiEvent;
pub use message::{
    Answer, Argument, Finger, Hello, KeyPress, PictureFormat, Refusal, RefusalCode, Request, Sample,
    ScreenPicture, TextMode, TextWay, TreeAnswer, Welcome,
};
pub use number::Broken;
pub use tree::{Collection, CollectionItem, Flags, Node, NodeAction, Range, Tree, Window, WindowFlags};

pub const VERSION: u16 = 1;
pub const NONCE_BYTES: usize = 16;
/// The class that `app_process` runs.
pub const MAIN_CLASS: &str = "mdm.helper.Main";
/// What the helper prints when it listens.
pub const READY_LINE: &str = "mdm-helper 1 ready";
/// What it prints, followed by the reason, when it cannot start.
pub const FAILED_START: &str = "mdm-helper 1 failed: ";
/// Bytes of `length`, `id` and `kind`.
pub const HEAD_BYTES: usize = 9;
/// The longest frame that is sent to the helper.
pub const REQUEST_BYTES_MAX: usize = 1024 * 1024;
/// The longest frame that is read from the helper.
pub const ANSWER_BYTES_MAX: usize = 16 * 1024 * 1024;
const EVENT_KIND: u8 = 64;
const ANSWER_BIT: u8 = 128;
const REFUSAL_KIND: u8 = 255;
/// Bytes of `id` and `kind`, which `length` counts.
const COUNTED_HEAD_BYTES: usize = HEAD_BYTES - 4;

/// What stands before a payload.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Head {
    pub id: u32,
    pub kind: u8,
    pub payload_bytes: usize,
}

impl Head {
    /// Reads a head; `bytes_max` is the longest frame that this side accepts.
    pub fn decode(bytes: [u8; HEAD_BYTES], bytes_max: usize) -> Result<Head, Broken> {
        let [a, b, c, d, e, f, g, h, kind] = bytes;
        let length = u32::from_be_bytes([a, b, c, d]) as usize;
        if length > bytes_max {
            return Err(Broken("the frame is longer than allowed"));
        }
        let payload_bytes =
            length.checked_sub(COUNTED_HEAD_BYTES).ok_or(Broken("the frame is shorter than its head"))?;
        Ok(Head { id: u32::from_be_bytes([e, f, g, h]), kind, payload_bytes })
    }
}

fn frame(id: u32, kind: u8, payload: &[u8]) -> Vec<u8> {
    let length = u32::try_from(payload.len() + COUNTED_HEAD_BYTES).unwrap_or(u32::MAX);
    let mut bytes = Vec::with_capacity(HEAD_BYTES + payload.len());
    bytes.extend_from_slice(&length.to_be_bytes());
    bytes.extend_from_slice(&id.to_be_bytes());
    bytes.push(kind);
    bytes.extend_from_slice(payload);
    bytes
}

#[cfg(test)]
mod tests;
