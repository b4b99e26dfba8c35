//! What a device tells by itself, where its driver can hear it.

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum DeviceEvent {
    Crash { app: String, summary: String },
}

/// What a device has told of its screen. Silence proves nothing: some changes are drawn and never told.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Heard {
    /// Counts everything that was told; 0 when nothing was, or when the device tells nothing.
    pub number: u64,
    /// Counts the times in which the device may have told something unheard: what is equal at two moments says that nothing
    /// was missed between them.
    pub gaps: u64,
    /// What was said in words, the oldest first.
    pub words: Vec<Said>,
}

/// A text that was shown or spoken for a moment and stands in no tree.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Said {
    /// The number of what was told, see [`Heard::number`].
    pub number: u64,
    pub kind: SaidKind,
    /// How long ago it was said.
    pub ago_ms: u64,
    pub app: String,
    pub text: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SaidKind {
    Toast,
    Announcement,
}
