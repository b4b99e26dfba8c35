//! What a person who waits for a call hears of it.

#![allow(deprecated, reason = "most clients still have a log of this kind")]

use std::convert::Infallible;

use mdm_core::action::event::Event;
use mdm_engine::Listener;
use rmcp::model::{LoggingLevel, ProgressNotificationParam, ProgressToken};
use rmcp::service::{RequestContext, RoleServer};

use super::logging;

/// What a client wants to hear while its call runs.
pub struct Wanted {
    pub progress: Option<ProgressToken>,
    pub log: Option<LoggingLevel>,
}

impl Wanted {
    pub fn anything(&self) -> bool {
        self.progress.is_some() || self.log.is_some()
    }
}

/// Tells a caller what it wants to hear of its own call, until the call is over.
pub async fn tell(
    mut listener: Listener,
    call: u64,
    wanted: Wanted,
    context: &RequestContext<RoleServer>,
) -> Infallible {
    let mut steps = 0.0;
    loop {
        let Some(stamped) = listener.next().await else { return std::future::pending().await };
        if stamped.call != call {
            continue;
        }
        if let Some(from) = wanted.log {
            logging::tell(&stamped.event, from, context).await;
        }
        let Some(token) = &wanted.progress else { continue };
        let Some(words) = in_words(&stamped.event) else { continue };
        steps += 1.0;
        let told = ProgressNotificationParam::new(token.clone(), steps).with_message(words);
        // A client that does not listen still gets its answer.
        let _ = context.peer.notify_progress(told).await;
    }
}

/// The events that a person waiting for a call wants to hear of.
pub fn in_words(event: &Event) -> Option<String> {
    Some(match event {
        Event::Resolved { element: Some(id), .. } => format!("found {id}"),
        Event::Obstructed { code, again: true } => format!("not possible yet: {}", code.as_str()),
        Event::Recovering { strategy } => format!("trying {}", strategy.as_str()),
        Event::Sent { what, .. } => format!("sent {}", what.as_str()),
        Event::Settled { stability } => format!("the screen is {}", stability.as_str()),
        Event::Working { step } => step.clone(),
        Event::Looked { revision, changed: true } => format!("the screen changed, revision {revision}"),
        _ => return None,
    })
}
