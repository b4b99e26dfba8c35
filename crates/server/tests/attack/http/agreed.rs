//! A person has to agree to what the policy names, however the call that does it is spelled (SE-04).

use serde_json::json;

use super::client::Client;
use super::served::{Folder, Served};

#[test]
fn no_spelling_of_a_flow_goes_round_the_person_who_is_asked() {
    let folder = Folder::new();
    let policy = folder
        .write("policy.toml", "[confirm]\ndestructive = true\ntools = [\"terminate_app\", \"manage_app\"]\n");
    let served = Served::start_with(folder, &[], &["--policy", &policy]);
    let mut client =
        Client { capabilities: json!({"elicitation": {}}), ..Client::stateless(served.address, "agent") };
    client.call("start_app", json!({"app_id": "com.workbench"})).done();
    let clear = json!({"app_id": "com.workbench"});
    for arguments in [
        json!({"steps": [{"tool": "reset_app_data", "arguments": clear}]}),
        json!({"steps": [["reset_app_data", clear]]}),
        json!({"Steps": [{"tool": "terminate_app", "arguments": clear}]}),
        json!({"ste_ps": [{"tool": "manage_app", "arguments": {"action": "clear", "app_id": "com.workbench"}}]}),
        json!({"steps": [{"tool": "press_home"}, {"tool": "reset_app_data", "arguments": clear}]}),
    ] {
        let heard = client.call("run_flow", arguments.clone());
        let asked = &heard.answer["result"]["inputRequests"]["confirm"]["params"]["message"];
        let words = asked.as_str().unwrap_or_else(|| panic!("nobody was asked: {arguments}: {heard:?}"));
        assert!(words.contains("_app") && words.contains("com.workbench"), "{words}");
    }
    assert!(
        client.call("get_current_screen", json!({})).done().contains("com.workbench"),
        "nothing was done"
    );
}

#[test]
fn a_tool_that_does_the_same_is_asked_about_too() {
    let folder = Folder::new();
    let policy =
        folder.write("policy.toml", "[confirm]\ntools = [\"manage_app\"]\n[tools]\ndeny = [\"press_key\"]\n");
    let audit = folder.name_of("audit.jsonl");
    let served = Served::start_with(folder, &[], &["--policy", &policy, "--audit", &audit]);
    let mut client = Client::stateless(served.address, "agent");
    client.call("start_app", json!({"app_id": "com.workbench"})).done();
    for tool in ["terminate_app", "reset_app_data"] {
        let heard = client.call(tool, json!({"app_id": "com.workbench"}));
        assert!(heard.text().contains("NOT_CONFIRMED"), "{tool}: {heard:?}");
    }
    assert!(client.call("press_home", json!({})).answer.get("error").is_some(), "press_key is denied");
    assert!(client.call("get_current_screen", json!({})).done().contains("com.workbench"));
    let written = std::fs::read_to_string(&audit).unwrap();
    let line =
        |tool: &str| written.lines().find(|line| line.contains("\"end\"") && line.contains(tool)).unwrap();
    let refused = line("reset_app_data");
    assert!(
        refused.contains("com.workbench") && refused.contains("NOT_CONFIRMED"),
        "what was asked: {refused}"
    );
    assert!(line("get_current_screen").contains("virtual-android"), "where: {written}");
}

#[test]
fn apps_that_are_not_allowed_are_reached_by_no_other_way() {
    let folder = Folder::new();
    let policy = folder.write("policy.toml", "[apps]\nallow = [\"com.workbench\"]\n");
    let served = Served::start_with(folder, &[], &["--policy", &policy]);
    let mut client = Client::stateless(served.address, "agent");
    // The home screen is in front, which is no app that is allowed.
    client.call("press_home", json!({})).done();
    for (tool, arguments) in [
        ("press_key", json!({"key": "enter"})),
        ("press_key", json!({"key": "29"})),
        ("type_text", json!({"text": "x"})),
        ("manage_app", json!({"action": "open", "link": "bank://pay?to=me"})),
        ("manage_app", json!({"action": "open", "link": "bank://pay?to=me", "app_id": null})),
        ("manage_app", json!({"action": "open", "app_id": "com.android.settings"})),
        ("mock_network", json!({"proxy": "on"})),
    ] {
        let heard = client.call(tool, arguments.clone());
        assert!(heard.text().contains("POLICY_DENIED"), "{tool} {arguments}: {heard:?}");
    }
    client.call("press_key", json!({"key": "home"})).done();
    client.call("start_app", json!({"app_id": "com.workbench"})).done();
    client.call("press_key", json!({"key": "tab"})).done();
}

#[test]
fn what_only_reads_replaces_no_file_and_writes_none_where_nothing_may_be_written() {
    // SE-02
    let folder = Folder::new();
    let kept = folder.write("kept.har", "mine");
    let root = folder.path().to_str().unwrap().to_owned();
    let served = Served::start_with(folder, &[], &["--root", &root]);
    let mut client = Client::stateless(served.address, "agent");
    let refused = client.call("get_network_activity", json!({"export_har": kept}));
    assert!(refused.is_error(), "{refused:?}");
    assert_eq!(std::fs::read_to_string(&kept).unwrap(), "mine");
    client.call("get_network_activity", json!({"export_har": format!("{root}/new.har")})).done();
    let state = client.call(
        "transfer_file",
        json!({"action": "push", "local": format!("{root}/state"), "remote": "/sdcard/x"}),
    );
    assert!(state.text().contains("belongs to the server itself"), "{state:?}");
    let reader = Served::start(&["--read-only", "--root", &root]);
    let mut client = Client::stateless(reader.address, "reader");
    for (tool, arguments) in [
        ("get_network_activity", json!({"export_har": format!("{root}/other.har")})),
        ("capture_debug_snapshot", json!({"folder": format!("{root}/report")})),
    ] {
        let heard = client.call(tool, arguments);
        assert!(heard.text().contains("--read-only"), "{tool}: {heard:?}");
    }
}
