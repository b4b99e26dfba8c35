//! What a snapshot holds in memory, against what was read.

use mdm_core::screen::element::{Element, ValueRange};
use mdm_core::screen::snapshot::Snapshot;

use crate::check::{TUNER, read};

/// The most that stands in memory at once while a snapshot is made, in bytes, without the answer itself.
///
/// A list that grows stands there twice for a moment, once half as large.
pub fn bytes_held(snapshot: &Snapshot) -> usize {
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
        let held = bytes_held(&read(source));
        assert!(held <= 4 * source.len(), "{format:?}: {held} bytes for {}", source.len());
    }
}
