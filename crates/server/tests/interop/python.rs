//! The official Python SDK as a client over stdio and HTTP: the newest in both eras of the protocol, and one of 2025.

use std::process::Command;

use serde::Deserialize;

use crate::http::HttpServer;
use crate::process::{BINARY, Folder, part, run};

const SCRIPT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/python/mcp_session.py");
const OLD_SCRIPT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/python/mcp_session_old.py");
const OVER_STDIO: [&str; 5] = [BINARY, "serve", "--virtual", "android", "--no-adb-server"];
const TREE: [&str; 2] = ["get_ui_tree", r#"{"platform":"android"}"#];
/// What a client of 2025 has to show here.
const TOKEN: &str = "a-token-that-is-long-enough";
/// JSON-RPC's "invalid params", which both eras require for an unknown tool.
const INVALID_PARAMS: i32 = -32602;

#[derive(Deserialize)]
struct Reply {
    protocol: String,
    tools: Vec<String>,
    is_error: bool,
    kinds: Vec<String>,
    text: String,
    bad_argument_is_error: bool,
    unknown_tool_code: Option<i32>,
}

/// What a script saw, given the program of `variable` to run it.
fn session(variable: &str, script: &str, arguments: &[&str]) -> Option<Reply> {
    let python = part(variable, &format!("python client, {}", arguments.join(" ")))?;
    let home = Folder::new();
    let mut command = Command::new(python);
    let done = run(command.arg(script).args(arguments).env("HOME", home.path())).ok();
    assert_eq!(done.err(), "", "the client has something to complain of");
    Some(serde_json::from_slice(&done.stdout).unwrap_or_else(|e| panic!("{e}: {}", done.out())))
}

/// MC-01, MC-02: one binary serves the clients of all eras, over both transports.
fn check(seen: &Reply, protocol: &str) {
    assert_eq!(seen.protocol, protocol);
    for tool in ["list_devices", "get_ui_tree", "tap", "type_text", "get_logs"] {
        assert!(seen.tools.iter().any(|name| name == tool), "{tool} is not in {:?}", seen.tools);
    }
    assert!(!seen.is_error, "{}", seen.text);
    assert!(seen.kinds.iter().all(|kind| kind == "text"), "{:?}", seen.kinds);
    assert!(!seen.text.trim().is_empty());
    assert!(seen.bad_argument_is_error, "an argument that does not exist went unnoticed");
    assert_eq!(seen.unknown_tool_code, Some(INVALID_PARAMS));
}

fn newest(era: &str, server: &[&str], protocol: &str) {
    let arguments = [&[era], &TREE[..], server].concat();
    let Some(seen) = session("MDM_TEST_PYTHON", SCRIPT, &arguments) else { return };
    check(&seen, protocol);
}

#[test]
fn clients_with_a_handshake_are_served() {
    newest("legacy", &OVER_STDIO, "2025-11-25");
}

#[test]
fn stateless_clients_are_served() {
    newest("modern", &OVER_STDIO, "2026-07-28");
}

#[test]
fn clients_with_sessions_over_http_are_served() {
    let server = HttpServer::start(&[]);
    newest("legacy", &[&server.url], "2025-11-25");
}

#[test]
fn stateless_clients_over_http_are_served() {
    let server = HttpServer::start(&[]);
    newest("modern", &[&server.url], "2026-07-28");
}

#[test]
fn a_client_of_2025_is_served_over_stdio() {
    let arguments = [&TREE[..], &["stdio"], &OVER_STDIO[..]].concat();
    let Some(seen) = session("MDM_TEST_PYTHON_OLD", OLD_SCRIPT, &arguments) else { return };
    check(&seen, "2025-03-26");
}

/// SE-03: with its token; it would fail without.
#[test]
fn a_client_of_2025_is_served_over_http_with_a_token() {
    let folder = Folder::new();
    let file = folder.path().join("tokens");
    std::fs::write(&file, TOKEN).unwrap();
    let server = HttpServer::start(&["--token-file", file.to_str().unwrap()]);
    let arguments = [&TREE[..], &["http", &server.url, TOKEN]].concat();
    let Some(seen) = session("MDM_TEST_PYTHON_OLD", OLD_SCRIPT, &arguments) else { return };
    check(&seen, "2025-03-26");
}

#[test]
fn a_screenshot_is_text_and_an_image() {
    let arguments = [&["modern", "capture_screenshot", TREE[1]], &OVER_STDIO[..]].concat();
    let Some(seen) = session("MDM_TEST_PYTHON", SCRIPT, &arguments) else { return };
    assert!(!seen.is_error, "{}", seen.text);
    assert!(seen.kinds.iter().any(|kind| kind == "image"), "{:?}", seen.kinds);
}
