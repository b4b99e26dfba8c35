//! The end of an app that was not asked for, as the platform reported it.

use std::time::Duration;

use super::PortFuture;
use crate::text::quote::{push_name, push_quoted};

/// Stands for the exception of an app that does not respond.
pub const NOT_RESPONDING: &str = "ANR";
/// Characters of one part of a report in a line.
const CHARS_MAX: usize = 160;
/// Characters of a part that are kept.
const KEPT_CHARS_MAX: usize = 1000;
/// Frames that are kept of one exception, and how many more of the app's own.
const FRAMES_MAX: usize = 60;
/// Frames of the app itself that are kept of one exception.
const OWN_FRAMES_MAX: usize = 100;
/// Exceptions of one chain of causes.
pub const THROWN_MAX: usize = 10;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CrashKind {
    /// An exception that nobody caught.
    Exception,
    /// A signal, or an abort of native code.
    Native,
    /// The app does not respond.
    NotResponding,
    /// An error in JavaScript or Dart that nobody caught; the process may live on.
    Script,
}

/// One place of a call stack.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Frame {
    /// From 0, the innermost; frames that were not kept are counted.
    pub index: u32,
    pub text: String,
    /// Of the app's own code, not of the platform or a known library.
    pub own: bool,
}

/// One exception of a chain.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Thrown {
    /// The exception's class, the signal of a native crash, or `ANR`.
    pub exception: String,
    pub message: String,
    pub frames: Vec<Frame>,
    pub frame_count: u32,
}

impl Thrown {
    pub fn new(exception: &str, message: &str) -> Thrown {
        Thrown { exception: kept(exception), message: kept(message), ..Thrown::default() }
    }

    /// Adds the next frame. Of a very deep stack only the innermost frames and the app's own are kept.
    pub fn push_frame(&mut self, text: &str, own: bool) {
        let index = self.frame_count;
        self.frame_count = self.frame_count.saturating_add(1);
        let limit = if own { OWN_FRAMES_MAX } else { FRAMES_MAX };
        if self.frames.len() < limit {
            self.frames.push(Frame { index, text: kept(text), own });
        }
    }

    fn own_frame(&self) -> Option<&Frame> {
        self.frames.iter().find(|frame| frame.own)
    }
}

/// One crash, or one app that does not respond.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CrashReport {
    pub app: String,
    pub pid: u32,
    pub kind: CrashKind,
    pub thread: Option<String>,
    /// What was thrown, then its causes. Never empty.
    pub thrown: Vec<Thrown>,
    /// By the device's clock, in milliseconds since 1970; `None` where the report has no date.
    pub time_ms: Option<u64>,
    /// How long ago by the device's clock.
    pub age_ms: Option<u64>,
    /// Names of the app's own binaries and what tells one build from another, where the report lists them apart.
    pub images: Vec<(String, String)>,
}

impl CrashReport {
    pub fn exception(&self) -> &str {
        self.thrown.first().map_or("", |thrown| &thrown.exception)
    }

    pub fn message(&self) -> &str {
        self.thrown.first().map_or("", |thrown| &thrown.message)
    }

    /// Where it happened: the app's own code nearest to the first cause, else where it was thrown.
    pub fn place(&self) -> Option<&Frame> {
        let own = self.thrown.iter().rev().find_map(Thrown::own_frame);
        own.or_else(|| self.thrown.iter().find_map(|thrown| thrown.frames.first()))
    }

    /// The same report, whichever of the device's logs it was read from.
    pub fn is_same(&self, other: &CrashReport) -> bool {
        let times = self.time_ms.zip(other.time_ms);
        (self.pid, self.kind, &self.app) == (other.pid, other.kind, &other.app)
            && self.exception() == other.exception()
            && begins_alike(self.message(), other.message())
            && times.is_none_or(|(own, others)| own == others)
    }

    /// Says it in one line, with the app's own words in quotes.
    pub fn summary(&self) -> String {
        let mut line = String::new();
        push_name(&mut line, &self.app, CHARS_MAX);
        match self.kind {
            CrashKind::NotResponding => line.push_str(" does not respond"),
            CrashKind::Exception | CrashKind::Native => line.push_str(" crashed: "),
            CrashKind::Script => line.push_str(" has an uncaught error: "),
        }
        if self.kind != CrashKind::NotResponding {
            push_name(&mut line, self.exception(), CHARS_MAX);
        }
        push_message(&mut line, self.message());
        if let [_, .., cause] = &self.thrown[..] {
            line.push_str(", caused by ");
            push_name(&mut line, &cause.exception, CHARS_MAX);
            push_message(&mut line, &cause.message);
        }
        if let Some(place) = self.place() {
            line.push_str(" at ");
            push_name(&mut line, &place.text, CHARS_MAX);
        }
        line
    }
}

/// Crashes as they happen; it ends with its connection.
pub trait CrashSource: Send {
    /// Waits for the next reports; `None` when the device ended it. A report may come again when more of it is known.
    fn next(&mut self) -> PortFuture<'_, Option<Vec<CrashReport>>>;

    /// How long to wait before it is asked again, of a source that only looks and does not wait itself.
    fn pause(&self) -> Option<Duration> {
        None
    }
}

/// A report that is still being written has only the beginning of its message.
fn begins_alike(one: &str, other: &str) -> bool {
    one.starts_with(other) || other.starts_with(one)
}

fn push_message(line: &mut String, message: &str) {
    if !message.is_empty() {
        line.push_str(": ");
        push_quoted(line, message, CHARS_MAX);
    }
}

fn kept(text: &str) -> String {
    text.trim().chars().take(KEPT_CHARS_MAX).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn report(thrown: Vec<Thrown>) -> CrashReport {
        CrashReport {
            app: "com.example".to_owned(),
            pid: 7,
            kind: CrashKind::Exception,
            thread: None,
            thrown,
            time_ms: None,
            age_ms: None,
            images: Vec::new(),
        }
    }

    #[test]
    fn the_line_names_the_first_cause_and_the_apps_own_place() {
        let mut outer = Thrown::new("RuntimeException", "cannot start");
        outer.push_frame("android.app.ActivityThread.main(A.java:1)", false);
        let mut cause = Thrown::new("IllegalStateException", "cart is empty");
        cause.push_frame("java.util.ArrayList.get(A.java:2)", false);
        cause.push_frame("com.example.Cart.pay(Cart.kt:88)", true);
        assert_eq!(
            report(vec![outer.clone(), cause]).summary(),
            "com.example crashed: RuntimeException: \"cannot start\", caused by IllegalStateException: \
             \"cart is empty\" at com.example.Cart.pay(Cart.kt:88)"
        );
        let place = report(vec![outer]).place().map(|frame| frame.text.clone());
        assert_eq!(place.as_deref(), Some("android.app.ActivityThread.main(A.java:1)"), "nothing of its own");
    }

    #[test]
    fn of_a_deep_stack_the_own_frames_are_kept_too() {
        let mut thrown = Thrown::new("StackOverflowError", "");
        for depth in 0..1000 {
            thrown.push_frame("androidx.compose.X.y(X.kt:1)", depth == 700);
        }
        assert_eq!((thrown.frames.len(), thrown.frame_count), (FRAMES_MAX + 1, 1000));
        assert_eq!(thrown.own_frame().map(|frame| frame.index), Some(700));
    }
}
