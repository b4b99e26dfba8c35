//! Any bytes as a packed body that passed through the proxy, and as patterns of its rules. Limits hold also for a bomb.
#![no_main]

use libfuzzer_sys::fuzz_target;
use mdm_fuzz as _;
use mdm_proxy::{Message, Pattern, decoded};

const ENCODINGS: [&str; 5] = ["", "gzip", "deflate", "x-gzip", "br"];

fuzz_target!(|data: &[u8]| {
    let [choice, limit, body @ ..] = data else { return };
    let encoding = ENCODINGS[usize::from(*choice) % ENCODINGS.len()];
    let bytes_max = usize::from(*limit) * 64;
    let message = Message {
        headers: vec![("Content-Encoding".to_owned(), encoding.to_owned())],
        bytes: body.len() as u64,
        body: body.to_vec(),
        is_cut: false,
    };
    if let Some(shown) = decoded(&message, bytes_max) {
        assert!(shown.len() <= bytes_max);
    }
    if let Ok(text) = std::str::from_utf8(body) {
        let _ = Pattern::glob(text);
        let _ = Pattern::regex(text);
    }
});
