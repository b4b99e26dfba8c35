//! What a client may do that came in: files, tools, apps, what a person has to agree to, and what is written down (SE-02,
//! SE-04).

use serde_json::{Value, json};

use super::client::Client;
use super::served::{Folder, Served};

const OUTSIDE: &str = "what-lies-outside-52";

/// An app that crashes when it is touched.
const CRASHING: &str = r#"{"package": "org.example.crash", "label": "Crash", "start": "Home",
    "screens": {"Home": {"content": [
        {"type": "button", "text": "Crash", "on_tap": [{"crash": "java.io.IOException: gone"}]}]}}}"#;
/// What is said of a path, whatever lies there; the last one of a link that would be written through.
const REFUSALS: [&str; 3] = ["outside the allowed folders", "control characters", "is not a regular file"];

/// A server whose clients may use `allowed`, in which links lead outside, and whose phone has a file and a crash.
fn served_with_links() -> (Served, Client, String) {
    let folder = Folder::new();
    std::fs::create_dir_all(folder.path().join("allowed")).unwrap();
    folder.write("outside.txt", OUTSIDE);
    folder.write("allowed/in.txt", "inside");
    std::os::unix::fs::symlink(folder.path(), folder.path().join("allowed/link")).unwrap();
    std::os::unix::fs::symlink(folder.name_of("outside.txt"), folder.path().join("allowed/file")).unwrap();
    let allowed = folder.name_of("allowed");
    let app = folder.write("crash.json", CRASHING);
    let served = Served::start_with(folder, &[], &["--root", &allowed, "--app", &app]);
    let mut client = Client::with_session(served.address, "walker");
    // What lies inside may be used: the test would notice a server that refuses everything.
    let push = json!({"action": "push", "local": format!("{allowed}/in.txt"), "remote": "/sdcard/in.txt"});
    client.call("transfer_file", push).done();
    client.call("start_app", json!({"app_id": "org.example.crash", "settle": true})).done();
    client.call("tap_element", json!({"selector": {"text": "Crash"}}));
    client.call("get_crash", json!({})).done();
    (served, client, allowed)
}

#[test]
fn no_file_outside_the_allowed_folders_is_read_or_written() {
    // SE-02: path traversal by `..`, by a link, and by NUL
    let (served, mut client, allowed) = served_with_links();
    let paths = [
        format!("{allowed}/../outside.txt"),
        format!("{allowed}/link/outside.txt"),
        format!("{allowed}/file"),
        format!("{allowed}/in.txt\u{0}/../../outside.txt"),
        format!("{allowed}\u{0}"),
        "/etc/passwd".to_owned(),
        "../../../../etc/passwd".to_owned(),
        "file:///etc/passwd".to_owned(),
        "~/.ssh/id_rsa".to_owned(),
        "/proc/self/environ".to_owned(),
    ];
    let new = [format!("{allowed}/link/new"), format!("{allowed}/../new"), format!("{allowed}/link/new/new")];
    let listing = |path: &std::path::Path| {
        let entries = std::fs::read_dir(path).unwrap().flatten();
        let mut names: Vec<_> = entries.map(|entry| entry.file_name()).collect();
        names.sort();
        names
    };
    let before = (listing(served.folder.path()), listing(&served.folder.path().join("allowed")));
    let reads = |path: &str| {
        [
            ("transfer_file", json!({"action": "push", "local": path, "remote": "/sdcard/stolen.txt"})),
            ("install_app", json!({"app_path": path})),
            ("build_app", json!({"project_path": path})),
            ("get_crash", json!({"symbols": path})),
        ]
    };
    let writes = |path: &str| {
        [
            ("transfer_file", json!({"action": "pull", "local": path, "remote": "/sdcard/in.txt"})),
            ("capture_debug_snapshot", json!({"folder": path})),
            ("get_network_activity", json!({"export_har": path})),
        ]
    };
    let reading = paths.iter().flat_map(|path| reads(path));
    for (tool, arguments) in reading.chain(paths.iter().chain(&new).flat_map(|path| writes(path))) {
        let heard = client.call(tool, arguments.clone());
        let text = format!("{heard:?}");
        assert!(heard.is_error(), "{tool} {arguments}: {text}");
        assert!(REFUSALS.iter().any(|why| text.contains(why)), "{tool} {arguments}: {text}");
        assert!(!text.contains(OUTSIDE), "{tool} {arguments}: {text}");
    }
    let resources =
        ["file:///etc/passwd", "mdm://docs/../../Cargo.toml", "screen://../screen", "mdm://docs/%2e%2e%2fx"];
    for uri in resources {
        let heard = client.ask("resources/read", json!({"uri": uri}));
        assert!(heard.answer.get("error").is_some(), "{uri}: {heard:?}");
    }
    assert_eq!(std::fs::read_to_string(served.folder.name_of("outside.txt")).unwrap(), OUTSIDE);
    let after = (listing(served.folder.path()), listing(&served.folder.path().join("allowed")));
    assert_eq!(before, after, "something was written");
    let pull = json!({"action": "pull", "local": format!("{allowed}/new.txt"), "remote": "/sdcard/in.txt"});
    client.call("transfer_file", pull).done();
    assert_eq!(std::fs::read_to_string(format!("{allowed}/new.txt")).unwrap(), "inside");
}

