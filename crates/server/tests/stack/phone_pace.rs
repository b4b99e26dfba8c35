//! docs/figures/pace.md: seconds and looks of each tool on a phone whose dump takes 1.5 s (F41). UPDATE_PACE=1 writes it.

use std::fmt::Write as _;
use std::path::Path;

use mdm_virtual_device::{PhoneConfig, Timing};
use tokio::time::Instant;

use crate::gestures::on_screen;
use crate::page::difference;

/// Looks after the one that proves the target: two that span the quiet window prove that the screen rests.
const LOOKS_AFTER_MAX: usize = 2;

/// What is done, its screen, tool and arguments, the seconds that independent testers measured in November, and the looks
/// before the action.
type Case = (&'static str, &'static str, &'static str, &'static str, &'static str, usize);

const CASES: [Case; 14] = [
    ("get_ui_tree", "LoginActivity", "get_ui_tree", "{}", "", 1),
    ("find_element", "LoginActivity", "find_element", r#"{"selector":{"text":"Log in"}}"#, "", 1),
    (
        "a tap that toggles",
        "LoginActivity",
        "tap_element",
        r#"{"selector":{"text":"Remember me"}}"#,
        "5.3",
        1,
    ),
    (
        "a tap that navigates, expected",
        "LoginActivity",
        "tap_element",
        r#"{"selector":{"text":"Settings"},"expect":{"screen":"SettingsActivity"}}"#,
        "",
        1,
    ),
    (
        "a tap without settling",
        "LoginActivity",
        "tap_element",
        r#"{"selector":{"text":"Remember me"},"settle":false}"#,
        "",
        1,
    ),
    ("a point", "LoginActivity", "tap", r#"{"x":540,"y":819}"#, "", 0),
    ("a long press", "LoginActivity", "long_press", r#"{"selector":{"text":"Log in"}}"#, "", 1),
    (
        "a swipe",
        "GalleryActivity",
        "swipe",
        r#"{"x1":500,"y1":1800,"x2":500,"y2":900,"settle":true}"#,
        "6.5",
        1,
    ),
    (
        "typing",
        "LoginActivity",
        "type_text",
        r#"{"selector":{"text":"Email"},"text":"ada@example.org"}"#,
        "7.0",
        1,
    ),
    (
        "typing beyond ASCII",
        "LoginActivity",
        "type_text",
        r#"{"selector":{"text":"Email"},"text":"Zoë"}"#,
        "9.4",
        1,
    ),
    ("going back", "GalleryActivity", "press_back", "{}", "", 1),
    (
        "a slider",
        "SettingsActivity",
        "adjust_control",
        r#"{"selector":{"text":"Volume"},"target_value":50}"#,
        "",
        1,
    ),
    ("waiting for rest", "LoginActivity", "wait_for_ui", r#"{"condition":"stable"}"#, "", 0),
    (
        "verifying a state",
        "LoginActivity",
        "expect_state",
        r#"{"selector":{"text":"Remember me"},"property":"checked","expected":false}"#,
        "",
        0,
    ),
];

async fn measured((name, screen, tool, json, ..): &Case) -> (String, usize) {
    let config = PhoneConfig { timing: Timing::Phone, film: true, ..PhoneConfig::default() };
    let world = on_screen(screen, config).await;
    world.tree().await;
    tokio::time::sleep(std::time::Duration::from_secs(3)).await;
    let (dumps, began) = (world.phone.film().dumps.len(), Instant::now());
    let answer = world.call(tool, json).await;
    let took = began.elapsed();
    assert!(!answer.is_error, "{name}: {}", answer.text());
    (format!("{:.1}", took.as_secs_f64()), world.phone.film().dumps.len() - dumps)
}

#[tokio::test(start_paused = true)]
async fn looks_and_seconds_of_each_tool_at_a_phones_pace() {
    let mut page = String::from(
        "# Seconds and looks at a phone's pace\n\nMade on the virtual phone with `--timing phone` (a dump takes 1.5 s, an \
         input half a second) by the test that checks this page. \"November\" is what independent testers measured on \
         the same phone before looks were counted.\n\n| what | seconds | looks | seconds in November |\n|---|---|---|---|\n",
    );
    for case in &CASES {
        let (seconds, looks) = measured(case).await;
        let (name, .., before_s, looks_before) = case;
        let _ = writeln!(page, "| {name} | {seconds} | {looks} | {before_s} |");
        assert!(looks <= looks_before + LOOKS_AFTER_MAX, "F41: {name} took {looks} looks");
    }
    let kept = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/figures/pace.md");
    let difference = difference(&kept, &page, "UPDATE_PACE");
    assert!(difference.is_none(), "{}", difference.unwrap_or_default());
}
