//! What a client hears while something happens, and how it ends what it no longer wants (MC-01), over HTTP.

use std::io::{BufRead as _, BufReader, Write as _};
use std::net::{SocketAddr, TcpStream};
use std::time::Duration;

use serde_json::{Value, json};

use super::client::{Client, GUARD, exchange, request};
use super::served::{Folder, Served};

const SCREEN: &str = "screen://virtual-android/screen";

/// Nothing more is expected on a stream that was silent for so long after everything had happened.
const QUIET: Duration = Duration::from_secs(2);

/// A request whose answer comes bit by bit.
struct Stream {
    lines: BufReader<TcpStream>,
}

impl Stream {
    fn open(address: SocketAddr, request: &[u8]) -> Stream {
        let mut stream = TcpStream::connect(address).unwrap();
        stream.set_read_timeout(Some(GUARD)).unwrap();
        stream.write_all(request).unwrap();
        Stream { lines: BufReader::new(stream) }
    }

    /// The next message; events without one are passed over.
    #[track_caller]
    fn next(&mut self) -> Value {
        let mut line = String::new();
        loop {
            line.clear();
            assert!(self.lines.read_line(&mut line).unwrap() > 0, "the stream ended");
            let message = line.strip_prefix("data:").and_then(|data| serde_json::from_str(data.trim()).ok());
            if let Some(message) = message {
                return message;
            }
        }
    }

    #[track_caller]
    fn until(&mut self, method: &str) -> Value {
        loop {
            let message = self.next();
            if message["method"] == json!(method) {
                return message;
            }
        }
    }
}

fn waits_long(tool_call_id: u64) -> Value {
    json!({"jsonrpc": "2.0", "id": tool_call_id, "method": "tools/call", "params": {"name": "wait_for_ui",
        "arguments": {"selector": {"text": "never there"}, "timeout_ms": 60_000}, "_meta": {"progressToken": 7}}})
}

#[test]
fn a_call_tells_how_it_goes_on() {
    for connect in [Client::with_session, Client::stateless] {
        let served = Served::start(&[]);
        let mut client = connect(served.address, "agent");
        let params = json!({"name": "start_app", "arguments": {"app_id": "com.workbench", "settle": true},
            "_meta": {"progressToken": "p"}});
        let heard = client.ask("tools/call", params);
        let messages = heard.reply.messages();
        let told: Vec<&Value> =
            messages.iter().filter(|message| message["method"] == json!("notifications/progress")).collect();
        assert!(!told.is_empty(), "{messages:?}");
        assert!(told.iter().all(|message| message["params"]["progressToken"] == json!("p")), "{told:?}");
        assert_eq!(messages.last().unwrap()["id"], heard.answer["id"], "the answer comes last");
    }
}

#[test]
fn a_call_ends_when_its_client_cancels_it_or_goes() {
    let folder = Folder::new();
    let audit = folder.name_of("audit.jsonl");
    let served = Served::start_with(folder, &[], &["--audit", &audit]);
    let client = Client::with_session(served.address, "agent");
    let session = client.session.clone().unwrap();
    let headers = [("mcp-session-id", session.as_str()), ("mcp-protocol-version", "2025-11-25")];
    let body = waits_long(41).to_string();
    let mut waiting = Stream::open(served.address, &request("POST", "/mcp", &headers, &body));
    // It runs: something was told of it.
    waiting.until("notifications/progress");
    let cancel = json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 41}});
    let told = exchange(served.address, &request("POST", "/mcp", &headers, &cancel.to_string()));
    assert_eq!(told.status, 202);
    // Without sessions the end of the connection says so.
    let mut stateless = waits_long(42);
    stateless["params"]["_meta"]["io.modelcontextprotocol/protocolVersion"] = json!("2026-07-28");
    stateless["params"]["_meta"]["io.modelcontextprotocol/clientInfo"] =
        json!({"name": "gone", "version": "1"});
    stateless["params"]["_meta"]["io.modelcontextprotocol/clientCapabilities"] = json!({});
    let headers =
        [("mcp-protocol-version", "2026-07-28"), ("mcp-method", "tools/call"), ("mcp-name", "wait_for_ui")];
    let mut gone = Stream::open(served.address, &request("POST", "/mcp", &headers, &stateless.to_string()));
    gone.until("notifications/progress");
    drop(gone);
    // Both waits would last a minute. Their ends stand in the audit log as soon as they have ended.
    let mut poller = Client::stateless(served.address, "poller");
    for _ in 0..200 {
        poller.call("list_devices", json!({})).done();
        let written = std::fs::read_to_string(&audit).unwrap();
        let lines = written.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
        let ended: Vec<Value> = lines.filter(|line| line["tool"] == json!("wait_for_ui")).collect();
        if ended.len() == 2 {
            assert!(ended.iter().all(|line| line["ms"].as_u64().unwrap() < 50_000), "{ended:?}");
            return;
        }
    }
    panic!("a wait goes on: {}", std::fs::read_to_string(&audit).unwrap());
}

