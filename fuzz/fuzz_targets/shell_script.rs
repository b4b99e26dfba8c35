//! Any text as a shell script.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    let Ok(script) = std::str::from_utf8(data) else { return };
    let mut all = vec![mdm_fuzz::connect(), mdm_fuzz::open(1, &format!("shell,v2,raw:{script}"))];
    // Enough for the output of most scripts; one that writes more blocks for ever, as on a phone.
    all.extend((0..6).map(|_| mdm_fuzz::okay()));
    mdm_fuzz::attack(&mdm_fuzz::frames(&all));
});
