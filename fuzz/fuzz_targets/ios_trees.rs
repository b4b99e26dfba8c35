//! Any bytes as the screen of an iPhone: parsing gives a snapshot with a consistent tree, and never fails.
#![no_main]

use libfuzzer_sys::fuzz_target;
use mdm_fuzz as _;
use mdm_ios::tree::{Limits, detect, parse};

fuzz_target!(|data: &[u8]| {
    let snapshot = parse(data, &Limits::default());
    if detect(data).is_none() {
        assert!(snapshot.elements.is_empty() && !snapshot.is_whole());
    }
    let mut ends = Vec::new();
    for (index, element) in snapshot.elements.iter().enumerate() {
        while ends.last().is_some_and(|&(_, end)| end as usize <= index) {
            ends.pop();
        }
        assert_eq!(element.parent, ends.last().map(|&(parent, _)| parent));
        assert!(ends.last().is_none_or(|&(_, end)| element.end <= end));
        assert!(element.end as usize > index && element.end as usize <= snapshot.elements.len());
        ends.push((index as u32, element.end));
    }
    assert!(snapshot.defects.iter().all(|defect| defect.offset <= data.len()));
});
