//! The official Python SDK as a client over stdio, in both eras of the protocol.

use std::process::Command;

use serde::Deserialize;

use crate::process::{BINARY, Folder, part, run};

const SCRIPT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/python/mcp_session.py");
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

fn session(era: &str, tool: &str, arguments: &str) -> Option<Reply> {
    let python = part("MDM_TEST_PYTHON", &format!("python client, {era}"))?;
    let home = Folder::new();
    let mut command = Command::new(python);
    command.args([SCRIPT, era, tool, arguments, BINARY, "serve", "--virtual", "android", "--no-adb-server"]);
    let done = run(command.env("HOME", home.path())).ok();
    Some(serde_json::from_slice(&done.stdout).unwrap_or_else(|e| panic!("{e}: {}", done.out())))
}

/// MC-01, MC-02: one binary serves the clients of both eras.
fn check(era: &str, protocol: &str) {
    let Some(seen) = session(era, "get_ui_tree", r#"{"platform":"android"}"#) else { return };
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

#[test]
fn clients_with_a_handshake_are_served() {
    check("legacy", "2025-11-25");
}

#[test]
fn stateless_clients_are_served() {
    check("modern", "2026-07-28");
}

#[test]
fn a_screenshot_is_text_and_an_image() {
    let Some(seen) = session("modern", "capture_screenshot", r#"{"platform":"android"}"#) else { return };
    assert!(!seen.is_error, "{}", seen.text);
    assert!(seen.kinds.iter().any(|kind| kind == "image"), "{:?}", seen.kinds);
}
