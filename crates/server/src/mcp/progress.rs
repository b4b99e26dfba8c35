//! What a person who waits for a call hears of it.

#![allow(deprecated, reason = "most clients still have a log of this kind")]

use std::convert::Infallible;
use std::time::Duration;

use mdm_core::action::event::Event;
use mdm_engine::{Clock, Deadline, Listener, Stamped};
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

/// Tells a caller what it wants to hear of its own call.
pub struct Teller<'a> {
    listener: Listener,
    call: u64,
    wanted: Wanted,
    context: &'a RequestContext<RoleServer>,
    began: Clock,
    steps: f64,
    silent: Deadline,
}

impl<'a> Teller<'a> {
    /// It listens from now on: begun before the call, it hears of the beginning.
    pub fn new(
        listener: Listener,
        call: u64,
        wanted: Wanted,
        context: &'a RequestContext<RoleServer>,
    ) -> Teller<'a> {
        let (began, silent) = (Clock::start(), Deadline::after(QUIET_FIRST));
        Teller { listener, call, wanted, context, began, steps: 0.0, silent }
    }

    /// Tells what happens, for as long as the call runs.
    pub async fn go_on(&mut self) -> Infallible {
        loop {
            // Without somebody to tell of the silence there is nothing to wait for but the next event.
            let next = match &self.wanted.progress {
                Some(_) => self.silent.bound(self.listener.next()).await,
                None => Some(self.listener.next().await),
            };
            match next {
                None => self.tell_progress(format!("it runs for {} s", self.began.ran_ms() / 1000)).await,
                Some(None) => return std::future::pending().await,
                Some(Some(stamped)) => self.tell(&stamped).await,
            }
        }
    }

    /// Tells what happened last, before the answer.
    pub async fn end(mut self) {
        while let Some(stamped) = self.listener.next_already() {
            self.tell(&stamped).await;
        }
    }

    async fn tell(&mut self, stamped: &Stamped) {
        if stamped.call != self.call {
            return;
        }
        if let Some(from) = self.wanted.log {
            logging::tell(&stamped.event, from, self.context).await;
        }
        if let Some(words) = in_words(&stamped.event) {
            self.tell_progress(words).await;
        }
    }

    async fn tell_progress(&mut self, words: String) {
        let Some(token) = &self.wanted.progress else { return };
        self.silent = Deadline::after(QUIET_NEXT);
        self.steps += 1.0;
        let told = ProgressNotificationParam::new(token.clone(), self.steps).with_message(words);
        // A client that does not listen still gets its answer.
        let _ = self.context.peer.notify_progress(told).await;
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
