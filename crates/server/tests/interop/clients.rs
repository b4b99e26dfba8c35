//! Runs third-party clients that drive the phone through many operations in one session, and checks their results.

use std::process::Command;

use serde::Deserialize;

use crate::process::Done;

/// The page that lists what each client can do; these tests check its figures.
const PAGE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/virtual-phone-clients.md");

#[derive(Deserialize)]
struct Session {
    operations: Vec<Operation>,
}

#[derive(Deserialize)]
struct Operation {
    name: String,
    failure: Option<String>,
}

/// Checks that every operation works except the listed gaps, that no gap works, and that the page agrees.
#[track_caller]
pub fn check(client: &str, done: &Done, gaps: &[&str]) {
    let said = format!("{}\n{}", done.out(), done.err());
    let last = done.out().lines().last().unwrap_or("").to_owned();
    let session: Session = serde_json::from_str(&last).unwrap_or_else(|e| panic!("{client}: {e}: {said}"));
    let failed: Vec<&str> = session
        .operations
        .iter()
        .filter(|operation| operation.failure.is_some())
        .map(|operation| operation.name.as_str())
        .collect();
    assert_eq!(failed, gaps, "{client}: {said}");
    let tried = session.operations.len();
    let line = format!("| {client} | {} of {tried} |", tried - failed.len());
    let page = std::fs::read_to_string(PAGE).unwrap_or_else(|e| panic!("{PAGE}: {e}"));
    assert!(page.contains(&line), "docs/virtual-phone-clients.md must have the line that starts: {line}");
}

/// A script of tests/python or tests/node.
pub fn script(program: &std::path::Path, path: &str) -> Command {
    let mut command = Command::new(program);
    command.arg(format!("{}/tests/{path}", env!("CARGO_MANIFEST_DIR")));
    command
}
