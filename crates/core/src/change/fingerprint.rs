//! A hash of what a screen shows.
//!
//! It stays the same while only clocks, focus or positions change, and changes with the screen or the state of any
//! element (W30: every element counts, however many there are). Scrolling changes it too; the tracker, which saw the
//! scroll, maps the result back to the screen's first fingerprint.

use xxhash_rust::xxh3::xxh3_64;

use crate::change::ticking::shows_time;
use crate::meaning::label::own_words;
use crate::screen::element::Element;
use crate::screen::reading::{ScreenReading, hash_without_texts, mix};

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Fingerprint(pub u64);

impl std::fmt::Display for Fingerprint {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{:016x}", self.0)
    }
}

/// Computes the fingerprint. `ticking` is true for elements whose words are known to change by themselves.
pub fn of(reading: &ScreenReading, ticking: impl Fn(usize) -> bool) -> Fingerprint {
    let snapshot = &reading.snapshot;
    let mut hash = snapshot.screen.as_ref().map_or(0, |screen| {
        let name = screen.name.as_deref().unwrap_or_default();
        mix(xxh3_64(screen.app.as_bytes()), xxh3_64(name.as_bytes()))
    });
    for (index, (element, node)) in snapshot.elements.iter().zip(&reading.nodes).enumerate() {
        if !is_significant(element) {
            continue;
        }
        let use_words = !ticking(index) && !shows_time(element);
        hash = mix(hash, if use_words { node.own_hash } else { hash_without_texts(element) });
    }
    Fingerprint(hash)
}

/// False for bare containers, which some toolkits add and remove with every layout pass.
fn is_significant(element: &Element) -> bool {
    element.stable_id.is_some() || element.role.is_control() || own_words(element).is_some()
}
