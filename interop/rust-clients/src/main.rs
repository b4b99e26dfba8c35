//! Two adb clients from crates.io do their main jobs on a phone. Prints `ok WHAT` or `FAILED WHAT: WHY` a line, then all of
//! it as one line of JSON; the interop test judges.

mod forensic;
mod native;

use std::process::ExitCode;

/// What was tried, and what came of it.
#[derive(Default)]
pub struct Tally(Vec<(String, Option<String>)>);

impl Tally {
    pub fn note(&mut self, what: &str, outcome: Result<(), String>) {
        match &outcome {
            Ok(()) => println!("ok {what}"),
            Err(why) => println!("FAILED {what}: {why}"),
        }
        self.0.push((what.to_owned(), outcome.err()));
    }

    fn json(&self) -> String {
        let operations = self.0.iter().map(|(what, failure)| {
            let failure = failure.as_ref().map_or("null".to_owned(), |why| quoted(why));
            format!(r#"{{"name":{},"failure":{failure}}}"#, quoted(what))
        });
        format!(r#"{{"operations":[{}]}}"#, operations.collect::<Vec<_>>().join(","))
    }
}

/// A JSON string without the characters that would need an escape: it is only read by people.
fn quoted(text: &str) -> String {
    let plain = |c: char| if c.is_control() || matches!(c, '"' | '\\') { ' ' } else { c };
    format!("\"{}\"", text.chars().map(plain).collect::<String>())
}

pub fn expect(holds: bool, why: impl std::fmt::Debug) -> Result<(), String> {
    if holds { Ok(()) } else { Err(format!("{why:?}")) }
}

/// Enough of an app file for the phone to install.
pub const APK: &[u8] = b"PK\x03\x04 package=com.rust.client ";

pub const PACKAGE: &str = "com.rust.client";

/// More than one packet of every protocol.
pub fn payload() -> Vec<u8> {
    (0..300_000u32).map(|n| (n.wrapping_mul(2_654_435_761) >> 24) as u8).collect()
}

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let mut tally = Tally::default();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let outcome = match words.as_slice() {
        ["adb_client-direct", address, key] => native::direct(address, key, &mut tally),
        ["adb_client-server", server, serial] => native::through_server(server, serial, &mut tally),
        ["forensic-adb", server, serial] => forensic::run(server, serial, &mut tally),
        _ => Err("usage: adb_client-direct ADDRESS KEY | adb_client-server SERVER SERIAL | forensic-adb SERVER SERIAL".to_owned()),
    };
    if let Err(problem) = outcome {
        tally.note("connect", Err(problem));
    }
    println!("{}", tally.json());
    ExitCode::SUCCESS
}
