//! Who may come in at all (SE-03).

use serde_json::json;

use super::client::{Client, exchange, request};
use super::served::{Folder, Served};

const TOKEN: &str = "0123456789abcdef-the-right-one";
const LIST: &str = r#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"page","version":"1"}}}"#;

#[test]
fn a_name_that_was_made_to_point_here_is_refused() {
    // SE-03: DNS rebinding
    let served = Served::start(&[]);
    let port = served.address.port();
    let ask_by = |method: &str, path: &str, host: &str| {
        exchange(served.address, &request(method, path, &[("host", host)], LIST)).status
    };
    let ask = |host: &str| ask_by("POST", "/mcp", host);
    let evil = format!("evil.example:{port}");
    for host in
        [&evil, "localhost.evil.example", "127.0.0.1.evil.example", "evil.example@127.0.0.1", "10.0.0.1", ""]
    {
        for method in ["POST", "GET", "DELETE", "OPTIONS"] {
            assert_eq!(ask_by(method, "/mcp", host), 403, "{method} {host:?}");
        }
    }
    for host in [&format!("localhost:{port}"), &format!("127.0.0.1:{port}"), "[::1]"] {
        assert_eq!(ask(host), 200, "{host}");
    }
    // A whole address in the first line counts, whatever the header says, and both have to be right.
    let good = format!("localhost:{port}");
    for (in_address, in_header) in [(&evil, &evil), (&evil, &good), (&good, &evil)] {
        for method in ["POST", "GET", "DELETE"] {
            let status = ask_by(method, &format!("http://{in_address}/mcp"), in_header);
            assert_eq!(status, 403, "{method} http://{in_address}/mcp with the header {in_header}");
        }
    }
    assert_eq!(ask_by("POST", &format!("http://{good}/mcp"), &good), 200);
    // Also where nothing is asked of a client.
    let health = request("GET", "/healthz", &[("host", "evil.example")], "");
    assert_eq!(exchange(served.address, &health).status, 403);
    served.still_serves();
}

#[test]
fn a_page_that_was_not_allowed_is_refused() {
    // SE-03: a missing and a forged Origin
    let served = Served::start(&[]);
    let own = format!("http://localhost:{}", served.address.port());
    let host = format!("localhost:{}", served.address.port());
    let ask = |origin: &str| {
        exchange(served.address, &request("POST", "/mcp", &[("host", &host), ("origin", origin)], LIST))
    };
    for origin in ["http://evil.example", "null", "file://", "https://localhost", "http://localhost:1", ""] {
        for method in ["POST", "GET", "DELETE", "OPTIONS"] {
            let headers = [("host", host.as_str()), ("origin", origin)];
            let reply = exchange(served.address, &request(method, "/mcp", &headers, LIST));
            assert_eq!(reply.status, 403, "{method} {origin:?}");
            assert_eq!(reply.header("access-control-allow-origin"), None, "{method} {origin:?}");
        }
    }
    assert_eq!(ask(&own).status, 200);
    // No Origin: not a page.
    assert_eq!(exchange(served.address, &request("POST", "/mcp", &[], LIST)).status, 200);
    // A page of an allowed origin, and the question that its browser asks first.
    let served = Served::start(&["--allow-origin", "http://app.example:3000"]);
    let asked = [("origin", "http://app.example:3000"), ("access-control-request-method", "POST")];
    let preflight = exchange(served.address, &request("OPTIONS", "/mcp", &asked, ""));
    assert_eq!(preflight.status, 204);
    assert_eq!(preflight.header("access-control-allow-origin"), Some("http://app.example:3000"));
    assert_eq!(exchange(served.address, &request("POST", "/mcp", &asked[..1], LIST)).status, 200);
    let other = [("origin", "http://app.example:3001")];
    assert_eq!(exchange(served.address, &request("POST", "/mcp", &other, LIST)).status, 403);
}

#[test]
fn a_token_is_asked_for_and_cannot_be_guessed() {
    // SE-03: token guessing
    let folder = Folder::new();
    let file = folder.write("tokens", &format!("alice {TOKEN}\nbob {TOKEN}-too\n"));
    let served = Served::start_with(folder, &["--log", "trace"], &["--token-file", &file]);
    let ask = |value: Option<&str>| {
        let headers: Vec<_> = value.iter().map(|value| ("authorization", *value)).collect();
        exchange(served.address, &request("POST", "/mcp", &headers, LIST))
    };
    let right = format!("Bearer {TOKEN}");
    let none = ask(None);
    assert_eq!(none.status, 401);
    assert!(none.header("www-authenticate").unwrap().starts_with("Bearer"), "{none:?}");
    assert_eq!(ask(Some(&right)).status, 200);
    let health = exchange(served.address, &request("GET", "/healthz", &[], ""));
    assert_eq!(health.status, 200, "whoever watches over the server needs no token");
    let mut alice = Client { token: Some(TOKEN.to_owned()), ..Client::stateless(served.address, "agent") };
    alice.call("press_home", json!({})).done();
    let mut statuses = Vec::new();
    for number in 0..30 {
        let reply = ask(Some(&format!("Bearer 0123456789abcdef-the-wrong-{number}")));
        statuses.push(reply.status);
        assert!(reply.status == 401 || reply.header("retry-after").is_some(), "{reply:?}");
    }
    assert_eq!(statuses.iter().filter(|status| **status == 401).count(), 10, "{statuses:?}");
    assert_eq!(ask(Some(&right)).status, 429, "nor is the right one taken after so many wrong ones");
    let log = served.server.stop();
    assert!(log.len() > 3, "the log is heard: {log:?}");
    for line in log {
        assert!(!line.contains(TOKEN) && !line.contains("the-wrong-"), "{line}");
    }
}

#[test]
fn two_tokens_are_two_clients() {
    // SE-03: a client cannot be another by taking its name
    let folder = Folder::new();
    let file = folder.write("tokens", &format!("alice {TOKEN}\nbob {TOKEN}-too\n"));
    let served = Served::start_with(folder, &[], &["--token-file", &file]);
    let client =
        |token: &str| Client { token: Some(token.to_owned()), ..Client::stateless(served.address, "agent") };
    let (mut alice, mut bob) = (client(TOKEN), client(&format!("{TOKEN}-too")));
    alice.call("press_home", json!({})).done();
    let refused = bob.call("press_home", json!({}));
    assert!(refused.text().contains("DEVICE_LEASED"), "{refused:?}");
    alice.call("press_home", json!({})).done();
}
