//! Any bytes as what a client of MCP writes: the lines of its messages, the addresses of resources, handles of pages.
#![no_main]

use libfuzzer_sys::fuzz_target;
use mdm_fuzz::runtime;
use mobile_debug_mcp::fuzzing;
use mobile_debug_mcp::tree::Handle;

fuzz_target!(|data: &[u8]| {
    let lines = data.iter().filter(|byte| **byte == b'\n').count();
    let taken = runtime().block_on(fuzzing::messages(data.to_vec()));
    assert!(taken <= lines + 1, "{taken} messages in {lines} lines");
    for line in String::from_utf8_lossy(data).lines() {
        fuzzing::resource(line);
        let _ = Handle::parse(line);
    }
});
