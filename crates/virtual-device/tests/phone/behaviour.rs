//! The behaviour of the system around its apps.

use std::time::Duration;

use bytes::{Bytes, BytesMut};
use mdm_virtual_device::{Phone, PhoneConfig, Timing};
use mdm_wire::adb::frame::Command;
use mdm_wire::adb::shell::Packet;

use crate::host::{Host, bounds, centre, packets, phone_and_host, workbench};

async fn wait(ms: u64) {
    tokio::time::sleep(Duration::from_millis(ms)).await;
}

async fn on(activity: &str) -> (Phone, Host) {
    let (phone, mut host) = phone_and_host(PhoneConfig::default()).await;
    host.run(&format!("am start -n com.workbench/.{activity}")).await;
    (phone, host)
}

/// Returns the first number of a row on the screen.
fn first_row(tree: &str) -> u32 {
    let row = tree.split("text=\"Row ").nth(1).and_then(|t| t.split('"').next()?.parse().ok());
    row.unwrap_or_else(|| panic!("no row in {tree}"))
}

#[tokio::test(start_paused = true)]
async fn there_is_no_root_while_an_app_starts() {
    let (mut rootless, mut rooted) = (0, 0);
    for seed in 1..=12 {
        let config = PhoneConfig { timing: Timing::Phone, seed, ..PhoneConfig::default() };
        let (phone, mut host) = phone_and_host(config).await;
        host.run("am start -n com.workbench/.LoginActivity").await;
        assert!(host.run("dumpsys window").await.contains("mCurrentFocus=null"), "nothing is drawn yet");
        let said = host.shell("uiautomator dump /sdcard/a.xml").await;
        if said.err.contains("ERROR: null root node returned by UiTestAutomationBridge.") {
            rootless += 1;
        } else {
            rooted += 1;
        }
        wait(3000).await;
        assert!(host.dump().await.contains("Sign in to Workbench"));
        assert!(host.run("dumpsys window").await.contains("mCurrentFocus=Window{"));
        assert!(phone.truth().faults.is_empty(), "no fault was needed");
    }
    assert!(rootless > 0 && rooted > 0, "{rootless} without a root, {rooted} with one");
}

#[tokio::test(start_paused = true)]
async fn a_list_is_seen_half_way_through_a_swipe() {
    let (phone, mut host) = on("LongListActivity").await;
    let mut other = Host::connect(&phone).await;
    let before = host.dump().await;
    let swiping = tokio::spawn(async move {
        other.run("input swipe 540 1900 540 1100 4000").await;
    });
    wait(2000).await;
    let half = host.dump().await;
    swiping.await.unwrap();
    let whole = host.dump().await;
    let top = |tree: &str, row: u32| bounds(tree, &format!("text=\"Row {row}\""))[1];
    let row = first_row(&whole) + 1;
    let (moved_half, moved) = (top(&before, row) - top(&half, row), top(&before, row) - top(&whole, row));
    assert!(moved > 700, "{moved}");
    assert!((moved / 2 - moved_half).abs() < 60, "{moved_half} of {moved}");
}

#[tokio::test(start_paused = true)]
async fn a_finger_that_moves_step_by_step_carries_the_list() {
    let (_phone, mut host) = on("LongListActivity").await;
    let before = host.dump().await;
    host.run("input motionevent DOWN 540 1900; input motionevent MOVE 540 1700").await;
    let moved = host.dump().await;
    let row = first_row(&before) + 2;
    let top = |tree: &str| bounds(tree, &format!("text=\"Row {row}\""))[1];
    let by = top(&before) - top(&moved);
    assert!((150..=200).contains(&by), "{by}");
    host.run("input motionevent MOVE 540 1900").await;
    assert_eq!(host.dump().await, before, "and back");
    host.run("input motionevent MOVE 540 1700; input motionevent CANCEL 540 1700").await;
    assert_eq!(host.dump().await, moved, "a cancelled touch leaves it where it is");
}

