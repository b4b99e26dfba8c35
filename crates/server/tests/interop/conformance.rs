//! The official conformance suite, with the scenarios that each revision of the specification requires (MC-02): against the
//! router with what the suite wants a server to have, and against the server as it is shipped with the list of those that
//! need such things.

use std::process::Command;

use crate::http::HttpServer;
use crate::process::{Done, Folder, part, run};

/// Scenarios that ask for tools, prompts and resources of the suite, which a shipped server does not have.
const NOT_SHIPPED: [(&str, &str); 2] = [
    ("2025-11-25", include_str!("conformance-2025-11-25.yml")),
    ("2026-07-28", include_str!("conformance-2026-07-28.yml")),
];

fn suite(revision: &str, server: &HttpServer, baseline: Option<&str>) -> Option<Done> {
    let test = format!("conformance suite, {revision}");
    let (node, suite) = (part("MDM_TEST_NODE_BIN", &test)?, part("MDM_TEST_CONFORMANCE", &test)?);
    let folder = Folder::new();
    let mut command = Command::new(node);
    command.arg(suite).args(["server", "--url", &server.url, "--requirements", revision]);
    command.arg("-o").arg(folder.path().join("results")).env("HOME", folder.path());
    if let Some(baseline) = baseline {
        let file = folder.path().join("baseline.yml");
        std::fs::write(&file, baseline).unwrap();
        command.arg("--expected-failures").arg(file);
    }
    Some(run(&mut command))
}

/// How many required scenarios the suite says it ran; a suite that ran none would pass as well.
fn passed(done: &Done) -> usize {
    done.out().lines().filter(|line| line.starts_with('✓')).count()
}

fn fixture_passes(revision: &str, least: usize) {
    let server = HttpServer::start(&["--conformance"]);
    let Some(done) = suite(revision, &server, None) else { return };
    let done = done.ok();
    assert!(passed(&done) >= least, "only {} scenarios passed: {}", passed(&done), done.out());
}

#[test]
fn every_scenario_required_by_2025_11_25_passes() {
    fixture_passes("2025-11-25", 30);
}

#[test]
fn every_scenario_required_by_2026_07_28_passes() {
    fixture_passes("2026-07-28", 37);
}

/// The suite also fails when a scenario of the list passes: the list cannot grow stale.
#[test]
fn what_is_shipped_fails_only_where_the_suite_asks_for_things_of_its_own() {
    for (revision, baseline) in NOT_SHIPPED {
        let server = HttpServer::start(&[]);
        let Some(done) = suite(revision, &server, Some(baseline)) else { return };
        let done = done.ok();
        assert!(passed(&done) >= 8, "{}", done.out());
    }
}
