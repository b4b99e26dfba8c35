//! Any bytes as the screen of an iPhone: parsing gives a snapshot with a consistent tree, and never fails.
#![no_main]

use libfuzzer_sys::fuzz_target;
use mdm_ios::tree::{Limits, detect, parse};

fuzz_target!(|data: &[u8]| {
    let snapshot = parse(data, &Limits::default());
    if detect(data).is_none() {
        assert!(snapshot.elements.is_empty() && !snapshot.is_whole());
    }
    mdm_fuzz::check_tree(&snapshot, data.len());
});
