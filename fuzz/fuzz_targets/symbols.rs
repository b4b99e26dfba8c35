//! Any bytes as a file with the names of a crash: a mapping of R8, an ELF or Mach-O binary with debug symbols.
#![no_main]

use libfuzzer_sys::fuzz_target;
use mdm_core::port::{CrashKind, CrashReport, Thrown};
use mdm_fuzz::files;
use mobile_debug_mcp::symbols::name_frames;

const BINARY: &str = "libfuzz.so";
/// Of native frames.
const OFFSETS: [u64; 8] = [0, 4, 0x10, 0x40, 0x1000, 0x1139, 0x4000, u64::MAX];
/// One frame may stand for so many.
const INLINED_MAX: usize = 20;

fuzz_target!(|data: &[u8]| {
    let mut thrown = Thrown::new("a.c", "no owner");
    for line in
        ["a.b.c(SourceFile:3)", "a.b.d(SourceFile:9)", "a.b.<init>(Unknown Source:0)", "a.b$a.run(:1)"]
    {
        thrown.push_frame(line, true);
    }
    for offset in OFFSETS {
        thrown.push_frame(&format!("#00 pc {offset:x}  /data/app/{BINARY} (f+1)"), true);
    }
    let report = CrashReport {
        app: "com.example".to_owned(),
        pid: 1,
        kind: CrashKind::Native,
        thread: None,
        thrown: vec![thrown],
        time_ms: None,
        age_ms: None,
        images: Vec::new(),
    };
    let before = report.thrown[0].frames.len();
    if let Ok(named) = name_frames(&report, &files::written(BINARY, data)) {
        assert!(named.report.thrown[0].frames.len() <= before * INLINED_MAX);
        assert!(named.frames <= before);
    }
});
