//! The MCP Inspector's command line: its schema lint and a call, in both eras of the protocol and over both transports.

use std::process::Command;

use crate::http::HttpServer;
use crate::process::{BINARY, Done, Folder, part, run};

/// The meaning of the Inspector's exit codes.
const TOOL_REPORTED_AN_ERROR: i32 = 5;

const OVER_STDIO: [&str; 5] = [BINARY, "serve", "--virtual", "android", "--no-adb-server"];

fn inspect(server: &[&str], era: &str, args: &[&str]) -> Option<Done> {
    let test = format!("inspector, {era} {}", args[1]);
    let (node, inspector) = (part("MDM_TEST_NODE_BIN", &test)?, part("MDM_TEST_INSPECTOR", &test)?);
    let home = Folder::new();
    let mut command = Command::new(node);
    command.arg(inspector).arg("--cli").args(server).args(["--protocol-era", era]).args(args);
    // It writes a catalogue into the home folder.
    Some(run(command.env("HOME", home.path()).current_dir(home.path())))
}

/// `--strict` exits with 6 when other clients would not accept a schema.
fn lists_portable_schemas(server: &[&str], era: &str) {
    let Some(done) = inspect(server, era, &["--method", "tools/list", "--strict", "--format", "json"]) else {
        return;
    };
    let done = done.ok();
    assert!(done.out().contains("\"get_ui_tree\""), "{}", done.out());
    assert_eq!(done.err(), "", "the lint has something to say");
}

fn calls_a_tool(era: &str) {
    let call = ["--method", "tools/call", "--tool-name", "get_ui_tree", "--tool-args-json"];
    let Some(done) = inspect(&OVER_STDIO, era, &[&call[..], &[r#"{"platform":"android"}"#]].concat()) else {
        return;
    };
    assert!(done.ok().out().contains("\"text\""));
    let Some(done) = inspect(&OVER_STDIO, era, &[&call[..], &[r#"{"platform":"toaster"}"#]].concat()) else {
        return;
    };
    assert_eq!(done.code, Some(TOOL_REPORTED_AN_ERROR), "{}", done.err());
}

#[test]
fn legacy_list() {
    lists_portable_schemas(&OVER_STDIO, "legacy");
}

#[test]
fn modern_list() {
    lists_portable_schemas(&OVER_STDIO, "modern");
}

#[test]
fn legacy_call() {
    calls_a_tool("legacy");
}

#[test]
fn modern_call() {
    calls_a_tool("modern");
}

/// MC-01
#[test]
fn lists_over_http() {
    let server = HttpServer::start(&[]);
    for era in ["legacy", "modern"] {
        lists_portable_schemas(&[&server.url, "--transport", "http"], era);
    }
}
