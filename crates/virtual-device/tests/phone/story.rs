//! Workbench, as a person would use it.

use std::time::Duration;

use mdm_virtual_device::{Applied, PhoneConfig};

use crate::host::{bounds, centre, log_in, node, phone_and_host, workbench};

const LOGIN_TIME: Duration = Duration::from_millis(600);

#[tokio::test(start_paused = true)]
async fn logging_in_on_staging_fails_and_the_log_says_why() {
    let (phone, mut host) = workbench().await;
    log_in(&mut host, "correct%shorse").await;
    let busy = host.dump().await;
    assert!(busy.contains("android.widget.ProgressBar"));
    assert!(node(&busy, "text=\"Log in\"").unwrap().contains("enabled=\"false\""));
    tokio::time::sleep(LOGIN_TIME).await;
    let failed = host.dump().await;
    assert!(failed.contains("text=\"Could not sign in. Try again later.\""));
    assert!(!failed.contains("ProgressBar"));
    assert_eq!(phone.truth().activity, "com.workbench/.LoginActivity");
    let log = host.run("logcat -d -v brief AuthRepo:E '*:S'").await;
    let line = log.lines().last().unwrap();
    assert!(line.starts_with("E/AuthRepo("), "{line}");
    assert!(
        line.ends_with(
            "): POST https://staging.workbench.example/login -> 401 (server: staging, user: ada@example.com)"
        ),
        "{line}"
    );
    assert_eq!(log.lines().count(), 2, "one header and one line: {log}");
}

#[tokio::test(start_paused = true)]
async fn after_turning_staging_off_the_login_works() {
    let (phone, mut host) = workbench().await;
    host.tap("text=\"Settings\"").await;
    let settings = host.dump().await;
    assert!(node(&settings, "android:id/switch_widget").unwrap().contains("checked=\"true\""));
    host.tap("text=\"Use staging server\"").await;
    assert_eq!(phone.truth().switches.get("staging"), Some(&false));
    host.run("input keyevent 4").await;
    log_in(&mut host, "correct%shorse").await;
    tokio::time::sleep(LOGIN_TIME).await;
    let home = host.dump().await;
    assert!(home.contains("text=\"Welcome, Ada\""));
    assert_eq!(phone.truth().activity, "com.workbench/.HomeActivity");
    let log = host.run("logcat -d -v tag AuthRepo:I '*:S'").await;
    assert!(log.contains("I/AuthRepo: POST https://api.workbench.example/login -> 200"), "{log}");
    // The login is gone from the stack: Back leaves the app.
    host.run("input keyevent KEYCODE_BACK").await;
    assert_eq!(phone.truth().activity, "com.android.launcher3/.uioverrides.QuickstepLauncher");
    host.tap("content-desc=\"Workbench\"").await;
    assert_eq!(phone.truth().activity, "com.workbench/.HomeActivity");
}

#[tokio::test(start_paused = true)]
async fn a_wrong_password_fails_on_either_server() {
    let (phone, mut host) = workbench().await;
    host.tap("text=\"Settings\"").await;
    host.tap("text=\"Use staging server\"").await;
    host.run("input keyevent 4").await;
    log_in(&mut host, "wrong").await;
    tokio::time::sleep(LOGIN_TIME).await;
    assert!(host.dump().await.contains("Could not sign in"));
    assert_eq!(phone.truth().activity, "com.workbench/.LoginActivity");
}

#[tokio::test(start_paused = true)]
async fn a_disabled_button_takes_the_tap_and_does_nothing() {
    let (phone, mut host) = workbench().await;
    log_in(&mut host, "x").await;
    host.tap("text=\"Log in\"").await;
    tokio::time::sleep(LOGIN_TIME).await;
    let truth = phone.truth();
    let Some(Applied::Tap { hit: Some(hit), .. }) = truth.inputs.last() else { panic!("{truth:?}") };
    assert_eq!((hit.label.as_str(), hit.acted), ("Log in", false));
    let posts = host.run("logcat -d AuthRepo:V '*:S' | grep -c POST").await;
    assert_eq!(posts, "1\n");
}

#[tokio::test(start_paused = true)]
async fn fields_report_hints_and_bullets_and_truth_knows_better() {
    let (phone, mut host) = workbench().await;
    let empty = host.dump().await;
    let email = node(&empty, "id/email\"").unwrap();
    assert!(email.contains(" text=\"Email\"") && email.contains(" hint=\"Email\""), "{email}");
    host.tap("id/password\"").await;
    host.run("input text 'tr0ub4dor&3'").await;
    let typed = host.dump().await;
    let password = node(&typed, "id/password\"").unwrap();
    assert!(
        password.contains("text=\"•••••••••••\"") && password.contains("password=\"true\""),
        "{password}"
    );
    assert!(password.contains("focused=\"true\""));
    assert!(!typed.contains("tr0ub4dor"));
    assert_eq!(phone.truth().fields["password"], "tr0ub4dor&3");
}

