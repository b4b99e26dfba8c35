//! Too much, too slow, and not what it should be (SE-07).

use std::io::{ErrorKind, Read as _, Write as _};
use std::net::TcpStream;
use std::time::Duration;

use serde_json::json;
use tokio::time::Instant;

use super::client::{Client, exchange, request};
use super::served::Served;

/// Somebody is let in so soon although all places are taken: far before the slow ones have had their time.
const LET_IN_MAX: Duration = Duration::from_secs(10);
/// How long a request may take to arrive, with room for a busy machine: its head 30 s, its body 15 s more.
const SLOW_REQUEST_MAX: Duration = Duration::from_secs(45);
/// Between two bytes of a request that is slow on purpose.
const TRICKLE: Duration = Duration::from_millis(500);
/// What bodies without an end may cost, and how many bytes are offered.
const BODIES_MAX_MB: f64 = 24.0;
const OFFERED_BODIES: usize = 16;
const OFFERED_BYTES: usize = 64 * 1024 * 1024;
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
}

#[test]
fn bodies_without_an_end_cost_little_memory() {
    // SE-07: a gigabyte is offered, in chunks and with a length that lies
    let served = Served::start(&[]);
    served.still_serves();
    let before = served.server.peak_mb();
    let offered: usize = std::thread::scope(|scope| {
        let offer = |number: usize| {
            let framing = if number.is_multiple_of(2) {
                "transfer-encoding: chunked"
            } else {
                "content-length: 500000"
            };
            let mut stream = TcpStream::connect(served.address).unwrap();
            stream.set_write_timeout(Some(LET_IN_MAX)).unwrap();
            let head = format!("POST /mcp HTTP/1.1\r\nhost: localhost\r\n{framing}\r\n\r\n");
            stream.write_all(head.as_bytes()).unwrap();
            let chunk = [b"10000\r\n".as_slice(), &[b'x'; 0x10000], b"\r\n"].concat();
            // The server closes when it has had enough.
            (0..OFFERED_BYTES / chunk.len()).take_while(|_| stream.write_all(&chunk).is_ok()).count()
                * chunk.len()
        };
        let all: Vec<_> = (0..OFFERED_BODIES).map(|number| scope.spawn(move || offer(number))).collect();
        all.into_iter().map(|one| one.join().unwrap()).sum()
    });
    let grown = served.server.peak_mb() - before;
    println!("{} MB of bodies were written, {grown:.1} MB more were held", offered >> 20);
    assert!(grown < BODIES_MAX_MB, "{grown} MB");
    served.still_serves();
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
    let asked = Instant::now();
    served.still_serves();
    let waited = asked.elapsed();
    assert!(
        waited < LET_IN_MAX,
        "somebody was let in after {waited:?}, when the slow ones had had their time"
    );
    let sent_away = slow.iter_mut().map(is_gone).filter(|gone| *gone).count();
    assert!(sent_away >= SLOW_CLIENTS - 512, "only {sent_away} made room");
    served.still_serves();
}

/// Sends a byte now and then until the server closes; returns what it said and how long that took.
fn trickled(stream: &mut TcpStream, begun: &[u8]) -> (String, Duration) {
    let began = Instant::now();
    stream.write_all(begun).unwrap();
    stream.set_read_timeout(Some(TRICKLE)).unwrap();
    let (mut said, mut bytes) = (Vec::new(), [0; 4096]);
    while began.elapsed() < 2 * SLOW_REQUEST_MAX {
        match stream.read(&mut bytes) {
            Ok(0) => break,
            Ok(read) => said.extend_from_slice(&bytes[..read]),
            Err(error) if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut) => {
                if stream.write_all(b"x").is_err() {
                    break;
                }
            }
            Err(_) => break,
        }
    }
    (String::from_utf8_lossy(&said).into_owned(), began.elapsed())
}

#[test]
fn a_request_that_goes_on_and_on_is_ended() {
    // SE-07: slowloris with places left, one byte after the other
    let served = Served::start(&[]);
    let head = b"POST /mcp HTTP/1.1\r\nhost: localhost\r\nx-slow: ".as_slice();
    let body = b"POST /mcp HTTP/1.1\r\nhost: localhost\r\ncontent-length: 100000\r\n\r\n{".as_slice();
    let slow = |begun: &'static [u8]| {
        let mut stream = TcpStream::connect(served.address).unwrap();
        move || trickled(&mut stream, begun)
    };
    let [in_head, in_body] = std::thread::scope(|scope| {
        [head, body].map(|begun| scope.spawn(slow(begun))).map(|one| one.join().unwrap())
    });
    println!("a slow head was ended after {:.1?}, a slow body after {:.1?}", in_head.1, in_body.1);
    for (place, (said, took)) in [("head", &in_head), ("body", &in_body)] {
        assert!(*took < SLOW_REQUEST_MAX, "a slow {place} lasts {took:?}: {said}");
    }
    assert!(in_body.0.starts_with("HTTP/1.1 408 "), "{:?}", in_body.0);
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
    for framing in [
        "content-length: 4\r\ncontent-length: 40",
        "transfer-encoding: chunked, identity",
        "transfer-encoding: x-chunked",
        "content-length: +4",
        "content-length: 4, 40",
    ] {
        let smuggled = format!("POST /mcp HTTP/1.1\r\nhost: localhost\r\n{framing}\r\n\r\nGET ");
        assert_eq!(exchange(served.address, smuggled.as_bytes()).status, 400, "{framing}");
    }
    both_framings_are_no_two_requests(&served);
    assert!(client.call("list_devices", json!({})).done().contains("virtual-android"), "the session lives");
    served.still_serves();
}

/// RFC 9112 allows to refuse such a request or to go by the chunks and close. Whatever follows is no second request.
fn both_framings_are_no_two_requests(served: &Served) {
    let hidden = "GET /healthz HTTP/1.1\r\nhost: localhost\r\n\r\n";
    for framing in [
        "transfer-encoding: chunked\r\ncontent-length: 5".to_owned(),
        format!("content-length: {}\r\ntransfer-encoding: chunked", 5 + hidden.len()),
    ] {
        let smuggled = format!("POST /mcp HTTP/1.1\r\nhost: localhost\r\n{framing}\r\n\r\n0\r\n\r\n{hidden}");
        let mut stream = TcpStream::connect(served.address).unwrap();
        stream.set_read_timeout(Some(LET_IN_MAX)).unwrap();
        stream.write_all(smuggled.as_bytes()).unwrap();
        let mut said = Vec::new();
        let closed = stream.read_to_end(&mut said);
        let said = String::from_utf8_lossy(&said).into_owned();
        assert!(said.starts_with("HTTP/1.1 4"), "{framing}: {said}");
        assert_eq!(said.matches("HTTP/1.1 ").count(), 1, "{framing}: {said}");
        assert!(closed.is_ok(), "{framing}: the connection is still open after {said}");
    }
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
