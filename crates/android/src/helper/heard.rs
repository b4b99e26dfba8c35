//! What the helper told by itself, in a memory of limited size.

use std::collections::VecDeque;
use std::sync::{Mutex, MutexGuard, PoisonError};

use mdm_core::port::{Heard, Said, SaidKind};
use mdm_wire::helper::UiEvent;
use tokio::sync::watch;

/// Texts that are remembered; older ones are forgotten.
const WORDS_MAX: usize = 64;
/// Characters that are kept of one text.
const TEXT_CHARS_MAX: usize = 500;

/// Lasts over several connections of one device, so that numbers never go back.
pub struct EventMemory {
    words: Mutex<VecDeque<Said>>,
    number: watch::Sender<u64>,
}

impl Default for EventMemory {
    fn default() -> EventMemory {
        EventMemory { words: Mutex::default(), number: watch::Sender::new(0) }
    }
}

impl EventMemory {
    pub fn note(&self, event: &UiEvent) {
        let number = *self.number.borrow() + 1;
        let kind = match event.kind {
            UiEvent::NOTIFICATION_STATE_CHANGED => Some(SaidKind::Toast),
            UiEvent::ANNOUNCEMENT => Some(SaidKind::Announcement),
            _ => None,
        };
        if let Some(kind) = kind.filter(|_| !event.text.is_empty()) {
            let mut words = self.words();
            if words.len() == WORDS_MAX {
                words.pop_front();
            }
            let text = event.text.chars().take(TEXT_CHARS_MAX).collect();
            words.push_back(Said { number, kind, app: event.package.clone(), text });
        }
        self.number.send_replace(number);
    }

    pub fn after(&self, after: u64) -> Heard {
        let words = self.words().iter().filter(|said| said.number > after).cloned().collect();
        Heard { number: *self.number.borrow(), words }
    }

    /// Waits until something is told after the event of this number.
    pub async fn next(&self, after: u64) -> Heard {
        let mut number = self.number.subscribe();
        // The sender lives as long as this memory, so this does not fail while it is borrowed.
        let _ = number.wait_for(|number| *number > after).await;
        self.after(after)
    }

    fn words(&self) -> MutexGuard<'_, VecDeque<Said>> {
        self.words.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