#[test]
fn a_client_hears_of_changes_in_the_old_way_and_the_new() {
    // SY-20
    let served = Served::start(&[]);
    let mut actor = Client::with_session(served.address, "actor");
    actor.call("start_app", json!({"app_id": "com.workbench", "settle": true})).done();
    let session = actor.session.clone().unwrap();
    let headers = [
        ("mcp-session-id", session.as_str()),
        ("mcp-protocol-version", "2025-11-25"),
        ("accept", "text/event-stream"),
    ];
    let mut old = Stream::open(served.address, &request("GET", "/mcp", &headers, ""));
    let subscribed = actor.ask("resources/subscribe", json!({"uri": SCREEN}));
    assert!(subscribed.answer.get("result").is_some(), "{subscribed:?}");
    let listen = json!({"jsonrpc": "2.0", "id": 1, "method": "subscriptions/listen", "params": {
        "notifications": {"resourceSubscriptions": [SCREEN]},
        "_meta": {"io.modelcontextprotocol/protocolVersion": "2026-07-28",
            "io.modelcontextprotocol/clientInfo": {"name": "listener", "version": "1"},
            "io.modelcontextprotocol/clientCapabilities": {}}}});
    let headers = [("mcp-protocol-version", "2026-07-28"), ("mcp-method", "subscriptions/listen")];
    let mut new = Stream::open(served.address, &request("POST", "/mcp", &headers, &listen.to_string()));
    assert_eq!(new.next()["method"], json!("notifications/subscriptions/acknowledged"));
    actor.call("tap_element", json!({"selector": {"text": "Remember me"}})).done();
    for stream in [&mut old, &mut new] {
        let told = stream.until("notifications/resources/updated");
        assert_eq!(told["params"]["uri"], json!(SCREEN), "{told}");
    }
}

/// Messages that come on a stream until nothing came for a while.
fn rest(stream: &mut Stream) -> Vec<String> {
    stream.lines.get_ref().set_read_timeout(Some(QUIET)).unwrap();
    let (mut all, mut line) = (Vec::new(), String::new());
    loop {
        line.clear();
        match stream.lines.read_line(&mut line) {
            Ok(1..) => all.extend(line.strip_prefix("data:").map(str::trim).map(str::to_owned)),
            _ => break,
        }
    }
    all.retain(|data| !data.is_empty());
    all
}

#[test]
fn the_stream_of_another_client_stays_silent() {
    // SE-03: nothing of what alice does, is asked or hears of comes to bob
    let served = Served::start(&[]);
    let stream_of = |client: &Client| {
        let headers = [
            ("mcp-session-id", client.session.as_deref().unwrap()),
            ("mcp-protocol-version", "2025-11-25"),
            ("accept", "text/event-stream"),
        ];
        Stream::open(served.address, &request("GET", "/mcp", &headers, ""))
    };
    let bob = Client::with_session(served.address, "bob");
    let mut alice = Client::with_session(served.address, "alice");
    let (mut of_bob, mut of_alice) = (stream_of(&bob), stream_of(&alice));
    assert!(alice.ask("logging/setLevel", json!({"level": "debug"})).answer.get("result").is_some());
    assert!(alice.ask("resources/subscribe", json!({"uri": SCREEN})).answer.get("result").is_some());
    let params = json!({"name": "start_app", "arguments": {"app_id": "com.workbench", "settle": true},
        "_meta": {"progressToken": "of-alice"}});
    assert!(alice.ask("tools/call", params).answer.get("result").is_some());
    alice.call("tap_element", json!({"selector": {"text": "Remember me"}})).done();
    of_alice.until("notifications/resources/updated");
    let heard = rest(&mut of_bob);
    assert!(heard.is_empty(), "bob heard {heard:?}");
}

#[test]
fn a_session_is_kept_in_a_file() {
    // TR-03
    let folder = Folder::new();
    let file = folder.name_of("session.jsonl");
    let served = Served::start_with(folder, &[], &["--save-trace", &file, "--no-settle"]);
    let mut client = Client::with_session(served.address, "agent");
    client.call("start_app", json!({"app_id": "com.workbench"})).done();
    let unsettled = client.call("tap_element", json!({"selector": {"text": "Remember me"}})).done();
    for claim in ["verdict", "observed_change", "stability_state"] {
        assert!(!unsettled.contains(claim), "LC-07: a session without settling claims nothing: {unsettled}");
    }
    let asked = json!({"selector": {"text": "Remember me"}, "settle": true});
    assert!(
        client.call("tap_element", asked).done().contains("stability_state"),
        "unless a call asks for it"
    );
    served.server.stop();
    let text = std::fs::read_to_string(&file).unwrap();
    let lines: Vec<Value> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!((&lines[0]["line"], &lines[0]["version"]), (&json!("session"), &json!(1)));
    let count = |line: &str| lines.iter().filter(|known| known["line"] == json!(line)).count();
    assert_eq!((count("call"), count("answer")), (3, 3), "{text}");
    let sent = lines.iter().filter(|line| line["event"] == json!("sent") && line["what"] == json!("touch"));
    assert_eq!(sent.count(), 2, "{text}");
    let times: Vec<u64> = lines.iter().map(|line| line["at_ms"].as_u64().unwrap()).collect();
    assert!(times[0] > 0 && times.iter().all(|at| *at >= times[0]), "{times:?}");
}