#[test]
fn who_may_only_read_cannot_act() {
    // SE-04
    let served = Served::start(&["--read-only"]);
    let mut client = Client::stateless(served.address, "reader");
    let listed = client.ask("tools/list", json!({}));
    let tools = listed.answer["result"]["tools"].as_array().unwrap();
    assert!(tools.len() > 5, "{listed:?}");
    for tool in tools {
        let says = &tool["annotations"];
        let reads = says["readOnlyHint"] == json!(true) || says["destructiveHint"] == json!(false);
        assert!(reads, "{tool}");
    }
    for (tool, arguments) in [
        ("tap", json!({"x": 1, "y": 1})),
        ("press_home", json!({})),
        ("run_flow", json!({"steps": [{"tool": "press_home", "arguments": {}}]})),
        ("manage_app", json!({"action": "uninstall", "app_id": "com.workbench"})),
    ] {
        assert!(client.call(tool, arguments).answer.get("error").is_some(), "{tool}");
    }
    client.call("get_ui_tree", json!({})).done();
}

#[test]
fn a_policy_decides_about_tools_apps_and_devices() {
    // SE-04
    let folder = Folder::new();
    let policy = folder.write(
        "policy.toml",
        "[tools]\ndeny = [\"manage_app\", \"swipe\"]\n[apps]\nallow = [\"com.workbench\"]\n[devices]\nallow = [\"virtual-*\"]\n",
    );
    let served = Served::start_with(folder, &[], &["--policy", &policy]);
    let mut client = Client::stateless(served.address, "agent");
    client.call("start_app", json!({"app_id": "com.workbench"})).done();
    let refused = [
        ("reset_app_data", json!({"app_id": "com.workbench"})),
        ("swipe", json!({"direction": "up"})),
        ("start_app", json!({"app_id": "com.android.settings"})),
        ("manage_app", json!({"action": "clear", "app_id": "com.android.settings"})),
        ("run_flow", json!({"steps": [{"tool": "swipe", "arguments": {"direction": "up"}}]})),
        (
            "run_flow",
            json!({"steps": [{"tool": "start_app", "arguments": {"app_id": "com.android.settings"}}]}),
        ),
        ("press_home", json!({"device_id": "emulator-5554"})),
    ];
    for (tool, arguments) in refused {
        let heard = client.call(tool, arguments.clone());
        assert!(heard.is_error(), "{tool} {arguments}: {heard:?}");
    }
    assert!(client.call("get_current_screen", json!({})).done().contains("com.workbench"));
}

const CONFIRM: &str = "[confirm]\ntools = [\"terminate_app\", \"manage_app\"]\n";

