//! Errors of the adb client.

use std::fmt;
use std::io;

use mdm_wire::adb::WireError;

#[derive(Debug)]
pub enum AdbError {
    /// No connection could be made; nothing was sent.
    Unreachable(String),
    /// The connection ended after a request was sent; its outcome is unknown.
    Lost(String),
    /// The device or the adb server refused the request.
    Refused(String),
    NotFound(String),
    Unauthorized(String),
    Offline(String),
    /// The peer broke the protocol.
    Protocol(String),
    /// The command contains a character that a command line cannot hold.
    Unsendable(&'static str),
    /// A local file could not be read or written.
    Local(String),
}

impl AdbError {
    pub(crate) fn lost(error: io::Error) -> AdbError {
        AdbError::Lost(error.to_string())
    }

    /// Maps a FAIL text of the adb server to the error that it means.
    pub(crate) fn from_server(text: String) -> AdbError {
        let has = |part: &str| text.contains(part);
        if has("unauthorized") || has("authorizing") {
            AdbError::Unauthorized(text)
        } else if has("offline") || has("still connecting") {
            AdbError::Offline(text)
        } else if has("not found") || has("no devices") {
            AdbError::NotFound(text)
        } else {
            AdbError::Refused(text)
        }
    }
}

impl From<WireError> for AdbError {
    fn from(error: WireError) -> AdbError {
        AdbError::Protocol(error.to_string())
    }
}

impl fmt::Display for AdbError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            AdbError::Unreachable(text) => write!(f, "cannot connect: {text}"),
            AdbError::Lost(text) => write!(f, "the connection was lost: {text}"),
            AdbError::Refused(text) => write!(f, "refused: {text}"),
            AdbError::NotFound(text) => write!(f, "no such device: {text}"),
            AdbError::Unauthorized(text) => write!(f, "not authorised: {text}"),
            AdbError::Offline(text) => write!(f, "offline: {text}"),
            AdbError::Protocol(text) => write!(f, "protocol error: {text}"),
            AdbError::Unsendable(text) => f.write_str(text),
            AdbError::Local(text) => f.write_str(text),
        }
    }
}

impl std::error::Error for AdbError {}
