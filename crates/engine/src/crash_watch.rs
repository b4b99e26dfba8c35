//! Hears of crashes as they happen, so that the next answer can tell of them (F44).

use std::sync::{Arc, Mutex, PoisonError};

use mdm_core::evidence::crash_book::CrashBook;
use mdm_core::port::{CrashReport, Device, Support};

use crate::background::{Background, Tries};
use crate::clock::{self, Clock};

/// The crashes of a device, written by the watch and read by its calls.
#[derive(Debug, Clone, Default)]
pub struct Crashes {
    book: Arc<Mutex<CrashBook>>,
}

impl Crashes {
    /// Never held across a wait.
    pub fn book(&self) -> std::sync::MutexGuard<'_, CrashBook> {
        self.book.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Begins to listen, where the device tells.
    pub fn watch(&self, device: Arc<dyn Device>, clock: Clock) -> Option<Background> {
        let tells = device.capabilities().log_stream != Support::No;
        tells.then(|| Background::spawn(listen(self.clone(), device, clock)))
    }
}

async fn listen(crashes: Crashes, device: Arc<dyn Device>, clock: Clock) {
    let mut tries = Tries::default();
    loop {
        if let Ok(mut source) = device.follow_crashes().await {
            while let Ok(Some(reports)) = source.next().await {
                tries.worked();
                note(&crashes, reports, clock.now_ms());
                if let Some(pause) = source.pause() {
                    clock::pause(pause).await;
                }
            }
        }
        if !tries.again().await {
            return;
        }
    }
}

fn note(crashes: &Crashes, reports: Vec<CrashReport>, now_ms: u64) {
    let mut book = crashes.book();
    for report in reports {
        book.note(report, now_ms);
    }
}
