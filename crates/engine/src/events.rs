//! The bus on which everything that happens is told, bounded and free when nobody listens.

use std::sync::Arc;

use mdm_core::action::event::Event;
use tokio::sync::broadcast;
use tokio::sync::broadcast::error::{RecvError, TryRecvError};

/// Events that a listener may be behind before it loses the oldest.
const BEHIND_MAX: usize = 1024;

/// One event, when and where it happened.
#[derive(Debug, Clone, PartialEq)]
pub struct Stamped {
    pub at_ms: u64,
    /// The call's number, or 0 for what happened outside of calls.
    pub call: u64,
    pub device: Arc<str>,
    pub event: Event,
}

#[derive(Debug)]
pub struct Bus {
    sender: broadcast::Sender<Arc<Stamped>>,
}

impl Default for Bus {
    fn default() -> Bus {
        Bus { sender: broadcast::Sender::new(BEHIND_MAX) }
    }
}

impl Bus {
    pub fn listen(&self) -> Listener {
        Listener { receiver: self.sender.subscribe() }
    }

    pub fn has_listeners(&self) -> bool {
        self.sender.receiver_count() > 0
    }

    pub(crate) fn publish(&self, stamped: Stamped) {
        // The last listener may have gone in between; then nobody wants it.
        let _ = self.sender.send(Arc::new(stamped));
    }
}

pub struct Listener {
    receiver: broadcast::Receiver<Arc<Stamped>>,
}

impl Listener {
    /// The next event of those that have happened already.
    pub fn next_already(&mut self) -> Option<Arc<Stamped>> {
        loop {
            match self.receiver.try_recv() {
                Ok(stamped) => return Some(stamped),
                Err(TryRecvError::Lagged(_)) => {}
                Err(TryRecvError::Empty | TryRecvError::Closed) => return None,
            }
        }
    }

    /// The next event; a listener that is too slow misses the oldest. `None` when the bus is gone.
    pub async fn next(&mut self) -> Option<Arc<Stamped>> {
        loop {
            match self.receiver.recv().await {
                Ok(stamped) => return Some(stamped),
                Err(RecvError::Lagged(_)) => {}
                Err(RecvError::Closed) => return None,
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn looked(revision: u64) -> Stamped {
        let event = Event::Looked { revision, changed: true };
        Stamped { at_ms: revision, call: 1, device: "phone".into(), event }
    }

    #[tokio::test]
    async fn a_slow_listener_loses_the_oldest_and_nothing_grows() {
        let bus = Bus::default();
        bus.publish(looked(0));
        let mut listener = bus.listen();
        assert!(bus.has_listeners());
        for revision in 1..=BEHIND_MAX as u64 + 5 {
            bus.publish(looked(revision));
        }
        let first = listener.next().await.expect("the bus is there");
        assert_eq!(first.at_ms, 6, "the five oldest are gone, and the one before it listened was never kept");
        drop(listener);
        assert!(!bus.has_listeners());
    }
}
