//! Several clients of one server: none gets in the way of another, or gets its answers (SE-03).

use std::collections::BTreeSet;

use serde_json::json;

use super::client::{Client, exchange, request};
use super::served::{Folder, Served};

const TOKEN: &str = "0123456789abcdef-the-right-one";

#[test]
fn a_device_cannot_be_stolen() {
    // Lease stealing
    let served = Served::start(&[]);
    let mut alice = Client::with_session(served.address, "alice");
    let mut bob = Client::with_session(served.address, "bob");
    let mut carol = Client::stateless(served.address, "carol");
    alice.call("start_app", json!({"app_id": "com.workbench"})).done();
    for other in [&mut bob, &mut carol] {
        for (tool, arguments) in [
            ("press_home", json!({})),
            ("tap", json!({"x": 10, "y": 10})),
            ("terminate_app", json!({"app_id": "com.workbench"})),
            ("run_flow", json!({"steps": [{"tool": "press_home", "arguments": {}}]})),
        ] {
            let refused = other.call(tool, arguments);
            assert!(refused.is_error() && refused.text().contains("DEVICE_LEASED"), "{tool}: {refused:?}");
            assert!(refused.text().contains("alice"), "it is told who has it: {}", refused.text());
        }
        // Reading takes nothing away from anybody.
        assert!(other.call("get_ui_tree", json!({})).done().contains("com.workbench"));
    }
    alice.call("get_current_screen", json!({})).done();
    let in_front = alice.call("get_current_screen", json!({})).done();
    assert!(in_front.contains("com.workbench"), "nothing of theirs reached the phone: {in_front}");
    // The id of a session is what shows whose it is: a made-up one is nobody's.
    bob.session = Some("alice".to_owned());
    assert_eq!(bob.call("press_home", json!({})).reply.status, 404);
}

/// Whichever of them is said: not with this token, or there is no such session.
const REFUSED: [u16; 3] = [401, 403, 404];

#[test]
fn the_session_of_another_token_is_nobodys() {
    // SE-03: an id that was overheard is worth nothing without the token of its client
    let folder = Folder::new();
    let file = folder.write("tokens", &format!("alice {TOKEN}\nbob {TOKEN}-too\n"));
    let served = Served::start_with(folder, &[], &["--token-file", &file]);
    let client = |name: &str, token: String| {
        let mut client = Client { token: Some(token), ..Client::stateless(served.address, name) };
        client.session = Some(client.begin().header("mcp-session-id").expect("a session").to_owned());
        client
    };
    let mut alice = client("alice", TOKEN.to_owned());
    let mut bob = client("bob", format!("{TOKEN}-too"));
    alice.call("start_app", json!({"app_id": "com.workbench"})).done();
    let of_bob = bob.session.clone();
    bob.session = alice.session.clone();
    for (tool, arguments) in
        [("press_home", json!({})), ("get_ui_tree", json!({})), ("list_devices", json!({}))]
    {
        let heard = bob.call(tool, arguments);
        assert!(REFUSED.contains(&heard.reply.status), "bob's token with alice's session, {tool}: {heard:?}");
    }
    let token = format!("Bearer {TOKEN}-too");
    let headers = [
        ("authorization", token.as_str()),
        ("mcp-session-id", alice.session.as_deref().unwrap()),
        ("mcp-protocol-version", "2025-11-25"),
        ("accept", "text/event-stream"),
    ];
    for (method, what) in [("GET", "its stream"), ("DELETE", "its end")] {
        let status = exchange(served.address, &request(method, "/mcp", &headers, "")).status;
        assert!(REFUSED.contains(&status), "{what}: {status}");
    }
    assert!(alice.call("get_current_screen", json!({})).done().contains("com.workbench"), "nothing was done");
    bob.session = of_bob;
    bob.call("list_devices", json!({})).done();
}

#[test]
fn a_device_is_handed_over_when_its_client_goes_or_is_asked_for() {
    let served = Served::start(&[]);
    let mut alice = Client::with_session(served.address, "alice");
    let mut bob = Client::with_session(served.address, "bob");
    alice.call("press_home", json!({})).done();
    assert!(bob.call("press_home", json!({})).is_error());
    let headers =
        [("mcp-session-id", alice.session.as_deref().unwrap()), ("mcp-protocol-version", "2025-11-25")];
    assert_eq!(exchange(served.address, &request("DELETE", "/mcp", &headers, "")).status, 200);
    bob.call("press_home", json!({})).done();
    let mut carol = Client::with_session(served.address, "carol");
    assert!(carol.call("press_home", json!({})).is_error());
    carol.call("use_device", json!({"device_id": "virtual-android", "take_over": true})).done();
    carol.call("press_home", json!({})).done();
    assert!(bob.call("press_home", json!({})).text().contains("carol"));
}

#[test]
fn where_it_is_forbidden_nobody_takes_a_device_over() {
    let served = Served::start(&["--no-take-over"]);
    let mut alice = Client::with_session(served.address, "alice");
    let mut bob = Client::with_session(served.address, "bob");
    alice.call("press_home", json!({})).done();
    let refused = bob.call("use_device", json!({"device_id": "virtual-android", "take_over": true}));
    assert!(refused.is_error() && refused.text().contains("DEVICE_LEASED"), "{refused:?}");
    alice.call("press_home", json!({})).done();
}

#[test]
fn nobody_gets_the_answer_of_another() {
    let served = Served::start(&[]);
    let sessions: BTreeSet<String> = std::thread::scope(|scope| {
        let clients: Vec<_> = (0..8)
            .map(|number| {
                let address = served.address;
                scope.spawn(move || {
                    let mut client = Client::with_session(address, &format!("agent {number}"));
                    for round in 0..10 {
                        // All of them number their requests alike, and ask for something that only they ask for.
                        let words = format!("nobody-{number}-{round}");
                        let heard = client.call("find_element", json!({"selector": {"text": words}}));
                        assert!(heard.text().contains(&words), "{number} {round}: {heard:?}");
                        assert_eq!(heard.reply.messages().len(), 1, "{heard:?}");
                    }
                    client.session.unwrap()
                })
            })
            .collect();
        clients.into_iter().map(|client| client.join().unwrap()).collect()
    });
    assert_eq!(sessions.len(), 8);
    assert!(sessions.iter().all(|id| id.len() >= 32), "an id that can be guessed: {sessions:?}");
}
