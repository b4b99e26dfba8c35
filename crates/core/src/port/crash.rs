//! The end of an app that was not asked for.

use crate::text::quote::{push_name, push_quoted};

/// Stands for the exception of an app that does not respond.
pub const NOT_RESPONDING: &str = "ANR";
/// Characters of one part of a report in a line.
const CHARS_MAX: usize = 160;

/// One crash, or one app that does not respond, as the platform reported it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CrashReport {
    pub app: String,
    pub pid: u32,
    /// The exception's class, the signal of a native crash, or `ANR`.
    pub exception: String,
    pub message: String,
    /// Where it was thrown, the first place in the app's own code if there is one.
    pub place: Option<String>,
    /// How long ago by the device's clock; `None` where the report has no date.
    pub age_ms: Option<u64>,
}

impl CrashReport {
    /// Says it in one line, with the app's own words in quotes.
    pub fn summary(&self) -> String {
        let mut line = String::new();
        push_name(&mut line, &self.app, CHARS_MAX);
        if self.exception == NOT_RESPONDING {
            line.push_str(" does not respond");
        } else {
            line.push_str(" crashed: ");
            push_name(&mut line, &self.exception, CHARS_MAX);
        }
        if !self.message.is_empty() {
            line.push_str(": ");
            push_quoted(&mut line, &self.message, CHARS_MAX);
        }
        if let Some(place) = &self.place {
            line.push_str(" at ");
            push_name(&mut line, place, CHARS_MAX);
        }
        line
    }
}
