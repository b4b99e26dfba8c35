//! Watching for subscribers: one watcher a subscription, none when nobody subscribes (SY-20).

use std::collections::BTreeMap;
use std::future::Future;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use mdm_core::action::failure::{ErrorCode, Failure};
use mdm_core::change::tracker::Observation;
use mdm_core::intent::predicate::{Expected, Predicate};
use mdm_core::intent::selector::Selector;
use mdm_engine::{Ending, Goal, Progress, Session, Wait, Wanted};
use tokio_util::sync::CancellationToken;

use crate::app::App;
use crate::resource::{Resource, Shows};

/// Of one connection.
pub const SUBSCRIPTIONS_MAX: usize = 16;
/// Of the first look, which the subscriber waits for.
const FIRST_LOOK_MAX: Duration = Duration::from_secs(30);
/// One wait of a watcher; then the device is looked up again.
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

/// Looks at one resource until it is cancelled.
pub struct Watcher {
    app: Arc<App>,
    resource: Resource,
    known: Known,
    ended: CancellationToken,
}

impl Watcher {
    /// Reads the resource once: every change from here on is told.
    pub async fn begin(
        app: Arc<App>,
        resource: Resource,
        ended: CancellationToken,
    ) -> Result<Watcher, Failure> {
        let progress = Progress::new(FIRST_LOOK_MAX, ended.clone());
        let session = session(&app, &resource, &progress).await?;
        let known = known(&resource, &*session.observe(&progress).await?);
        Ok(Watcher { app, resource, known, ended })
    }

    /// Tells of each change until there is nobody left to tell; `tell` says whether there was.
    pub async fn run<T: Future<Output = bool>>(mut self, tell: impl Fn() -> T) {
        while self.change().await.is_ok() && tell().await && self.pause(PAUSE).await.is_ok() {}
    }

    /// Comes back with a change; it fails only by being cancelled.
    async fn change(&mut self) -> Result<(), Failure> {
        loop {
            let progress = Progress::new(WAIT_MAX, self.ended.clone());
            match self.wait(&progress).await {
                Ok(known) if known != self.known => {
                    self.known = known;
                    return Ok(());
                }
                Ok(_) => {}
                Err(failure) if failure.code == ErrorCode::Cancelled => return Err(failure),
                // It may come back, and then it is seen whether it is another.
                Err(_) => self.pause(AWAY).await?,
            }
        }
    }

    async fn wait(&self, progress: &Progress) -> Result<Known, Failure> {
        let session = session(&self.app, &self.resource, progress).await?;
        let goal = match (self.known, &self.resource.shows) {
            (Known::Present(present), Shows::Element(_, query)) => {
                let expected = if present { Expected::NotExists } else { Expected::Exists };
                Goal::Predicate(Predicate::Element { query: Selector::clone(query), expected })
            }
            (Known::Revision(than), _) => Goal::Revision { than },
            (Known::Present(_), Shows::Screen) => Goal::Quiet,
        };
        let waited = session.listen(&Wait::holding(goal, Duration::ZERO), progress).await?;
        match (waited.ending, self.known, waited.seen) {
            (Ending::Unreadable(failure), ..) => Err(failure),
            (Ending::Reached, Known::Present(present), _) => Ok(Known::Present(!present)),
            (Ending::Reached, Known::Revision(_), Some(seen)) => Ok(Known::Revision(seen.revision)),
            _ => Ok(self.known),
        }
    }

    async fn pause(&self, time: Duration) -> Result<(), Failure> {
        let slept = async {
            tokio::time::sleep(time).await;
            Ok(())
        };
        Progress::new(WAIT_MAX, self.ended.clone()).race("watching", slept).await
    }
}

async fn session(app: &App, resource: &Resource, progress: &Progress) -> Result<Arc<Session>, Failure> {
    let wanted = Wanted { platform: None, device_id: Some(resource.device.clone()), app: None };
    app.fleet.choose(&wanted, progress).await
}

fn known(resource: &Resource, seen: &Observation) -> Known {
    match &resource.shows {
        Shows::Screen => Known::Revision(seen.revision),
        Shows::Element(_, query) => Known::Present(!query.matches(seen).is_empty()),
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
    pub fn reserve(&self, uri: &str) -> Result<Option<CancellationToken>, Failure> {
        let mut watchers = self.watchers();
        if watchers.contains_key(uri) {
            return Ok(None);
        }
        if watchers.len() >= SUBSCRIPTIONS_MAX {
            return Err(Failure::new(
                ErrorCode::InvalidArgument,
                format!("there are {SUBSCRIPTIONS_MAX} subscriptions already"),
                "unsubscribe from one first",
            ));
        }
        let ended = self.connection.child_token();
        watchers.insert(uri.to_owned(), ended.clone());
        Ok(Some(ended))
    }

    /// A place that is given back when it is dropped.
    pub fn place(&self, name: String) -> Result<Place<'_>, Failure> {
        let ended = self.reserve(&name)?.unwrap_or_else(|| self.connection.child_token());
        Ok(Place { of: self, name, ended })
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
            tokens.push(subscriptions.reserve(&format!("ui://a/{number}")).unwrap().unwrap());
        }
        assert!(subscriptions.reserve("ui://a/0").unwrap().is_none(), "one watcher a subscription");
        assert!(subscriptions.reserve("ui://a/more").is_err(), "SY-20: bounded");
        subscriptions.end("ui://a/0");
        assert!(tokens[0].is_cancelled() && !tokens[1].is_cancelled());
        assert!(subscriptions.reserve("ui://a/more").unwrap().is_some());
        drop(subscriptions);
        assert!(tokens.iter().all(CancellationToken::is_cancelled), "SY-20: none outlives the connection");
    }
}
