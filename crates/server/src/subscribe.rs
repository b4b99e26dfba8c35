//! Watching for subscribers: one poller a device, however many subscribe, and none when nobody does (SY-20).

use std::collections::BTreeMap;
use std::future::Future;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::Duration;

use mdm_core::action::event::Event;
use mdm_core::change::tracker::Observation;
use mdm_core::failure::{Cause, Failure};
use mdm_engine::{Binding, Listener, Progress, Session, WantedDevice};
use tokio_util::sync::{CancellationToken, DropGuard};

use crate::app::App;
use crate::refusal::Refusal;
use crate::resource::{Resource, Shows};

/// Subscriptions of one connection.
pub const SUBSCRIPTIONS_MAX: usize = 16;
/// The first look, which the subscriber waits for.
const FIRST_LOOK_MAX: Duration = Duration::from_secs(30);
/// One wait of a poller; then the device is looked up again.
const WAIT_MAX: Duration = Duration::from_secs(600);
/// Between two notifications of one subscription: what changes faster is told together.
const PAUSE: Duration = Duration::from_millis(250);
/// Before a device that could not be read is looked up again.
const AWAY: Duration = Duration::from_secs(2);

/// What the subscriber knows: it is told when this is no longer so.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Known {
    Revision(u64),
    Present(bool),
}

/// The pollers of all connections, by device.
#[derive(Default)]
pub struct Pollers {
    running: Mutex<BTreeMap<String, Weak<Poller>>>,
}

/// Looks at one device for as long as anybody holds it. What it sees is told on the bus, like every look.
pub struct Poller {
    _stop: DropGuard,
}

impl Pollers {
    fn of(app: &Arc<App>, device: &str) -> Arc<Poller> {
        let mut running = app.pollers.running.lock().unwrap_or_else(PoisonError::into_inner);
        running.retain(|_, poller| poller.strong_count() > 0);
        if let Some(poller) = running.get(device).and_then(Weak::upgrade) {
            return poller;
        }
        let stop = CancellationToken::new();
        let poller = Arc::new(Poller { _stop: stop.clone().drop_guard() });
        running.insert(device.to_owned(), Arc::downgrade(&poller));
        tokio::spawn(poll(Arc::downgrade(app), device.to_owned(), stop));
        poller
    }
}

async fn poll(app: Weak<App>, device: String, stop: CancellationToken) {
    while let Some(app) = app.upgrade() {
        let progress = Progress::new(WAIT_MAX, stop.clone()).telling(Arc::clone(app.fleet.bus()), 0);
        let waited = match session(&app, &device, &progress).await {
            Ok(session) => session.wait_for_another_revision(&progress).await,
            Err(failure) => Err(failure),
        };
        let cancelled = |failure: &Failure| failure.cause == Cause::Cancelled;
        match waited {
            Ok(()) => {}
            Err(failure) if cancelled(&failure) => return,
            // It may come back, and then it is seen whether it is another.
            Err(_) => {
                if progress.part(WAIT_MAX).pause("watching", AWAY).await.is_err_and(|f| cancelled(&f)) {
                    return;
                }
            }
        }
    }
}

/// Compares one resource with what its subscriber knows, until it is cancelled.
pub struct Watcher {
    app: Arc<App>,
    resource: Resource,
    known: Known,
    /// What the last look showed instead, when one look does not prove it.
    pending: Option<Known>,
    listener: Listener,
    ended: CancellationToken,
    _poller: Arc<Poller>,
}

impl Watcher {
    /// Reads the resource once: every change from here on is told.
    pub async fn begin(
        app: Arc<App>,
        resource: Resource,
        ended: CancellationToken,
    ) -> Result<Watcher, Refusal> {
        if !resource.can_be_watched() {
            let message = "only screens and elements can be subscribed to";
            return Err(Refusal::argument(message, "subscribe to screen://DEVICE/screen, and read the rest"));
        }
        app.policy.check_device(&resource.device)?;
        let (tool, arguments) = resource.reader();
        if !app.shows_freely(tool, &arguments) {
            let message = format!("{tool} is not offered by this server, or a person is asked before it");
            return Err(Failure::new(Cause::Forbidden, message).into());
        }
        let progress = Progress::new(FIRST_LOOK_MAX, ended.clone());
        let listener = app.fleet.bus().listen();
        let session = session(&app, &resource.device, &progress).await?;
        let known = state_of(&resource, &*session.observe(&progress).await?);
        let _poller = Pollers::of(&app, &resource.device);
        Ok(Watcher { app, resource, known, pending: None, listener, ended, _poller })
    }

    /// Tells of each change until there is nobody left to tell; `tell` says whether there was.
    pub async fn run<T: Future<Output = bool>>(mut self, tell: impl Fn() -> T) {
        while self.change().await.is_ok() && tell().await && self.pause().await.is_ok() {}
    }

