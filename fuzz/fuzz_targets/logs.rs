//! Any bytes as a log: of Android in every format, of iOS in every format, and as a file of which the form is not told.
#![no_main]

use libfuzzer_sys::fuzz_target;
use mdm_fuzz as _;
use mdm_android::log::clock::Clock;
use mdm_android::log::text as logcat;
use mobile_debug_mcp::log_file;

fuzz_target!(|data: &[u8]| {
    let text = log_file::decode(data);
    let lines = text.lines().count();
    for (entries, counts) in [logcat::read(&text, Clock::default()), mdm_ios::log::read(&text)] {
        assert!(entries.len() <= lines && counts.defects + counts.continuations <= lines);
        let length: usize = entries.iter().map(|entry| entry.message.len()).sum();
        assert!(length <= text.len() + lines, "messages are longer than the text");
        for report in mdm_android::crash::in_entries(&entries) {
            assert!(report.thrown.len() <= lines);
        }
    }
    let file = log_file::read(data);
    assert!(file.entries.len() <= lines);
});
