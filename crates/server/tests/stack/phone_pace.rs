//! docs/figures/pace.md: seconds and looks of each tool on a phone whose dump takes 1.5 s (F41). UPDATE_PACE=1 writes it.

use std::fmt::Write as _;
use std::path::Path;

use mdm_android::HelperMode;
use mdm_virtual_device::{PhoneConfig, Timing};
use tokio::time::{Duration, Instant};

use crate::gestures::open_screen;
use crate::page::difference;
use crate::world::{World, fact, point_of};

/// The quiet that a wait for a change asks for.
const WINDOW_MS: u64 = 250;

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

/// What a call took with the helper on the device, or with the shell alone.
struct Took {
    seconds: f64,
    looks: usize,
    answer: String,
}

async fn measured((name, screen, tool, json, ..): &Case, helper: HelperMode) -> Took {
    let timing = Timing::Phone;
    let config = PhoneConfig { timing, film: true, clipboard_commands: true, ..PhoneConfig::default() };
    let world = World::served(config, helper);
    open_screen(&world, screen).await;
    world.tree().await;
    tokio::time::sleep(Duration::from_secs(3)).await;
    let (dumps, began) = (world.phone.film().dumps.len(), Instant::now());
    let answer = world.call(tool, json).await;
    let seconds = began.elapsed().as_secs_f64();
    assert!(!answer.is_error, "{name}: {}", answer.text());
    Took { seconds, looks: world.phone.film().dumps.len() - dumps, answer: answer.text() }
}

/// The slowest that some of them may be: with the shell alone, and with the helper on the device.
const SECONDS_MAX: [(&str, f64, f64); 4] = [
    ("a tap that toggles", 3.5, 0.6),
    ("a tap that navigates, expected", 3.5, 0.6),
    ("typing", 5.6, 0.8),
    ("typing beyond ASCII", 5.6, 0.8),
];

#[tokio::test(start_paused = true)]
async fn looks_and_seconds_of_each_tool_at_a_phones_pace() {
    let mut page = String::from(
        "# Seconds and looks at a phone's pace\n\nMade on the virtual phone with `--timing phone` by the test that checks this \
         page: a dump takes 1.5 s and an input half a second through the shell; with the helper on the device a tree takes \
         60 ms and an input 5 ms besides the gesture itself. No phone was measured. \"November\" is what independent \
         testers measured on the same phone through the shell before looks were counted.\n\n\
         | what | shell: seconds | looks | helper: seconds | looks | November |\n|---|---|---|---|---|---|\n",
    );
    for case in &CASES {
        let (shell, helped) =
            (measured(case, HelperMode::Never).await, measured(case, HelperMode::Auto).await);
        let (name, .., before_s, looks_before) = case;
        let _ = writeln!(
            page,
            "| {name} | {:.1} | {} | {:.2} | {} | {before_s} |",
            shell.seconds, shell.looks, helped.seconds, helped.looks
        );
        assert!(shell.looks <= looks_before + LOOKS_AFTER_MAX, "F41: {name} took {} looks", shell.looks);
        if let Some((_, shell_max, helper_max)) = SECONDS_MAX.iter().find(|(limited, ..)| limited == name) {
            assert!(shell.seconds <= *shell_max + 0.005, "{name} took {} s: {}", shell.seconds, shell.answer);
            assert!(helped.seconds <= *helper_max, "{name} took {} s: {}", helped.seconds, helped.answer);
        }
    }
    page.push_str(&scrolled().await);
    page.push_str(&overshoot().await);
    let kept = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/figures/pace.md");
    let difference = difference(&kept, &page, "UPDATE_PACE");
    assert!(difference.is_none(), "{}", difference.unwrap_or_default());
}

/// Scrolls through a list of a hundred rows and tells what one screen of it takes.
async fn scrolled() -> String {
    let json =
        r#"{"selector":{"text":"Row 60"},"direction":"down","maxScrolls":40,"inside":{"resourceId":"rows"}}"#;
    let case = ("scrolling", "LongListActivity", "scroll_to_element", json, "", 1);
    let mut line = String::from("\nScrolling to a row, for each screen of the list: ");
    for (helper, name, seconds_max) in [(HelperMode::Never, "shell", 5.0), (HelperMode::Auto, "helper", 1.0)]
    {
        let took = measured(&case, helper).await;
        let scrolls: f64 = fact(&took.answer, "scrolls").parse().expect("a number");
        let a_screen = took.seconds / scrolls;
        assert!(a_screen <= seconds_max, "{name}: {a_screen} s a screen: {}", took.answer);
        let _ = write!(line, "{name} {a_screen:.2} s ({scrolls} strokes); ");
    }
    line.trim_end_matches("; ").to_owned() + ".\n"
}

/// How long after a change a wait for it ends, besides the window of quiet that it asks for.
async fn overshoot() -> String {
    const OVERSHOOT_MS_MAX: u64 = 120;
    let config = PhoneConfig { timing: Timing::Phone, ..PhoneConfig::default() };
    let (boot, world) = (Instant::now(), World::served(config, HelperMode::Auto));
    open_screen(&world, "UpdatesActivity").await;
    let tree = world.tree().await;
    let (x, y) = point_of(&tree, "Load later");
    let mut lost = Vec::new();
    for round in 0..40u64 {
        world.ok("tap", &format!(r#"{{"x":{x},"y":{y}}}"#)).await;
        tokio::time::sleep(Duration::from_millis(100 + round * 17)).await;
        let answer = world.ok("wait_for_ui_change", r#"{"timeout_ms":3000}"#).await;
        assert_eq!(fact(&answer, "success"), "true", "{answer}");
        let now_ms = boot.elapsed().as_millis() as u64;
        lost.push(now_ms - world.phone.truth().last_visible_change_ms - WINDOW_MS);
    }
    lost.sort_unstable();
    let (p50, p95) = (lost[lost.len() / 2], lost[lost.len() * 95 / 100]);
    assert!(p95 <= OVERSHOOT_MS_MAX, "{lost:?}");
    format!(
        "\nA wait with the helper ends after the change and its window of quiet by: p50 {p50} ms, p95 {p95} ms.\n"
    )
}
