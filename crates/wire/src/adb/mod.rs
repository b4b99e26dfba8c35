//! The Android Debug Bridge protocol: transport frames, the host protocol of the adb server, shell v2, sync, AUTH.

pub mod auth;
pub mod banner;
pub mod frame;
pub mod framebuffer;
pub mod host;
pub mod shell;
pub mod sync;

/// Transport version without payload checksums (Android 9 and later).
pub const VERSION_SKIP_CHECKSUM: u32 = 0x0100_0001;
/// First transport version; every payload carries a byte sum.
pub const VERSION_CHECKSUM: u32 = 0x0100_0000;
/// Largest payload a modern peer accepts in one frame.
pub const PAYLOAD_BYTES_MAX: u32 = 1024 * 1024;
/// Largest payload before the peer has sent its own limit, and of old devices.
pub const PAYLOAD_BYTES_LEGACY: u32 = 4096;

/// The error for bytes that the protocol does not allow.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WireError(pub String);

impl std::fmt::Display for WireError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for WireError {}

pub(crate) fn wire_error<T>(message: impl Into<String>) -> Result<T, WireError> {
    Err(WireError(message.into()))
}

/// Reads a little-endian u32 at `at`; the caller has checked the length.
pub(crate) fn u32_at(bytes: &[u8], at: usize) -> u32 {
    let mut word = [0u8; 4];
    word.copy_from_slice(&bytes[at..at + 4]);
    u32::from_le_bytes(word)
}

/// Reads a little-endian u64 at `at`; the caller has checked the length.
pub(crate) fn u64_at(bytes: &[u8], at: usize) -> u64 {
    u64::from(u32_at(bytes, at)) | (u64::from(u32_at(bytes, at + 4)) << 32)
}
