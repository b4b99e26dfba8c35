//! A hostile client against the third-party helpers on the phone. The first byte selects the helper, and whether the
//! rest is raw bytes or lines that each are a request in the helper's own form.
#![no_main]

use libfuzzer_sys::fuzz_target;
use mdm_fuzz::helpers::{Helper, attack};

const RAW: u8 = 4;

fuzz_target!(|data: &[u8]| {
    if let [first, rest @ ..] = data {
        attack(Helper::of(*first), first & RAW != 0, rest);
    }
});
