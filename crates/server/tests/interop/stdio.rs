//! The output of `serve` on stdout, byte for byte.

use std::process::Command;

use serde::Deserialize;

use crate::process::{BINARY, Folder, Talker};

#[derive(Deserialize)]
struct Message {
    jsonrpc: String,
    id: Option<u64>,
}

fn serve(home: &Folder) -> Talker {
    let mut command = Command::new(BINARY);
    command.args(["serve", "--virtual", "android", "--no-adb-server"]).env("HOME", home.path());
    // The highest log level, so that any logging to stdout shows.
    command.env("RUST_LOG", "trace").env("RUST_BACKTRACE", "1");
    Talker::start(&mut command)
}

const INITIALIZE: &str = r#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"test","version":"1"}}}"#;
const INITIALIZED: &str = r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#;

fn call(id: u64, tool: &str, arguments: &str) -> String {
    format!(
        r#"{{"jsonrpc":"2.0","id":{id},"method":"tools/call","params":{{"name":"{tool}","arguments":{arguments}}}}}"#
    )
}

/// Checks that the line is exactly one JSON-RPC message, and returns its id.
#[track_caller]
fn id_of(line: &str) -> Option<u64> {
    let message: Message =
        serde_json::from_str(line).unwrap_or_else(|e| panic!("{e} in stdout line {line:?}"));
    assert_eq!(message.jsonrpc, "2.0");
    message.id
}

/// MC-03, W1: for any request, also a wrong one, stdout carries protocol messages only, and every request is answered
/// exactly once.
#[test]
fn stdout_holds_protocol_messages_only() {
    let home = Folder::new();
    let mut server = serve(&home);
    server.say(INITIALIZE);
    assert_eq!(id_of(&server.hear().unwrap()), Some(1));
    server.say(INITIALIZED);
    let requests = [
        r#"{"jsonrpc":"2.0","id":2,"method":"tools/list"}"#.to_owned(),
        call(3, "list_devices", "{}"),
        call(4, "get_system_status", "{}"),
        call(5, "get_ui_tree", r#"{"platform":"android"}"#),
        call(6, "start_app", r#"{"platform":"android","appId":"no.such.app"}"#),
        call(7, "get_logs", r#"{"platform":"android"}"#),
        call(8, "tap", r#"{"x":"left"}"#),
        call(9, "get_ui_tree", r#"{"platform":"ios"}"#),
        call(10, "no_such_tool", "{}"),
        r#"{"jsonrpc":"2.0","id":11,"method":"no/such/method"}"#.to_owned(),
        call(12, "capture_screenshot", r#"{"platform":"android"}"#),
    ];
    for request in &requests {
        server.say(request);
    }
    let mut answered: Vec<u64> = Vec::new();
    while answered.len() < requests.len() {
        answered.extend(id_of(&server.hear().expect("the server ended before it had answered")));
    }
    answered.sort_unstable();
    assert_eq!(answered, (2..=12).collect::<Vec<u64>>());
    let (code, rest) = server.finish();
    assert_eq!((code, rest.as_slice()), (Some(0), [].as_slice()), "after stdin was closed");
}

/// Requests that were sent before the client closed stdin still get their answers.
#[test]
fn requests_before_the_end_of_stdin_are_answered() {
    let home = Folder::new();
    let mut server = serve(&home);
    for line in [INITIALIZE, INITIALIZED, &call(2, "get_ui_tree", r#"{"platform":"android"}"#)] {
        server.say(line);
    }
    let (code, lines) = server.finish();
    let ids: Vec<Option<u64>> = lines.iter().map(|line| id_of(line)).collect();
    assert_eq!((code, ids), (Some(0), vec![Some(1), Some(2)]));
}

/// A line that is not JSON must not end the session.
#[test]
fn invalid_lines_on_stdin_do_not_end_the_session() {
    let home = Folder::new();
    let mut server = serve(&home);
    server.say(INITIALIZE);
    assert_eq!(id_of(&server.hear().unwrap()), Some(1));
    server.say(INITIALIZED);
    server.say("this is not JSON");
    server.say(&call(2, "list_devices", "{}"));
    while let Some(line) = server.hear() {
        if id_of(&line) == Some(2) {
            return;
        }
    }
    panic!("the server ended");
}
