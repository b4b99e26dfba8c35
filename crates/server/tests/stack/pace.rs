//! Stability windows that adapt to a screen (SY-19).

use std::time::Duration;

use bytes::Bytes;
use mdm_virtual_device::Timing;

use crate::world::{World, fact};

fn page(text: &str) -> Option<Bytes> {
    let node = |class: &str, text: &str, bounds: &str| {
        format!(
            "<node index=\"0\" text=\"{text}\" resource-id=\"\" class=\"android.widget.{class}\" \
             package=\"com.workbench\" content-desc=\"\" checkable=\"false\" checked=\"false\" clickable=\"false\" \
             enabled=\"true\" focusable=\"false\" focused=\"false\" scrollable=\"false\" long-clickable=\"false\" \
             password=\"false\" selected=\"false\" bounds=\"{bounds}\""
        )
    };
    let root = node("FrameLayout", "", "[0,0][1080,2400]");
    let line = node("TextView", text, "[0,300][1080,400]");
    Some(Bytes::from(format!(
        "<?xml version='1.0' encoding='UTF-8' standalone='yes' ?><hierarchy rotation=\"0\">{root}>{line}/></node>\
         </hierarchy>"
    )))
}

/// Words instead of numbers, because a text that only counts up is no change.
const PAGES: [&str; 6] = ["Start", "Apples", "Bread", "Cheese", "Dates", "Eggs"];
const PARTS: [&str; 2] = ["are sought", "are found"];

/// Changes the page half a second from now, and then after each pause.
async fn changing(world: &World, number: usize, pauses_ms: &[u64]) {
    tokio::time::sleep(Duration::from_millis(500)).await;
    world.phone.set_hierarchy(page(PAGES[number]));
    for (part, pause) in PARTS.iter().zip(pauses_ms) {
        tokio::time::sleep(Duration::from_millis(*pause)).await;
        world.phone.set_hierarchy(page(&format!("{} {part}", PAGES[number])));
    }
}

async fn waited(world: &World, number: usize, pauses_ms: &[u64], json: &str) -> String {
    tokio::join!(world.ok("wait_for_ui_change", json), changing(world, number, pauses_ms)).0
}

async fn world() -> World {
    let world = World::started(Timing::Instant).await;
    world.phone.set_hierarchy(page(PAGES[0]));
    world.tree().await;
    world
}

fn window(answer: &str, key: &str) -> u64 {
    let facts = answer.split_once("\"window\":").unwrap_or_else(|| panic!("no window in {answer}")).1;
    fact(facts, key).parse().expect("a number")
}

#[tokio::test(start_paused = true)]
async fn an_adaptive_window_is_learnt_used_and_reported() {
    let world = world().await;
    for number in 1..=3 {
        let answer = waited(&world, number, &[180, 180], "{}").await;
        assert_eq!(fact(&answer, "stabilized"), "true");
        assert!(!answer.contains("\"window\""), "SY-19: off unless asked for: {answer}");
    }
    let answer = waited(&world, 4, &[180, 180], r#"{"adaptive":true}"#).await;
    let used = window(&answer, "used_ms");
    assert!((180 + 90 + 50 - 60..=180 + 90 + 50 + 80).contains(&used), "of pauses of about 180: {answer}");
    assert_eq!(window(&answer, "suggested_ms"), used);
    assert_eq!(window(&answer, "rests"), 3);
    assert!(answer.contains("Dates are found"), "SY-05: the whole change was waited for: {answer}");
    let fixed = waited(&world, 5, &[], r#"{"adaptive":true,"stability_window_ms":500}"#).await;
    assert_eq!(window(&fixed, "used_ms"), 500, "SY-19: what is asked for holds");
    assert_eq!(window(&fixed, "rests"), 4);
    let still = world.ok("wait_for_ui", r#"{"condition":"stable","adaptive":true}"#).await;
    assert_eq!(window(&still, "used_ms"), window(&still, "suggested_ms"));
    let wrong = r#"{"selector":{"text":"x"},"adaptive":true}"#;
    assert_eq!(world.code("wait_for_ui", wrong).await, "INVALID_ARGUMENT");
}

#[tokio::test(start_paused = true)]
async fn the_default_window_is_used_until_one_is_learnt() {
    let world = world().await;
    for number in 1..=3 {
        let answer = waited(&world, number, &[], r#"{"adaptive":true}"#).await;
        assert_eq!(window(&answer, "used_ms"), 250, "SY-19");
        assert!(!answer.contains("suggested_ms"), "{answer}");
    }
    let answer = waited(&world, 4, &[], r#"{"adaptive":true}"#).await;
    assert_eq!(window(&answer, "used_ms"), 100, "SY-19: a screen that changes at once, at the bound");
}

#[tokio::test(start_paused = true)]
async fn a_window_that_was_too_short_grows() {
    let world = world().await;
    for number in 1..=3 {
        waited(&world, number, &[], "{}").await;
    }
    // A window of 100 ms is learnt, and then the page pauses for 200 ms.
    let both = async {
        let early = world.ok("wait_for_ui_change", r#"{"adaptive":true}"#).await;
        assert_eq!(window(&early, "used_ms"), 100);
        assert!(early.contains("\"Dates\""), "the pause was taken for rest: {early}");
        world.ok("wait_for_ui_change", r#"{"adaptive":true}"#).await
    };
    let (late, ()) = tokio::join!(both, changing(&world, 4, &[200]));
    assert!(window(&late, "used_ms") >= 200 + 100, "SY-19: it was seen to be a pause: {late}");
    let answer = waited(&world, 5, &[200], r#"{"adaptive":true}"#).await;
    assert!(answer.contains("Eggs are sought"), "SY-19: now it is waited for: {answer}");
}