#[tokio::test(start_paused = true)]
async fn back_closes_the_keyboard_then_the_app_and_the_keyboard_takes_taps() {
    let (phone, mut host) = workbench().await;
    let (x, y) = centre(&host.dump().await, "text=\"Settings\"");
    host.tap("id/email\"").await;
    assert!(phone.truth().keyboard_shown);
    assert!(y >= 2400 - 2400 * 35 / 100, "the test needs a widget under the keyboard, not at {y}");
    host.run(&format!("input tap {x} {y}")).await;
    let truth = phone.truth();
    assert_eq!(truth.activity, "com.workbench/.LoginActivity", "the tap must not reach the app");
    let Some(Applied::Tap { hit: Some(hit), .. }) = truth.inputs.last() else { panic!("{truth:?}") };
    assert!(hit.label.starts_with("keyboard "), "{hit:?}");
    assert_ne!(truth.fields["email"], "", "a key was hit, so it typed");
    host.run("input keyevent BACK").await;
    let truth = phone.truth();
    assert_eq!((truth.keyboard_shown, truth.activity.as_str()), (false, "com.workbench/.LoginActivity"));
    host.run("input keyevent BACK").await;
    assert_eq!(phone.truth().activity, "com.android.launcher3/.uioverrides.QuickstepLauncher");
}

#[tokio::test(start_paused = true)]
async fn keys_edit_the_focused_field() {
    let config = PhoneConfig { clipboard_commands: true, ..PhoneConfig::default() };
    let (phone, mut host) = phone_and_host(config).await;
    host.run("am start -W -n com.workbench/.LoginActivity").await;
    host.tap("id/email\"").await;
    host.run("input text abc && input keyevent 67 && input keyevent MOVE_HOME && input keyevent KEYCODE_X")
        .await;
    assert_eq!(phone.truth().fields["email"], "xab");
    host.run("input keycombination 113 29 && input text new").await;
    assert_eq!(phone.truth().fields["email"], "new");
    host.run("input keyevent 61 && input text pw").await;
    assert_eq!(phone.truth().fields["password"], "pw");
    host.run("cmd clipboard set text 'grüße, 世界' && input keyevent 279").await;
    assert_eq!(phone.truth().fields["password"], "pwgrüße, 世界");
    assert_eq!(host.run("cmd clipboard get text").await, "grüße, 世界\n");
}

#[tokio::test(start_paused = true)]
async fn text_that_no_key_types_fails_and_types_nothing() {
    let (phone, mut host) = workbench().await;
    host.tap("id/email\"").await;
    let before = phone.truth().inputs.len();
    let output = host.shell("input text 'naïve'").await;
    assert_ne!(output.code, Some(0));
    assert!(output.err.contains("NullPointerException"), "{output:?}");
    assert_eq!(phone.truth().fields["email"], "");
    assert_eq!(phone.truth().inputs.len(), before);
    host.run("input text 'a%sb'").await;
    assert_eq!(phone.truth().fields["email"], "a b");
}

/// Returns a phone that is logged in, with the list in front.
async fn home() -> (mdm_virtual_device::Phone, crate::host::Host) {
    let (phone, mut host) = workbench().await;
    host.tap("text=\"Settings\"").await;
    host.tap("text=\"Use staging server\"").await;
    host.run("input keyevent 4").await;
    log_in(&mut host, "correct%shorse").await;
    tokio::time::sleep(LOGIN_TIME).await;
    (phone, host)
}

#[tokio::test(start_paused = true)]
async fn the_list_scrolls_the_right_way_and_stops_at_its_ends() {
    let (_phone, mut host) = home().await;
    let top = host.dump().await;
    assert!(top.contains("text=\"Milk\"") && !top.contains("text=\"Candles\""));
    let milk = bounds(&top, "text=\"Bread\"")[1];
    host.run("input swipe 540 1500 540 1400 1000").await;
    let moved = host.dump().await;
    let slop = 8 * 420 / 160;
    assert_eq!(
        bounds(&moved, "text=\"Bread\"")[1],
        milk - 100 + slop,
        "content follows the finger, less the slop"
    );
    host.run("input swipe 540 1000 540 1900 100").await;
    assert_eq!(host.dump().await, top, "clamped at the top");
    for _ in 0..5 {
        host.run("input swipe 540 2200 540 400 100").await;
    }
    let end = host.dump().await;
    assert!(end.contains("text=\"Candles\"") && !end.contains("text=\"Milk\""));
    let row = bounds(&end, "text=\"Candles\"");
    assert!(row[3] <= 2400, "the last row ends on the screen: {row:?}");
    let list = bounds(&end, "RecyclerView");
    for row in end.split("<node").filter(|n| n.contains("id/name")) {
        let text = format!("<node{row}");
        let b = bounds(&text, "bounds");
        assert!(b[1] >= list[1] && b[3] <= list[3], "bounds are clipped to the list: {row}");
    }
}

