//! Waits on difficult screens (SY-17, RFC 013 §10).

use std::path::Path;
use std::time::Duration;

use mdm_android::adb::key::HostKey;
use mdm_android::adb::link::Link;
use mdm_android::adb::{Adb, Script};
use mdm_core::action::outcome::Effect;
use mdm_core::action::request::{Request, What};
use mdm_core::change::settle::Stability;
use mdm_core::intent::watch::{Goal, Wait, WatchReport};
use mdm_engine::{Progress, Session};
use mdm_virtual_device::{DumpFault, Faults, PhoneConfig, Timing};
use mobile_debug_mcp::app::phone_connector;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use crate::world::{APP, World, call, fact, point_of};

/// Starts the app with one of its screens in front.
async fn opened(timing: Timing, activity: &str) -> World {
    let world = World::started(timing).await;
    shell(&world, &Script::new("am start -W -n").arg(&format!("{APP}/{activity}"))).await;
    assert!(world.phone.truth().activity.ends_with(activity), "{}", world.phone.truth().activity);
    world
}

async fn shell(world: &World, script: &Script) -> String {
    let adb = Adb::direct(Link::new(phone_connector(world.phone.clone()), HostKey::at(Path::new("no-key"))));
    let output = adb.shell(script, 10_000).await.expect("the phone answers");
    assert_eq!(output.exit_code, 0, "{}", output.message());
    output.stdout_text()
}

/// Waits for a change, and taps half a second after the wait began.
async fn waited_while_tapping(world: &World, wait: &str, tree: &str, label: &str) -> String {
    let tapping = async {
        tokio::time::sleep(Duration::from_millis(500)).await;
        tap(world, tree, label).await;
    };
    tokio::join!(world.told("wait_for_ui_change", wait), tapping).0
}

fn id_of(tree: &str, label: &str) -> String {
    let quoted = format!("\"{label}");
    let line = tree.lines().skip(1).find(|line| line.contains(&quoted));
    let line = line.unwrap_or_else(|| panic!("{label} in {tree}"));
    line.split_whitespace().next().expect("an id").to_owned()
}

