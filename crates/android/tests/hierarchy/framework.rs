//! Dumps of the framework phone (`virtual android --framework`), whose nodes are Android's own.

use mdm_android::hierarchy::{Limits, parse};
use mdm_core::change::tracker::Tracker;

/// F80: a number picker has no identifier, scrolls, and shows only values. What it shows is no name, so it stays the same
/// picker when its wheel turns, and so do the dates below it.
#[test]
fn a_picker_keeps_its_id_while_its_wheel_turns() {
    let mut tracker = Tracker::default();
    let mut see = |xml: &str| tracker.observe(parse(xml.as_bytes(), &Limits::default()), 0);
    let (before, after) =
        (see(include_str!("framework/picker-7.xml")), see(include_str!("framework/picker-8.xml")));
    let elements = &before.reading.snapshot.elements;
    let picker = elements.iter().position(|e| &*e.class == "android.widget.NumberPicker").unwrap();
    let turned = picker..elements[picker].end as usize;
    for (index, id) in
        before.ids.iter().enumerate().filter(|(index, _)| *index == picker || !turned.contains(index))
    {
        assert!(after.index_of(*id).is_some(), "{:?} has another id", elements[index]);
    }
}
