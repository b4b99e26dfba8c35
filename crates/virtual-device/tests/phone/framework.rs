//! The phone whose views are Android's own, on a paused clock: what it dumps and does is judged by its views.

use std::io::Write as _;
use std::path::PathBuf;

use mdm_virtual_device::{FrameworkApp, FrameworkConfig, Phone, PhoneConfig, Timing, ViewTruth};
use tokio::time::Duration;

use crate::host::{Host, node};

const VARIABLE: &str = "MDM_TEST_FRAMEWORK";

/// The folder that `cargo xtask test` names. `None` has been reported as a skip.
fn home(test: &str) -> Option<PathBuf> {
    if let Some(path) = std::env::var_os(VARIABLE) {
        return Some(path.into());
    }
    skip(&format!("{test}: {VARIABLE} is not set, get it with: cargo xtask framework"));
    None
}

fn skip(why: &str) {
    let message = format!("skipped: {why}");
    assert!(!std::env::var("CI").is_ok_and(|value| value == "true"), "{message}");
    // Direct to stderr: the harness hides the output of a passing test.
    std::io::stderr().write_all(format!("{message}\n").as_bytes()).unwrap();
}

/// `None` without a Java that is new enough, which has been reported as a skip.
fn start(home: PathBuf, sdk: u32) -> Option<Phone> {
    let app = FrameworkApp::Builtin("widgets".to_owned());
    let framework = FrameworkConfig { home, app, sdk, log: None };
    let config = PhoneConfig { timing: Timing::Phone, ..PhoneConfig::default() };
    match Phone::with_framework(config, &framework) {
        Ok(phone) => Some(phone),
        Err(problem) if problem.contains("Java 21 or newer is needed") => {
            skip(&format!("API level {sdk}: {problem}"));
            None
        }
        Err(problem) => panic!("{problem}"),
    }
}

fn views(phone: &Phone) -> Vec<ViewTruth> {
    phone.truth().framework.unwrap().views
}

fn view(phone: &Phone, name: &str) -> ViewTruth {
    let found = views(phone).into_iter().find(|view| view.id.ends_with(&format!("/{name}")));
    found.unwrap_or_else(|| panic!("no view {name}"))
}

fn fact(view: &ViewTruth, name: &str) -> String {
    view.facts.iter().find(|(key, _)| key == name).unwrap().1.clone()
}

async fn page(host: &mut Host, name: &str) {
    host.shell(&format!("am start -n org.mdm.widgets/.{name}Activity")).await;
    tokio::time::sleep(Duration::from_secs(1)).await;
}

async fn tap(phone: &Phone, host: &mut Host, name: &str) {
    let (left, top, right, bottom) = view(phone, name).visible;
    host.shell(&format!("input tap {} {}", (left + right) / 2, (top + bottom) / 2)).await;
    tokio::time::sleep(Duration::from_millis(500)).await;
}

#[tokio::test(start_paused = true)]
async fn real_views_of_android_14_are_read_and_driven_over_adb() {
    read_and_driven(34, "14").await;
}

#[tokio::test(start_paused = true)]
async fn real_views_of_android_15_are_read_and_driven_over_adb() {
    read_and_driven(35, "15").await;
}

#[tokio::test(start_paused = true)]
async fn real_views_of_android_16_are_read_and_driven_over_adb() {
    read_and_driven(36, "16").await;
}

