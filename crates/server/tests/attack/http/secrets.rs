//! Secrets that are used by name: looked for in every place where they could come out (SE-06).

use std::fmt::Write as _;
use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::thread::JoinHandle;

use base64::Engine as _;
use serde_json::{Value, json};

use super::client::{Client, Heard, request};
use super::jpeg::Blocks;
use super::served::{Folder, Served};

const PASSWORD: &str = "kestrel-canary-77";
/// So that quoting, cutting and case hide nothing from the test.
const TRACES: [&str; 2] = ["kestrel", "canary-77"];
const EMAIL: &str = "somebody@canary.example";

/// An app that tells its log what stands in its field.
const APP: &str = r#"{"package": "org.example.door", "label": "Door", "start": "Home", "values": {"email": ""},
    "screens": {"Home": {"content": [
        {"type": "field", "id": "email", "hint": "E-mail", "value": "email"},
        {"type": "button", "text": "Tell",
            "on_tap": [{"log": {"priority": "W", "tag": "Door", "message": "the field holds {email}"}}]}]}}}"#;

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

/// All that the server tells a session outside of its answers, until it ends.
fn listen(client: &Client) -> JoinHandle<String> {
    let headers = [
        ("mcp-session-id", client.session.as_deref().unwrap()),
        ("mcp-protocol-version", "2025-11-25"),
        ("accept", "text/event-stream"),
    ];
    let mut stream = TcpStream::connect(client.address).unwrap();
    stream.write_all(&request("GET", "/mcp", &headers, "")).unwrap();
    let mut first = [0];
    stream.read_exact(&mut first).unwrap();
    std::thread::spawn(move || {
        let mut told = Vec::new();
        // How it ends is of no interest.
        let _ = stream.read_to_end(&mut told);
        String::from_utf8_lossy(&told).into_owned()
    })
}

#[test]
fn a_secret_that_is_used_by_name_comes_out_nowhere() {
    // SE-06, S8
    let folder = Folder::new();
    let file = folder.write("password", PASSWORD);
    let app = folder.write("door.json", APP);
    let (audit, trace) = (folder.name_of("audit.jsonl"), folder.name_of("session.jsonl"));
    let root = folder.path().to_str().unwrap().to_owned();
    let secret = format!("login=file:{file}");
    let options =
        ["--secret", &secret, "--audit", &audit, "--save-trace", &trace, "--root", &root, "--app", &app];
    let served = Served::start_with(folder, &["--log", "trace"], &options);
    let client = Client::with_session(served.address, "agent");
    let told = listen(&client);
    let mut places = Places { client, seen: Vec::new() };
    places.call("1 the answer of an action", "start_app", json!({"app_id": "org.example.door"})).done();
    places.ask("2 the log of the client", "logging/setLevel", json!({"level": "debug"}));
    let empty = places.client.call("capture_screenshot", json!({}));
    let field = field_of(&mut places);
    // Into a field that shows what is typed.
    let typed = json!({"text": "secret://login", "selector": {"resource_id": "email"}, "clear": true, "settle": true});
    places.call("1 the answer of an action", "type_text", typed).done();
    places.call("3 the tree", "get_ui_tree", json!({})).done();
    places.call("3 the tree", "get_ui_tree", json!({"format": "json"})).done();
    let wanted = json!({"selector": {"resource_id": "email"}, "text_value": "secret://login"});
    let verified = json!({"text": "secret://login", "selector": {"resource_id": "email"}, "clear": true, "expect": wanted});
    let heard = places.call("4 a verification by name", "type_text", verified).done();
    assert!(heard.contains("confirmed"), "{heard}");
    use_everywhere(&mut places, &root);
    let Places { client, mut seen } = places;
    drop(client);
    let log = served.server.stop();
    assert!(log.len() > 50, "the log is heard");
    seen.push(("11 the log of the server", log.join("\n")));
    let told = told.join().unwrap();
    assert!(told.contains("notifications/message"), "the log of the client is heard: {told}");
    seen.push(("2 the log of the client", told));
    seen.push(("13 the trace of the session", std::fs::read_to_string(trace).unwrap()));
    let mut files = String::new();
    files_below(served.folder.path(), &mut files);
    assert!(files.contains("type_text"), "the audit log is among the files");
    seen.push(("12 the audit log and other files", files));
    check(&seen);
    for picture in [picture_of(&empty), std::fs::read(served.folder.name_of("snapshot/screen.jpg")).unwrap()]
        .map(|jpeg| Blocks::read(&jpeg))
        .iter()
        .zip([false, true])
    {
        let (blocks, is_masked) = picture;
        let shown = blocks.within(field.map(|pixels| pixels * blocks.height / 2400));
        let is_flat = shown[0].is_some() && shown.iter().all(|block| *block == shown[0]);
        assert_eq!(is_flat, is_masked, "the field is painted over where it holds the secret: {shown:?}");
    }
}

