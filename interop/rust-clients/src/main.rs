//! Two adb clients from crates.io do their main jobs on a phone. Prints `ok WHAT` or `FAILED WHAT: WHY` a line, then
//! `passed N of M`; the interop test judges.

mod forensic;
mod native;

use std::process::ExitCode;

/// Counts what was tried.
#[derive(Default)]
pub struct Tally {
    passed: usize,
    tried: usize,
}

impl Tally {
    pub fn note(&mut self, what: &str, outcome: Result<(), String>) {
        self.tried += 1;
        match outcome {
            Ok(()) => {
                self.passed += 1;
                println!("ok {what}");
            }
            Err(why) => println!("FAILED {what}: {why}"),
        }
    }
}

pub fn expect(holds: bool, why: impl std::fmt::Debug) -> Result<(), String> {
    if holds { Ok(()) } else { Err(format!("{why:?}")) }
}

/// Enough of an app file for the phone to install.
pub const APK: &[u8] = b"PK\x03\x04 package=com.rust.client ";

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
        println!("FAILED connect: {problem}");
    }
    println!("passed {} of {}", tally.passed, tally.tried);
    ExitCode::SUCCESS
}
