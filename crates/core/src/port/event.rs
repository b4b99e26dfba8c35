//! What a device tells by itself, where its driver can hear it.

use super::{LogEntry, PortFuture};

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum DeviceEvent {
    TreeChanged,
    Toast {
        text: String,
    },
    /// Another window came to the front.
    Window {
        app: String,
    },
    Log(LogEntry),
    Crash {
        app: String,
        summary: String,
    },
}

/// A stream of events that ends with its connection.
pub trait EventSource: Send {
    /// Waits for the next event; `None` when the device ended the stream.
    fn next(&mut self) -> PortFuture<'_, Option<DeviceEvent>>;
}