#[tokio::test(start_paused = true)]
async fn keys_can_be_held_and_pressed_twice() {
    let (phone, mut host) = workbench().await;
    host.tap("id/email\"").await;
    host.run("input text abcdef; input keyevent --longpress DEL").await;
    assert_eq!(phone.truth().fields["email"], "abcd", "held until it repeats");
    host.run("input keyevent --doubletap DEL").await;
    assert_eq!(phone.truth().fields["email"], "ab");
    host.run("input keyevent --longpress HOME").await;
    assert!(phone.truth().activity.starts_with("com.workbench"), "that is the assistant's");
    let (phone, mut host) = on("GesturesActivity").await;
    host.run("input keyevent TAB TAB; input keyevent --longpress DPAD_CENTER").await;
    let sliders = phone.truth().sliders;
    assert_eq!((sliders.get("gallery.long_presses"), sliders.get("gallery.taps")), (Some(&1.0), None));
}

#[tokio::test(start_paused = true)]
async fn a_permission_is_asked_by_another_activity() {
    let (phone, mut host) = on("DialogsActivity").await;
    host.tap("text=\"Take a photo\"").await;
    let grant = "com.google.android.permissioncontroller/com.android.permissioncontroller.permission.ui.GrantPermissionsActivity";
    let resumed = host.run("dumpsys activity activities | grep -m1 -i resumedactivity").await;
    assert!(resumed.contains(grant), "{resumed}");
    let focus = host.run("dumpsys window | grep mCurrentFocus").await;
    assert!(focus.contains(grant), "{focus}");
    host.tap("text=\"Only this time\"").await;
    let resumed = host.run("dumpsys activity activities | grep -m1 -i resumedactivity").await;
    assert!(resumed.contains("com.workbench/.DialogsActivity"), "{resumed}");
    assert_eq!(phone.truth().fields["gallery.permission"], "Camera allowed");
}

#[tokio::test(start_paused = true)]
async fn night_and_shade_change_the_screen() {
    let (_phone, mut host) = workbench().await;
    let day = host.service("exec:screencap").await;
    assert_eq!(host.run("cmd uimode night yes").await, "Night mode: yes\n");
    let night = host.service("exec:screencap").await;
    let corner = |pixels: &[u8]| pixels[pixels.len() - 4..pixels.len() - 1].to_vec();
    assert!(corner(&day)[0] > 0xf0 && corner(&night)[0] < 0x20, "{:?} {:?}", corner(&day), corner(&night));
    host.run("cmd uimode night no; cmd statusbar expand-notifications").await;
    assert!(host.dump().await.contains("com.android.systemui:id/notification_stack_scroller"));
    host.run("cmd statusbar collapse").await;
    assert!(host.dump().await.contains("Sign in to Workbench"));
}

#[tokio::test(start_paused = true)]
async fn pixels_may_change_without_an_event() {
    let (phone, mut host) = on("MovingActivity").await;
    wait(5000).await;
    host.run("true").await;
    let truth = phone.truth();
    assert!(truth.last_visible_change_ms > truth.last_change_ms + 4000, "{truth:?}");
    let (phone, mut host) = on("DialogsActivity").await;
    host.tap("text=\"Save\"").await;
    wait(10_000).await;
    let truth = phone.truth();
    assert_eq!(truth.last_visible_change_ms, truth.toasts[0].until_ms);
    assert_eq!(truth.last_change_ms, truth.toasts[0].from_ms);
}

