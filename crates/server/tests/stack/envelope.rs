//! One envelope for every action, refused ones too (LC-01, LC-03, LC-05, LC-06): a table over all tools.

use mdm_virtual_device::Timing;
use mobile_debug_mcp::answer::Answer;
use mobile_debug_mcp::tools::{self, Effect};
use serde::Deserialize;

use crate::world::World;

/// The keys that every action answers with, whatever came of it.
#[derive(Debug, Deserialize)]
struct Envelope {
    action_id: String,
    action_type: String,
    lifecycle_state: String,
    success: bool,
    elapsed_ms: u64,
    failure_code: Option<String>,
    retryable: Option<bool>,
    device: Option<String>,
    error: Option<ErrorBody>,
    transitions: serde_json::Map<String, serde_json::Value>,
}

#[derive(Debug, Deserialize)]
struct ErrorBody {
    tool: String,
    code: String,
    message: String,
    hint: String,
}

#[derive(Debug, Deserialize)]
struct Refused {
    error: ErrorBody,
    retryable: bool,
}

fn first_line<T: serde::de::DeserializeOwned>(tool: &str, answer: &Answer) -> T {
    let text = answer.text();
    let first = text.lines().next().unwrap_or_default();
    serde_json::from_str(first).unwrap_or_else(|error| panic!("{tool}: {error} in {first}"))
}

