//! What a device tells by itself, where its driver can hear it.

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum DeviceEvent {
    Crash { app: String, summary: String },
}
