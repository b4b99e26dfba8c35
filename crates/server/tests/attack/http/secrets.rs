//! Secrets that are used by name: looked for in twelve places where they could come out (SE-06).

use std::fmt::Write as _;

use serde_json::{Value, json};

use super::client::{Client, Heard};
use super::served::{Folder, Served};

const PASSWORD: &str = "kestrel-canary-77";
/// So that quoting, cutting and case hide nothing from the test.
const TRACES: [&str; 2] = ["kestrel", "canary-77"];
const EMAIL: &str = "somebody@canary.example";

struct Places {
    client: Client,
    /// What came out, by the place it came from.
    seen: Vec<(&'static str, String)>,
}

impl Places {
    fn see(&mut self, place: &'static str, heard: Heard) -> Heard {
        self.seen.push((place, format!("{} {}", heard.reply.head, heard.reply.body)));
        heard
    }

    fn call(&mut self, place: &'static str, tool: &str, arguments: Value) -> Heard {
        // With progress, so that notifications are looked through too.
        let params = json!({"name": tool, "arguments": arguments, "_meta": {"progressToken": 1}});
        let heard = self.client.ask("tools/call", params);
        self.see(place, heard)
    }

    fn ask(&mut self, place: &'static str, method: &str, params: Value) -> Heard {
        let heard = self.client.ask(method, params);
        self.see(place, heard)
    }
}

#[test]
fn a_secret_that_is_used_by_name_comes_out_nowhere() {
    // SE-06, S8
    let folder = Folder::new();
    let file = folder.write("password", PASSWORD);
    let audit = folder.name_of("audit.jsonl");
    let root = folder.path().to_str().unwrap().to_owned();
    let secret = format!("login=file:{file}");
    let options = ["--secret", &secret, "--audit", &audit, "--root", &root];
    let served = Served::start_with(folder, &["--log", "trace"], &options);
    let client = Client::with_session(served.address, "agent");
    let mut places = Places { client, seen: Vec::new() };
    places.call("1 the answer of an action", "start_app", json!({"app_id": "com.workbench"})).done();
    places.ask("2 the log of the client", "logging/setLevel", json!({"level": "debug"}));
    // Into a field that shows what is typed.
    let typed = json!({"text": "secret://login", "selector": {"resource_id": "email"}, "clear": true, "settle": true});
    places.call("1 the answer of an action", "type_text", typed).done();
    let tree = places.call("3 the tree", "get_ui_tree", json!({})).done();
    assert!(tree.contains("[secret]"), "it was typed and is not shown: {tree}");
    places.call("3 the tree", "get_ui_tree", json!({"format": "json"})).done();
    let wanted = json!({"selector": {"resource_id": "email"}, "text_value": "secret://login"});
    let verified = json!({"text": "secret://login", "selector": {"resource_id": "email"}, "clear": true, "expect": wanted});
    let heard = places.call("4 a verification by name", "type_text", verified).done();
    assert!(heard.contains("confirmed"), "{heard}");
    let wrong = json!({"selector": {"text": "secret://login"}, "timeout_ms": 300});
    places.call("5 an error", "tap_element", wrong);
    places.call(
        "5 an error",
        "type_text",
        json!({"text": "secret://unknown", "selector": {"resource_id": "email"}}),
    );
    places.call("6 the log of the device", "get_logs", json!({"limit": 1000}));
    places.call("7 a snapshot", "capture_debug_snapshot", json!({"folder": format!("{root}/snapshot")}));
    places.call("8 a flow", "run_flow", json!({"steps": [
        {"tool": "type_text", "arguments": {"text": "secret://login", "selector": {"resource_id": "email"}, "clear": true}},
        {"tool": "get_ui_tree", "arguments": {}}]})).done();
    for part in ["screen", "trace", "log"] {
        places.ask(
            "9 a resource",
            "resources/read",
            json!({"uri": format!("screen://virtual-android/{part}")}),
        );
    }
    let prompt = json!({"name": "reproduce_a_bug", "arguments": {"report": "it hangs"}});
    places.ask("10 prompts and completions", "prompts/get", prompt);
    let completed = json!({"ref": {"type": "ref/prompt", "name": "why_a_tap_does_nothing"},
        "argument": {"name": "element", "value": ""}, "context": {"arguments": {"device_id": "virtual-android"}}});
    places.ask("10 prompts and completions", "completion/complete", completed);
    let Places { client, mut seen } = places;
    drop(client);
    let log = served.server.stop();
    assert!(log.len() > 50, "the log is heard");
    seen.push(("11 the log of the server", log.join("\n")));
    let mut files = String::new();
    files_below(served.folder.path(), &mut files);
    assert!(files.contains("type_text"), "the audit log is among the files");
    seen.push(("12 the audit log and other files", files));
    for (place, text) in &seen {
        let lower = text.to_lowercase();
        for trace in TRACES {
            assert!(!lower.contains(trace), "{trace:?} came out in {place}: {text}");
        }
    }
    let mut named: Vec<_> = seen.iter().map(|(place, _)| *place).collect();
    named.dedup();
    named.sort_unstable();
    named.dedup();
    assert_eq!(named.len(), 12, "{named:?}");
}

/// All the text below a folder, but for the file that the secret is read from.
fn files_below(folder: &std::path::Path, text: &mut String) {
    for entry in std::fs::read_dir(folder).unwrap().flatten() {
        let path = entry.path();
        if path.is_dir() {
            files_below(&path, text);
        } else if entry.file_name() != "password" {
            let bytes = std::fs::read(&path).unwrap();
            writeln!(text, "{}: {}", path.display(), String::from_utf8_lossy(&bytes)).unwrap();
        }
    }
}

#[test]
fn what_looks_like_personal_data_is_hidden_unless_it_is_wanted() {
    // SE-06: on by default, configurable
    for (options, shown) in [(&[][..], false), (&["--show", "emails"][..], true)] {
        let served = Served::start(options);
        let mut client = Client::stateless(served.address, "agent");
        client.call("start_app", json!({"app_id": "com.workbench"})).done();
        // What a caller wrote itself it may read: so the address is on the phone without that anybody ever wrote it whole.
        let (name, rest) = EMAIL.split_once(".ex").unwrap();
        for (text, clear) in [(name, true), (&format!(".ex{rest}"), false)] {
            let typed = json!({"text": text, "selector": {"resource_id": "email"}, "clear": clear});
            client.call("type_text", typed).done();
        }
        let tree = client.call("get_ui_tree", json!({})).done();
        assert_eq!(tree.contains(EMAIL), shown, "{tree}");
        assert_eq!(tree.contains("[email 1]"), !shown, "{tree}");
    }
}