#[tokio::test(start_paused = true)]
async fn deleting_a_row_asks_first() {
    let (phone, mut host) = home().await;
    host.tap("text=\"Delete\"").await;
    let dialog = host.dump().await;
    assert!(
        dialog.contains("text=\"Delete Milk?\"") && !dialog.contains("RecyclerView"),
        "only the dialog's window"
    );
    host.tap("text=\"Cancel\"").await;
    assert!(host.dump().await.contains("text=\"Milk\""));
    host.tap("text=\"Delete\"").await;
    host.run("input tap 540 200").await;
    assert!(!phone.truth().dialog_open, "a tap beside the dialog cancels it");
    host.tap("text=\"Delete\"").await;
    host.run("input keyevent 4").await;
    assert!(!phone.truth().dialog_open);
    host.tap("text=\"Delete\"").await;
    host.tap("android:id/button1").await;
    let after = host.dump().await;
    assert!(!after.contains("text=\"Milk\"") && after.contains("text=\"Bread\""));
}

#[tokio::test(start_paused = true)]
async fn the_slider_follows_taps_and_drags() {
    let (phone, mut host) = workbench().await;
    host.tap("text=\"Settings\"").await;
    let tree = host.dump().await;
    assert!(node(&tree, "android.widget.SeekBar").unwrap().contains("text=\"38.0\""));
    let [left, top, right, bottom] = bounds(&tree, "android.widget.SeekBar");
    let y = (top + bottom) / 2;
    host.run(&format!("input tap {} {y}", (left + right) / 2)).await;
    assert_eq!(phone.truth().sliders["volume"], 50.0);
    assert!(host.dump().await.contains("text=\"50.0\""));
    host.run(&format!("input swipe {} {y} {} {y} 200", (left + right) / 2, right + 500)).await;
    assert_eq!(phone.truth().sliders["volume"], 100.0);
    host.run(&format!("input swipe {} {y} {left} {y} 200", right - 60)).await;
    assert_eq!(phone.truth().sliders["volume"], 0.0);
}

#[tokio::test(start_paused = true)]
async fn truth_lists_what_was_applied_in_order() {
    let (phone, mut host) = workbench().await;
    let (x, y) = centre(&host.dump().await, "id/email\"");
    host.run(&format!("input tap {x} {y} && input text hi && input keyevent 66 && input swipe 1 2 3 4 50"))
        .await;
    let inputs = phone.truth().inputs;
    let [tap, text, key, swipe] = inputs.as_slice() else { panic!("{inputs:?}") };
    assert!(
        matches!(tap, Applied::Tap { at, hit: Some(hit) } if *at == (x, y) && hit.resource_id == "com.workbench:id/email")
    );
    assert_eq!(*text, Applied::Text { text: "hi".into(), into: Some("email".into()) });
    assert_eq!(*key, Applied::Key { code: 66 });
    assert!(matches!(swipe, Applied::Swipe { from: (1, 2), to: (3, 4), ms: 50, .. }));
    let commands = phone.truth().commands;
    assert_eq!(commands.iter().filter(|c| c.starts_with("input ")).count(), 4);
    assert!(commands.contains(&"input text hi".to_owned()));
    assert_eq!(phone.truth().leftover_files, Vec::<String>::new());
    // Text without a focused field goes nowhere, and truth says so.
    host.run("input keyevent 3 && input text lost").await;
    assert_eq!(phone.truth().inputs.last(), Some(&Applied::Text { text: "lost".into(), into: None }));
}

#[tokio::test(start_paused = true)]
async fn apps_start_stop_and_forget() {
    let (phone, mut host) = phone_and_host(PhoneConfig::default()).await;
    assert_eq!(host.shell("pidof com.workbench").await.code, Some(1));
    let monkey = "monkey -p com.workbench -c android.intent.category.LAUNCHER 1";
    assert!(host.run(monkey).await.contains("Events injected: 1"));
    let pid = host.run("pidof com.workbench").await;
    let log = host.run("logcat -d -v brief ActivityTaskManager:I '*:S'").await;
    assert!(log.contains("START u0 {") && log.contains("Displayed com.workbench/.LoginActivity"), "{log}");
    host.run("am force-stop com.workbench").await;
    assert_eq!(phone.truth().activity, "com.android.launcher3/.uioverrides.QuickstepLauncher");
    let started = host.run("am start -W -a android.intent.action.MAIN -p com.workbench").await;
    assert!(started.contains("Status: ok"));
    assert_ne!(host.run("pidof com.workbench").await, pid, "a new process has a new pid");
    host.tap("text=\"Settings\"").await;
    host.tap("text=\"Use staging server\"").await;
    host.run("am force-stop com.workbench").await;
    assert!(!phone.truth().switches["staging"], "settings survive the process");
    assert_eq!(host.run("pm clear com.workbench").await, "Success\n");
    assert!(phone.truth().switches["staging"], "and not the data");
    let unknown = host.shell("monkey -p no.such -c android.intent.category.LAUNCHER 1").await;
    assert_eq!(unknown.code, Some(252));
    assert!(unknown.out.contains("** No activities found to run, monkey aborted."));
    assert_eq!(host.shell("pm clear no.such").await.out, "Failed\n");
    let missing = host.shell("pm path no.such").await;
    assert_eq!((missing.code, missing.out.as_str()), (Some(1), ""));
    let brief = host.run("cmd package resolve-activity --brief com.workbench").await;
    assert_eq!(brief.lines().last(), Some("com.workbench/.LoginActivity"));
}
