//! What a person who waits for a call hears of it.

#![allow(deprecated, reason = "most clients still have a log of this kind")]

use std::convert::Infallible;
use std::time::Duration;

use mdm_core::action::event::Event;
use mdm_engine::{Clock, Deadline, Listener};
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

/// A call of which nothing else was told says that it still runs: clients give up on those that are silent.
const QUIET_FIRST: Duration = Duration::from_secs(1);
const QUIET_NEXT: Duration = Duration::from_secs(5);

/// Tells a caller what it wants to hear of its own call, until the call is over.
pub async fn tell(
    mut listener: Listener,
    call: u64,
    wanted: Wanted,
    context: &RequestContext<RoleServer>,
) -> Infallible {
    let (began, mut steps, mut silent) = (Clock::start(), 0.0, Deadline::after(QUIET_FIRST));
    loop {
        let words = match silent.bound(listener.next()).await {
            None => {
                let seconds = began.ran_ms() / 1000;
                Some(format!("it runs for {seconds} s"))
            }
            Some(None) => return std::future::pending().await,
            Some(Some(stamped)) if stamped.call != call => continue,
            Some(Some(stamped)) => {
                if let Some(from) = wanted.log {
                    logging::tell(&stamped.event, from, context).await;
                }
                in_words(&stamped.event)
            }
        };
        let (Some(token), Some(words)) = (&wanted.progress, words) else { continue };
        silent = Deadline::after(QUIET_NEXT);
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
