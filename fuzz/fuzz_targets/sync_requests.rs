//! Any bytes to the sync service, in pieces.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    let Some((piece, rest)) = data.split_first() else { return };
    let mut all = vec![mdm_fuzz::connect(), mdm_fuzz::open(1, "sync:")];
    // More pieces than a stream buffers would only test that the stream is closed.
    let length = usize::from(*piece).max(rest.len() / 7).max(1);
    for piece in rest.chunks(length) {
        all.push(mdm_fuzz::write(piece));
        all.push(mdm_fuzz::okay());
    }
    mdm_fuzz::attack(&mdm_fuzz::frames(&all));
});