    /// Comes back with a change; it fails only by being cancelled.
    async fn change(&mut self) -> Result<(), Failure> {
        loop {
            let progress = Progress::new(WAIT_MAX, self.ended.clone());
            let heard = progress.race("listening", async { Ok(self.listener.next().await) }).await;
            let stamped = match heard {
                Ok(stamped) => stamped,
                Err(failure) if failure.cause == Cause::Cancelled => return Err(failure),
                Err(_) => continue,
            };
            let looked = stamped.as_ref().is_some_and(|stamped| {
                *stamped.device == *self.resource.device && matches!(stamped.event, Event::Looked { .. })
            });
            if looked && self.is_another(&progress).await {
                return Ok(());
            }
        }
    }

    /// Takes in the last look at the device.
    async fn is_another(&mut self, progress: &Progress) -> bool {
        let Ok(session) = session(&self.app, &self.resource.device, progress).await else { return false };
        let Some(seen) = session.memory().tracker.last().cloned() else { return false };
        let now = state_of(&self.resource, &seen);
        // A damaged capture proves nobody gone (W10).
        let proven = now != Known::Present(false) || seen.reading.snapshot.proves_absence();
        if now == self.known || !proven {
            self.pending = None;
            return false;
        }
        let confirmed = matches!(now, Known::Revision(_)) || self.pending == Some(now);
        self.pending = (!confirmed).then_some(now);
        if confirmed {
            self.known = now;
        }
        confirmed
    }

    async fn pause(&self) -> Result<(), Failure> {
        Progress::new(WAIT_MAX, self.ended.clone()).pause("watching", PAUSE).await
    }
}

async fn session(app: &App, device: &str, progress: &Progress) -> Result<Arc<Session>, Failure> {
    let wanted = WantedDevice { id: Some(device.to_owned()), ..WantedDevice::default() };
    // A subscription binds no calls to its device.
    app.fleet.choose(&wanted, &Binding::default(), progress).await
}

fn state_of(resource: &Resource, seen: &Observation) -> Known {
    match &resource.shows {
        Shows::Element(_, selector) => Known::Present(!selector.matches(seen).is_empty()),
        // The others are not watched.
        Shows::Screen | Shows::Picture | Shows::Log | Shows::Trace => Known::Revision(seen.revision),
    }
}

/// The watchers of one connection, by URI. They end with it.
#[derive(Default)]
pub struct Subscriptions {
    watchers: Mutex<BTreeMap<String, CancellationToken>>,
    connection: CancellationToken,
}

impl Drop for Subscriptions {
    fn drop(&mut self) {
        self.connection.cancel();
    }
}

impl Subscriptions {
    fn watchers(&self) -> MutexGuard<'_, BTreeMap<String, CancellationToken>> {
        self.watchers.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A place for a watcher; `None` when this is watched already.
    pub fn reserve(&self, uri: &str) -> Result<Option<CancellationToken>, Refusal> {
        let mut watchers = self.watchers();
        if watchers.contains_key(uri) {
            return Ok(None);
        }
        if watchers.len() >= SUBSCRIPTIONS_MAX {
            let message = format!("there are {SUBSCRIPTIONS_MAX} subscriptions already");
            return Err(Refusal::argument(message, "unsubscribe from one first"));
        }
        let ended = self.connection.child_token();
        watchers.insert(uri.to_owned(), ended.clone());
        Ok(Some(ended))
    }

    /// A place that is given back when it is dropped.
    pub fn place(&self, name: String) -> Result<Place<'_>, Refusal> {
        let ended = self.reserve(&name)?.unwrap_or_else(|| self.connection.child_token());
        Ok(Place { of: self, name, ended })
    }

    /// Gives back the place of a watcher that never began, unless another has it by now.
    pub fn forget_ended(&self, uri: &str) {
        self.watchers().retain(|watched, ended| watched != uri || !ended.is_cancelled());
    }

    pub fn end(&self, uri: &str) {
        if let Some(ended) = self.watchers().remove(uri) {
            ended.cancel();
        }
    }
}

pub struct Place<'a> {
    of: &'a Subscriptions,
    name: String,
    pub ended: CancellationToken,
}

impl Drop for Place<'_> {
    fn drop(&mut self) {
        self.of.end(&self.name);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_are_bounded_and_end_with_the_connection() {
        let subscriptions = Subscriptions::default();
        let mut tokens = Vec::new();
        for number in 0..SUBSCRIPTIONS_MAX {
            tokens.push(subscriptions.reserve(&format!("screen://a/{number}")).unwrap().unwrap());
        }
        assert!(subscriptions.reserve("screen://a/0").unwrap().is_none(), "one watcher a subscription");
        assert!(subscriptions.reserve("screen://a/more").is_err(), "SY-20: bounded");
        subscriptions.forget_ended("screen://a/0");
        assert!(!tokens[0].is_cancelled(), "it belongs to another by now");
        subscriptions.end("screen://a/0");
        assert!(tokens[0].is_cancelled() && !tokens[1].is_cancelled());
        assert!(subscriptions.reserve("screen://a/more").unwrap().is_some());
        drop(subscriptions);
        assert!(tokens.iter().all(CancellationToken::is_cancelled), "SY-20: none outlives the connection");
    }
}
