//! Any bytes as a report of a crash: of iOS as JSON and as text, tombstones and traces of Android; then named by a mapping.
#![no_main]

use std::fmt::Write as _;

use libfuzzer_sys::fuzz_target;
use mdm_fuzz as _;
use mobile_debug_mcp::log_file;

fuzz_target!(|data: &[u8]| {
    let text = log_file::decode(data);
    let lines = text.lines().count();
    for report in mdm_android::crash::in_text(&text).into_iter().chain(mdm_ios::crash::read(&text)) {
        let mut shown = String::new();
        write!(shown, "{report:?}").expect("a text");
        assert!(report.thrown.len() <= lines.max(1) * 2);
    }
    let _ = log_file::read(data);
});
