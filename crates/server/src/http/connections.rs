//! Connections at the same time: so many and no more. When all places are taken, the one that came first and was not let in
//! yet makes room for the next, so that connections that never finish a request keep nobody out (SE-07).

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio_util::sync::CancellationToken;

/// Connections at the same time.
const CONNECTIONS_MAX: usize = 512;

pub struct Connections {
    places: Arc<Semaphore>,
    strangers: Arc<Mutex<Strangers>>,
}

/// Connections of which no request was let in so far, by the order in which they came.
#[derive(Default)]
struct Strangers {
    next: u64,
    waiting: BTreeMap<u64, CancellationToken>,
}

/// The place of one connection, until it is dropped.
pub struct Place {
    number: u64,
    strangers: Arc<Mutex<Strangers>>,
    /// The place is needed for another.
    pub sent_away: CancellationToken,
    _permit: OwnedSemaphorePermit,
}

impl Default for Connections {
    fn default() -> Connections {
        Connections { places: Arc::new(Semaphore::new(CONNECTIONS_MAX)), strangers: Arc::default() }
    }
}

impl Connections {
    /// A place for a connection that has just come. `None` only when the server is gone.
    pub async fn place(&self) -> Option<Place> {
        if self.places.available_permits() == 0
            && let Some((_, oldest)) = lock(&self.strangers).waiting.pop_first()
        {
            oldest.cancel();
        }
        // Without a stranger to send away it waits for one of the known to leave.
        let permit = Arc::clone(&self.places).acquire_owned().await.ok()?;
        let sent_away = CancellationToken::new();
        let mut strangers = lock(&self.strangers);
        let number = strangers.next;
        strangers.next += 1;
        strangers.waiting.insert(number, sent_away.clone());
        drop(strangers);
        Some(Place { number, strangers: Arc::clone(&self.strangers), sent_away, _permit: permit })
    }
}

impl Place {
    /// A request of this connection was let in: it is not sent away for another.
    pub fn known(&self) {
        lock(&self.strangers).waiting.remove(&self.number);
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        self.known();
    }
}

fn lock(strangers: &Mutex<Strangers>) -> MutexGuard<'_, Strangers> {
    strangers.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use futures_util::FutureExt as _;

    use super::*;

    #[tokio::test]
    async fn the_first_that_never_asked_makes_room() {
        // SE-07: slowloris
        let connections = Connections::default();
        let mut all = Vec::new();
        for _ in 0..CONNECTIONS_MAX {
            all.push(connections.place().await.unwrap());
        }
        all[0].known();
        let waiting = connections.place();
        tokio::pin!(waiting);
        // A task that did much is made to wait by tokio even where it could go on.
        tokio::task::yield_now().await;
        assert!(waiting.as_mut().now_or_never().is_none(), "there is none yet");
        assert!(!all[0].sent_away.is_cancelled(), "the first one asked");
        assert!(all[1].sent_away.is_cancelled() && !all[2].sent_away.is_cancelled());
        all.remove(1);
        tokio::task::yield_now().await;
        assert!(waiting.now_or_never().flatten().is_some());
    }

    #[tokio::test]
    async fn those_who_asked_are_not_sent_away() {
        let connections = Connections::default();
        let mut all = Vec::new();
        for _ in 0..CONNECTIONS_MAX {
            let place = connections.place().await.unwrap();
            place.known();
            all.push(place);
        }
        tokio::task::yield_now().await;
        assert!(connections.place().now_or_never().is_none());
        assert!(all.iter().all(|place| !place.sent_away.is_cancelled()));
        all.pop();
        tokio::task::yield_now().await;
        assert!(connections.place().now_or_never().flatten().is_some());
    }
}
