//! Clients that attack, through the program's real stdin and stdout.

use std::io::{BufRead as _, BufReader, Write as _};
use std::sync::mpsc::channel;
use std::time::Duration;

use serde_json::Value;

use crate::adbd::{Adbd, Attack};
use crate::server::{MEMORY_MAX_MB, Server, call};

/// Says one line, and checks the code and the id of the answer.
#[track_caller]
fn check(server: &mut Server, line: &[u8], code: i64, id: Option<&str>) {
    server.say_bytes(line);
    server.say_bytes(b"\n");
    let shown: String = String::from_utf8_lossy(line).chars().take(150).collect();
    let answer = server.hear();
    let error = answer.error.unwrap_or_else(|| panic!("{shown} was answered with {:?}", answer.result));
    let id = id.map(|id| serde_json::from_str::<Value>(id).unwrap());
    assert_eq!((error.code, answer.id), (code, id), "F68: {shown}: {}", error.message);
}

#[test]
fn every_request_is_answered_also_one_that_cannot_be_read() {
    // F68
    let mut server = Server::start(&["serve", "--virtual", "android"]);
    let tap = |arguments: &str| call(7, "tap", arguments).into_bytes();
    check(&mut server, b"this is not JSON", -32700, None);
    check(&mut server, b"{\"jsonrpc\":\"2.0\",\"id\":\"a\",\"method\":\"tools/call\"", -32700, Some("\"a\""));
    check(&mut server, &tap(r#"{"x":NaN,"y":1}"#), -32700, Some("7"));
    check(&mut server, &tap(r#"{"x":1e999,"y":1}"#), -32700, Some("7"));
    check(&mut server, &tap(r#"{"x":"\ud800"}"#), -32700, Some("7"));
    check(&mut server, &tap("{\"x\":\"\u{7}\"}"), -32700, Some("7"));
    check(
        &mut server,
        &[b"{\"id\":7,\"x\":\"".as_slice(), &[0xff, 0xfe], b"\"}"].concat(),
        -32700,
        Some("7"),
    );
    check(&mut server, &tap(&format!("{}1{}", "[".repeat(5000), "]".repeat(5000))), -32700, Some("7"));
    check(&mut server, &tap(&format!("{{\"x\":\"{}\"}}", "x".repeat(5_000_000))), -32600, Some("7"));
    for arguments in ["[1,2]", "7", "\"text\"", "true"] {
        check(&mut server, &tap(arguments), -32602, Some("7"));
    }
    for params in ["", r#","params":[]"#, r#","params":{"name":5}"#, r#","params":{"arguments":{}}"#] {
        let line = format!(r#"{{"jsonrpc":"2.0","id":8,"method":"tools/call"{params}}}"#);
        check(&mut server, line.as_bytes(), -32602, Some("8"));
    }
    check(&mut server, br#"{"jsonrpc":"2.0","id":9,"method":"no/such/method"}"#, -32601, Some("9"));
    check(&mut server, br#"{"jsonrpc":"1.0","id":9,"method":"ping"}"#, -32600, Some("9"));
    check(&mut server, br#"{"jsonrpc":"2.0","id":9,"method":5}"#, -32600, Some("9"));
    check(&mut server, br#"{"jsonrpc":"2.0","id":1.5,"method":"ping"}"#, -32600, None);
    check(&mut server, br#"{"jsonrpc":"2.0","id":null,"method":"ping"}"#, -32600, None);
    for line in ["[]", "42", "{}", "null", r#"[{"jsonrpc":"2.0","id":1,"method":"ping"}]"#] {
        check(&mut server, line.as_bytes(), -32600, None);
    }
    // Nothing is said to what asks for nothing, and the next request is answered as ever.
    server.say("");
    server.say(r#"{"jsonrpc":"2.0","method":"notifications/nobody_knows","params":{"a":1}}"#);
    assert!(server.call("list_devices", "{}").contains("virtual-android"));
}

#[test]
fn a_request_before_the_handshake_is_answered() {
    // F68
    let (mut server, stdout) = Server::start_unread(&["serve", "--virtual", "android"]);
    let lines = crate::lines::lines(stdout);
    server.say("nonsense");
    server.say(r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#);
    server.say_hello();
    server.say(&call(3, "list_devices", "{}"));
    let heard: Vec<String> = (0..4).map(|_| lines.recv_timeout(Duration::from_secs(30)).unwrap()).collect();
    for expected in ["-32700", "\"id\":1,", "\"id\":0,", "virtual-android"] {
        assert_eq!(heard.iter().filter(|line| line.contains(expected)).count(), 1, "{expected}: {heard:?}");
    }
}

#[test]
fn many_requests_at_once_are_all_answered_and_can_be_cancelled() {
    // F62, F68
    let mut server = Server::start(&["serve", "--virtual", "android"]);
    let wait = |id| call(id, "wait_for_ui", r#"{"selector":{"text":"Nobody"},"timeout_ms":60000}"#);
    for id in 1..=100 {
        server.say(&wait(id));
    }
    // More than may run: the rest waits, and what is not a call is still taken.
    server.say(r#"{"jsonrpc":"2.0","id":1000,"method":"ping"}"#);
    assert_eq!(server.hear().id, Some(Value::from(1000)));
    server.say(&wait(50));
    assert_eq!(server.hear().error.map(|error| error.code), Some(-32600), "an id that is in use");
    for id in 1..=100 {
        server.say(&format!(
            r#"{{"jsonrpc":"2.0","method":"notifications/cancelled","params":{{"requestId":{id}}}}}"#
        ));
    }
    let count = 300;
    for id in 1..=count {
        server.say(&call(id, "list_devices", "{}"));
    }
    let mut ids: Vec<u64> = (0..count).map(|_| server.hear().id.unwrap().as_u64().unwrap()).collect();
    ids.sort_unstable();
    assert_eq!(ids, (1..=count).collect::<Vec<_>>(), "each once");
}

#[test]
fn a_client_that_never_reads_costs_little_memory() {
    // F62
    let (mut server, _stdout) = Server::start_unread(&["serve", "--virtual", "android"]);
    server.say_hello();
    let mut stdin = server.stdin.take().unwrap();
    let (to, written) = channel();
    std::thread::spawn(move || {
        for id in 1..=200_000 {
            let line = match id % 20 {
                0 => call(id, "capture_screenshot", r#"{"max_size":4096}"#),
                _ => call(id, "get_ui_tree", r#"{"format":"json"}"#),
            };
            if writeln!(stdin, "{line}").is_err() || to.send(id).is_err() {
                return;
            }
        }
    });
    let mut last = 0;
    // It has stopped reading when nothing more can be written for a while.
    while let Ok(id) = written.recv_timeout(Duration::from_secs(5)) {
        last = id;
    }
    let peak_mb = server.peak_mb();
    println!("a client that never reads: {last} requests were taken, peak {peak_mb:.0} MB");
    assert!(!server.has_ended() && last < 200_000, "it stopped reading after {last}");
    assert!(peak_mb <= MEMORY_MAX_MB, "{peak_mb} MB");
}

#[test]
fn nothing_more_is_done_when_nobody_reads_the_answers() {
    // F62
    let adbd = Adbd::start(Attack::None);
    let (mut server, stdout) = Server::start_unread(&["serve", "--device", &adbd.address]);
    let mut stdout = BufReader::new(stdout);
    let mut line = String::new();
    server.say_hello();
    stdout.read_line(&mut line).unwrap();
    server.say(&call(1, "tap", r#"{"x":100,"y":50}"#));
    stdout.read_line(&mut line).unwrap();
    assert!(line.contains("\"id\":1") && adbd.inputs() == 1, "{line}");
    drop(stdout);
    // The program may be gone before all of it is written.
    let mut stdin = server.stdin.take().unwrap();
    for id in 2..100 {
        let _ = writeln!(stdin, "{}", call(id, "tap", r#"{"x":100,"y":50}"#));
    }
    server.wait_for_end(Duration::from_secs(5));
    let taps = adbd.inputs() - 1;
    println!("taps after stdout was closed: {taps}");
    assert!(taps <= 1, "{taps} taps that nobody heard of");
}
