//! Any bytes as an answer of idb's companion, and as the state file of its client. What was decoded is the same after it
//! is encoded and decoded again.
#![no_main]

use libfuzzer_sys::fuzz_target;
use mdm_fuzz::idb;
use mdm_ios::idb::parse_state;

/// Companions that a state file may name.
const COMPANIONS_MAX: usize = 200;

fuzz_target!(|data: &[u8]| {
    let [kind, bytes @ ..] = data else { return };
    if usize::from(*kind) >= idb::DECODERS.len() {
        let companions = parse_state(bytes);
        assert!(companions.len() <= COMPANIONS_MAX && companions.iter().all(|one| !one.udid.is_empty()));
        return;
    }
    idb::DECODERS[usize::from(*kind)](bytes);
});