/// Taps by coordinates, without reading the screen again.
async fn tap(world: &World, tree: &str, label: &str) {
    let (x, y) = point_of(tree, label);
    world.ok("tap", &format!(r#"{{"x":{x},"y":{y}}}"#)).await;
}

fn is(answer: &str, key: &str, value: &str) {
    assert_eq!(fact(answer, key), value, "{key} in {answer}");
}

/// Makes a call and measures it in milliseconds of the phone's time.
async fn timed(world: &World, tool: &str, json: &str) -> (String, u64) {
    let began = Instant::now();
    let answer = world.told(tool, json).await;
    (answer, began.elapsed().as_millis() as u64)
}

/// SY-05 by the phone's own state: nothing visible changed in the window before the answer.
async fn at_rest(world: &World, window_ms: u64) {
    let changed_ms = world.phone.truth().last_visible_change_ms;
    // A tap on an empty spot shows the phone's time.
    world.ok("tap", r#"{"x":3,"y":3}"#).await;
    let now_ms = *world.phone.truth().input_times_ms.last().expect("the tap");
    let quiet = now_ms - changed_ms;
    assert!(quiet >= window_ms, "SY-05: stable was said {quiet} ms after a change");
}

#[tokio::test(start_paused = true)]
async fn a_late_update_is_waited_for_and_reported() {
    // RFC 013 §10: delayed updates. A spinner at once, rows after 1.5 s.
    let world = opened(Timing::Instant, ".UpdatesActivity").await;
    let tree = world.tree().await;
    let revision = fact(&tree, "snapshot_revision");
    tap(&world, &tree, "Load later").await;
    let since = format!(r#"{{"since_revision":{revision},"stability_window_ms":250}}"#);
    let (spinner, ms) = timed(&world, "wait_for_ui_change", &since).await;
    is(&spinner, "success", "true");
    is(&spinner, "stability_state", "stable");
    is(&spinner, "observed_change", "hierarchy_diff");
    assert!(spinner.contains(r#""loading_state":{"active":true"#), "SY-13: its end is to come: {spinner}");
    assert!((250..300).contains(&ms), "SY-10: the change before the wait counts, at once: {ms}");

    let (rows, ms) = timed(&world, "wait_for_ui_change", "{}").await;
    is(&rows, "success", "true");
    assert!(rows.contains("+ ") && rows.contains("\"Third\""), "{rows}");
    assert!((1400..1600).contains(&ms), "1.5 s after the tap, and quiet for 250 ms: {ms}");
    assert!(!rows.contains("loading_state"), "{rows}");
    at_rest(&world, 250).await;
    for key in
        ["device", "status", "reason", "captured_at_ms", "snapshot_freshness_ms", "elapsed_ms", "scope"]
    {
        assert!(!fact(&rows, key).is_empty(), "SY-11: {key} in {rows}");
    }
    assert!(rows.contains(r#""change_summary":{"since_revision":"#), "SY-11: {rows}");
    let freshness: u64 = fact(&rows, "snapshot_freshness_ms").parse().unwrap();
    assert!(freshness <= 250, "W31: {freshness}");
}

#[tokio::test(start_paused = true)]
async fn a_text_changed_in_place_is_a_text_change() {
    let world = opened(Timing::Instant, ".UpdatesActivity").await;
    let tree = world.tree().await;
    for (kind, success) in [("text_change", "true"), ("state_change", "false")] {
        tap(&world, &tree, "Change in place").await;
        let json = format!(r#"{{"timeout_ms":2000,"expected_change":"{kind}"}}"#);
        let (answer, ms) = timed(&world, "wait_for_ui_change", &json).await;
        is(&answer, "success", success);
        if success == "true" {
            is(&answer, "observed_change", "text_change");
            assert!((650..750).contains(&ms), "400 ms and the window: {ms}");
            assert!(answer.contains("Price: 1"), "{answer}");
        } else {
            // SY-08: another kind of change does not end the wait.
            is(&answer, "reason", "timeout");
            is(&answer, "change_detected", "false");
            is(&answer, "stabilized", "false");
            assert_ne!(fact(&answer, "stability_state"), "stable", "SY-07: {answer}");
            assert_eq!(ms, 2000, "SY-07: by the deadline");
        }
    }
}

#[tokio::test(start_paused = true)]
async fn delayed_navigation_is_waited_for() {
    // RFC 013 §10: delayed navigation. The app's server answers late, then another screen opens.
    let world = World::started(Timing::Brisk).await;
    world.tap("Settings").await;
    world.tap("Use staging server").await;
    world.ok("press_back", "{}").await;
    world.tap("Email").await;
    world.ok("type_text", r#"{"text":"ada@example.com"}"#).await;
    world.tap("Password").await;
    world.ok("type_text", r#"{"text":"correct horse"}"#).await;
    world.ok("press_back", "{}").await;
    let tree = world.tree().await;
    let print = fact(&world.ok("get_screen_fingerprint", "{}").await, "fingerprint");
    tap(&world, &tree, "Log in").await;
    let json = r#"{"selector":{"text":"welcome","contains":true},"condition":"visible","timeout_ms":10000}"#;
    let found = world.ok("wait_for_ui", json).await;
    is(&found, "status", "success");
    is(&found, "matched", "1");
    assert!(found.contains("\"Welcome, Ada\""), "{found}");
    assert!(world.phone.truth().activity.ends_with(".HomeActivity"));
    let changed =
        world.ok("wait_for_screen_change", &format!(r#"{{"previousFingerprint":"{print}"}}"#)).await;
    is(&changed, "success", "true");
    assert!(changed.contains(r#""observed_screen":{"activity":"com.workbench.HomeActivity"}"#), "{changed}");
    at_rest(&world, 250).await;
    let now = fact(&changed, "newFingerprint");
    let same = format!(r#"{{"previousFingerprint":"{now}","timeoutMs":1500}}"#);
    let (still, ms) = timed(&world, "wait_for_screen_change", &same).await;
    is(&still, "success", "false");
    is(&still, "reason", "timeout");
    is(&still, "lastFingerprint", &now);
    assert_eq!(ms, 1500, "SY-07");
}

#[tokio::test(start_paused = true)]
async fn an_endless_animation_neither_ends_nor_prevents_a_wait() {
    // RFC 013 §10: infinite animations. The progress changes twenty times a second, for ever.
    let world = opened(Timing::Instant, ".AnimationActivity").await;
    let tree = world.tree().await;
    let (answer, ms) = timed(&world, "wait_for_ui_change", r#"{"timeout_ms":10000}"#).await;
    assert_eq!(ms, 10_000, "SY-07");
    is(&answer, "success", "false");
    is(&answer, "timeout", "true");
    is(&answer, "change_detected", "false");
    is(&answer, "stabilized", "false");
    assert_ne!(fact(&answer, "stability_state"), "stable", "SY-07: {answer}");
    let settled = waited_while_tapping(&world, r#"{"timeout_ms":3000}"#, &tree, "Still usable").await;
    is(&settled, "success", "true");
    is(&settled, "stability_state", "stable");
    assert!(settled.contains("Used 1 times"), "SY-04: {settled}");
}

#[tokio::test(start_paused = true)]
async fn recomposition_churn_is_reported_and_can_be_ignored() {
    // RFC 013 §10: background recomposition churn. Every 250 ms the rows get other wrappers.
    let world = opened(Timing::Instant, ".ChurnActivity").await;
    let tree = world.tree().await;
    let kept = id_of(&tree, "Kept ");
    let restless = waited_while_tapping(&world, r#"{"timeout_ms":5000}"#, &tree, "Keep").await;
    is(&restless, "success", "false");
    is(&restless, "reason", "timeout");
    is(&restless, "change_detected", "true");
    is(&restless, "elapsed_ms", "5000");
    assert_ne!(fact(&restless, "stability_state"), "stable", "SY-07: {restless}");
    let named = restless.lines().find(|line| line.starts_with("still moving: ")).unwrap_or_default();
    assert!(named.contains("text \"Alpha\"") && named.contains(" changes, every "), "{restless}");
    assert!(!named.contains("Kept"), "what changed once is not what moves: {restless}");
    let moving = named.split_whitespace().nth(2).expect("an id").to_owned();

    let ways = [
        format!(r##"{{"timeout_ms":5000,"ignore":["{moving}","#no_such","Nothing"]}}"##),
        format!(r#"{{"timeout_ms":5000,"scope":"subtree","target":"{kept}"}}"#),
        r#"{"timeout_ms":5000,"stability_window_ms":100,"expected_change":"text_change"}"#.to_owned(),
    ];
    for (number, json) in ways.iter().enumerate() {
        let settled = waited_while_tapping(&world, json, &tree, "Keep").await;
        assert_eq!(fact(&settled, "success"), "true", "SY-09: {json}: {settled}");
        is(&settled, "stability_state", "stable");
        assert!(settled.contains(&format!("{kept} text \"Kept {}", number + 1)), "ID-02: {json}: {settled}");
        assert!(settled.lines().last().is_some_and(|line| !line.contains("still moving")), "{settled}");
    }
    let part = format!(r#"{{"timeout_ms":3000,"scope":"subtree","target":"{kept}"}}"#);
    let (quiet, ms) = timed(&world, "wait_for_ui_change", &part).await;
    is(&quiet, "change_detected", "false");
    is(&quiet, "scope", "subtree");
    assert_eq!(ms, 3000, "SY-09: changes elsewhere do not satisfy: {quiet}");
}

#[tokio::test(start_paused = true)]
async fn a_screen_too_restless_to_be_read_is_reported_as_not_idle() {
    // RFC 013 §10: infinite animations, on a phone whose dumps wait for idle and give up after 10 s.
    let world = opened(Timing::Brisk, ".AnimationActivity").await;
    let began = Instant::now();
    let answer = world.call("wait_for_ui_change", "{}").await;
    assert!(answer.is_error, "SY-08: {}", answer.text());
    is(&answer.text(), "reason", "hierarchy_unavailable");
    is(&answer.text(), "code", "UI_NOT_IDLE");
    is(&answer.text(), "stabilized", "false");
    assert!(began.elapsed() < Duration::from_secs(25), "{:?}", began.elapsed());
    let (late, ms) = timed(&world, "wait_for_ui_change", r#"{"timeout_ms":4000}"#).await;
    is(&late, "reason", "timeout");
    assert!(late.contains("before the screen could be read once"), "{late}");
    assert_eq!(ms, 4000, "SY-07: the deadline races the device");
}

#[tokio::test(start_paused = true)]
async fn a_ticking_clock_neither_ends_nor_prevents_a_wait() {
    let world = opened(Timing::Instant, ".ClockActivity").await;
    // A clock is recognised after it has changed a few times.
    let (answer, ms) = timed(&world, "wait_for_ui_change", r#"{"timeout_ms":8000}"#).await;
    is(&answer, "success", "false");
    assert_eq!(ms, 8000, "SY-04: time passing is no change");
    let (quiet, ms) =
        timed(&world, "wait_for_ui", r#"{"condition":"stable","stability_window_ms":3000}"#).await;
    is(&quiet, "stability_state", "stable");
    assert!((3000..3100).contains(&ms), "SY-04: {ms}: {quiet}");
}

#[tokio::test(start_paused = true)]
async fn a_toast_is_not_part_of_the_screen() {
    // RFC 013 §10: ephemeral elements. As on a real phone, a dump does not contain toasts.
    let world = opened(Timing::Instant, ".DialogsActivity").await;
    let tree = world.tree().await;
    let json = r#"{"timeout_ms":4000}"#;
    let toast = waited_while_tapping(&world, json, &tree, "Save").await;
    assert_eq!(world.phone.truth().toasts.len(), 1, "it was shown");
    is(&toast, "change_detected", "false");
    assert_ne!(fact(&toast, "stability_state"), "stable", "SY-07: {toast}");
    let dialog = waited_while_tapping(&world, json, &tree, "Discard draft").await;
    is(&dialog, "success", "true");
    assert!(dialog.contains("\"Discard draft?\""), "{dialog}");
    at_rest(&world, 250).await;
}

#[tokio::test(start_paused = true)]
async fn a_target_that_disappears_ends_the_wait_with_target_gone() {
    let world = opened(Timing::Instant, ".UpdatesActivity").await;
    let tree = world.tree().await;
    let target = id_of(&tree, "Price");
    let json = format!(r#"{{"timeout_ms":5000,"scope":"subtree","target":"{target}"}}"#);
    let wait = world.told("wait_for_ui_change", &json);
    let leave = async {
        tokio::time::sleep(Duration::from_millis(700)).await;
        world.ok("press_back", "{}").await;
    };
    let (answer, ()) = tokio::join!(wait, leave);
    is(&answer, "success", "false");
    is(&answer, "reason", "target_gone");
    is(&answer, "code", "STALE_REFERENCE");
    let elapsed: u64 = fact(&answer, "elapsed_ms").parse().unwrap();
    assert!((700..900).contains(&elapsed), "SY-08: {elapsed}");
}

#[tokio::test(start_paused = true)]
async fn a_failed_dump_is_neither_absence_nor_a_change() {
    let world = World::started(Timing::Instant).await;
    let absent = r#"{"selector":{"text":"Log in"},"condition":"not_exists","timeout_ms":3000}"#;
    let faults = [
        DumpFault::NullRoot,
        DumpFault::Killed,
        DumpFault::Truncated(900),
        DumpFault::ErrorExitZero,
        DumpFault::NoNodes,
        DumpFault::Stale,
    ];
    for fault in faults {
        world.phone.inject_dump_fault(fault);
        let answer = world.told("wait_for_ui", absent).await;
        assert_eq!(fact(&answer, "success"), "false", "W10: {fault:?}: {answer}");
        world.phone.inject_dump_fault(fault);
        let (answer, ms) = timed(&world, "wait_for_ui_change", r#"{"timeout_ms":2000}"#).await;
        assert_eq!(fact(&answer, "success"), "false", "W11: {fault:?}: {answer}");
        assert_eq!(fact(&answer, "change_detected"), "false", "W11: {fault:?}: {answer}");
        assert_eq!(ms, 2000, "SY-07");
    }
    // The same during a wait.
    let wait = world.told("wait_for_ui_change", r#"{"timeout_ms":3000}"#);
    let damage = async {
        tokio::time::sleep(Duration::from_millis(500)).await;
        world.phone.inject_dump_fault(DumpFault::Truncated(900));
        tokio::time::sleep(Duration::from_millis(500)).await;
        world.phone.inject_dump_fault(DumpFault::NullRoot);
    };
    let (answer, ()) = tokio::join!(wait, damage);
    is(&answer, "change_detected", "false");
}

#[tokio::test(start_paused = true)]
async fn wait_for_ui_waits_for_the_condition_of_its_element() {
    let world = World::started(Timing::Instant).await;
    let tree = world.tree().await;
    let remember = r#"{"selector":{"text":"Remember me"},"condition":"checked","timeout_ms":3000}"#;
    let wait = world.ok("wait_for_ui", remember);
    let switch = async {
        tokio::time::sleep(Duration::from_millis(1000)).await;
        tap(&world, &tree, "Remember me").await;
    };
    let (answer, ()) = tokio::join!(wait, switch);
    is(&answer, "success", "true");
    let latency: u64 = fact(&answer, "latency_ms").parse().unwrap();
    assert!((1000..1100).contains(&latency), "two captures after the tap: {latency}");
    let met = [
        (r#"{"selector":{"resource_id":"remember_me"},"condition":"exists"}"#, "true"),
        (r#"{"selector":{"text":"Log in"},"condition":"visible"}"#, "true"),
        (r#"{"selector":{"text":"Remember me"},"condition":"clickable"}"#, "true"),
        (r#"{"selector":{"text":"Remember me"},"condition":"stable"}"#, "true"),
        (r#"{"selector":{"text":"remember","contains":true},"condition":"exists"}"#, "true"),
        (
            r#"{"selector":{"text":"Remember me"},"condition":"checked","expected":false,"timeout_ms":500}"#,
            "false",
        ),
        (r#"{"selector":{"text":"Milk"},"condition":"exists","timeout_ms":500}"#, "false"),
        (r#"{"selector":{"text":"Milk"},"condition":"not_exists"}"#, "true"),
        (r#"{"selector":{"text":"Log in"},"match":{"index":7},"timeout_ms":500}"#, "false"),
        // Every field of a selector works here too.
        (r#"{"selector":{"resourceId":"remember_me","role":"switch"}}"#, "true"),
        (r#"{"selector":{"role":"slider"},"timeout_ms":500}"#, "false"),
        (r#"{"selector":{"regex":"^Log (in|out)$"},"condition":"clickable"}"#, "true"),
        (r#"{"selector":{"text":"Log in","index":7},"timeout_ms":500}"#, "false"),
    ];
    for (json, success) in met {
        let answer = world.told("wait_for_ui", json).await;
        assert_eq!(fact(&answer, "success"), success, "SY-14: {json}: {answer}");
        assert!(success == "true" || answer.contains("\"code\":\"ELEMENT_NOT_FOUND\""), "{answer}");
    }
}

#[tokio::test(start_paused = true)]
async fn bad_wait_arguments_are_refused_at_once() {
    let world = World::started(Timing::Instant).await;
    let revision = fact(&world.tree().await, "snapshot_revision");
    let waits = [
        ("wait_for_ui", "{}".to_owned()),
        ("wait_for_ui", r#"{"selector":{}}"#.to_owned()),
        ("wait_for_ui", r#"{"selector":{"text":"  "}}"#.to_owned()),
        ("wait_for_ui", r#"{"selector":{"text":"x"},"condition":"gone"}"#.to_owned()),
        ("wait_for_ui", r#"{"selector":{"text":"x"},"condition":"value"}"#.to_owned()),
        ("wait_for_ui", r#"{"selector":{"text":"x"},"timeout_ms":99999999}"#.to_owned()),
        ("wait_for_ui", r#"{"selector":{"text":"x","index":1},"match":{"index":2}}"#.to_owned()),
        ("wait_for_ui_change", r#"{"scope":"subtree"}"#.to_owned()),
        ("wait_for_ui_change", r#"{"scope":"screen","target":"e1"}"#.to_owned()),
        ("wait_for_ui_change", r#"{"scope":"subtree","target":"login"}"#.to_owned()),
        ("wait_for_ui_change", r#"{"expected_change":"magic"}"#.to_owned()),
        ("wait_for_ui_change", format!(r#"{{"since_revision":{revision}0}}"#)),
        ("wait_for_ui_change", r#"{"stability_window_ms":-1}"#.to_owned()),
        ("wait_for_ui_change", r##"{"ignore":["#"]}"##.to_owned()),
        ("wait_for_screen_change", r#"{"previousFingerprint":"none"}"#.to_owned()),
        ("wait_for_screen_change", "{}".to_owned()),
    ];
    for (tool, json) in waits {
        let (began, code) = (Instant::now(), world.code(tool, &json).await);
        assert_eq!(code, "INVALID_ARGUMENT", "W32: {tool} {json}");
        assert_eq!(began.elapsed(), Duration::ZERO, "W32: {tool} {json}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_wait_can_be_cancelled_and_does_not_block_other_calls() {
    let world = World::started(Timing::Instant).await;
    let cancelled = CancellationToken::new();
    let entry = mobile_debug_mcp::tools::find("wait_for_ui_change").expect("the tool");
    let wait = entry.call(&world.app, serde_json::Map::new(), cancelled.clone());
    let others = async {
        for _ in 0..5 {
            let began = Instant::now();
            call(&world.app, "get_ui_tree", "{}").await;
            assert!(
                began.elapsed() < Duration::from_millis(50),
                "not behind the wait: {:?}",
                began.elapsed()
            );
            tokio::time::sleep(Duration::from_millis(100)).await;
        }
        cancelled.cancel();
    };
    let (answer, ()) = tokio::join!(wait, others);
    assert!(answer.is_error && answer.text().contains("CANCELLED"), "{}", answer.text());
}

#[tokio::test(start_paused = true)]
async fn the_system_status_counts_waits() {
    let world = opened(Timing::Instant, ".UpdatesActivity").await;
    let before = world.ok("get_system_status", "{}").await;
    is(before.split_once("\"waits\":[").expect("an action was counted").1, "waits", "0");
    let tree = world.tree().await;
    tap(&world, &tree, "Change in place").await;
    world.ok("wait_for_ui_change", r#"{"timeout_ms":2000}"#).await;
    world.told("wait_for_ui_change", r#"{"timeout_ms":1000}"#).await;
    world.phone.inject_dump_fault(DumpFault::Truncated(900));
    world.told("wait_for_ui", r#"{"selector":{"text":"Nothing"},"timeout_ms":100}"#).await;
    world.told("wait_for_ui_change", r#"{"scope":"subtree","target":"e9999"}"#).await;
    let status = world.ok("get_system_status", "{}").await;
    let expect = [("waits", "4"), ("success_percent", "25"), ("timeouts", "2"), ("targets_gone", "1")];
    let counted = status.split_once("\"waits\":[").expect("SY-18").1;
    for (key, value) in expect {
        assert_eq!(fact(counted, key), value, "SY-18: {key} in {status}");
    }
    is(counted, "stale_caught", "2");
    is(counted, "changes", "1");
    let mean: u64 = fact(counted, "mean_stabilise_ms").parse().unwrap();
    assert!((250..300).contains(&mean), "SY-18: {status}");
}

#[tokio::test(start_paused = true)]
async fn the_system_status_tells_how_actions_went() {
    // MT-01
    let world = opened(Timing::Instant, ".UpdatesActivity").await;
    let counted = async || {
        let status = world.ok("get_system_status", "{}").await;
        status.split_once("\"waits\":[").map_or(String::new(), |(_, counted)| counted.to_owned())
    };
    let before: u64 = match counted().await.as_str() {
        "" => 0,
        text => fact(text, "actions").parse().unwrap(),
    };
    let tree = world.tree().await;
    let id = id_of(&tree, "Change in place");
    world.ok("tap_element", &format!(r#"{{"elementId":"{id}"}}"#)).await;
    tap(&world, &tree, "Change in place").await;
    // Several elements fit.
    let code = world.code("tap_element", r#"{"selector":{"text":"a","contains":true}}"#).await;
    assert_eq!(code, "AMBIGUOUS_TARGET");
    // Nothing answers to this id any more.
    assert_eq!(world.code("tap_element", r#"{"elementId":"e9999"}"#).await, "STALE_REFERENCE");
    world.ok("wait_for_ui_change", r#"{"timeout_ms":2000}"#).await;
    let text = counted().await;
    let actions = before + 4;
    let first_try = (actions - 2) * 100 / actions;
    is(&text, "actions", &actions.to_string());
    is(&text, "first_try_percent", &first_try.to_string());
    is(&text, "by_point_percent", &(100 / actions).to_string());
    is(&text, "ambiguous", "1");
    is(&text, "stale_caught", "1");
    assert!(text.contains("\"premature_actions\":") && text.contains("\"retries\":0"), "{text}");
    let overshoot: u64 = fact(&text, "mean_overshoot_ms").parse().unwrap();
    assert!(overshoot <= 120, "{text}");
}

/// Measures the time from a change to the end of the wait, for changes at different moments between captures.
#[tokio::test(start_paused = true)]
async fn a_wait_ends_soon_after_the_change() {
    let world = opened(Timing::Instant, ".UpdatesActivity").await;
    let tree = world.tree().await;
    let mut lost = Vec::new();
    for round in 0..40u64 {
        tap(&world, &tree, "Load later").await;
        tokio::time::sleep(Duration::from_millis(100 + round * 17)).await;
        let answer = world.ok("wait_for_ui_change", r#"{"timeout_ms":3000}"#).await;
        is(&answer, "success", "true");
        let changed_ms = world.phone.truth().last_visible_change_ms;
        world.ok("tap", r#"{"x":3,"y":3}"#).await;
        let now_ms = *world.phone.truth().input_times_ms.last().expect("the tap");
        lost.push(now_ms - changed_ms - 250);
    }
    lost.sort_unstable();
    let (p50, p95) = (lost[lost.len() / 2], lost[lost.len() * 95 / 100]);
    println!("lost after a change, without the window and the dump itself: p50 {p50} ms, p95 {p95} ms");
    assert!(p50 <= 30 && p95 <= 60, "{lost:?}");
}

/// Waits for 600 ms without a change.
async fn rest(session: &Session, progress: &Progress) -> WatchReport {
    let what = What::Wait(Box::new(Wait::new(Goal::Quiet, 600)));
    let request = Request { id: "rest_1".to_owned(), name: "rest", what };
    match session.run(request, progress).await.effect {
        Effect::Watched(report) => *report,
        other => panic!("{other:?}"),
    }
}

#[tokio::test(start_paused = true)]
async fn a_quiet_wait_ends_after_one_whole_window() {
    let world = opened(Timing::Instant, ".UpdatesActivity").await;
    let tree = world.tree().await;
    let wanted = mdm_engine::WantedDevice::default();
    let progress = Progress::new(Duration::from_secs(5), CancellationToken::new());
    let session =
        world.app.fleet.choose(&wanted, &world.app.own.binding, &progress).await.expect("the phone");
    tap(&world, &tree, "Change in place").await;
    let began = Instant::now();
    let settled = rest(&session, &progress).await;
    assert!(settled.change_detected && settled.stability == Stability::Stable, "{settled:?}");
    let ms = began.elapsed().as_millis();
    assert!((1000..1060).contains(&ms), "SY-05: 400 ms and one whole window of 600 ms: {ms}");
    assert_eq!(settled.observed.as_str(), Some("text_change"));

    let restless = opened(Timing::Instant, ".ChurnActivity").await;
    let session =
        restless.app.fleet.choose(&wanted, &restless.app.own.binding, &progress).await.expect("the phone");
    let began = Instant::now();
    let short = Progress::new(Duration::from_secs(2), CancellationToken::new());
    let settled = rest(&session, &short).await;
    assert_ne!(settled.stability, Stability::Stable, "SY-07");
    assert!(
        !settled.moving.is_empty() && settled.moving.iter().all(|moving| moving.times > 1),
        "{settled:?}"
    );
    assert_eq!(began.elapsed(), Duration::from_secs(2), "SY-07");
}

/// Random moments, damage and timing, checked against the phone's own state.
#[tokio::test(start_paused = true)]
async fn no_wait_reports_a_false_success_under_dump_faults() {
    const SEEDS: u64 = 60;
    let (mut reached, mut late) = (0, 0);
    for seed in 0..SEEDS {
        let faults = Faults { truncated_dump: 0.15, failing_dump: 0.1, empty_dump: 0.1, ..Faults::default() };
        let timing = if seed % 2 == 0 { Timing::Instant } else { Timing::Brisk };
        let world = World::with(PhoneConfig { faults, seed, timing, ..PhoneConfig::default() });
        world.ok("start_app", r#"{"appId":"com.workbench"}"#).await;
        shell(&world, &Script::new("am start -W -n com.workbench/.UpdatesActivity")).await;
        let tree = whole_tree(&world).await;
        let before = tree.contains("Price: 10");
        assert!(before, "{tree}");
        let tapping = async {
            tokio::time::sleep(Duration::from_millis(seed * 37 % 1500)).await;
            let (x, y) = point_of(&tree, "Change in place");
            world.call("tap", &format!(r#"{{"x":{x},"y":{y}}}"#)).await;
        };
        let timeout = 1000 + seed * 53 % 2000;
        let json = format!(r#"{{"timeout_ms":{timeout},"expected_change":"text_change"}}"#);
        let began = Instant::now();
        let (answer, ()) = tokio::join!(world.call("wait_for_ui_change", &json), tapping);
        let elapsed: u64 = fact(&answer.text(), "elapsed_ms").parse().unwrap();
        assert!(elapsed <= timeout, "SY-07: seed {seed}: {}", answer.text());
        let success = fact(&answer.text(), "success") == "true";
        if success {
            reached += 1;
            assert!(answer.text().contains("\"Price: 11\""), "W11: seed {seed}: {}", answer.text());
            is(&answer.text(), "stability_state", "stable");
        } else {
            late += 1;
            assert_ne!(fact(&answer.text(), "stability_state"), "stable", "SY-07: seed {seed}");
        }
        assert!(began.elapsed() < Duration::from_secs(5), "seed {seed}");
    }
    println!("{SEEDS} seeds: {reached} reached, {late} timed out, none of them falsely");
    assert!(reached > SEEDS / 4 && late > 0, "both ends were met: {reached}, {late}");
}

async fn whole_tree(world: &World) -> String {
    for _ in 0..20 {
        let tree = world.call("get_ui_tree", r#"{"coordinates":true}"#).await;
        let whole = !tree.is_error && !tree.text().contains("\"partial\":true");
        if whole && tree.text().contains("Change in place") {
            return tree.text();
        }
    }
    panic!("no whole tree");
}
