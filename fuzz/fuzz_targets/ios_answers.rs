//! Any bytes as what a Mac or an iPhone answers. The first byte chooses who reads them: simctl's lists and errors, lines of
//! a log in pieces, what a phone speaks, and the answers of its services as they are inside of TLS.
#![no_main]

use std::io::Cursor;
use std::time::Duration;

use libfuzzer_sys::fuzz_target;
use mdm_fuzz::runtime;
use mdm_ios::fuzzing;

/// Limit of the waiting for one answer, in the time of the paused clock.
const ANSWER_MAX: Duration = Duration::from_secs(60);
/// Simulators and apps that are listed.
const LISTED_MAX: usize = 5000;

fuzz_target!(
    // The library of services runs in tasks, where a panic is an error of one call; everywhere else it is a finding.
    init: std::panic::set_hook(Box::new(|_| {})),
    |data: &[u8]| {
        let [choice, said @ ..] = data else { return };
        let text = String::from_utf8_lossy(said);
        match choice % 12 {
            0 => assert!(fuzzing::simulators(said).is_none_or(|all| all.len() <= LISTED_MAX)),
            1 => assert!(fuzzing::simulator_apps(said).is_none_or(|all| all.len() <= LISTED_MAX)),
            2 => drop(fuzzing::simulator_app(said, "com.example")),
            3 => assert!(fuzzing::running_apps(&text).len() <= LISTED_MAX),
            4 => drop(fuzzing::simulator_error(&text)),
            5 => {
                let lines = said.iter().filter(|byte| **byte == b'\n').count();
                for piece in [1, 7, 4096] {
                    assert!(fuzzing::log_lines(said, piece) <= lines);
                }
            }
            6 => drop(wait(fuzzing::spoken(pipe(said)))),
            7 => drop(wait(fuzzing::apps(pipe(said)))),
            8 => drop(wait(fuzzing::screenshot(pipe(said)))),
            9 => drop(wait(fuzzing::crash_reports(pipe(said)))),
            10 => drop(wait(fuzzing::log(pipe(said)))),
            _ => drop(wait(fuzzing::old_log(pipe(said)))),
        }
    }
);

fn wait<T>(asking: impl Future<Output = T>) -> Option<T> {
    runtime().block_on(async { tokio::time::timeout(ANSWER_MAX, asking).await.ok() })
}

/// A phone that has said all that it says.
fn pipe(said: &[u8]) -> Box<dyn mdm_ios::connect::Transport> {
    Box::new(tokio::io::join(Cursor::new(said.to_vec()), tokio::io::sink()))
}