#[test]
fn a_person_is_asked_before_what_the_policy_names() {
    // SE-04: by handing the question back (2026-07-28)
    let folder = Folder::new();
    let policy = folder.write("policy.toml", CONFIRM);
    let served = Served::start_with(folder, &[], &["--policy", &policy]);
    let arguments = json!({"app_id": "com.workbench"});
    let mut mute = Client::stateless(served.address, "mute");
    mute.call("start_app", arguments.clone()).done();
    let heard = mute.call("terminate_app", arguments.clone());
    assert!(heard.text().contains("NOT_CONFIRMED"), "a client that cannot ask: {heard:?}");
    let mut client =
        Client { capabilities: json!({"elicitation": {}}), ..Client::stateless(served.address, "mute") };
    let question = client.call("terminate_app", arguments.clone()).answer["result"].clone();
    assert_eq!(question["resultType"], json!("input_required"), "{question}");
    let state = question["requestState"].clone();
    let words = &question["inputRequests"]["confirm"]["params"]["message"];
    assert!(words.as_str().unwrap().contains("terminate_app"), "{words}");
    let mut answer = |state: &Value, allow: bool, arguments: &Value| {
        let given = json!({"confirm": {"action": "accept", "content": {"allow": allow}}});
        let params = json!({"name": "terminate_app", "arguments": arguments, "inputResponses": given,
            "requestState": state});
        client.ask("tools/call", params).answer["result"].clone()
    };
    // A made-up state, and an answer to another call, are no consent.
    let asked_again = |result: &Value| result["resultType"] == json!("input_required");
    assert!(asked_again(&answer(&json!("made-up"), true, &arguments)));
    let other = json!({"app_id": "com.android.settings"});
    assert!(asked_again(&answer(&state, true, &other)));
    assert!(asked_again(&answer(&state, true, &arguments)), "a state counts once, also for the wrong call");
    assert!(mute.call("get_current_screen", json!({})).done().contains("com.workbench"), "nothing was done");
    let again = answer(&json!(null), true, &arguments)["requestState"].clone();
    let refused = answer(&again, false, &arguments);
    assert!(refused["content"][0]["text"].as_str().unwrap().contains("NOT_CONFIRMED"), "{refused}");
    let again = answer(&json!(null), true, &arguments)["requestState"].clone();
    let done = answer(&again, true, &arguments);
    assert_eq!(done["isError"], json!(false), "{done}");
    assert!(!mute.call("get_current_screen", json!({})).done().contains("com.workbench"));
}

#[test]
fn every_action_is_written_down_once_and_nobody_can_forge_a_line() {
    // SE-04: the audit log; log injection
    let folder = Folder::new();
    let audit = folder.name_of("audit.jsonl");
    let served = Served::start_with(folder, &["--log", "trace"], &["--audit", &audit]);
    let forged =
        "x\n{\"event\":\"begin\",\"tool\":\"reset_app_data\"}\r\n\u{1b}[2K\u{1b}[31mERROR forged\u{2028}";
    let mut client = Client::with_session(served.address, forged);
    client.call("press_home", json!({})).done();
    client.call("start_app", json!({"app_id": forged}));
    client.call("find_element", json!({"selector": {"text": forged}}));
    client.call(forged, json!({}));
    client.call("press_home", json!({forged: 1}));
    let log = served.server.stop();
    let written = std::fs::read_to_string(&audit).unwrap();
    let mut begun = Vec::new();
    for line in written.lines() {
        let line: Value = serde_json::from_str(line).unwrap_or_else(|error| panic!("{error}: {line:?}"));
        let event = line["event"].as_str().unwrap();
        assert!(matches!(event, "begin" | "end"), "{line}");
        assert_ne!(line["tool"], json!("reset_app_data"), "forged: {line}");
        if event == "begin" {
            begun.push(line["tool"].as_str().unwrap().to_owned());
        }
    }
    assert_eq!(begun.iter().filter(|tool| *tool == "press_home").count(), 2, "{begun:?}");
    assert_eq!(begun.iter().filter(|tool| *tool == "start_app").count(), 1, "{begun:?}");
    assert!(!written.contains('\u{1b}') && !written.contains('\u{2028}'), "{written}");
    assert!(log.len() > 10, "the log is heard");
    for line in log {
        assert!(!line.contains('\u{1b}') && !line.contains('\r'), "{line:?}");
        assert!(!line.starts_with('{'), "a forged line: {line:?}");
    }
}
