//! Compares the memory of a snapshot with the size of its source.

use mdm_core::screen::element::{Element, ValueRange};
use mdm_core::screen::snapshot::Snapshot;

use crate::check::{TUNER, read};

/// Returns the peak memory while a snapshot is made, in bytes, without the source.
///
/// A list that grows is in memory twice for a moment, once with half the size.
pub fn peak_bytes(snapshot: &Snapshot) -> usize {
    let elements = snapshot.elements.capacity() * size_of::<Element>();
    let texts = |element: &Element| {
        let Element { stable_id, text, description, hint, value, value_range, .. } = element;
        let words = [stable_id, text, description, hint, value];
        let words: usize = words.iter().map(|word| word.as_deref().map_or(0, str::len)).sum();
        words + value_range.as_ref().map_or(0, |_| size_of::<ValueRange>())
    };
    let defects: usize = snapshot.defects.iter().map(|d| size_of_val(d) + d.detail.capacity()).sum();
    elements + elements / 2 + snapshot.elements.iter().map(texts).sum::<usize>() + defects
}

#[test]
fn a_snapshot_is_no_larger_than_four_times_its_source() {
    for (format, source) in TUNER {
        let peak = peak_bytes(&read(source));
        assert!(peak <= 4 * source.len(), "{format:?}: {peak} bytes for {}", source.len());
    }
}