/// Arguments with which each action is taken on the login screen, and with which the device or the engine refuses it.
/// Where nothing can be refused, a device that is not there is named.
const ACTIONS: [(&str, &str, &str); 28] = [
    // Its answer is about the proxy and has no envelope of an action.
    ("mock_network", "", r#"{"url":"/rule/without/effect"}"#),
    ("start_app", r#"{"app_id":"com.workbench"}"#, r#"{"app_id":"com.nobody.has"}"#),
    ("terminate_app", r#"{"app_id":"com.shop"}"#, r#"{"app_id":"com.nobody.has"}"#),
    ("restart_app", r#"{"app_id":"com.workbench"}"#, r#"{"app_id":"com.nobody.has"}"#),
    ("reset_app_data", r#"{"app_id":"com.workbench"}"#, r#"{"app_id":"com.nobody.has"}"#),
    ("tap", r#"{"x":3,"y":3}"#, r#"{"x":-1,"y":3}"#),
    ("tap_element", r#"{"selector":{"text":"Remember me"}}"#, r#"{"selector":{"text":"Nothing"}}"#),
    ("swipe", r#"{"x1":3,"y1":30,"x2":3,"y2":3}"#, r#"{"element_id":"e9999","direction":"up"}"#),
    ("type_text", r#"{"text":"ada","selector":{"text":"Email"}}"#, r#"{"text":"a","element_id":"e9999"}"#),
    ("press_back", r#"{"settle":true}"#, r#"{"device_id":"nobody"}"#),
    ("long_press", r#"{"selector":{"text":"Remember me"}}"#, r#"{"selector":{"text":"Nothing"}}"#),
    ("double_tap", r#"{"selector":{"text":"Remember me"}}"#, r#"{"selector":{"text":"Nothing"}}"#),
    ("drag", r#"{"x1":3,"y1":3,"x2":30,"y2":30}"#, r#"{"from":{"text":"Nothing"},"x2":30,"y2":30}"#),
    ("pinch", r#"{"x":300,"y":300,"scale":2}"#, r#"{"selector":{"text":"Nothing"},"scale":2}"#),
    ("press_key", r#"{"key":"volume_up"}"#, r#"{"key":"no_such_key"}"#),
    ("press_home", r#"{}"#, r#"{"device_id":"nobody"}"#),
    ("press_recents", r#"{}"#, r#"{"device_id":"nobody"}"#),
    ("hide_keyboard", r#"{}"#, r#"{"device_id":"nobody"}"#),
    ("set_orientation", r#"{"orientation":"portrait"}"#, r#"{"orientation":"upside_down"}"#),
    ("adjust_control", r#""#, r#"{"selector":{"text":"Email"},"target_value":5}"#),
    ("scroll_to_element", r#"{"selector":{"text":"Log in"}}"#, r#"{"selector":{"text":"Nothing"}}"#),
    ("set_device", r#"{"setting":"dark_mode","value":"on"}"#, r#"{"setting":"dark_mode","value":"maybe"}"#),
    (
        "manage_app",
        r#"{"action":"grant","app_id":"com.workbench","permission":"CAMERA"}"#,
        r#"{"action":"uninstall","app_id":"com.nobody.has"}"#,
    ),
    (
        "transfer_file",
        r#"{"action":"push","local":"Cargo.toml","remote":"/sdcard/Cargo.toml"}"#,
        r#"{"action":"pull","local":"/etc/passwd","remote":"/sdcard/x"}"#,
    ),
    ("build_app", "", r#"{"project_path":"src"}"#),
    ("build_and_install", "", r#"{"project_path":"src"}"#),
    ("install_app", "", r#"{"app_path":"Cargo.toml"}"#),
    ("read_list", "", r#"{"inside":{"text":"Nothing"}}"#),
];

fn check_refusal(tool: &str, json: &str, answer: &Answer) {
    assert!(answer.is_error, "{tool} {json}: {}", answer.text());
    let facts: Envelope = first_line(tool, answer);
    assert!(!facts.success && facts.lifecycle_state == "failed", "LC-03: {tool} {facts:?}");
    let error = facts.error.unwrap_or_else(|| panic!("{tool} {json}: no error"));
    assert_eq!((error.tool.as_str(), facts.failure_code), (tool, Some(error.code)), "{json}");
    assert!(!error.message.is_empty() && !error.hint.is_empty(), "{tool} {json}");
    assert!(facts.retryable.is_some(), "{tool} {json}");
    check_common(tool, &facts.action_id, &facts.action_type);
    assert!(facts.transitions.contains_key("failed"), "LC-01: {tool} {json}");
}

fn check_common(tool: &str, action_id: &str, action_type: &str) {
    assert_eq!(action_type, tool, "LC-06");
    assert!(action_id.starts_with(&format!("{tool}_")), "LC-06: {action_id}");
}

#[tokio::test(start_paused = true)]
async fn every_action_and_every_refusal_has_the_same_envelope() {
    let world = World::started(Timing::Instant).await;
    for (tool, taken, refused) in ACTIONS {
        check_refusal(tool, refused, &world.call(tool, refused).await);
        let nonsense = r#"{"no_such_argument":1}"#;
        check_refusal(tool, nonsense, &world.call(tool, nonsense).await);
        if taken.is_empty() {
            continue;
        }
        world.ok("restart_app", r#"{"app_id":"com.workbench"}"#).await;
        let answer = world.call(tool, taken).await;
        assert!(!answer.is_error, "{tool} {taken}: {}", answer.text());
        let facts: Envelope = first_line(tool, &answer);
        check_common(tool, &facts.action_id, &facts.action_type);
        assert!(facts.success && facts.error.is_none() && facts.failure_code.is_none(), "{tool}: {facts:?}");
        assert_eq!(facts.device.as_deref(), Some("virtual-android"), "{tool}");
        let states = ["pending_verification", "verified"];
        assert!(states.contains(&facts.lifecycle_state.as_str()), "LC-01: {tool} {facts:?}");
        assert_eq!(facts.transitions.keys().next_back(), Some(&facts.lifecycle_state), "LC-01: {tool}");
        let last = facts.transitions.values().next_back().and_then(serde_json::Value::as_u64);
        assert!(last.is_some_and(|ms| ms <= facts.elapsed_ms), "{tool}: {facts:?}");
    }
}

#[test]
fn the_table_has_every_action() {
    let acting = tools::all().filter(|tool| tool.effect != Effect::ReadOnly && tool.name != "run_flow");
    let missing: Vec<&str> = acting
        .map(|tool| tool.name)
        .filter(|name| !ACTIONS.iter().any(|(known, ..)| known == name))
        .collect();
    assert_eq!(missing, Vec::<&str>::new());
}

#[tokio::test(start_paused = true)]
async fn every_refused_read_has_the_same_error() {
    let world = World::started(Timing::Instant).await;
    for tool in tools::all().filter(|tool| tool.effect == Effect::ReadOnly) {
        let answer = world.call(tool.name, r#"{"no_such_argument":1}"#).await;
        assert!(answer.is_error, "{}", tool.name);
        let facts: Refused = first_line(tool.name, &answer);
        assert_eq!((facts.error.tool.as_str(), facts.error.code.as_str()), (tool.name, "INVALID_ARGUMENT"));
        assert!(!facts.retryable && !facts.error.message.is_empty() && !facts.error.hint.is_empty());
    }
    let flow = world.call("run_flow", r#"{"steps":[]}"#).await;
    check_refusal("run_flow", r#"{"steps":[]}"#, &flow);
}
