//! What an answer says is what was seen, for as long as somebody looked (F5, F11 to F23).

use std::time::Duration;

use mdm_android::HelperMode;
use mdm_virtual_device::{AppFile, DumpFault, Fault, Faults, PhoneConfig, Timing};
use tokio::time::Instant;

use crate::gestures::{on_screen, open_screen};
use crate::world::{World, fact, point_of};

fn with_fault(fault: Fault, rate: f64, timing: Timing) -> PhoneConfig {
    let mut faults = Faults::default();
    *faults.rate_mut(fault) = rate;
    PhoneConfig { faults, timing, ..PhoneConfig::default() }
}

#[tokio::test(start_paused = true)]
async fn nothing_is_sent_after_the_deadline() {
    // F5: every dump takes a second and a half and up to six seconds more.
    let world = on_screen("LoginActivity", with_fault(Fault::SlowDump, 1.0, Timing::Phone)).await;
    for (tool, json) in [
        ("tap_element", r#"{"selector":{"text":"Log in"},"timeout_ms":2000}"#),
        ("tap_element", r#"{"selector":{"text":"Log in"},"expect":{"text":"Welcome"},"timeout_ms":1000}"#),
        ("type_text", r#"{"selector":{"text":"Email"},"text":"ada","timeout_ms":2000}"#),
        ("long_press", r#"{"selector":{"text":"Log in"},"timeout_ms":2000}"#),
    ] {
        let began = Instant::now();
        let answer = world.call(tool, json).await;
        let took = began.elapsed();
        assert!(took <= Duration::from_millis(2100), "{tool} took {took:?}: {}", answer.text());
        assert!(answer.is_error, "{tool}: {}", answer.text());
        assert_eq!(fact(&answer.text(), "code"), "TIMEOUT", "{}", answer.text());
        tokio::time::sleep(Duration::from_secs(20)).await;
        assert_eq!(world.phone.truth().inputs.len(), 0, "{tool} sent something late");
    }
}

#[tokio::test(start_paused = true)]
async fn a_wait_in_vain_on_a_screen_at_rest_says_that_it_rests() {
    // F11
    let world = World::started(Timing::Brisk).await;
    let answer = world.call("wait_for_ui", r#"{"selector":{"text":"Welcome"},"timeout_ms":3000}"#).await;
    assert_eq!(fact(&answer.text(), "stability_state"), "resting", "{}", answer.text());
    assert!(fact(&answer.text(), "rested_ms").parse::<u64>().unwrap() > 2000, "{}", answer.text());
    assert!(!answer.text().contains("still moving"), "{}", answer.text());
}

#[tokio::test(start_paused = true)]
async fn a_screen_that_begins_to_load_is_not_stable() {
    // F12
    let world = World::started(Timing::Brisk).await;
    world.ok("type_text", r#"{"selector":{"text":"Email"},"text":"ada@example.com"}"#).await;
    world.ok("type_text", r#"{"selector":{"text":"Password"},"text":"secret"}"#).await;
    let early = world.ok("tap_element", r#"{"selector":{"text":"Log in"},"timeout_ms":700}"#).await;
    assert!(early.contains("loading_state"), "{early}");
    assert_ne!(fact(&early, "stability_state"), "stable", "{early}");
    let world = World::started(Timing::Brisk).await;
    world.ok("type_text", r#"{"selector":{"text":"Email"},"text":"ada@example.com"}"#).await;
    world.ok("type_text", r#"{"selector":{"text":"Password"},"text":"secret"}"#).await;
    let late = world.ok("tap_element", r#"{"selector":{"text":"Log in"}}"#).await;
    assert!(!late.contains("loading_state"), "it was waited for: {late}");
    assert_eq!(fact(&late, "stability_state"), "stable", "{late}");
}

#[tokio::test(start_paused = true)]
async fn focus_orientation_and_how_long_was_watched_are_told() {
    // F13
    let world = World::started(Timing::Brisk).await;
    let focused = world.ok("tap_element", r#"{"selector":{"text":"Email"}}"#).await;
    assert!(focused.lines().any(|line| line.starts_with("focus: e") && line.contains("Email")), "{focused}");
    let turned = world.ok("set_orientation", r#"{"orientation":"landscape","settle":true}"#).await;
    assert!(turned.contains("landscape now, 2400x1080"), "{turned}");
    let nothing = world.ok("tap", r#"{"x":500,"y":200,"settle":true}"#).await;
    assert!(nothing.contains("nothing that counts changed on the screen in "), "{nothing}");
}

#[tokio::test(start_paused = true)]
async fn a_key_is_pressed_on_a_screen_that_cannot_be_read() {
    // F23
    let world = on_screen("SettingsActivity", PhoneConfig::default()).await;
    world.phone.inject_dump_fault(DumpFault::NotIdle);
    let answer = world.call("press_back", r#"{"settle":true}"#).await;
    assert_eq!(fact(&answer.text(), "success"), "true", "{}", answer.text());
    assert!(answer.text().contains("could not be read before"), "{}", answer.text());
    assert_eq!(world.phone.truth().inputs.len(), 1);
}

#[tokio::test(start_paused = true)]
async fn a_system_dialog_in_front_leaves_the_expectation_undetermined() {
    // F15
    let world = on_screen("LoginActivity", with_fault(Fault::SystemDialog, 60.0, Timing::Brisk)).await;
    let json = r#"{"selector":{"text":"Remember me"},"expect":{"text":"Welcome"},"timeout_ms":5000}"#;
    for _ in 0..10 {
        let answer = world.call("tap_element", json).await;
        if answer.text().contains("a system dialog is in front") {
            assert_eq!(fact(&answer.text(), "verdict"), "undetermined", "{}", answer.text());
            return;
        }
        for answer in ["OK", "Wait", "Allow", "Not now", "Close app"] {
            let json = format!(r#"{{"selector":{{"text":"{answer}"}},"settle":false}}"#);
            world.call("tap_element", &json).await;
        }
    }
    panic!("no dialog came up during a verification");
}

#[tokio::test(start_paused = true)]
async fn text_without_a_focus_is_refused_and_text_that_went_on_is_followed() {
    // F20
    let world = World::started(Timing::Brisk).await;
    let answer = world.call("type_text", r#"{"text":"lost"}"#).await;
    assert!(answer.is_error && answer.text().contains("no text field has the focus"), "{}", answer.text());
    assert_eq!(world.phone.truth().inputs.len(), 0, "nothing was typed");
    let json = r#"{"selector":{"text":"Email"},"text":"ada\nlovelace"}"#;
    let answer = world.call("type_text", json).await;
    assert_eq!(world.phone.truth().fields.get("password").map(String::as_str), Some("lovelace"));
    assert!(answer.text().contains("the focus went on to"), "{}", answer.text());
}

#[tokio::test(start_paused = true)]
async fn a_text_that_cannot_be_typed_leaves_the_field_as_it_was() {
    // F82: the shell cannot set the clipboard of Android.
    let config = PhoneConfig { timing: Timing::Brisk, ..PhoneConfig::default() };
    let world = on_screen("LoginActivity", config).await;
    world.ok("type_text", r#"{"selector":{"text":"Email"},"text":"ada"}"#).await;
    let answer =
        world.call("type_text", r#"{"selector":{"text":"Email"},"text":"Žofie","clear":true}"#).await;
    assert!(answer.is_error && answer.text().contains("cannot set the clipboard"), "{}", answer.text());
    assert_eq!(world.phone.truth().fields.get("email").map(String::as_str), Some("ada"), "F82");
}

#[tokio::test(start_paused = true)]
async fn a_toast_that_cannot_be_read_contradicts_nothing() {
    // F14
    let world =
        on_screen("DialogsActivity", PhoneConfig { timing: Timing::Brisk, ..PhoneConfig::default() }).await;
    let json = r#"{"selector":{"text":"Save"},"expect":{"text":"Saved"}}"#;
    let answer = world.call("tap_element", json).await;
    assert_eq!(fact(&answer.text(), "verdict"), "undetermined", "{}", answer.text());
    assert!(answer.text().contains("a toast was shown"), "{}", answer.text());
    assert!(!world.phone.toasts().is_empty());
}

#[tokio::test(start_paused = true)]
async fn a_toast_is_told_by_its_words_and_another_one_waits_for_its_end() {
    // F14, with the helper: found by the simulation.
    let world =
        World::served(PhoneConfig { timing: Timing::Brisk, ..PhoneConfig::default() }, HelperMode::Always);
    open_screen(&world, "DialogsActivity").await;
    let json = r#"{"selector":{"text":"Save"},"expect":{"text":"Draft saved"}}"#;
    let answer = world.ok("tap_element", json).await;
    assert_eq!(fact(&answer, "verdict"), "confirmed", "{answer}");
    assert!(answer.contains("toast \"Draft saved\""), "{answer}");
    let other = r#"{"selector":{"text":"Save"},"expect":{"text":"Lost"},"timeout_ms":1000}"#;
    let answer = world.call("tap_element", other).await.text();
    assert_eq!(fact(&answer, "verdict"), "contradicted", "all that was said was heard: {answer}");
    let again = r#"{"selector":{"text":"Save"},"expect":{"text":"Draft saved"},"timeout_ms":60}"#;
    let answer = world.call("tap_element", again).await.text();
    assert_ne!(fact(&answer, "verdict"), "contradicted", "{answer}");
}

#[tokio::test(start_paused = true)]
async fn a_point_outside_of_the_screen_is_refused() {
    // F48
    let world = World::started(Timing::Brisk).await;
    world.tree().await;
    let answer = world.call("tap", r#"{"x":5400,"y":100}"#).await;
    assert_eq!(fact(&answer.text(), "code"), "INVALID_ARGUMENT", "{}", answer.text());
    assert_eq!(world.phone.truth().inputs.len(), 0);
    world.ok("tap", r#"{"x":1079,"y":2399}"#).await;
}

/// An app with one counter, as widgets or only drawn.
fn counter(style: &str, secure: bool) -> std::sync::Arc<AppFile> {
    let app = format!(
        r#"{{"package":"org.example.count","label":"Count","start":"Home","values":{{"n":0}},
        "screens":{{"Home":{{"title":"Count","style":"{style}","secure":{secure},"content":[
            {{"type":"text","text":"Points {{n}}"}},
            {{"type":"button","text":"Score","on_tap":[{{"add":{{"n":1}}}}]}},
            {{"type":"button","text":"Rest","on_tap":[{{"add":{{"n":0}}}}]}}]}}}}}}"#
    );
    AppFile::parse(&app).unwrap_or_else(|error| panic!("{error}"))
}

async fn counting(style: &str, secure: bool, timing: Timing) -> World {
    let world =
        World::with(PhoneConfig { apps: vec![counter(style, secure)], timing, ..PhoneConfig::default() });
    world.ok("start_app", r#"{"appId":"org.example.count"}"#).await;
    world
}

#[tokio::test(start_paused = true)]
async fn what_only_the_picture_shows_is_told() {
    // F13: the tree of a game has one surface, and pixels tell whether a touch did something.
    let widgets = counting("view", false, Timing::Instant).await;
    let tree = widgets.tree().await;
    let [score, rest] = ["Score", "Rest"].map(|text| point_of(&tree, text));
    for timing in [Timing::Instant, Timing::Brisk, Timing::Phone] {
        let world = counting("game", false, timing).await;
        assert!(!world.tree().await.contains("Score"), "only drawn");
        let tap = |(x, y): (i32, i32)| format!(r#"{{"x":{x},"y":{y},"settle":true}}"#);
        let answer = world.ok("tap", &tap(score)).await;
        assert_eq!(fact(&answer, "observed_change"), "pixels", "{timing:?}: {answer}");
        let classified = world.ok("classify_action_outcome", r#"{"uiChanged":false}"#).await;
        assert!(!classified.contains("no_op"), "F10: {classified}");
        let answer = world.ok("tap", &tap(rest)).await;
        assert!(answer.contains("nothing that counts changed"), "{timing:?}: {answer}");
        assert_eq!(world.phone.truth().sliders["org.example.count.n"], 1.0);
    }
    let world = counting("game", true, Timing::Brisk).await;
    let answer = world.ok("tap", &format!(r#"{{"x":{},"y":{},"settle":true}}"#, score.0, score.1)).await;
    assert!(answer.contains("what changed is not known"), "it may not be photographed: {answer}");
}

#[tokio::test(start_paused = true)]
async fn an_action_whose_last_look_was_damaged_is_no_no_op() {
    // F10: found by the simulation. What the last whole look showed is not what the screen came to.
    for (is_damaged, outcome) in [(false, "no_op"), (true, "unknown")] {
        let world = counting("view", false, Timing::Phone).await;
        world.tree().await;
        let json = r#"{"selector":{"text":"Rest"},"expect":{"text":"Points 1"},"timeout_ms":6000}"#;
        let damaging = async {
            // The first look after the tap has begun by then, and there is time for one more.
            tokio::time::sleep(Duration::from_millis(3000)).await;
            if is_damaged {
                world.phone.inject_dump_fault(DumpFault::Truncated(2000));
            }
        };
        tokio::join!(world.call("tap_element", json), damaging);
        let classified = world.ok("classify_action_outcome", "{}").await;
        assert_eq!(fact(&classified, "outcome"), outcome, "{is_damaged}: {classified}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_slider_without_a_value_that_moved_is_not_called_unchanged() {
    // F86: a dump has no value of a SeekBar, so only its thumb tells where it stands.
    let app = r#"{"package":"org.example.bar","label":"Bar","start":"Home","values":{"level":30},
        "screens":{"Home":{"title":"Bar","content":[
            {"type":"slider","value":"level","id":"bar"},{"type":"text","text":"Below"}]}}}"#;
    let app = AppFile::parse(app).unwrap_or_else(|error| panic!("{error}"));
    let world = World::with(PhoneConfig { apps: vec![app], timing: Timing::Brisk, ..PhoneConfig::default() });
    world.ok("start_app", r#"{"appId":"org.example.bar"}"#).await;
    let node = |class: &str, bounds: &str| {
        format!(
            "<node index=\"0\" text=\"\" resource-id=\"\" class=\"android.widget.{class}\" package=\"org.example.bar\" \
             content-desc=\"\" checkable=\"false\" checked=\"false\" clickable=\"true\" enabled=\"true\" \
             focusable=\"true\" focused=\"false\" scrollable=\"false\" long-clickable=\"false\" password=\"false\" \
             selected=\"false\" bounds=\"{bounds}\""
        )
    };
    let (root, bar) = (node("FrameLayout", "[0,0][1080,2400]"), node("SeekBar", "[42,252][1038,378]"));
    let tree = format!("<?xml version='1.0' ?><hierarchy rotation=\"0\">{root}>{bar}/></node></hierarchy>");
    world.phone.set_hierarchy(Some(tree.into()));
    let tap = |x: i32| format!(r#"{{"x":{x},"y":315,"settle":true}}"#);
    let moved = world.ok("tap", &tap(900)).await;
    assert_eq!(fact(&moved, "observed_change"), "pixels", "{moved}");
    let stayed = world.ok("tap", &tap(900)).await;
    assert!(stayed.contains("nothing that counts changed"), "{stayed}");
}

#[tokio::test(start_paused = true)]
async fn what_was_asked_for_and_is_not_known_to_be_so_is_an_error() {
    // F45, F60: the same for every tool, and for a step of a flow.
    let world = World::started(Timing::Brisk).await;
    let fingerprint = fact(&world.ok("get_screen_fingerprint", "{}").await, "fingerprint");
    let unchanged = format!(r#"{{"previous_fingerprint":"{fingerprint}","timeout_ms":1000}}"#);
    let tap = r#"{"selector":{"text":"Remember me"},"expect":{"text":"Welcome"},"timeout_ms":2000}"#;
    for (tool, json) in [
        ("wait_for_ui", r#"{"selector":{"text":"Welcome"},"timeout_ms":1000}"#),
        ("wait_for_ui_change", r#"{"timeout_ms":1000}"#),
        ("wait_for_screen_change", unchanged.as_str()),
        ("expect_element_visible", r#"{"selector":{"text":"Welcome"},"timeout_ms":1000}"#),
        ("expect_state", r#"{"selector":{"text":"Remember me"},"property":"selected","expected":true}"#),
        ("expect_screen", r#"{"screen":"HomeActivity","timeout_ms":1000}"#),
        ("find_element", r#"{"query":"Welcome","timeout_ms":500}"#),
        ("tap_element", tap),
    ] {
        let answer = world.call(tool, json).await;
        assert!(answer.is_error, "{tool} {json}: {}", answer.text());
        let flow = format!(r#"{{"steps":[{{"tool":"{tool}","arguments":{json}}}]}}"#);
        let flow = world.call("run_flow", &flow).await;
        assert!(flow.is_error && flow.text().contains(&format!("1 {tool} FAILED")), "{}", flow.text());
    }
    for (tool, json) in [
        ("wait_for_ui", r#"{"selector":{"text":"Log in"}}"#),
        ("find_element", r#"{"query":"Log in"}"#),
        ("find_element", r#"{"selector":{"role":"field"}}"#),
        ("expect_screen", r#"{"screen":"LoginActivity"}"#),
        ("get_logs", r#"{"lines":1}"#),
    ] {
        world.ok(tool, json).await;
    }
}

#[tokio::test(start_paused = true)]
async fn an_expectation_that_nobody_could_check_is_an_error() {
    // F45, F60: a toast was shown whose text is in no tree.
    let config = PhoneConfig { timing: Timing::Brisk, ..PhoneConfig::default() };
    let world = on_screen("DialogsActivity", config).await;
    let answer = world.call("tap_element", r#"{"selector":{"text":"Save"},"expect":{"text":"Saved"}}"#).await;
    assert_eq!(fact(&answer.text(), "verdict"), "undetermined", "{}", answer.text());
    assert!(answer.is_error, "{}", answer.text());
}

#[tokio::test(start_paused = true)]
async fn a_look_that_hangs_contradicts_nothing_and_is_ended_by_the_next_one() {
    // F10: the screen was not seen for five seconds, and what was expected may have come in that time.
    let world = World::started(Timing::Brisk).await;
    let json = r#"{"selector":{"text":"Remember me"},"expect":{"text":"Welcome"},"timeout_ms":6000}"#;
    let hang = async {
        tokio::time::sleep(Duration::from_secs(1)).await;
        world.phone.inject_dump_fault(DumpFault::Slow(60_000));
    };
    let (answer, ()) = tokio::join!(world.call("tap_element", json), hang);
    assert_eq!(fact(&answer.text(), "verdict"), "undetermined", "{}", answer.text());
    assert!(answer.text().contains("a look did not end"), "{}", answer.text());
    let began = Instant::now();
    world.ok("get_ui_tree", "{}").await;
    let took = began.elapsed();
    assert!(took < Duration::from_secs(1), "our own dump held the device for {took:?}");
}

#[tokio::test(start_paused = true)]
async fn a_screen_that_never_rests_can_be_tapped_where_a_picture_shows_it() {
    // F88: no tree can be read over the shell while something changes; the hint names a way that works.
    let config = PhoneConfig { timing: Timing::Brisk, ..PhoneConfig::default() };
    let world = on_screen("AnimationActivity", config).await;
    let refused = world.call("tap_element", r#"{"selector":{"text":"Stop"}}"#).await;
    assert_eq!(fact(&refused.text(), "code"), "UI_NOT_IDLE", "{}", refused.text());
    assert!(refused.text().contains("tap takes x and y"), "{}", refused.text());
    assert!(world.ok("capture_screenshot", "{}").await.contains("image/jpeg"));
    let tapped = world.ok("tap", r#"{"x":540,"y":819}"#).await;
    assert_eq!(fact(&tapped, "success"), "true", "{tapped}");
    assert_eq!(world.phone.truth().inputs.len(), 1);
}
