//! `mdm-soak`: many clients of one server over HTTP, on virtual phones that drop out and come back. Every action that was
//! answered is compared with what the phone says happened to it. See docs/soak.md; `cargo xtask soak` starts it.
#![allow(clippy::print_stdout, clippy::print_stderr, reason = "a command prints its results")]
#![cfg_attr(test, allow(clippy::unwrap_used, reason = "tests fail by panicking"))]

mod answer;
mod client;
mod disturbances;
mod figures;
mod ledger;
mod machine;
mod many;
mod outages;
mod phones;
mod pinger;
mod player;
mod run;
mod server;
mod waiter;

use std::path::PathBuf;
use std::process::ExitCode;

const USAGE: &str = "usage: mdm-soak --server FILE [--seconds N] [--clients N] [--phones N] [--seed S]
       mdm-soak --server FILE --list N";

/// What was asked for.
#[derive(Debug, Clone)]
pub struct Options {
    /// The program that is judged.
    server: PathBuf,
    seconds: u64,
    clients: usize,
    phones: usize,
    seed: u64,
    /// Nothing but a list of so many phones, and one tree of each.
    list: Option<usize>,
}

const SECONDS_MAX: u64 = 24 * 3600;
const CLIENTS_MAX: usize = 64;
const PHONES_MAX: usize = 200;
const LISTED_MAX: usize = 1000;

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let Some(options) = options(&words) else {
        eprintln!("{USAGE}");
        return ExitCode::FAILURE;
    };
    let done = match options.list {
        Some(phones) => many::run(&options, phones),
        None => run::run(&options),
    };
    match done {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(problem) => {
            println!("the soak itself broke: {problem}");
            ExitCode::FAILURE
        }
    }
}

fn options(words: &[String]) -> Option<Options> {
    let mut server = None;
    let mut options =
        Options { server: PathBuf::new(), seconds: 60, clients: 8, phones: 16, seed: 1, list: None };
    let mut words = words.iter();
    while let Some(word) = words.next() {
        let value = words.next()?;
        match word.as_str() {
            "--server" => server = Some(PathBuf::from(value)),
            "--seconds" => options.seconds = within(value, SECONDS_MAX)?,
            "--clients" => options.clients = within(value, CLIENTS_MAX as u64)? as usize,
            "--phones" => options.phones = within(value, PHONES_MAX as u64)? as usize,
            "--list" => options.list = Some(within(value, LISTED_MAX as u64)? as usize),
            "--seed" => options.seed = value.parse().ok()?,
            _ => return None,
        }
    }
    // Each client keeps a phone while the others choose among the rest.
    (options.phones > options.clients || options.list.is_some()).then_some(())?;
    Some(Options { server: server?, ..options })
}

fn within(value: &str, max: u64) -> Option<u64> {
    value.parse().ok().filter(|number| (1..=max).contains(number))
}
