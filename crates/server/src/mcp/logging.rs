//! What a client's log is told of its calls: from the level up that the client named, and nothing unless it did.

#![allow(deprecated, reason = "most clients still have a log of this kind")]

use std::sync::{Arc, Mutex, PoisonError};

use mdm_core::action::event::Event;
use rmcp::model::{LoggingLevel, LoggingMessageNotificationParam};
use rmcp::service::{RequestContext, RoleServer};

use super::progress;

const LOGGER: &str = "mobile-debug-mcp";

/// The level of one session; in protocols from 2026-07-28 each request names its own.
#[derive(Clone, Default)]
pub struct Level(Arc<Mutex<Option<LoggingLevel>>>);

impl Level {
    pub fn set(&self, level: LoggingLevel) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Some(level);
    }

    pub fn of(&self, context: &RequestContext<RoleServer>) -> Option<LoggingLevel> {
        context.meta.log_level().or_else(|| *self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

pub async fn tell(event: &Event, from: LoggingLevel, context: &RequestContext<RoleServer>) {
    let Some((level, words)) = line(event).filter(|(level, _)| rank(*level) >= rank(from)) else { return };
    let line = LoggingMessageNotificationParam::new(level, words.into()).with_logger(LOGGER);
    // A client that does not listen still gets its answer.
    let _ = context.peer.notify_logging_message(line).await;
}

/// An event as a line: what hindered an action is a warning, what was done is told, looks are details.
fn line(event: &Event) -> Option<(LoggingLevel, String)> {
    let words = progress::in_words(event);
    Some(match event {
        Event::Obstructed { code, again: false } => {
            (LoggingLevel::Warning, format!("not possible: {}", code.as_str()))
        }
        Event::Obstructed { .. } => (LoggingLevel::Notice, words?),
        Event::Sent { error: Some(code), what, .. } => {
            (LoggingLevel::Error, format!("{} was not taken: {}", what.as_str(), code.as_str()))
        }
        Event::Sent { .. } | Event::Recovering { .. } | Event::Working { .. } => (LoggingLevel::Info, words?),
        Event::CallBegan { name } => (LoggingLevel::Debug, format!("{name} began")),
        _ => (LoggingLevel::Debug, words?),
    })
}

fn rank(level: LoggingLevel) -> u8 {
    match level {
        LoggingLevel::Debug => 0,
        LoggingLevel::Info => 1,
        LoggingLevel::Notice => 2,
        LoggingLevel::Warning => 3,
        LoggingLevel::Error => 4,
        LoggingLevel::Critical => 5,
        LoggingLevel::Alert => 6,
        LoggingLevel::Emergency => 7,
    }
}
