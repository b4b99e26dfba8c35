//! The drawn apps: what is on their screens and what touching it does.

pub mod alert;
pub mod datum;
mod fling;
pub mod geometry;
pub mod installed;
pub mod keyboard;
pub mod keys;
pub mod launcher;
pub mod nodes;
pub mod parts;
pub mod settings;
pub mod shop;
pub mod style;
pub mod system;
pub mod ui;
pub mod user;
pub mod widget;
pub mod workbench;
pub mod xml;

use std::collections::BTreeMap;

use tokio::time::{Duration, Instant};

use geometry::Screen;
use widget::{Key, Style, Widget};

/// One drawn app. Its view is a pure function of its state; what it wants from the system goes into a `Context`.
pub trait App: Send {
    fn package(&self) -> &'static str;

    /// Returns the name under the icon and in the system's dialogs.
    fn label(&self) -> &'static str;

    /// Returns the activity that the launcher starts.
    fn entry(&self) -> &'static str;

    fn activities(&self) -> &[&'static str];

    /// Returns the content of an activity's window, not yet laid out.
    fn view(&self, activity: &str, screen: &Screen) -> Widget;

    /// Returns the framework that the activity is made with.
    fn style(&self, _activity: &str) -> Style {
        Style::View
    }

    /// Returns the dialog over the activity, if one is open.
    fn dialog(&self, _activity: &str, _landscape: bool) -> Option<Widget> {
        None
    }

    /// Returns true if screenshots of the activity are black.
    fn secure(&self, _activity: &str) -> bool {
        false
    }

    /// Returns true if the app trusts certificates that the user installed, as apps that are being developed do.
    fn trusts_user_certificates(&self) -> bool {
        false
    }

    /// Handles the start of an activity.
    fn opened(&mut self, _activity: &str, _context: &mut Context) {}

    /// Handles the end of a request that the app made with `Effect::Http`.
    fn answered(&mut self, _request: u32, _answer: &HttpAnswer, _context: &mut Context) {}

    fn tap(&mut self, key: Key, context: &mut Context);

    fn double_tap(&mut self, _key: Key, _context: &mut Context) {}

    /// Handles a long press on a widget that takes it.
    fn long_press(&mut self, _key: Key, _context: &mut Context) {}

    /// Handles the drop of a draggable widget on another one.
    fn dropped(&mut self, _key: Key, _onto: Key, _context: &mut Context) {}

    /// Handles the answer to a permission dialog.
    fn permission(&mut self, _name: &'static str, _granted: bool, _context: &mut Context) {}

    /// Returns the interval at which an activity changes by itself while it is in front.
    fn frame_every(&self, _activity: &str) -> Option<Duration> {
        None
    }

    /// Makes one such change, `shown` after the activity came to the front; returns true if accessibility hears of
    /// it.
    fn frame(&mut self, _activity: &str, _shown: Duration) -> bool {
        false
    }

    /// Handles a slider that was moved to a fraction of its length.
    fn slide(&mut self, _key: Key, _fraction: f32, _context: &mut Context) {}

    /// Handles two fingers on a widget that changed their distance by this factor.
    fn zoom(&mut self, _key: Key, _factor: f32, _context: &mut Context) {}

    /// Handles a container that was scrolled to its end.
    fn end_reached(&mut self, _key: Key, _context: &mut Context) {}

    /// Handles a dialog that was cancelled with Back or by a tap beside it.
    fn cancel_dialog(&mut self) {}

    fn field(&mut self, _key: Key) -> Option<&mut String> {
        None
    }

    fn next_due(&self) -> Option<Instant> {
        None
    }

    fn due(&mut self, _context: &mut Context) {}

    /// Drops everything that was not saved, because the process died.
    fn restart(&mut self);

    /// Drops what was saved too, because of `pm clear`.
    fn clear_data(&mut self);

    fn dark(&self) -> bool {
        false
    }

    /// Returns what the app keeps in its preferences.
    fn saved(&self) -> Values {
        Values::default()
    }

    /// Returns what the app really holds, whether or not it is on the screen.
    fn values(&self) -> Values {
        Values::default()
    }
}

#[derive(Debug, Clone, Default, PartialEq)]
pub struct Values {
    pub fields: BTreeMap<String, String>,
    pub switches: BTreeMap<String, bool>,
    pub sliders: BTreeMap<String, f32>,
}

/// Collects what an app asks of the system while it handles an event at `now`.
pub struct Context {
    pub now: Instant,
    /// The input that led to the event, also by way of a timer or an answer; nothing for what an app does by itself.
    pub cause: Option<u64>,
    pub effects: Vec<Effect>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Effect {
    /// Starts another activity of the same app, on top.
    Start(&'static str),
    /// Starts another activity of the same app and closes all that are open.
    Replace(&'static str),
    /// Starts another app.
    Launch(&'static str),
    /// Ends the activity in front.
    Finish,
    HideKeyboard,
    Toast(String),
    /// Adds an entry to the notification shade.
    Notify {
        title: String,
        text: String,
    },
    /// Asks the person for a permission unless it is granted already.
    AskPermission {
        name: &'static str,
        question: &'static str,
    },
    /// Blocks the main thread for this time.
    Block(Duration),
    /// Crashes with an exception: its first line and where it was thrown.
    Crash {
        exception: String,
        frames: Vec<String>,
    },
    /// Asks a server; the answer comes to `App::answered`.
    Http(HttpRequest),
    Log {
        priority: char,
        tag: &'static str,
        message: String,
    },
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HttpRequest {
    /// The app's own number for the request.
    pub number: u32,
    pub method: String,
    pub url: String,
    pub body: String,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum HttpAnswer {
    Status {
        status: u16,
        reason: String,
        /// The size of the body before it was decoded.
        bytes: usize,
        body: String,
    },
    /// The reason why no answer came.
    Failed(String),
}

impl Context {
    pub fn new(now: Instant, cause: Option<u64>) -> Context {
        Context { now, cause, effects: Vec::new() }
    }

    pub fn log(&mut self, priority: char, tag: &'static str, message: impl Into<String>) {
        self.effects.push(Effect::Log { priority, tag, message: message.into() });
    }

    pub fn push(&mut self, effect: Effect) {
        self.effects.push(effect);
    }
}