/// Whatever else may show it.
fn use_everywhere(places: &mut Places, root: &str) {
    let wrong = json!({"selector": {"text": "secret://login"}, "timeout_ms": 300});
    places.call("5 an error", "tap_element", wrong);
    places.call(
        "5 an error",
        "type_text",
        json!({"text": "secret://unknown", "selector": {"resource_id": "email"}}),
    );
    places.call("6 the log of the device", "tap_element", json!({"selector": {"text": "Tell"}})).done();
    places.call("6 the log of the device", "get_logs", json!({"limit": 1000})).done();
    places
        .call("7 a snapshot", "capture_debug_snapshot", json!({"folder": format!("{root}/snapshot")}))
        .done();
    let masked = places.call("7 a snapshot", "capture_screenshot", json!({})).done();
    assert!(masked.contains(r#""masked":1"#), "{masked}");
    places.call("8 a flow", "run_flow", json!({"steps": [
        {"tool": "type_text", "arguments": {"text": "secret://login", "selector": {"resource_id": "email"}, "clear": true}},
        {"tool": "get_ui_tree", "arguments": {}}]})).done();
    for (place, part) in [("9 the screen", "screen"), ("9 the trace", "trace"), ("9 the log", "log")] {
        let uri = format!("screen://virtual-android/{part}");
        places.ask(place, "resources/read", json!({"uri": uri}));
    }
    let prompt = json!({"name": "reproduce_a_bug", "arguments": {"report": "it hangs"}});
    places.ask("10 prompts and completions", "prompts/get", prompt);
    let completed = json!({"ref": {"type": "ref/prompt", "name": "why_a_tap_does_nothing"},
        "argument": {"name": "element", "value": ""}, "context": {"arguments": {"device_id": "virtual-android"}}});
    places.ask("10 prompts and completions", "completion/complete", completed);
}

/// Nothing of the secret is anywhere, and where it would stand is said that it does.
#[track_caller]
fn check(seen: &[(&'static str, String)]) {
    for (place, text) in seen {
        let lower = text.to_lowercase();
        for trace in TRACES {
            assert!(!lower.contains(trace), "{trace:?} came out in {place}: {text}");
        }
    }
    let mut named: Vec<_> = seen.iter().map(|(place, _)| *place).collect();
    named.sort_unstable();
    named.dedup();
    assert_eq!(named.len(), 15, "{named:?}");
    for place in [
        "3 the tree",
        "6 the log of the device",
        "7 a snapshot",
        "8 a flow",
        "9 the screen",
        "9 the log",
        "12 the audit log and other files",
        "13 the trace of the session",
    ] {
        let mut of_place = seen.iter().filter(|(name, _)| *name == place);
        assert!(of_place.any(|(_, text)| text.contains("[secret]")), "it stands in {place}");
    }
    let held = seen.iter().filter(|(_, text)| text.contains("the field holds [secret]"));
    assert!(held.count() >= 3, "the log of the device has it, also as a resource and in files");
}

/// Where the field is, in pixels of the device.
fn field_of(places: &mut Places) -> [usize; 4] {
    let tree = places.call("3 the tree", "get_ui_tree", json!({"format": "json"})).done();
    let tree: Value = serde_json::from_str(tree.lines().next().unwrap()).unwrap();
    fn find(value: &Value) -> Option<[usize; 4]> {
        let is_field = |value: &Value| value.as_str().is_some_and(|text| text.ends_with("id/email"));
        match value {
            Value::Object(object) if object.contains_key("bounds") && object.values().any(is_field) => {
                serde_json::from_value(object["bounds"].clone()).ok()
            }
            Value::Object(object) => object.values().find_map(find),
            Value::Array(items) => items.iter().find_map(find),
            _ => None,
        }
    }
    find(&tree).unwrap_or_else(|| panic!("no field in {tree}"))
}

fn picture_of(heard: &Heard) -> Vec<u8> {
    let data = heard.answer["result"]["content"][1]["data"].as_str().expect("a picture");
    base64::engine::general_purpose::STANDARD.decode(data).unwrap()
}

/// All the text below a folder, but for the files of the test itself.
fn files_below(folder: &Path, text: &mut String) {
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
fn a_password_that_nobody_called_one_is_in_no_file() {
    // SE-04, SE-06, S8: what is written before it was typed cannot know what the field is
    let folder = Folder::new();
    let (audit, trace) = (folder.name_of("audit.jsonl"), folder.name_of("session.jsonl"));
    let served = Served::start_with(folder, &[], &["--audit", &audit, "--save-trace", &trace]);
    let mut client = Client::with_session(served.address, "agent");
    client.call("start_app", json!({"app_id": "com.workbench"})).done();
    let into = json!({"resource_id": "password"});
    client.call("type_text", json!({"text": PASSWORD, "selector": into, "clear": true})).done();
    let step = json!({"tool": "type_text", "arguments": {"text": "osprey-canary-77", "selector": into, "clear": true}});
    client.call("run_flow", json!({"steps": [step]})).done();
    client.call("type_text", json!({"text": 902_101_234_567_u64, "secure": true, "selector": into}));
    served.server.stop();
    for file in [audit, trace] {
        let text = std::fs::read_to_string(&file).unwrap();
        for hidden in ["kestrel", "osprey", "canary", "902101234567"] {
            assert!(!text.contains(hidden), "{hidden} in {file}: {text}");
        }
        assert!(text.contains("[17 characters]") && text.contains("[16 characters]"), "{file}: {text}");
    }
}

#[test]
fn a_build_does_not_get_the_secrets_of_the_server() {
    // SE-06: whatever a project runs could read them
    let folder = Folder::new();
    std::fs::create_dir_all(folder.path().join("project/app")).unwrap();
    std::fs::create_dir_all(folder.path().join("project/jdk/bin")).unwrap();
    for (name, text) in [
        ("settings.gradle", "include ':app'\n".to_owned()),
        ("app/build.gradle", "plugins { id 'com.android.application' }\n".to_owned()),
        ("gradle.properties", format!("org.gradle.java.home={}\n", folder.name_of("project/jdk"))),
        ("jdk/bin/java", "#!/bin/sh\n".to_owned()),
        ("gradlew", "#!/bin/sh\nexport -p > variables\nexit 1\n".to_owned()),
    ] {
        let file = folder.write(&format!("project/{name}"), &text);
        std::fs::set_permissions(file, std::fs::Permissions::from_mode(0o755)).unwrap();
    }
    let root = folder.path().to_str().unwrap().to_owned();
    // A variable that the tests' server always has.
    let served = Served::start_with(folder, &[], &["--root", &root, "--secret", "login=env:HOME"]);
    let mut client = Client::with_session(served.address, "builder");
    let heard = client.call("build_app", json!({"project_path": format!("{root}/project")}));
    let variables = std::fs::read_to_string(format!("{root}/project/variables"));
    let variables = variables.unwrap_or_else(|error| panic!("{error}: {heard:?}"));
    assert!(variables.contains("PATH=") && variables.contains("JAVA_HOME="), "{variables}");
    assert!(!variables.contains(" HOME="), "{variables}");
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
