//! Any bytes as a report of a crash: of iOS as JSON and as text, tombstones and traces of Android; then named by a mapping.
#![no_main]

use std::fmt::Write as _;
use std::path::Path;
use std::sync::OnceLock;

use libfuzzer_sys::fuzz_target;
use mdm_fuzz::files;
use mobile_debug_mcp::log_file;
use mobile_debug_mcp::symbols::name_frames;

const MAPPING: &str = "# compiler: R8\ncom.example.Cart -> a.b:\n    1:5:void com.example.Cart.check():30:34 -> c\n    \
                       1:5:void pay(int):88:88 -> c\n    6:9:void pay(int):89:92 -> c\ncom.example.CartGone -> a.c:\n";

fn mapping() -> &'static Path {
    static FILE: OnceLock<std::path::PathBuf> = OnceLock::new();
    FILE.get_or_init(|| files::written("mapping.txt", MAPPING.as_bytes()))
}

fuzz_target!(|data: &[u8]| {
    let text = log_file::decode(data);
    let lines = text.lines().count();
    for report in mdm_android::crash::in_text(&text).into_iter().chain(mdm_ios::crash::read(&text)) {
        let mut shown = String::new();
        write!(shown, "{report:?}").expect("a text");
        assert!(report.thrown.len() <= lines.max(1) * 2);
        let named = name_frames(&report, mapping()).unwrap_or_else(|_| panic!("the mapping is a good one"));
        assert_eq!(named.report.thrown.len(), report.thrown.len());
    }
    let _ = log_file::read(data);
});
