//! Requests in real logs: what is one is found and paired, what is none is not.

use mdm_core::evidence::exchange::Exchange;
use mdm_core::evidence::from_log;
use mdm_core::port::{LogEntry, LogLevel};

use crate::files::{below, number};

/// The lines of a log as the driver gives them, as far as pairing needs it: process, tag and message, with the time of day.
fn entries(text: &str) -> Vec<LogEntry> {
    text.lines().filter_map(|line| entry(line.trim_end())).collect()
}

fn entry(line: &str) -> Option<LogEntry> {
    let (head, message) = line.split_once(": ")?;
    let words: Vec<&str> = head.split_whitespace().collect();
    let time_ms = words.iter().find_map(|word| time_of_day_ms(word));
    // `06-04 03:48:48.197 D/Tag(31562)`, or `05-25 10:36:30.483  7361  7439 D Tag`.
    let (tag, pid) = match words.last()?.split_once('/') {
        Some((_, named)) => (named.split('(').next()?, named.split(['(', ')']).nth(1)),
        None => (*words.last()?, words.get(2).copied()),
    };
    let pid = pid.and_then(|pid| pid.trim().parse().ok());
    Some(LogEntry { time_ms, pid, level: LogLevel::Debug, tag: tag.to_owned(), message: message.to_owned() })
}

fn time_of_day_ms(word: &str) -> Option<u64> {
    let (clock, ms) = word.split_once('.')?;
    let parts: Vec<u64> = clock.split(':').map(|part| part.parse().ok()).collect::<Option<_>>()?;
    let [hours, minutes, seconds] = parts[..] else { return None };
    Some(((hours * 60 + minutes) * 60 + seconds) * 1000 + ms.parse::<u64>().ok()?)
}

#[test]
fn requests_in_real_logs_are_found_and_paired() {
    // W14
    let (mut lines, mut all) = (0, 0);
    for file in
        below("logs").into_iter().filter(|file| file.extension().is_some_and(|ending| ending == "txt"))
    {
        let text = String::from_utf8_lossy(&std::fs::read(&file).unwrap()).into_owned();
        let entries = entries(&text);
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
