//! Apps: what is on the screen and what touching it does.

mod fling;
pub mod geometry;
pub mod keyboard;
pub mod keys;
pub mod launcher;
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

/// One installed app. Its view is a pure function of its state; what it wants from the system goes into a `Context`.
pub trait App: Send {
    fn package(&self) -> &'static str;

    /// The name under the icon and in the system's dialogs.
    fn label(&self) -> &'static str;

    /// The activity that the launcher starts.
    fn entry(&self) -> &'static str;

    fn activities(&self) -> &[&'static str];

    /// The content of an activity's window, not yet placed.
    fn view(&self, activity: &str, screen: &Screen) -> Widget;

    /// The framework that the activity is made with.
    fn style(&self, _activity: &str) -> Style {
        Style::View
    }

    /// A dialog in a window of its own, over the activity.
    fn dialog(&self, _activity: &str) -> Option<Widget> {
        None
    }

    /// Screenshots of the activity are black.
    fn secure(&self, _activity: &str) -> bool {
        false
    }

    /// An activity came to the front because it was started.
    fn opened(&mut self, _activity: &str, _context: &mut Context) {}

    /// A request that the app made with `Effect::Http` has ended.
    fn answered(&mut self, _request: u32, _answer: &Answer, _context: &mut Context) {}

    fn tap(&mut self, key: Key, context: &mut Context);

    fn double_tap(&mut self, _key: Key, _context: &mut Context) {}

    /// Only widgets that say so take it.
    fn long_press(&mut self, _key: Key, _context: &mut Context) {}

    /// A draggable widget was let go over another one.
    fn dropped(&mut self, _key: Key, _onto: Key, _context: &mut Context) {}

    /// The person answered a permission dialog.
    fn permission(&mut self, _name: &'static str, _granted: bool, _context: &mut Context) {}

    /// How often an activity changes by itself while it is in front.
    fn frame_every(&self, _activity: &str) -> Option<Duration> {
        None
    }

    /// One such change, `shown` after the activity came to the front. True when accessibility hears of it.
    fn frame(&mut self, _activity: &str, _shown: Duration) -> bool {
        false
    }

    /// A slider was put at a fraction of its length.
    fn slide(&mut self, _key: Key, _fraction: f32, _context: &mut Context) {}

    /// Two fingers on a widget changed their distance by this factor.
    fn zoom(&mut self, _key: Key, _factor: f32, _context: &mut Context) {}

    /// A container that scrolls was brought to its end.
    fn end_reached(&mut self, _key: Key, _context: &mut Context) {}

    /// The dialog was cancelled with Back or by a tap beside it.
    fn cancel_dialog(&mut self) {}

    fn field(&mut self, _key: Key) -> Option<&mut String> {
        None
    }

    fn next_due(&self) -> Option<Instant> {
        None
    }

    fn due(&mut self, _context: &mut Context) {}

    /// The process died: everything that was not saved is gone.
    fn restart(&mut self);

    /// `pm clear`: what was saved is gone too.
    fn clear_data(&mut self);

    fn dark(&self) -> bool {
        false
    }

    /// What it keeps in its preferences.
    fn saved(&self) -> Values {
        Values::default()
    }

    /// What the app really holds, whether or not it is on the screen.
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

/// What an app asks of the system while it handles an event at `now`.
pub struct Context {
    pub now: Instant,
    pub effects: Vec<Effect>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Effect {
    /// Another activity of the same app, on top.
    Start(&'static str),
    /// Another activity of the same app instead of all that are open.
    Replace(&'static str),
    /// Another app.
    Launch(&'static str),
    /// Ends the activity in front.
    Finish,
    HideKeyboard,
    Toast(String),
    /// An entry in the notification shade.
    Notify {
        title: String,
        text: String,
    },
    /// Asks the person unless they have granted it already.
    AskPermission {
        name: &'static str,
        question: &'static str,
    },
    /// The main thread does nothing else for so long.
    Block(Duration),
    /// An exception that nobody caught: its first line and where it was thrown.
    Crash {
        exception: String,
        frames: Vec<String>,
    },
    /// Asks a server; the answer comes to `App::answered`.
    Http(Request),
    Log {
        priority: char,
        tag: &'static str,
        message: String,
    },
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Request {
    /// By which the app knows it again.
    pub number: u32,
    pub method: String,
    pub url: String,
    pub body: String,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Answer {
    Status {
        status: u16,
        reason: String,
        /// Of the body as it came.
        bytes: usize,
        body: String,
    },
    /// No answer came, and why not.
    Failed(String),
}

impl Context {
    pub fn new(now: Instant) -> Context {
        Context { now, effects: Vec::new() }
    }

    pub fn log(&mut self, priority: char, tag: &'static str, message: impl Into<String>) {
        self.effects.push(Effect::Log { priority, tag, message: message.into() });
    }

    pub fn push(&mut self, effect: Effect) {
        self.effects.push(effect);
    }
}