/// All in one, because each start of the framework takes seconds.
async fn read_and_driven(sdk: u32, release: &str) {
    let Some(home) = home("real_views_are_read_and_driven_over_adb") else { return };
    let Some(phone) = start(home, sdk) else { return };
    let mut host = Host::connect(&phone).await;
    let level = host.run("getprop ro.build.version.sdk; getprop ro.build.version.release").await;
    assert_eq!(level, format!("{sdk}\n{release}\n"));

    let tree = host.dump().await;
    assert!(
        tree.starts_with(
            "<?xml version='1.0' encoding='UTF-8' standalone='yes' ?><hierarchy rotation=\"0\">"
        )
    );
    assert!(node(&tree, "text=\"Toggle\"").is_some(), "{tree}");
    let resumed = host.run("dumpsys activity activities").await;
    assert!(resumed.contains("org.mdm.widgets/.MainActivity"), "{resumed}");

    toggles(&phone, &mut host).await;
    ranges(&phone, &mut host).await;
    drags(&phone, &mut host).await;
    fields(&phone, &mut host).await;
    dialogs(&phone, &mut host).await;
    glides(&phone, &mut host).await;
    carries(&phone, &mut host).await;
    speaks_german(&phone, &mut host).await;
    turned(&phone, &mut host).await;
    crash(&phone, &mut host).await;
}

async fn toggles(phone: &Phone, host: &mut Host) {
    page(host, "Toggle").await;
    let before = view(phone, "box");
    assert_eq!(before.checked, Some(false));
    tap(phone, host, "box").await;
    let after = view(phone, "box");
    assert_eq!((after.checked, after.number), (Some(true), before.number));
    tap(phone, host, "box_disabled").await;
    assert_eq!(view(phone, "box_disabled").checked, Some(true));
    tap(phone, host, "radio_c").await;
    assert_eq!((view(phone, "radio_b").checked, view(phone, "radio_c").checked), (Some(false), Some(true)));
    let tree = host.dump().await;
    assert!(node(&tree, "id/box\"").unwrap().contains("checked=\"true\""), "{tree}");
    let calls = phone.truth().framework.unwrap().listeners;
    assert!(calls.iter().any(|call| call.view == before.number && call.what == "click"), "{calls:?}");
}

async fn ranges(phone: &Phone, host: &mut Host) {
    page(host, "Range").await;
    let seek = view(phone, "seek");
    let (left, top, _, bottom) = seek.visible;
    let y = (top + bottom) / 2;
    host.shell(&format!("input swipe {} {y} {} {y} 400", left + 50, left + 600)).await;
    assert_eq!(fact(&view(phone, "seek"), "progress"), "55");
    assert_eq!(view(phone, "adjusted").text, "volume 55");
    let tree = host.dump().await;
    assert!(
        node(&tree, "id/seek\"").unwrap().contains("text=\"\""),
        "a dump has no value of a slider: {tree}"
    );
}

/// A command that drags ends when the finger is lifted.
async fn drags(phone: &Phone, host: &mut Host) {
    page(host, "Range").await;
    let (left, top, _, bottom) = view(phone, "seek").visible;
    let y = (top + bottom) / 2;
    host.shell(&format!("input draganddrop {} {y} {} {y} 400", left + 50, left + 600)).await;
    assert_eq!(fact(&view(phone, "seek"), "progress"), "55");
}

/// A card is picked up by a long press, and follows the finger.
async fn carries(phone: &Phone, host: &mut Host) {
    page(host, "Gesture").await;
    let middle = |view: ViewTruth| {
        let (left, top, right, bottom) = view.visible;
        ((left + right) / 2, (top + bottom) / 2)
    };
    let ((x, y), (bin_x, bin_y)) = (middle(view(phone, "card")), middle(view(phone, "bin")));
    host.shell(&format!("input swipe {x} {y} {bin_x} {bin_y} 300")).await;
    assert_eq!(view(phone, "dropped").text, "", "without a long press the card stays");
    host.shell(&format!("input draganddrop {x} {y} {bin_x} {bin_y} 400")).await;
    assert_eq!(view(phone, "dropped").text, "in the bin");
}

