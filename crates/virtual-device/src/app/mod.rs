//! Apps: what is on the screen and what touching it does.

pub mod geometry;
pub mod keyboard;
pub mod keys;
pub mod launcher;
pub mod ui;
pub mod widget;
pub mod workbench;
pub mod xml;

use std::collections::BTreeMap;

use tokio::time::Instant;

use geometry::Screen;
use widget::{Key, Widget};

/// One installed app. Its view is a pure function of its state; what it wants from the system goes into a `Context`.
pub trait App: Send {
    fn package(&self) -> &'static str;

    /// The activity that the launcher starts.
    fn entry(&self) -> &'static str;

    fn activities(&self) -> &'static [&'static str];

    /// The content of an activity's window, not yet placed.
    fn view(&self, activity: &str, screen: &Screen) -> Widget;

    /// A dialog in a window of its own, over the activity.
    fn dialog(&self, _activity: &str) -> Option<Widget> {
        None
    }

    fn tap(&mut self, key: Key, context: &mut Context);

    /// A slider was put at a fraction of its length.
    fn slide(&mut self, _key: Key, _fraction: f32, _context: &mut Context) {}

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
    HideKeyboard,
    Log {
        priority: char,
        tag: &'static str,
        message: String,
    },
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
