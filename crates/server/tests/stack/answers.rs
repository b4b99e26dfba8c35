//! docs/answers.md, the answers to actions, generated from real calls. UPDATE_ANSWERS=1 writes it.

use std::fmt::Write as _;
use std::path::Path;

use mdm_virtual_device::{PhoneConfig, Timing};

use crate::gestures::{id_of, on_screen};
use crate::page::{difference, without_time};
use crate::world::World;

async fn show(page: &mut String, world: &World, title: &str, tool: &str, json: &str) {
    let answer = world.call(tool, json).await;
    // About four characters are a token.
    assert!(mdm_core::text::tokens::estimate(&answer.text()) <= 250, "{title}: {}", answer.text());
    let error = if answer.is_error { " (isError)" } else { "" };
    let text = without_time(&answer.text());
    let _ = write!(page, "\n## {title}{error}\n\n`{tool} {json}`\n\n```\n{text}\n```\n");
}

#[tokio::test(start_paused = true)]
async fn the_answers_page_matches_the_answers() {
    let mut page =
        "# What an agent reads after an action\n\nMade on the virtual phone by the test that checks this \
                    page; every answer stays under 250 tokens.\n"
            .to_owned();
    let world = World::started(Timing::Phone).await;
    let tree = world.tree().await;
    let (remember, settings) = (id_of(&tree, "Remember me"), id_of(&tree, "Settings"));
    let tap = |id: &str, more: &str| format!(r#"{{"elementId":"{id}"{more}}}"#);
    show(&mut page, &world, "A tap that toggles", "tap_element", &tap(&remember, "")).await;
    let expect = r#","expect":{"screen":"SettingsActivity"}"#;
    let no = r#","expect":{"text":"Welcome"},"timeout_ms":8000"#;
    show(&mut page, &world, "One that was meant to do something else", "tap_element", &tap(&remember, no))
        .await;
    show(
        &mut page,
        &world,
        "A tap that navigates, with its expectation",
        "tap_element",
        &tap(&settings, expect),
    )
    .await;
    show(&mut page, &world, "A stale id", "tap_element", &tap(&remember, "")).await;

    let config = PhoneConfig { timing: Timing::Phone, ..PhoneConfig::default() };
    let world = on_screen("OverlayActivity", config.clone()).await;
    let tree = world.tree().await;
    let pay = id_of(&tree, "Pay now");
    show(&mut page, &world, "A covered button", "tap_element", &tap(&pay, "")).await;
    let text = tree.lines().find(|line| line.contains("\"Paid 0 times\"")).expect("a text");
    let text = text.split_whitespace().next().expect("an id");
    show(&mut page, &world, "A tap on what only shows something", "tap_element", &tap(text, "")).await;
    let forced = tap(text, r#","force":true"#);
    show(&mut page, &world, "A tap that does nothing", "tap_element", &forced).await;

    let world = on_screen("DuplicatesActivity", config).await;
    let selector = r#"{"selector":{"text":"Open"},"timeoutMs":1}"#;
    show(&mut page, &world, "Which of several", "find_element", selector).await;

    let kept = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/answers.md");
    let difference = difference(&kept, &page, "UPDATE_ANSWERS");
    assert!(difference.is_none(), "{}", difference.unwrap_or_default());
}
