//! Verifications of the screen (ST-05, VS-01 to VS-03).

use mdm_virtual_device::{PhoneConfig, Timing};

use crate::world::{World, fact, point_of};

#[tokio::test(start_paused = true)]
async fn a_state_is_verified_or_the_observed_one_is_reported() {
    let world = World::started(Timing::Phone).await;
    let ask = |expected: &str| {
        format!(r#"{{"selector":{{"text":"Remember me"}},"property":"checked","expected":{expected}}}"#)
    };
    let held = world.ok("expect_state", &ask("false")).await;
    assert_eq!(fact(&held, "success"), "true", "ST-05");
    world.ok("expect_state", &ask("\"false\"")).await;
    assert_eq!(fact(&held, "stability_state"), "stable", "VS-01: it held");
    let other = world.call("expect_state", &ask("true")).await;
    assert!(other.is_error, "{}", other.text());
    assert_eq!(fact(&other.text(), "failure_code"), "EXPECT_STATE_MISMATCH");
    assert_eq!(fact(&other.text(), "observed"), "checked false");
    assert!(
        fact(&other.text(), "elapsed_ms").parse::<u64>().expect("ms") >= 1000,
        "VS-02: not before its time"
    );
    assert!(fact(&other.text(), "reads").parse::<u64>().expect("reads") >= 3, "VS-02: {}", other.text());
    let (x, y) = point_of(&world.tree().await, "Remember me");
    world.ok("tap", &format!(r#"{{"x":{x},"y":{y}}}"#)).await;
    world.ok("expect_state", &ask("true")).await;
}

#[tokio::test(start_paused = true)]
async fn a_device_with_slow_captures_can_still_verify() {
    // W2: one capture takes longer than the whole window.
    let faults = "slow-dump=1".parse().expect("a fault");
    let world = World::with(PhoneConfig { timing: Timing::Phone, faults, ..PhoneConfig::default() });
    world.ok("start_app", r#"{"appId":"com.workbench"}"#).await;
    let ask = r#"{"selector":{"text":"Remember me"},"property":"checked","expected":false}"#;
    let held = world.ok("expect_state", ask).await;
    assert_eq!(fact(&held, "success"), "true", "{held}");
}

#[tokio::test(start_paused = true)]
async fn a_state_that_the_platform_does_not_report_is_not_verified() {
    let world = World::started(Timing::Instant).await;
    let ask = r#"{"selector":{"text":"Log in"},"property":"checked","expected":false}"#;
    let unknown = world.call("expect_state", ask).await;
    assert!(unknown.is_error, "ST-01");
    assert_eq!(fact(&unknown.text(), "failure_code"), "VERIFICATION_FAILED", "{}", unknown.text());
    let gone = r#"{"selector":{"text":"No such"},"property":"checked","expected":false}"#;
    let gone = world.call("expect_state", gone).await;
    assert_eq!(fact(&gone.text(), "failure_code"), "ELEMENT_NOT_FOUND");
}

#[tokio::test(start_paused = true)]
async fn screens_and_visible_elements_are_verified() {
    let world = World::started(Timing::Phone).await;
    world.ok("expect_screen", r#"{"screen":"LoginActivity"}"#).await;
    let print = fact(&world.ok("get_screen_fingerprint", "{}").await, "fingerprint");
    world.ok("expect_screen", &format!(r#"{{"fingerprint":"{print}"}}"#)).await;
    let other = world.call("expect_screen", r#"{"screen":"HomeActivity"}"#).await;
    assert_eq!(fact(&other.text(), "failure_code"), "VERIFICATION_FAILED");
    assert!(fact(&other.text(), "observed").ends_with("LoginActivity"), "{}", other.text());
    world
        .ok("expect_element_visible", r#"{"selector":{"text":"log","contains":true,"role":"button"}}"#)
        .await;
    let none =
        world.call("expect_element_visible", r#"{"selector":{"text":"Nope"},"timeout_ms":6000}"#).await;
    assert_eq!(fact(&none.text(), "failure_code"), "ELEMENT_NOT_FOUND");
}

#[tokio::test(start_paused = true)]
async fn bad_expectations_are_refused() {
    let world = World::started(Timing::Instant).await;
    for arguments in [
        r#"{"property":"checked","expected":true}"#,
        r#"{"selector":{},"property":"checked","expected":true}"#,
        r#"{"selector":{"text":"x"},"element_id":"e1","property":"checked","expected":true}"#,
        r#"{"selector":{"text":"x"},"property":"checked","expected":"yes"}"#,
        r#"{"selector":{"text":"x"},"property":"weight","expected":1}"#,
        r#"{"selector":{"text":"x"},"property":"value","expected":1,"tolerance":-1}"#,
    ] {
        assert_eq!(world.code("expect_state", arguments).await, "INVALID_ARGUMENT", "{arguments}");
    }
    assert_eq!(world.code("expect_screen", "{}").await, "INVALID_ARGUMENT");
}

#[tokio::test(start_paused = true)]
async fn an_alias_answers_like_expect_state_and_is_not_listed() {
    // ST-05
    let world = World::started(Timing::Brisk).await;
    let alias = world.call("expect_enabled", r#"{"selector":{"text":"Settings"}}"#).await;
    let whole = r#"{"selector":{"text":"Settings"},"property":"enabled","expected":"true"}"#;
    let whole = world.call("expect_state", whole).await;
    assert!(!alias.is_error && !whole.is_error, "{} {}", alias.text(), whole.text());
    assert_eq!(fact(&alias.text(), "expected"), fact(&whole.text(), "expected"));
    let off = world.call("expect_checked", r#"{"selector":{"text":"Remember me"}}"#).await;
    assert_eq!(fact(&off.text(), "failure_code"), "EXPECT_STATE_MISMATCH", "{}", off.text());
    let listed = mobile_debug_mcp::tools::TOOLS.iter().any(|tool| tool.name == "expect_enabled");
    assert!(!listed);
}
