//! Whole sessions: an app is driven and debugged, and the phone's own state agrees with every answer.

use mdm_virtual_device::{Applied, Timing};

use crate::world::{World, fact, line_of, point_of};

#[tokio::test(start_paused = true)]
async fn a_failing_login_is_debugged_and_fixed() {
    let world = World::started(Timing::Phone).await;
    world.tap("Email").await;
    world.ok("type_text", r#"{"text":"ada@example.com"}"#).await;
    world.tap("Password").await;
    let typed = world.ok("type_text", r#"{"text":"correct horse"}"#).await;
    assert!(typed.contains(r#""read_back":"hidden""#) && !typed.contains("horse"), "ST-07, S8: {typed}");
    world.ok("press_back", "{}").await;
    world.tap("Log in").await;
    world.tree_with("Could not sign in").await;
    let logs = world.ok("get_logs", r#"{"appId":"com.workbench","level":"error"}"#).await;
    assert!(logs.contains("401") && logs.contains("staging"), "{logs}");

    world.tap("Settings").await;
    let settings = world.tree_with("Use staging server").await;
    assert!(line_of(&settings, "Use staging server").contains(" on"), "{settings}");
    world.tap("Use staging server").await;
    let changed = world.tree().await;
    assert!(line_of(&changed, "Use staging server").contains(" off"), "{changed}");
    assert_ne!(fact(&settings, "snapshot_revision"), fact(&changed, "snapshot_revision"), "SY-02");
    world.ok("press_back", "{}").await;
    world.tap("Log in").await;
    world.tree_with("Welcome, Ada").await;
    let screen = world.ok("get_current_screen", "{}").await;
    assert_eq!(fact(&screen, "shortActivity"), "HomeActivity");
    assert_eq!(world.phone.truth().activity, "com.workbench/.HomeActivity");
}

#[tokio::test(start_paused = true)]
async fn a_swipe_scrolls_a_list_and_back_closes_a_dialog() {
    let world = World::started(Timing::Brisk).await;
    log_in(&world).await;
    let before = world.tree().await;
    world.ok("swipe", r#"{"x1":540,"y1":1900,"x2":540,"y2":700,"duration":400}"#).await;
    let after = world.tree().await;
    assert!(before.contains("\"Milk\"") && !after.contains("\"Milk\""), "the list moved:\n{after}");
    world.ok("swipe", r#"{"x1":540,"y1":700,"x2":540,"y2":2300,"duration":400}"#).await;
    let top = world.tree().await;
    assert!(top.contains("\"Milk\""), "and back:\n{top}");

    let (x, y) = point_of(&top, "Delete");
    world.ok("tap", &format!(r#"{{"x":{x},"y":{y}}}"#)).await;
    world.tree_with("Delete Milk?").await;
    assert!(world.phone.truth().dialog_open);
    world.ok("press_back", "{}").await;
    assert!(!world.phone.truth().dialog_open);
}

async fn log_in(world: &World) {
    world.tap("Settings").await;
    world.tap("Use staging server").await;
    world.ok("press_back", "{}").await;
    world.tap("Email").await;
    world.ok("type_text", r#"{"text":"ada@example.com"}"#).await;
    world.tap("Password").await;
    world.ok("type_text", r#"{"text":"correct horse"}"#).await;
    world.ok("press_back", "{}").await;
    world.tap("Log in").await;
    world.tree_with("Welcome, Ada").await;
}

#[tokio::test(start_paused = true)]
async fn apps_are_started_stopped_restarted_and_cleared() {
    let world = World::new(Timing::Brisk);
    let started = world.ok("start_app", r#"{"platform":"android","appId":"com.workbench"}"#).await;
    assert!(
        started.contains(r#""lifecycle_state":"verified""#) && started.contains(r#""matchedTarget":true"#),
        "{started}"
    );
    world.tap("Email").await;
    world.ok("type_text", r#"{"text":"x@y.z"}"#).await;
    let restarted = world.ok("restart_app", r#"{"appId":"com.workbench"}"#).await;
    assert!(restarted.contains(r#""matchedTarget":true"#), "{restarted}");
    assert!(!world.tree().await.contains("x@y.z"), "a restarted app has lost what was not stored");
    let stopped = world.ok("terminate_app", r#"{"appId":"com.workbench"}"#).await;
    assert!(stopped.contains(r#""appTerminated":true"#));
    assert_ne!(world.phone.truth().activity, "com.workbench/.LoginActivity");
    world.ok("start_app", r#"{"appId":"com.workbench"}"#).await;
    world.tap("Settings").await;
    world.tap("Use staging server").await;
    assert_eq!(world.phone.truth().switches.get("staging"), Some(&false));
    let cleared = world.ok("reset_app_data", r#"{"appId":"com.workbench"}"#).await;
    assert!(cleared.contains(r#""dataCleared":true"#));
    world.ok("start_app", r#"{"appId":"com.workbench"}"#).await;
    world.tap("Settings").await;
    let settings = world.tree().await;
    assert!(line_of(&settings, "Use staging server").contains(" on"), "as after an install:\n{settings}");
}

#[tokio::test(start_paused = true)]
async fn a_screenshot_is_one_scaled_picture_with_its_scale() {
    let world = World::started(Timing::Instant).await;
    let answer = world.call("capture_screenshot", r#"{"platform":"android"}"#).await;
    let image = answer.image.as_ref().expect("an image");
    assert_eq!((image.mime_type, &image.bytes[..2]), ("image/jpeg", &[0xff, 0xd8][..]));
    assert!(answer.text().contains(r#""image":{"width":461,"height":1024}"#), "{}", answer.text());
    assert!(answer.text().contains(r#""scale":{"x":2.3427,"y":2.3438}"#), "{}", answer.text());
    assert!(image.bytes.len() < 200_000, "{} bytes", image.bytes.len());
}

#[tokio::test(start_paused = true)]
async fn taps_reach_the_widget_named_in_the_outline() {
    let world = World::started(Timing::Instant).await;
    world.tap("Remember me").await;
    let inputs = world.phone.truth().inputs;
    let Some(Applied::Tap { hit: Some(hit), .. }) = inputs.last() else { panic!("no tap in {inputs:?}") };
    assert!(hit.resource_id.ends_with("remember_me"), "{hit:?}");
}
