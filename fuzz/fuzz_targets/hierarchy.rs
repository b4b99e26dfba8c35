//! Any bytes as the tree of a phone: parsing gives a snapshot with a consistent tree, and never fails.
#![no_main]

use libfuzzer_sys::fuzz_target;
use mdm_android::hierarchy::{Limits, parse};

fuzz_target!(|data: &[u8]| {
    let limits = Limits::default();
    let snapshot = parse(data, &limits);
    mdm_fuzz::check_tree(&snapshot, data.len());
    assert!(snapshot.elements.len() <= limits.elements_max_for(data.len()));
    assert!(data.contains(&b'<') || (snapshot.elements.is_empty() && !snapshot.is_whole()));
});
