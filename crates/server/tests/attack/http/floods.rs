//! Too much, too slow, and not what it should be (SE-07).

use std::io::{ErrorKind, Read as _, Write as _};
use std::net::TcpStream;

use serde_json::json;

use super::client::{Client, exchange, request};
use super::served::Served;

/// More than the server has places for.
const SLOW_CLIENTS: usize = 700;
const SESSIONS: usize = 10_000;
const THREADS: usize = 8;
/// What the server may grow by from the 5,000th session to the 10,000th: it keeps 256 of them.
const GROWTH_MAX_MB: f64 = 8.0;

#[test]
fn a_body_or_head_that_is_too_large_is_refused_before_it_is_read() {
    // SE-07: oversized bodies
    let served = Served::start(&[]);
    let large = request("POST", "/mcp", &[("content-length", "10000000000")], "{");
    assert_eq!(exchange(served.address, &large).status, 413);
    let body = format!(r#"{{"jsonrpc":"2.0","id":1,"method":"{}"}}"#, "x".repeat(600_000));
    assert_eq!(exchange(served.address, &request("POST", "/mcp", &[], &body)).status, 413);
    let chunk = format!("{:x}\r\n{}\r\n", 100_000, "x".repeat(100_000));
    let chunked = request("POST", "/mcp", &[("transfer-encoding", "chunked")], &chunk.repeat(20));
    assert_eq!(exchange(served.address, &chunked).status, 413);
    let head = "x".repeat(100_000);
    assert!(
        [400, 431].contains(&exchange(served.address, &request("GET", "/mcp", &[("x-a", &head)], "")).status)
    );
    let many: Vec<(&str, &str)> = vec![("x-a", "b"); 2000];
    assert!([400, 431].contains(&exchange(served.address, &request("GET", "/mcp", &many, "")).status));
    served.still_serves();
    assert!(served.server.peak_mb() < 60.0, "{} MB", served.server.peak_mb());
}

/// The server closed it, with or without a word.
fn is_gone(stream: &mut TcpStream) -> bool {
    stream.set_nonblocking(true).unwrap();
    loop {
        match stream.read(&mut [0; 4096]) {
            Ok(0) => return true,
            Ok(_) => {}
            Err(error) => return error.kind() != ErrorKind::WouldBlock,
        }
    }
}

#[test]
fn clients_that_never_finish_a_request_keep_nobody_out() {
    // SE-07: slowloris
    let served = Served::start(&[]);
    let mut slow: Vec<TcpStream> = Vec::new();
    for number in 0..SLOW_CLIENTS {
        let mut stream = TcpStream::connect(served.address).unwrap();
        // Half of them in the head, half in the body.
        let begun: &[u8] = if number % 2 == 0 {
            b"POST /mcp HTTP/1.1\r\nhost: localhost\r\nx-slow: "
        } else {
            b"POST /mcp HTTP/1.1\r\nhost: localhost\r\ncontent-length: 1000\r\n\r\n{"
        };
        // Those that were sent away already refuse it.
        let _ = stream.write_all(begun);
        slow.push(stream);
    }
    served.still_serves();
    let sent_away = slow.iter_mut().map(is_gone).filter(|gone| *gone).count();
    assert!(sent_away >= SLOW_CLIENTS - 512, "only {sent_away} made room");
    served.still_serves();
}

#[test]
fn what_is_no_request_is_answered_and_changes_nothing() {
    // SE-07: malformed JSON-RPC
    let served = Served::start(&[]);
    let mut client = Client::with_session(served.address, "fuzzer");
    let session = client.session.clone().unwrap();
    let deep = format!("{}1{}", "[".repeat(20_000), "]".repeat(20_000));
    let bodies = [
        "",
        "nonsense",
        "null",
        "[]",
        "{}",
        "42",
        "[{}]",
        &deep,
        "{\"jsonrpc\":\"2.0\"",
        "\u{0}",
        r#"{"jsonrpc":"1.0","id":1,"method":"ping"}"#,
        r#"{"jsonrpc":"2.0","id":{},"method":"ping"}"#,
        r#"{"jsonrpc":"2.0","id":1,"method":7}"#,
        r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":[]}"#,
        r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"tap","arguments":"x"}}"#,
        r#"{"jsonrpc":"2.0","id":1,"result":{}}"#,
    ];
    for body in bodies {
        for headers in
            [&[][..], &[("mcp-session-id", session.as_str()), ("mcp-protocol-version", "2025-11-25")]]
        {
            let reply = exchange(served.address, &request("POST", "/mcp", headers, body));
            let shown: String = body.chars().take(80).collect();
            // A result that nobody asked for is a message like any other.
            let fits = (400..500).contains(&reply.status)
                || reply.messages().iter().any(|message| message.get("error").is_some())
                || (reply.status == 202 && body.contains("result"));
            assert!(fits, "{shown:?} {headers:?}: {reply:?}");
        }
    }
    for (method, path, status) in [
        ("PUT", "/mcp", 405),
        ("TRACE", "/mcp", 405),
        ("GET", "/", 404),
        ("GET", "/../etc/passwd", 404),
        ("GET", "/mcp/../../etc/passwd", 404),
        ("POST", "/healthz", 404),
        ("GET", "/%00", 404),
    ] {
        assert_eq!(
            exchange(served.address, &request(method, path, &[], "")).status,
            status,
            "{method} {path}"
        );
    }
    for raw in ["\r\n\r\n", "GET\r\n\r\n", "\u{0}\u{1}\u{2}\r\n\r\n", "GET /mcp HTTP/9.9\r\n\r\n"] {
        assert!(matches!(exchange(served.address, raw.as_bytes()).status, 0 | 400 | 505), "{raw:?}");
    }
    // Two lengths, or both framings, would let a proxy and this server disagree about where a request ends.
    let smuggled =
        "POST /mcp HTTP/1.1\r\nhost: localhost\r\ncontent-length: 4\r\ncontent-length: 40\r\n\r\nGET ";
    assert_eq!(exchange(served.address, smuggled.as_bytes()).status, 400);
    assert!(client.call("list_devices", json!({})).done().contains("virtual-android"), "the session lives");
    served.still_serves();
}

#[test]
fn ten_thousand_sessions_are_bounded() {
    // SE-07: 10,000 sessions
    let served = Served::start(&[]);
    let mut first = Client::with_session(served.address, "first");
    first.call("list_devices", json!({})).done();
    let flood = |count: usize| {
        std::thread::scope(|scope| {
            for _ in 0..THREADS {
                scope.spawn(|| {
                    for _ in 0..count / THREADS {
                        assert_eq!(Client::stateless(served.address, "flood").begin().status, 200);
                    }
                });
            }
        });
        served.server.peak_mb()
    };
    let before = served.server.peak_mb();
    let (half, all) = (flood(SESSIONS / 2), flood(SESSIONS / 2));
    println!(
        "{before:.1} MB before, {half:.1} MB with {} sessions, {all:.1} MB with {SESSIONS}",
        SESSIONS / 2
    );
    assert!(all - half < GROWTH_MAX_MB, "{} MB", all - half);
    // The one that was quiet longest made room; its client is told to begin again.
    assert_eq!(first.call("list_devices", json!({})).reply.status, 404);
    assert!(
        Client::with_session(served.address, "new")
            .call("list_devices", json!({}))
            .done()
            .contains("virtual")
    );
}
