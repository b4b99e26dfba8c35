//! Actions: one call resolves, checks, acts, waits, verifies, and reports the changes (LC-01 to LC-06).

use mdm_virtual_device::{AppFile, PhoneConfig, Timing};

use crate::world::{World, fact, line_of, point_of};

fn id_of(tree: &str, label: &str) -> String {
    line_of(tree, label).split_whitespace().next().expect("an id").to_owned()
}

async fn tap(world: &World, label: &str, more: &str) -> mobile_debug_mcp::answer::Answer {
    let id = id_of(&world.tree().await, label);
    world.call("tap_element", &format!(r#"{{"elementId":"{id}"{more}}}"#)).await
}

#[tokio::test(start_paused = true)]
async fn a_tap_on_a_switch_reports_the_change() {
    let world = World::started(Timing::Phone).await;
    let answer = tap(&world, "Remember me", "").await;
    assert!(!answer.is_error, "{}", answer.text());
    assert_eq!(fact(&answer.text(), "observed_change"), "state_change", "LC-04");
    assert_eq!(fact(&answer.text(), "stability_state"), "stable");
    assert!(answer.text().ends_with("switch \"Remember me\" off -> on"), "{}", answer.text());
    assert_eq!(world.phone.truth().inputs.len(), 1, "one dispatch");
}

#[tokio::test(start_paused = true)]
async fn a_tap_without_effect_is_reported_as_no_change() {
    let world = World::started(Timing::Phone).await;
    let tree = world.tree().await;
    let title = line_of_text(&tree, "Sign in to Workbench");
    let answer = world.call("tap_element", &format!(r#"{{"elementId":"{title}","force":true}}"#)).await;
    assert!(answer.text().contains("nothing that counts changed"), "{}", answer.text());
    assert_eq!(fact(&answer.text(), "success"), "true", "LC-03: success is the dispatch");
    assert_eq!(fact(&answer.text(), "lifecycle_state"), "pending_verification");
}

#[tokio::test(start_paused = true)]
async fn a_tap_on_a_text_that_only_shows_something_is_not_sent() {
    // F4, AC-11
    let world = World::started(Timing::Phone).await;
    let answer = world.call("tap_element", r#"{"selector":{"text":"Sign in to Workbench"}}"#).await;
    assert_eq!(fact(&answer.text(), "failure_code"), "ELEMENT_NOT_INTERACTABLE");
    assert!(answer.text().contains("the nearest that does is"), "{}", answer.text());
    assert!(answer.text().contains("force: true"), "{}", answer.text());
    assert_eq!(world.phone.truth().inputs.len(), 0);
}

fn line_of_text(tree: &str, text: &str) -> String {
    let line = tree.lines().find(|line| line.contains(text)).expect("the text is there");
    line.split_whitespace().next().expect("an id").to_owned()
}

#[tokio::test(start_paused = true)]
async fn an_expectation_seen_on_the_screen_is_confirmed() {
    let world = World::started(Timing::Phone).await;
    let answer = tap(&world, "Settings", r#","expect":{"screen":"SettingsActivity"}"#).await;
    assert!(!answer.is_error, "{}", answer.text());
    assert_eq!(fact(&answer.text(), "verdict"), "confirmed");
    assert_eq!(fact(&answer.text(), "lifecycle_state"), "verified", "LC-01");
    assert_eq!(fact(&answer.text(), "observed_change"), "navigation");
    assert!(answer.text().contains("screen LoginActivity -> SettingsActivity"), "{}", answer.text());
}

#[tokio::test(start_paused = true)]
async fn an_expectation_not_seen_is_contradicted() {
    let world = World::started(Timing::Phone).await;
    let more = r#","expect":{"text":"Welcome"},"timeout_ms":8000"#;
    let answer = tap(&world, "Remember me", more).await;
    assert!(answer.is_error, "F45: {}", answer.text());
    assert_eq!(fact(&answer.text(), "verdict"), "contradicted");
    assert_eq!(fact(&answer.text(), "failure_code"), "VERIFICATION_FAILED");
    assert_eq!(fact(&answer.text(), "success"), "true", "it was dispatched all the same");
    assert!(answer.text().contains("no such element"), "{}", answer.text());
    assert_eq!(world.phone.truth().inputs.len(), 1, "RC-04: not repeated");
}

#[tokio::test(start_paused = true)]
async fn an_expectation_that_held_before_is_marked() {
    let world = World::started(Timing::Phone).await;
    let answer = tap(&world, "Remember me", r#","expect":{"text":"Log in"}"#).await;
    assert_eq!(fact(&answer.text(), "verdict"), "confirmed");
    assert_eq!(fact(&answer.text(), "held_before"), "true");
}

#[tokio::test(start_paused = true)]
async fn a_point_is_tapped_without_a_capture_unless_settle_is_set() {
    let world = World::started(Timing::Phone).await;
    let (x, y) = point_of(&world.tree().await, "Remember me");
    let dumps = || world.phone.truth().commands.iter().filter(|c| c.starts_with("uiautomator")).count();
    let before = dumps();
    world.ok("tap", &format!(r#"{{"x":{x},"y":{y}}}"#)).await;
    assert_eq!(dumps(), before, "degraded mode looks at nothing (AC-02)");
    let unsettled = world.ok("tap_element", r#"{"selector":{"text":"Remember me"},"settle":false}"#).await;
    for claim in ["verdict", "observed_change", "stability_state", "nothing that counts"] {
        assert!(!unsettled.contains(claim), "LC-07: a call without settling claims nothing: {unsettled}");
    }
    world.ok("tap", &format!(r#"{{"x":{x},"y":{y}}}"#)).await;
    let answer = world.ok("tap", &format!(r#"{{"x":{x},"y":{y},"settle":true}}"#)).await;
    assert!(answer.contains("on -> off"), "{answer}");
}

#[tokio::test(start_paused = true)]
async fn bad_expectations_are_refused_before_anything_is_sent() {
    let world = World::started(Timing::Instant).await;
    let id = id_of(&world.tree().await, "Remember me");
    for expect in ["{}", r#"{"screen":"A","text":"b"}"#, r#"{"text":"a","checked":true,"enabled":true}"#] {
        let arguments = format!(r#"{{"elementId":"{id}","expect":{expect}}}"#);
        assert_eq!(world.code("tap_element", &arguments).await, "INVALID_ARGUMENT", "{expect}");
    }
    let arguments = format!(r#"{{"elementId":"{id}","timeout_ms":0}}"#);
    assert_eq!(world.code("tap_element", &arguments).await, "INVALID_ARGUMENT");
    assert_eq!(world.phone.truth().inputs.len(), 0);
}

#[tokio::test(start_paused = true)]
async fn an_element_can_be_tapped_by_its_text() {
    let world = World::started(Timing::Phone).await;
    let by_text = r#"{"selector":{"text":"remember me"}}"#;
    let answer = world.ok("tap_element", by_text).await;
    assert!(answer.ends_with("off -> on"), "{answer}");
    let several = r#"{"selector":{"role":"text_field"}}"#;
    let refused = world.call("tap_element", several).await;
    assert!(refused.is_error && refused.text().contains("AMBIGUOUS_TARGET"), "W23: {}", refused.text());
    assert!(
        refused.text().contains("field \"Email\""),
        "ID-04: the candidates are listed: {}",
        refused.text()
    );
    assert_eq!(world.phone.truth().inputs.len(), 1, "AC-04: nothing was sent");
    assert_eq!(world.code("tap_element", "{}").await, "INVALID_ARGUMENT");
}

/// An app with a counter that changes a moment after each tap, as after a request to a server.
const LATE_COUNTER: &str = r#"{"package": "org.example.counter", "label": "Counter", "start": "Home",
    "values": {"count": 0}, "screens": {"Home": {"content": [
        {"type": "button", "text": "Add", "on_tap": [{"after": {"ms": 150, "do": [{"add": {"count": 1}}]}}]},
        {"type": "text", "text": "Count: {count}"}]}}}"#;

#[tokio::test(start_paused = true)]
async fn a_late_effect_of_each_tap_is_not_taken_for_a_clock() {
    let apps = vec![AppFile::parse(LATE_COUNTER).expect("an app")];
    let world = World::with(PhoneConfig { apps, timing: Timing::Brisk, ..PhoneConfig::default() });
    world.ok("start_app", r#"{"appId":"org.example.counter"}"#).await;
    for count in 0..8 {
        let answer = world.ok("tap_element", r#"{"selector":{"text":"Add"}}"#).await;
        let change = format!("\"Count: {count}\" -> \"Count: {}\"", count + 1);
        assert!(answer.contains(&change), "SY-04: {answer}");
        assert_eq!(fact(&answer, "observed_change"), "text_change");
    }
}

#[tokio::test(start_paused = true)]
async fn back_and_swipes_take_expect_and_settle() {
    let world = World::started(Timing::Phone).await;
    tap(&world, "Settings", r#","expect":{"screen":"SettingsActivity"}"#).await;
    let back = world.ok("press_back", r#"{"expect":{"screen":"LoginActivity"}}"#).await;
    assert_eq!(fact(&back, "verdict"), "confirmed");
    let swipe = r#"{"x1":500,"y1":1500,"x2":500,"y2":1400,"duration":100,"settle":true}"#;
    let still = world.ok("swipe", swipe).await;
    assert!(still.contains("nothing that counts changed"), "{still}");
}
