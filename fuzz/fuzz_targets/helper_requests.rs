//! What other people's helpers on the phone hear from a hostile client. The first byte says which helper, and whether
//! the rest is bytes as they are or lines, each a request in the helper's own form.
#![no_main]

use libfuzzer_sys::fuzz_target;
use mdm_fuzz::helpers::{Helper, attack};

const RAW: u8 = 4;

fuzz_target!(|data: &[u8]| {
    if let [first, rest @ ..] = data {
        attack(Helper::of(*first), first & RAW != 0, rest);
    }
});
