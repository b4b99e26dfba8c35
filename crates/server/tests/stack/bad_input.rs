//! Bad arguments and broken devices: every call ends with an error code, changes nothing and never hangs.

use std::time::Duration;

use mdm_virtual_device::{Applied, DumpFault, PhoneConfig, Timing};
use mobile_debug_mcp::args::JsonObject;
use mobile_debug_mcp::tools;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use crate::world::{APP, World, fact};

#[tokio::test(start_paused = true)]
async fn arguments_are_checked_before_anything_is_sent() {
    let world = World::started(Timing::Instant).await;
    let before = world.phone.truth();
    for (tool, json) in [
        ("tap", r#"{"x":1}"#),
        ("tap", r#"{"x":"1","y":2}"#),
        ("tap", r#"{"x":1,"y":-1}"#),
        ("tap", r#"{"x":1e300,"y":1}"#),
        ("tap", r#"{"x":1,"y":2,"z":3}"#),
        ("swipe", r#"{"x1":1,"y1":1,"x2":2,"y2":2,"duration":0}"#),
        ("swipe", r#"{"x1":1,"y1":1,"x2":2,"y2":2,"duration":1e9}"#),
        ("type_text", r#"{"text":""}"#),
        ("type_text", r#"{"text":"a\u0000b"}"#),
        ("start_app", r#"{"appId":"a.b; reboot"}"#),
        ("terminate_app", r#"{"appId":"$(reboot)"}"#),
        ("reset_app_data", r#"{"appId":""}"#),
        ("get_ui_tree", r#"{"platform":"web"}"#),
        ("get_ui_tree", r#"{"format":"yaml"}"#),
        ("capture_screenshot", r#"{"maxSize":1}"#),
        ("get_logs", r#"{"limit":0}"#),
        ("get_logs", r#"{"level":"loud"}"#),
    ] {
        assert_eq!(world.code(tool, json).await, "INVALID_ARGUMENT", "{tool} {json} (W32, W34, S1)");
    }
    let after = world.phone.truth();
    assert_eq!((before.inputs, before.activity), (after.inputs, after.activity));
}

#[tokio::test(start_paused = true)]
async fn unknown_devices_platforms_and_apps_are_refused() {
    let world = World::new(Timing::Instant);
    let answer = world.call("tap", r#"{"x":1,"y":1,"deviceId":"nobody"}"#).await;
    assert_eq!(fact(&answer.text(), "code"), "DEVICE_NOT_FOUND");
    assert!(answer.text().ends_with("\nvirtual-android (device)"), "candidates: {}", answer.text());
    assert_eq!(world.code("get_ui_tree", r#"{"platform":"ios"}"#).await, "PLATFORM_NOT_SUPPORTED");
    for tool in ["start_app", "terminate_app", "restart_app", "reset_app_data"] {
        assert_eq!(world.code(tool, r#"{"appId":"com.not.there"}"#).await, "APP_NOT_INSTALLED", "{tool}");
    }
}

#[tokio::test(start_paused = true)]
async fn text_is_typed_exactly_and_never_executed() {
    for text in [
        r#"; reboot & $(id) `id` "x" 'y' \ | > /sdcard/z * ~ # !"#,
        "100%s of %s, 50% sure",
        "it's \\'quoted\\' %",
        "naïve 日本語 😀👨‍👩‍👧 ـعربي",
        "-n --help",
    ] {
        let world = World::with(PhoneConfig { clipboard_commands: true, ..PhoneConfig::default() });
        world.ok("start_app", &format!(r#"{{"appId":"{APP}"}}"#)).await;
        world.tap("Email").await;
        let commands = world.phone.truth().commands.len();
        let json = serde_json::to_string(text).expect("a string");
        let answer = world.ok("type_text", &format!(r#"{{"text":{json}}}"#)).await;
        assert!(answer.contains(r#""read_back":"seen""#), "{answer}");
        let truth = world.phone.truth();
        assert!(
            truth.fields.values().any(|value| value == text),
            "SE-01: {text:?} is not in {:?}",
            truth.fields
        );
        let ran = &truth.commands[commands..];
        let expected =
            ["true", "input", "cmd", "rm", "uiautomator", "wm", "dumpsys", "grep", "[", "cat", "exit"];
        let strange: Vec<_> =
            ran.iter().filter(|c| !expected.contains(&c.split(' ').next().unwrap_or(""))).collect();
        assert!(strange.is_empty(), "SE-01: the text was executed: {strange:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn text_without_a_focused_field_is_not_reported_as_verified() {
    let world = World::started(Timing::Instant).await;
    // Nothing has the focus, so there is no field to read back.
    assert_eq!(world.code("type_text", r#"{"text":"lost"}"#).await, "ACTION_REJECTED", "F20");
}

#[tokio::test(start_paused = true)]
async fn typed_text_is_reported_as_unread_when_the_screen_cannot_be_read() {
    let world = World::started(Timing::Instant).await;
    world.tap("Email").await;
    world.phone.inject_dump_fault(DumpFault::NotIdle);
    let answer = world.ok("type_text", r#"{"text":"ada"}"#).await;
    assert!(
        answer.contains(r#""read_back":"unread""#) && answer.contains("pending_verification"),
        "RC-04: {answer}"
    );
    assert!(world.phone.truth().fields.values().any(|value| value == "ada"));
}

#[tokio::test(start_paused = true)]
async fn a_call_to_a_slow_device_ends_at_its_deadline() {
    let world = World::started(Timing::Instant).await;
    world.phone.inject_dump_fault(DumpFault::Slow(600_000));
    let started = Instant::now();
    assert_eq!(world.code("get_ui_tree", "{}").await, "TIMEOUT", "W19");
    assert_eq!(started.elapsed(), Duration::from_secs(30), "SY-07");
}

#[tokio::test(start_paused = true)]
async fn a_device_unplugged_during_a_call_is_reported_and_recovers() {
    let world = World::started(Timing::Instant).await;
    world.phone.inject_dump_fault(DumpFault::Slow(5_000));
    let phone = world.phone.clone();
    tokio::spawn(async move {
        tokio::time::sleep(Duration::from_secs(1)).await;
        phone.set_plugged(false);
    });
    let started = Instant::now();
    assert_eq!(world.code("get_ui_tree", "{}").await, "DEVICE_OFFLINE");
    assert!(started.elapsed() < Duration::from_secs(5), "{:?}", started.elapsed());
    assert_eq!(world.code("tap", r#"{"x":1,"y":1}"#).await, "DEVICE_OFFLINE");
    let list = world.ok("list_devices", "{}").await;
    assert!(list.contains(r#""state":"offline""#), "{list}");
    world.phone.set_plugged(true);
    // The interrupted capture still runs on the phone and holds its UiAutomation; this one waits for it.
    assert!(world.tree().await.contains("Log in"));
}

#[tokio::test(start_paused = true)]
async fn failures_of_uiautomator_are_recognised() {
    let world = World::started(Timing::Instant).await;
    for fault in [DumpFault::NotIdle, DumpFault::ErrorExitZero] {
        world.phone.inject_dump_fault(fault);
        assert_eq!(world.code("get_ui_tree", "{}").await, "UI_NOT_IDLE", "{fault:?}");
    }
    // These failures are temporary, so the tree is read on a second attempt.
    for fault in [DumpFault::NullRoot, DumpFault::Killed] {
        world.phone.inject_dump_fault(fault);
        assert!(world.tree().await.contains("Log in"), "{fault:?}");
    }
    world.phone.inject_dump_fault(DumpFault::Truncated(900));
    let tree = world.tree().await;
    assert!(tree.contains(r#""partial":true"#), "{tree}");
    assert_eq!(world.phone.truth().leftover_files, Vec::<String>::new(), "W8: no file stays behind");
}

#[tokio::test(start_paused = true)]
async fn an_old_dump_file_is_never_read_as_the_new_screen() {
    let world = World::started(Timing::Instant).await;
    let login = world.tree().await;
    world.tap("Settings").await;
    world.phone.inject_dump_fault(DumpFault::ErrorExitZero);
    assert_eq!(world.code("get_ui_tree", "{}").await, "UI_NOT_IDLE", "W8: no tree rather than the last one");
    let settings = world.tree().await;
    assert!(!settings.contains("Log in") && login.contains("Log in"), "W8: {settings}");
}

#[tokio::test(start_paused = true)]
async fn a_tap_cut_off_after_it_was_sent_is_reported_as_unknown() {
    let world = World::started(Timing::Phone).await;
    world.tree().await;
    let before = world.phone.truth().inputs.len();
    let phone = world.phone.clone();
    // The phone takes half a second to start `input`: the command has arrived, but the tap has not happened yet.
    tokio::spawn(async move {
        tokio::time::sleep(Duration::from_millis(100)).await;
        phone.cut_connections();
    });
    let answer = world.call("tap", r#"{"x":540,"y":1200}"#).await;
    assert_eq!(fact(&answer.text(), "code"), "CONNECTION_LOST");
    assert_eq!(fact(&answer.text(), "dispatched"), "unknown", "RC-04");
    assert_eq!(fact(&answer.text(), "retryable"), "false");
    tokio::time::sleep(Duration::from_secs(5)).await;
    let taps =
        world.phone.truth().inputs[before..].iter().filter(|i| matches!(i, Applied::Tap { .. })).count();
    assert!(taps <= 1, "never twice");
}

#[tokio::test(start_paused = true)]
async fn the_screen_size_follows_override_and_rotation() {
    let world = World::started(Timing::Instant).await;
    assert!(world.tree().await.contains(r#""resolution":{"width":1080,"height":2400}"#));
    let rotated = "<?xml version='1.0' ?><hierarchy rotation=\"1\"><node class=\"a.B\" text=\"x\" \
                   bounds=\"[0,0][2400,1080]\" /></hierarchy>";
    world.phone.set_hierarchy(Some(rotated.into()));
    assert!(world.tree().await.contains(r#""resolution":{"width":2400,"height":1080}"#), "W25");
}

#[tokio::test(start_paused = true)]
async fn constant_facts_are_read_once_per_connection() {
    let world = World::new(Timing::Instant);
    let getprops = || world.phone.truth().commands.iter().filter(|c| c.starts_with("getprop")).count();
    world.ok("list_devices", "{}").await;
    let once = getprops();
    assert!(once > 0);
    for _ in 0..5 {
        world.ok("list_devices", "{}").await;
        world.tree().await;
    }
    assert_eq!(getprops(), once);
    world.phone.cut_connections();
    world.tree().await;
    world.ok("list_devices", "{}").await;
    assert_eq!(getprops(), 2 * once, "a new connection may be a new phone");
}

#[tokio::test(start_paused = true)]
async fn a_cancelled_call_ends_at_once_and_frees_the_device() {
    let world = World::started(Timing::Instant).await;
    world.phone.inject_dump_fault(DumpFault::Slow(20_000));
    let cancelled = CancellationToken::new();
    let canceller = cancelled.clone();
    tokio::spawn(async move {
        tokio::time::sleep(Duration::from_secs(2)).await;
        canceller.cancel();
    });
    let started = Instant::now();
    let entry = tools::find("get_ui_tree").expect("the tool exists");
    let answer = entry.call(&world.app, JsonObject::new(), cancelled).await;
    assert_eq!(fact(&answer.text(), "code"), "CANCELLED", "MC-01");
    assert_eq!(started.elapsed(), Duration::from_secs(2));
    world.ok("tap", r#"{"x":1,"y":1}"#).await;
    assert_eq!(started.elapsed(), Duration::from_secs(2), "the next call did not wait");
}
