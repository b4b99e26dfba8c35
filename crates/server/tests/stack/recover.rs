//! Recoveries before an action fails (RC-01 to RC-04), and the trace of an action (TR-01).

use std::time::Duration;

use mdm_virtual_device::{AppFile, Fault, Faults, PhoneConfig, Timing};

use crate::world::{World, fact, line_of};

/// An app whose screen fills late.
const LATE: &str = r#"{
  "package": "org.example.late", "label": "Late", "style": "view", "start": "Home",
  "values": {"ready": false, "agreed": false, "cover": true, "taps": 0},
  "screens": {"Home": {
    "on_open": [{"after": {"ms": 4500, "do": [{"set": {"ready": true, "agreed": true, "cover": false}}]}}],
    "content": [
      {"type": "heading", "text": "Late"},
      {"type": "text", "id": "taps", "text": "Tapped {taps} times"},
      {"type": "spinner", "when": [{"value": "ready", "is": false}]},
      {"type": "button", "text": "Pay", "enabled_when": [{"value": "agreed", "is": true}], "on_tap": [{"add": {"taps": 1}}]},
      {"type": "button", "text": "Dead"},
      {"type": "button", "text": "Order", "when": [{"value": "ready", "is": true}], "on_tap": [{"add": {"taps": 1}}]}
    ]}}
}"#;

