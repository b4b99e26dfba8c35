//! Whether an endpoint answers, asked in the background with at most one open question each.

use std::future::Future;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use mdm_core::port::Availability;
use tokio::sync::watch;

use crate::adb::AdbError;
use crate::device::AndroidDevice;

/// What an endpoint was found to be.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Answered {
    pub availability: Availability,
    /// Why it cannot be used.
    pub why: Option<String>,
}

pub struct Probe {
    pub id: String,
    pub device: Arc<AndroidDevice>,
    asking: AtomicBool,
    last: watch::Sender<Option<Answered>>,
}

impl Probe {
    pub fn new(id: String, device: Arc<AndroidDevice>) -> Probe {
        Probe { id, device, asking: AtomicBool::new(false), last: watch::Sender::new(None) }
    }

    /// True if the last question found it unusable.
    pub fn failed_before(&self) -> bool {
        self.last.borrow().as_ref().is_some_and(|last| last.availability != Availability::Ready)
    }

    /// Asks at once, or joins the question that is open already. It goes on when nobody waits for it any more.
    pub fn ask(self: &Arc<Probe>) -> impl Future<Output = Answered> + Send + use<> {
        let mut answers = self.last.subscribe();
        if !self.asking.swap(true, Ordering::SeqCst) {
            let probe = Arc::clone(self);
            tokio::spawn(async move {
                let answered = answered(probe.device.adb().features().await.map(drop));
                // In this order nobody waits for an answer that was sent before.
                probe.asking.store(false, Ordering::SeqCst);
                probe.last.send_replace(Some(answered));
            });
        }
        let unknown = Answered { availability: Availability::Offline, why: None };
        async move {
            let _ = answers.changed().await;
            answers.borrow().clone().unwrap_or(unknown)
        }
    }
}

fn answered(answer: Result<(), AdbError>) -> Answered {
    let (availability, why) = match answer {
        Ok(()) => (Availability::Ready, None),
        Err(AdbError::Unauthorized(why)) => {
            (Availability::Unauthorized, Some(AdbError::Unauthorized(why).to_string()))
        }
        Err(error) => (Availability::Offline, Some(error.to_string())),
    };
    Answered { availability, why }
}
