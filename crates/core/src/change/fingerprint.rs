//! One number for what a screen shows.
//!
//! It stays the same while only time passes, focus wanders or things move, and differs when the screen or the state of
//! anything on it does (W30: every element counts, however many there are). A scrolled screen is another plain number;
//! the tracker, which saw it scroll, knows that it is the same screen.

use xxhash_rust::xxh3::xxh3_64;

use crate::change::ticking::shows_time;
use crate::meaning::label::own_words;
use crate::screen::element::Element;
use crate::screen::reading::{ScreenReading, frame_hash, mix};

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Fingerprint(pub u64);

impl std::fmt::Display for Fingerprint {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{:016x}", self.0)
    }
}

/// `ticking` names elements whose words are known to change by themselves.
pub fn of(reading: &ScreenReading, ticking: impl Fn(usize) -> bool) -> Fingerprint {
    let snapshot = &reading.snapshot;
    let mut hash = snapshot.screen.as_ref().map_or(0, |screen| {
        let name = screen.name.as_deref().unwrap_or_default();
        mix(xxh3_64(screen.app.as_bytes()), xxh3_64(name.as_bytes()))
    });
    for (index, (element, node)) in snapshot.elements.iter().zip(&reading.nodes).enumerate() {
        if !says_something(element) {
            continue;
        }
        let words_count = !ticking(index) && !shows_time(element);
        hash = mix(hash, if words_count { node.own } else { frame_hash(element) });
    }
    Fingerprint(hash)
}

/// Bare containers come and go with every layout pass of some toolkits.
fn says_something(element: &Element) -> bool {
    element.stable_id.is_some() || element.role.is_control() || own_words(element).is_some()
}