pub async fn world_of(app: &str, timing: Timing, faults: Faults) -> World {
    let file = AppFile::parse(app).expect("the test's own app");
    let package = file.package().to_owned();
    let world = World::with(PhoneConfig { timing, faults, apps: vec![file], ..PhoneConfig::default() });
    world.ok("start_app", &format!(r#"{{"appId":"{package}"}}"#)).await;
    world
}

async fn late() -> World {
    world_of(LATE, Timing::Brisk, Faults::default()).await
}

fn taps(world: &World) -> usize {
    world.phone.truth().inputs.len()
}

#[tokio::test(start_paused = true)]
async fn a_late_element_is_waited_for_and_tapped_once() {
    let world = late().await;
    // The screen shows that it is loading, so it is captured again until it is stable.
    let tap = r#"{"selector":{"text":"Order"},"expect":{"text":"Tapped 1 times"}}"#;
    let answer = world.ok("tap_element", tap).await;
    assert_eq!(fact(&answer, "verdict"), "confirmed", "{answer}");
    assert!(answer.contains(r#""recovered":["state_refresh""#), "RC-02: {answer}");
    assert_eq!(taps(&world), 1, "RC-04");
}

#[tokio::test(start_paused = true)]
async fn a_briefly_disabled_element_is_waited_for() {
    let world = late().await;
    let answer =
        world.ok("tap_element", r#"{"selector":{"text":"Pay"},"expect":{"text":"Tapped 1 times"}}"#).await;
    assert_eq!(fact(&answer, "verdict"), "confirmed", "{answer}");
    assert_eq!(taps(&world), 1);
}

#[tokio::test(start_paused = true)]
async fn an_element_that_never_appears_is_a_final_failure() {
    let world = late().await;
    tokio::time::sleep(Duration::from_secs(6)).await;
    let answer = world.call("tap_element", r#"{"selector":{"text":"Refund"}}"#).await;
    assert_eq!(fact(&answer.text(), "code"), "ELEMENT_NOT_FOUND", "{}", answer.text());
    assert_eq!(fact(&answer.text(), "failure_reason"), "target_resolution", "LC-05");
    assert_eq!(fact(&answer.text(), "failure_class"), "TargetResolutionFailure", "RC-01");
    assert_eq!(
        fact(&answer.text(), "attempts"),
        "1",
        "a screen at rest is looked at once more: {}",
        answer.text()
    );
    assert_eq!(fact(&answer.text(), "is_terminal"), "true", "RC-02");
    assert_eq!(taps(&world), 0);
}

#[tokio::test(start_paused = true)]
async fn a_tap_without_effect_is_not_repeated() {
    let world = late().await;
    let dead = r#"{"selector":{"text":"Dead"},"expect":{"text":"Done"},"timeout_ms":1500}"#;
    let answer = world.call("tap_element", dead).await;
    assert_eq!(fact(&answer.text(), "verdict"), "contradicted", "{}", answer.text());
    assert_eq!(fact(&answer.text(), "failure_reason"), "no_change", "LC-05: {}", answer.text());
    assert_eq!(taps(&world), 1, "RC-03, RC-04");
}

#[tokio::test(start_paused = true)]
async fn a_lost_tap_is_reported_as_no_change_and_not_repeated() {
    let mut faults = Faults::default();
    *faults.rate_mut(Fault::LostTap) = 1.0;
    let world = world_of(LATE, Timing::Brisk, faults).await;
    tokio::time::sleep(Duration::from_secs(6)).await;
    let tap = r#"{"selector":{"text":"Order"},"expect":{"text":"Tapped 1 times"},"timeout_ms":1500}"#;
    let answer = world.call("tap_element", tap).await;
    assert_eq!(fact(&answer.text(), "verdict"), "contradicted", "{}", answer.text());
    assert_eq!(fact(&answer.text(), "failure_reason"), "no_change");
    let sent = world.phone.truth().commands.iter().filter(|command| command.starts_with("input tap")).count();
    assert_eq!(sent, 1, "RC-04: nobody knows that it was lost, so nobody repeats it");
}

#[tokio::test(start_paused = true)]
async fn the_trace_of_an_action_lists_its_steps() {
    // TR-01, VR-03, LC-01
    let world = late().await;
    world.ok("tap_element", r#"{"selector":{"text":"Order"},"expect":{"text":"Tapped 1 times"}}"#).await;
    let outcome = world.ok("classify_action_outcome", "{}").await;
    assert_eq!(fact(&outcome, "outcome"), "success");
    assert_eq!(fact(&outcome, "lifecycle_state"), "verified");
    assert_eq!(fact(&outcome, "action_kind"), "selection", "LC-02");
    let stages: Vec<&str> = outcome.lines().skip(1).filter_map(|line| line.split(' ').nth(2)).collect();
    assert_eq!(stages.first(), Some(&"resolve"), "{outcome}");
    assert!(stages.contains(&"recover"), "{outcome}");
    assert_eq!(stages[stages.len() - 3..], ["execute", "stabilize", "verify"], "{outcome}");
    let times: Vec<u64> =
        outcome.lines().skip(1).filter_map(|line| line.split(' ').next()?.parse().ok()).collect();
    assert!(times.is_sorted() && times.last() > times.first(), "W36: each step has its own time: {outcome}");

    let dead = r#"{"selector":{"text":"Dead"},"expect":{"text":"Done"},"timeout_ms":1500}"#;
    let failed = world.call("tap_element", dead).await;
    let id = fact(&failed.text(), "action_id");
    let outcome = world.ok("classify_action_outcome", &format!(r#"{{"actionId":"{id}"}}"#)).await;
    assert_eq!(fact(&outcome, "outcome"), "no_op", "VR-01: a local action that changed nothing: {outcome}");
    let behind =
        format!(r#"{{"actionId":"{id}","networkRequests":[{{"endpoint":"/pay","status":"failure"}}]}}"#);
    let outcome = world.ok("classify_action_outcome", &behind).await;
    assert_eq!(fact(&outcome, "outcome"), "backend_failure");
    assert_eq!(world.code("classify_action_outcome", r#"{"actionId":"tap_1_1"}"#).await, "INVALID_ARGUMENT");
}

#[tokio::test(start_paused = true)]
async fn classification_from_the_callers_signals_needs_no_device() {
    let world = World::new(Timing::Instant);
    let outcome = world.ok("classify_action_outcome", r#"{"uiChanged":true}"#).await;
    assert_eq!(outcome, r#"{"outcome":"success","reasoning":"UI changed after action"}"#);
}

#[tokio::test(start_paused = true)]
async fn a_verification_without_a_wait_after_an_action_has_a_hint() {
    // SY-16
    let world = World::started(Timing::Brisk).await;
    world.tap("Settings").await;
    let early = world.call("expect_screen", r#"{"screen":"SettingsActivity"}"#).await;
    assert!(early.text().contains("hint: nothing has waited since tap_"), "{}", early.text());
    let again = world.call("expect_screen", r#"{"screen":"SettingsActivity"}"#).await;
    assert!(!again.text().contains("hint:"), "it has been waited for now: {}", again.text());
    world.ok("press_back", r#"{"settle":true}"#).await;
    let after = world.call("expect_screen", r#"{"screen":"LoginActivity"}"#).await;
    assert!(!after.text().contains("hint:"), "{}", after.text());
    let status = world.ok("get_system_status", "{}").await;
    println!("{status}");
}

/// An element that has not moved needs no further capture.
#[tokio::test(start_paused = true)]
async fn a_still_element_is_tapped_after_one_more_capture() {
    // AC-05
    let world = World::started(Timing::Brisk).await;
    world.tap("Settings").await;
    let tree = world.tree_with("Dark mode").await;
    let id = line_of(&tree, "Dark mode").split_whitespace().next().expect("an id").to_owned();
    // The tree that was read and the capture before the tap agree, so no third capture is made.
    let dumps = || world.phone.truth().commands.iter().filter(|c| c.starts_with("uiautomator dump")).count();
    let before = dumps();
    world.ok("tap_element", &format!(r#"{{"elementId":"{id}","settle":false}}"#)).await;
    assert_eq!(dumps(), before + 1, "one look before the tap, none after it");
}

#[tokio::test(start_paused = true)]
async fn a_target_out_of_sight_is_scrolled_to_only_when_asked() {
    // AC-10
    let rows: Vec<String> = (1..=40).map(|n| format!(r#"{{"title": "Row {n}"}}"#)).collect();
    let app = r#"{
      "package": "org.example.rows", "label": "Rows", "style": "view", "start": "Home",
      "values": {"last": ""}, "lists": {"rows": {"columns": ["title"], "rows": [ROWS]}},
      "screens": {"Home": {"content": [
        {"type": "text", "text": "Last: {last}"},
        {"type": "list", "rows": "rows", "children": [{"type": "text", "text": "{title}"}], "on_tap": [{"set": {"last": "{title}"}}]}
      ]}}
    }"#;
    let world = world_of(&app.replace("ROWS", &rows.join(",")), Timing::Brisk, Faults::default()).await;
    let tap = |scroll: bool| {
        format!(r#"{{"selector":{{"text":"Row 33"}},"scroll":{scroll},"expect":{{"text":"Last: Row 33"}}}}"#)
    };
    assert_eq!(world.code("tap_element", &tap(false)).await, "ELEMENT_NOT_FOUND");
    assert_eq!(taps(&world), 0, "nothing is scrolled unless asked for");
    let answer = world.ok("tap_element", &tap(true)).await;
    assert_eq!(fact(&answer, "verdict"), "confirmed", "{answer}");
    let gone = r#"{"selector":{"text":"Row 99"},"scroll":true}"#;
    assert_eq!(world.code("tap_element", gone).await, "ELEMENT_NOT_FOUND", "the end was reached");
}

/// A screen over which a card comes up. Before Android 13 no dump says what is drawn in front.
const CARD: &str = r#"{
  "package": "org.example.card", "label": "Card", "style": "view", "start": "Home",
  "values": {"cover": false, "taps": 0, "card": 0},
  "screens": {"Home": {
    "on_open": [{"after": {"ms": 2000, "do": [{"set": {"cover": true}}]}}],
    "content": [{"type": "stack", "children": [
      {"type": "column", "children": [{"type": "button", "text": "Pay", "on_tap": [{"add": {"taps": 1}}]}]},
      {"type": "card", "height": 560, "when": [{"value": "cover", "is": true}], "on_tap": [{"add": {"card": 1}}],
       "children": [{"type": "text", "text": "An offer"}]}
    ]}]}}
}"#;

#[tokio::test(start_paused = true)]
async fn what_came_up_over_the_target_covers_it() {
    // F30: the tree alone leaves it open which of the two is in front.
    let file = AppFile::parse(CARD).expect("the test's own app");
    let config = PhoneConfig { timing: Timing::Brisk, sdk: 30, apps: vec![file], ..PhoneConfig::default() };
    let world = World::with(config);
    world.ok("start_app", r#"{"appId":"org.example.card"}"#).await;
    world.tree().await;
    world.ok("wait_for_ui", r#"{"selector":{"text":"An offer"}}"#).await;
    let answer = world.call("tap_element", r#"{"selector":{"text":"Pay"}}"#).await;
    assert!(answer.is_error && answer.text().contains("which came up later"), "{}", answer.text());
    assert_eq!(taps(&world), 0);
}

/// A game: accessibility sees one surface.
const GAME: &str = r#"{
  "package": "org.example.game", "label": "Game", "style": "game", "start": "Home", "values": {"taps": 0},
  "screens": {"Home": {"content": [
    {"type": "text", "text": "Tapped {taps} times"},
    {"type": "button", "text": "Fire", "on_tap": [{"add": {"taps": 1}}]}
  ]}}
}"#;

#[tokio::test(start_paused = true)]
async fn a_screen_that_is_only_drawn_is_told_as_such() {
    let world = world_of(GAME, Timing::Brisk, Faults::default()).await;
    let answer = world.call("tap_element", r#"{"selector":{"text":"Fire"}}"#).await;
    assert!(answer.text().contains("capture_screenshot shows it"), "{}", answer.text());
}