#[tokio::test(start_paused = true)]
async fn run_as_reads_what_the_app_saved() {
    let (_phone, mut host) = on("SettingsActivity").await;
    let prefs = "shared_prefs/com.workbench_preferences.xml";
    let before = host.run(&format!("run-as com.workbench cat {prefs}")).await;
    assert!(before.contains("<boolean name=\"dark\" value=\"false\" />"), "{before}");
    let (x, y) = centre(&host.dump().await, "id/row_dark\"");
    host.run(&format!("input tap {x} {y}")).await;
    let after = host.run(&format!("run-as com.workbench cat /data/data/com.workbench/{prefs}")).await;
    assert!(after.contains("<boolean name=\"dark\" value=\"true\" />"), "{after}");
    assert_eq!(host.run("run-as com.workbench pwd").await, "/data/user/0/com.workbench\n");
    let listed = host.run("run-as com.workbench ls").await;
    assert_eq!(listed, "cache\ncode_cache\nfiles\nshared_prefs\n");
    host.run("run-as com.workbench sh -c 'echo hi > files/note'").await;
    assert_eq!(host.run("run-as com.workbench cat files/note").await, "hi\n");
    for path in ["/data/data/com.workbench", "/data/user/0/com.workbench", "/data/user/0/\u{1}com.workbench"]
    {
        let refused = host.shell(&format!("cat {path}/{prefs}")).await;
        assert_ne!(refused.code, Some(0), "{path}");
    }
    host.run("pm clear com.workbench").await;
    assert_ne!(host.shell("run-as com.workbench cat files/note").await.code, Some(0));
}

#[tokio::test(start_paused = true)]
async fn a_terminal_shows_what_is_typed() {
    let (_phone, mut host) = phone_and_host(PhoneConfig::default()).await;
    let (local, remote) = host.open("shell,v2,pty:").await.unwrap();
    let mut all = Vec::new();
    for line in ["echo one\r", "exit 3\r"] {
        let mut packet = BytesMut::new();
        Packet::Stdin(Bytes::from_static(line.as_bytes())).encode(&mut packet);
        host.send(Command::Write, local, remote, packet.freeze()).await;
    }
    while let Some(frame) = host.frame().await {
        match frame.command {
            Command::Write => {
                all.extend_from_slice(&frame.payload);
                host.send(Command::Okay, local, remote, Bytes::new()).await;
            }
            Command::Close => break,
            _ => {}
        }
    }
    let said = packets(&all);
    assert!(said.out.contains("echo one\r\n"), "{said:?}");
    assert!(said.out.matches("one\r\n").count() == 2 && said.out.contains("exit 3\r\n"), "{said:?}");
    assert_eq!(said.code, Some(3));
}

#[tokio::test(start_paused = true)]
async fn a_bouncing_finger_is_no_double_tap() {
    let (phone, mut host) = on("GesturesActivity").await;
    let (x, y) = centre(&host.dump().await, "text=\"Tap twice\"");
    host.run(&format!("input tap {x} {y}; input tap {x} {y}")).await;
    wait(1000).await;
    assert_eq!(phone.truth().sliders.get("gallery.double_taps"), None, "within 40 ms it is the same touch");
    host.run(&format!("input tap {x} {y}; sleep 0.1; input tap {x} {y}")).await;
    assert_eq!(phone.truth().sliders.get("gallery.double_taps"), Some(&1.0));
}

#[tokio::test(start_paused = true)]
async fn small_things_that_no_other_test_looks_at() {
    let (phone, mut host) = workbench().await;
    host.tap("id/password\"").await;
    assert!(phone.truth().keyboard_shown);
    host.run("input keyevent ENTER").await;
    assert!(!phone.truth().keyboard_shown, "the last field's action closes the keyboard");
    let begun = tokio::time::Instant::now();
    host.run("input keyevent --delay 200 29 29 29").await;
    assert_eq!(begun.elapsed(), Duration::from_millis(400), "a delay between keys, not after them");
    let begun = tokio::time::Instant::now();
    assert_eq!(host.shell("timeout 2m sleep 1000").await.code, Some(124));
    assert_eq!(begun.elapsed(), Duration::from_secs(120));
    host.run("input keyevent HOME").await;
    let home = host.dump().await;
    let top = |label: &str| bounds(&home, &format!("content-desc=\"{label}\""))[1];
    assert_eq!(top("Workbench"), top("Shop"), "icons stand in rows");
    host.run("am start -n 'com.android.settings/.Settings$DisplaySettingsActivity'").await;
    for on in [true, false] {
        host.tap("text=\"Dark theme\"").await;
        assert_eq!(phone.truth().switches["dark_ui"], on);
    }
}
