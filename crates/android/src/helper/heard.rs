//! What the helper told by itself, in a memory of limited size.

use std::collections::VecDeque;
use std::sync::{Mutex, MutexGuard, PoisonError};

use mdm_core::port::{Heard, Said, SaidKind};
use mdm_wire::helper::UiEvent;
use tokio::sync::watch;
use tokio::time::Instant;

/// Texts that are remembered; older ones are forgotten.
const WORDS_MAX: usize = 64;
/// Moments of what was told that are remembered.
const MOMENTS_MAX: usize = 256;
/// Characters that are kept of one text.
const TEXT_CHARS_MAX: usize = 500;

/// Lasts over several connections of one device, so that numbers never go back.
pub struct EventMemory {
    words: Mutex<VecDeque<(Instant, Said)>>,
    /// The device's uptime at each of the last things that were told, with their numbers.
    moments: Mutex<VecDeque<(u64, u64)>>,
    number: watch::Sender<u64>,
    gaps: Mutex<Gaps>,
}

/// When nothing was heard.
#[derive(Default)]
struct Gaps {
    count: u64,
    is_open: bool,
}

impl Default for EventMemory {
    fn default() -> EventMemory {
        EventMemory {
            words: Mutex::default(),
            moments: Mutex::default(),
            number: watch::Sender::new(0),
            gaps: Mutex::default(),
        }
    }
}

impl EventMemory {
    pub fn note(&self, event: &UiEvent) {
        match event.kind {
            UiEvent::EVENTS_ENDED => self.open_gap(),
            _ => self.close_gap(),
        }
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
            let app = event.package.clone();
            words.push_back((Instant::now(), Said { number, kind, ago_ms: 0, app, text }));
        }
        let mut moments = self.moments();
        if moments.len() == MOMENTS_MAX {
            moments.pop_front();
        }
        moments.push_back((number, event.uptime_ms));
        drop(moments);
        self.number.send_replace(number);
    }

    /// Returns the number of the last thing that was told, of those in a row from the first on that had happened before this
    /// uptime of the device.
    pub fn number_at(&self, uptime_ms: u64) -> u64 {
        let moments = self.moments();
        let later = moments.iter().find(|(_, at_ms)| *at_ms >= uptime_ms);
        later.map_or(*self.number.borrow(), |(number, _)| number - 1)
    }

    /// Notes a new connection, before which nothing was heard. A phone that was started again counts its uptime anew.
    pub fn begin(&self) {
        self.moments().clear();
        self.open_gap();
    }

    fn moments(&self) -> MutexGuard<'_, VecDeque<(u64, u64)>> {
        self.moments.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub fn after(&self, after: u64) -> Heard {
        let told = |(at, said): &(Instant, Said)| Said {
            ago_ms: u64::try_from(at.elapsed().as_millis()).unwrap_or(u64::MAX),
            ..said.clone()
        };
        let words = self.words().iter().filter(|(_, said)| said.number > after).map(told).collect();
        Heard { number: *self.number.borrow(), gaps: self.gaps().count, words }
    }

    /// Notes that nothing can be heard from here on.
    pub fn open_gap(&self) {
        let mut gaps = self.gaps();
        *gaps = Gaps { count: gaps.count + 1, is_open: true };
    }

    /// Notes that the device tells again what happens.
    pub fn close_gap(&self) {
        let mut gaps = self.gaps();
        if gaps.is_open {
            *gaps = Gaps { count: gaps.count + 1, is_open: false };
        }
    }

    fn gaps(&self) -> MutexGuard<'_, Gaps> {
        self.gaps.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits until something is told after the event of this number.
    pub async fn next(&self, after: u64) -> Heard {
        let mut number = self.number.subscribe();
        // The sender lives as long as this memory, so this does not fail while it is borrowed.
        let _ = number.wait_for(|number| *number > after).await;
        self.after(after)
    }

    fn words(&self) -> MutexGuard<'_, VecDeque<(Instant, Said)>> {
        self.words.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_told_is_known_by_its_moment() {
        let memory = EventMemory::default();
        assert_eq!(memory.number_at(1_000), 0, "nothing was told");
        for uptime_ms in [100, 300, 200, 400] {
            memory.note(&UiEvent { uptime_ms, ..UiEvent::default() });
        }
        assert_eq!([50, 100, 101, 300, 301, 500].map(|at| memory.number_at(at)), [0, 0, 1, 1, 3, 4]);
        memory.begin();
        assert_eq!(memory.number_at(50), 4, "a phone that was started again begins at 0");
    }

    #[test]
    fn what_was_not_heard_is_a_gap() {
        let memory = EventMemory::default();
        let gaps = || memory.after(0).gaps;
        memory.begin();
        memory.close_gap();
        let whole = gaps();
        memory.note(&UiEvent { kind: UiEvent::WINDOW_CONTENT_CHANGED, ..UiEvent::default() });
        memory.close_gap();
        assert_eq!(gaps(), whole, "all was heard");
        memory.note(&UiEvent { kind: UiEvent::EVENTS_ENDED, ..UiEvent::default() });
        let silent = gaps();
        assert_ne!(silent, whole);
        memory.note(&UiEvent { kind: UiEvent::WINDOW_CONTENT_CHANGED, ..UiEvent::default() });
        assert_ne!(gaps(), silent, "F14: a toast of the silence was not heard");
        let again = gaps();
        memory.begin();
        assert_ne!(gaps(), again, "another connection");
    }
}