async fn speaks_german(phone: &Phone, host: &mut Host) {
    page(host, "Main").await;
    page(host, "Picker").await;
    let shows = |words: &str| views(phone).iter().any(|view| view.text.contains(words));
    assert!(shows("Mar 14") && !shows("14. März"));
    host.shell("cmd locale set-app-locales org.mdm.widgets --locales de-DE").await;
    tokio::time::sleep(Duration::from_secs(1)).await;
    assert!(shows("14. März") && !shows("Mar 14"), "dates are written in German");
    host.shell("input keyevent BACK").await;
    tokio::time::sleep(Duration::from_secs(1)).await;
    assert!(shows("Bedienelemente") && !shows("Widgets"), "the app's own words are German");
    host.shell("cmd locale set-app-locales org.mdm.widgets --locales en-US").await;
    tokio::time::sleep(Duration::from_secs(1)).await;
    assert!(shows("Widgets"));
}

async fn fields(phone: &Phone, host: &mut Host) {
    page(host, "Text").await;
    tap(phone, host, "empty").await;
    assert!(phone.truth().keyboard_shown);
    host.shell("input text 'Hello%s(World)'").await;
    assert_eq!(view(phone, "empty").text, "Hello (World)");
    assert_eq!(view(phone, "echo").text, "Hello (World)");
    host.shell("input keyevent DEL").await;
    assert_eq!(view(phone, "empty").text, "Hello (World");
    host.shell("input keyevent BACK").await;
    let truth = phone.truth();
    assert_eq!((truth.keyboard_shown, truth.activity.as_str()), (false, "org.mdm.widgets/.TextActivity"));
    host.shell("input keyevent BACK").await;
    assert_eq!(phone.truth().activity, "org.mdm.widgets/.RangeActivity");
}

async fn dialogs(phone: &Phone, host: &mut Host) {
    page(host, "Dialog").await;
    tap(phone, host, "alert").await;
    assert!(phone.truth().dialog_open);
    let tree = host.dump().await;
    assert!(
        node(&tree, "text=\"Delete the file?\"").is_some() && node(&tree, "text=\"Popup menu\"").is_none()
    );
    tap(phone, host, "button1").await;
    assert_eq!((view(phone, "result").text, phone.truth().dialog_open), ("yes".to_owned(), false));
    tap(phone, host, "toast").await;
    assert_eq!(phone.truth().toasts[0].text, "Saved");
}

async fn glides(phone: &Phone, host: &mut Host) {
    page(host, "Picker").await;
    host.shell("input swipe 30 2200 30 1400 100").await;
    let lifted = view(phone, "scroll").scroll.1;
    tokio::time::sleep(Duration::from_secs(3)).await;
    let rested = view(phone, "scroll").scroll.1;
    assert!(rested > lifted && lifted > 0, "the page glides on: {lifted} then {rested}");
}

async fn turned(phone: &Phone, host: &mut Host) {
    page(host, "Toggle").await;
    tap(phone, host, "switch_off").await;
    let before = view(phone, "switch_off").number;
    host.shell("settings put system user_rotation 1").await;
    tokio::time::sleep(Duration::from_secs(1)).await;
    let after = view(phone, "switch_off");
    assert_ne!(after.number, before, "the activity was made anew");
    assert_eq!((after.checked, after.visible.2), (Some(true), 2400));
    let tree = host.dump().await;
    assert!(tree.contains("<hierarchy rotation=\"1\">") && tree.contains("[0,0][2400,1080]"), "{tree}");
    host.shell("settings put system user_rotation 0").await;
    tokio::time::sleep(Duration::from_secs(1)).await;
}

async fn crash(phone: &Phone, host: &mut Host) {
    page(host, "Dialog").await;
    tap(phone, host, "crash").await;
    let log = host.run("logcat -d -b crash").await;
    assert!(log.contains("java.lang.IllegalStateException: asked to crash"), "{log}");
    assert!(log.contains("at org.mdm.widgets.DialogActivity."), "{log}");
    assert!(!phone.truth().activity.starts_with("org.mdm.widgets"), "the app is gone");
    page(host, "Toggle").await;
    assert_eq!(view(phone, "box").checked, Some(false));
}
