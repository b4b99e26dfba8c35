//! Requests in real logs: what is one is found and paired, what is none is not.

use mdm_core::evidence::exchange::Exchange;
use mdm_core::evidence::from_log;
use mobile_debug_mcp::log_file;

use crate::files::{below, number};

#[test]
fn requests_in_real_logs_are_found_and_paired() {
    // W14
    let (mut lines, mut all) = (0, 0);
    for file in
        below("logs").into_iter().filter(|file| file.extension().is_some_and(|ending| ending == "txt"))
    {
        let entries = log_file::read(&std::fs::read(&file).unwrap()).entries;
        let exchanges = from_log::exchanges(&entries);
        (lines, all) = (lines + entries.len(), all + exchanges.len());
        if exchanges.is_empty() {
            continue;
        }
        let count = |fits: fn(&Exchange) -> bool| exchanges.iter().filter(|e| fits(e)).count();
        println!(
            "{}: {} lines, {} requests, {} with a status, {} pending, {} guessed",
            number(&file),
            entries.len(),
            exchanges.len(),
            count(|e| e.status.is_some()),
            count(|e| !e.has_ended),
            count(|e| e.is_pairing_guessed),
        );
        // One library of these logs writes a line before each request and one after it.
        let said = |words: &str| entries.iter().filter(|entry| entry.message.starts_with(words)).count();
        let (asked, answered) = (said("Executing request: "), said("Response Code: "));
        let of_library = |e: &&Exchange| e.method.is_none() && e.url.starts_with("http");
        assert_eq!(exchanges.iter().filter(of_library).filter(|e| e.status.is_some()).count(), answered);
        assert!(exchanges.iter().filter(of_library).count() >= asked.max(answered));
        assert!(
            exchanges.iter().all(|e| !e.url.contains(' ') && !e.url.starts_with("/data/")),
            "{exchanges:?}"
        );
    }
    println!("{lines} lines, {all} requests");
}
