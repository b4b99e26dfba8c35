//! What the helper tells by itself.

use super::number::{Broken, Reader, Writer};
use super::{EVENT_KIND, frame};

/// An event of accessibility, or several of one kind that came together.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct UiEvent {
    /// Counts from 1 on, so that a gap can be seen.
    pub number: u32,
    pub uptime_ms: u64,
    pub merged: u32,
    /// The number that Android gives to the kind of event.
    pub kind: u32,
    pub content_changes: u32,
    pub window: i32,
    pub package: String,
    pub class: String,
    /// Of toasts and announcements only.
    pub text: String,
}

impl UiEvent {
    pub const KIND: u8 = EVENT_KIND;
    /// The helper's own kind: nothing is told from here on.
    pub const EVENTS_ENDED: u32 = 0;
    /// Kinds of events, as Android numbers them.
    pub const VIEW_CLICKED: u32 = 1;
    pub const VIEW_FOCUSED: u32 = 8;
    pub const VIEW_TEXT_CHANGED: u32 = 16;
    pub const WINDOW_STATE_CHANGED: u32 = 32;
    pub const NOTIFICATION_STATE_CHANGED: u32 = 64;
    pub const WINDOW_CONTENT_CHANGED: u32 = 2048;
    pub const VIEW_SCROLLED: u32 = 4096;
    pub const ANNOUNCEMENT: u32 = 16384;
    pub const WINDOWS_CHANGED: u32 = 0x0040_0000;

    pub fn frame(&self) -> Vec<u8> {
        let mut writer = Writer::default();
        writer.u32(self.number).u64(self.uptime_ms).u32(self.merged).u32(self.kind).u32(self.content_changes);
        writer.i32(self.window).text(&self.package).text(&self.class).text(&self.text);
        frame(0, EVENT_KIND, &writer.bytes)
    }

    pub fn decode(payload: &[u8]) -> Result<UiEvent, Broken> {
        let mut reader = Reader::new(payload);
        let event = UiEvent {
            number: reader.u32()?,
            uptime_ms: reader.u64()?,
            merged: reader.u32()?,
            kind: reader.u32()?,
            content_changes: reader.u32()?,
            window: reader.i32()?,
            package: reader.text()?,
            class: reader.text()?,
            text: reader.text()?,
        };
        reader.end()?;
        Ok(event)
    }
}
