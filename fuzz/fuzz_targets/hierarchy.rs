//! Any bytes as the tree of a phone: parsing gives a snapshot and never fails.
#![no_main]

use libfuzzer_sys::fuzz_target;
use mdm_fuzz as _;
use mdm_android::hierarchy::Limits;

fuzz_target!(|data: &[u8]| {
    let _ = mdm_android::hierarchy::parse(data, &Limits::default());
});
