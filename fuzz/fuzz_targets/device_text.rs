//! Any text of a device to everything that looks for something in it: secrets, requests in lines of a log, addresses.
//! A secret is in none of what is shown. The first byte chooses who looks.
#![no_main]

use libfuzzer_sys::fuzz_target;
use mdm_core::evidence::exchange::Address;
use mdm_core::evidence::{from_log, join, redact, redact_log, sensitive};
use mdm_core::port::{LogEntry, LogLevel};
use mdm_core::text::{quote, tokens};
use mdm_fuzz as _;
use mobile_debug_mcp::secrets::Secrets;

const SECRET: &str = "correct horse battery staple";
const TAGS: [&str; 4] = ["okhttp.OkHttpClient", "Retrofit", "CFNetwork", "System.out"];
const SHOWN_CHARS_MAX: usize = 200;

fuzz_target!(|data: &[u8]| {
    let [choice, text @ ..] = data else { return };
    let text = String::from_utf8_lossy(text);
    match choice % 5 {
        4 => check_words(&text),
        redactor => check_secret(redactor, &text),
    }
});

fn check_secret(redactor: u8, text: &str) {
    let secrets = Secrets::default();
    secrets.remember(SECRET);
    let shown = match redactor {
        0 => secrets.redact(text).into_owned(),
        1 => secrets.redact_message(text).into_owned(),
        2 => secrets.redact_answer(text).into_owned(),
        _ => {
            let line =
                secrets.to_line(&serde_json::json!({ "result": text })).expect("a text can be written");
            String::from_utf8_lossy(&line).into_owned()
        }
    };
    assert!(!shown.to_ascii_lowercase().contains(SECRET));
}

fn check_words(text: &str) {
    let mut end = 0;
    for (place, _) in sensitive::find(text) {
        assert!(place.start >= end && place.start < place.end && text.get(place.clone()).is_some());
        end = place.end;
    }
    let _ = redact_log::line(text);
    let mut shown = String::new();
    quote::push_quoted(&mut shown, text, SHOWN_CHARS_MAX);
    assert!(!shown.contains('\n'));
    let _ = (quote::escape_unreadable(text), tokens::estimate(text));
    check_requests(text);
}

fn check_requests(text: &str) {
    let entries: Vec<LogEntry> = text.lines().enumerate().map(|(number, line)| entry(number, line)).collect();
    let count = entries.len();
    assert!(from_log::exchanges(&entries).len() <= count * 2);
    assert!(join::joined(entries).len() <= count);
    for word in text.split_whitespace().take(1000) {
        let Address { host, path } = Address::of(word);
        assert!(host.len() + path.len() <= word.len());
        let _ = redact::url(word);
    }
    let _ = redact::body(text);
    for line in text.lines().take(1000) {
        if let Some((name, value)) = line.split_once(':') {
            let _ = redact::header(name, value);
        }
    }
}

fn entry(number: usize, line: &str) -> LogEntry {
    LogEntry {
        time_ms: Some(1_700_000_000_000 + number as u64),
        pid: Some(1),
        tid: Some(1),
        level: LogLevel::Info,
        tag: TAGS[line.len() % TAGS.len()].to_owned(),
        message: line.to_owned(),
    }
}
