//! Our binary against the phone: over its own adb connection, and through the real adb server.

use std::process::Command;

use serde::Deserialize;

use crate::phone::{APP, Adb, Phone};
use crate::process::{BINARY, Done, Folder, part, run};

const TREE: &str = r#"{"platform":"android"}"#;

#[track_caller]
fn call(adb: &Adb, tool: &str, arguments: &str, options: &[&str]) -> Done {
    run(adb.environment(Command::new(BINARY).args(["call", tool, arguments]).args(options)))
}

with_both_adbs! {
    started:
    both_ways_to_the_phone_show_the_same_screen,
    a_tap_through_the_adb_server_arrives,
    an_unauthorized_phone_is_listed_and_never_counts,
}

fn started(variable: &str, case: &str, test: fn(&Adb)) {
    if let Some(program) = part(variable, case) {
        test(&Adb::start(program));
    }
}

/// The facts of a tree answer that do not depend on when it was taken.
#[derive(Debug, PartialEq, Deserialize)]
struct TreeFacts {
    device: String,
    screen: Option<String>,
    shown: usize,
    of: usize,
}

/// The first line is facts, the others are the outline.
fn tree(done: Done) -> (TreeFacts, String) {
    let text = done.ok().out();
    let (facts, outline) = text.split_once('\n').unwrap_or_else(|| panic!("no outline in {text}"));
    (serde_json::from_str(facts).unwrap_or_else(|e| panic!("{e} in {facts}")), outline.to_owned())
}

#[derive(Deserialize)]
struct DeviceList {
    devices: Vec<Device>,
}

#[derive(Debug, PartialEq, Deserialize)]
struct Device {
    id: String,
    state: String,
}

fn devices(done: Done) -> Vec<Device> {
    let text = done.ok().out();
    serde_json::from_str::<DeviceList>(&text).unwrap_or_else(|e| panic!("{e} in {text}")).devices
}

fn unauthorized(phone: &Phone) -> Device {
    Device { id: phone.address.clone(), state: "unauthorized".to_owned() }
}

#[derive(Deserialize)]
struct Refusal {
    error: RefusalBody,
}

#[derive(Deserialize)]
struct RefusalBody {
    code: String,
}

fn refusal(done: &Done) -> String {
    assert_eq!(done.code, Some(1), "{} {}", done.out(), done.err());
    let text = done.out();
    let first = text.lines().next().unwrap_or("");
    serde_json::from_str::<Refusal>(first).unwrap_or_else(|e| panic!("{e} in {text}")).error.code
}

fn both_ways_to_the_phone_show_the_same_screen(adb: &Adb) {
    let phone = Phone::start(&[]);
    adb.run(&["connect", &phone.address]).ok();
    adb.shell(&format!("am start -n {APP}/.LoginActivity"));
    let direct = tree(call(adb, "get_ui_tree", TREE, &["--no-adb-server", "--device", &phone.address]));
    phone.ran("uiautomator dump");
    let served = tree(call(adb, "get_ui_tree", TREE, &[]));
    phone.ran("uiautomator dump");
    assert!(direct.1.contains("Log in"), "{}", direct.1);
    assert_eq!(direct, served);
}

/// Actions through the real adb server reach the phone.
fn a_tap_through_the_adb_server_arrives(adb: &Adb) {
    let phone = Phone::start(&[]);
    adb.run(&["connect", &phone.address]).ok();
    call(adb, "start_app", &format!(r#"{{"platform":"android","appId":"{APP}"}}"#), &[]).ok();
    let with_points = r#"{"platform":"android","coordinates":true}"#;
    let (_, outline) = tree(call(adb, "get_ui_tree", with_points, &[]));
    let (x, y) = point_of(&outline, "Settings");
    call(adb, "tap", &format!(r#"{{"platform":"android","x":{x},"y":{y}}}"#), &[]).ok();
    phone.ran(&format!("input tap {x} {y}"));
    let (_, after) = tree(call(adb, "get_ui_tree", TREE, &[]));
    assert!(after.contains("Use staging server"), "{after}");
}

/// The outline says where to tap: `@x,y` on the element's line.
fn point_of(outline: &str, label: &str) -> (i32, i32) {
    let line = outline
        .lines()
        .find(|line| line.contains(label))
        .unwrap_or_else(|| panic!("no {label} in {outline}"));
    let point = line.split('@').nth(1).unwrap_or_else(|| panic!("no point in {line}"));
    let mut numbers = point.split(|c: char| !c.is_ascii_digit()).map(|n| n.parse().unwrap());
    (numbers.next().unwrap(), numbers.next().unwrap())
}

/// W28: an unauthorized phone is listed as unauthorized, and is never chosen.
fn an_unauthorized_phone_is_listed_and_never_counts(adb: &Adb) {
    let locked = Phone::start(&["--auth", "refuse"]);
    adb.run(&["connect", &locked.address]);
    assert!(adb.run(&["devices"]).ok().out().contains(&format!("{}\tunauthorized", locked.address)));
    assert_eq!(devices(call(adb, "list_devices", "{}", &[])), [unauthorized(&locked)]);
    assert_eq!(refusal(&call(adb, "get_ui_tree", TREE, &[])), "DEVICE_UNAUTHORIZED");

    let open = Phone::start(&[]);
    adb.run(&["connect", &open.address]).ok();
    let (facts, _) = tree(call(adb, "get_ui_tree", TREE, &[]));
    assert_eq!(facts.device, open.address);
    open.ran("uiautomator dump");
}

/// W28, without any adb server.
#[test]
fn an_unauthorized_phone_is_not_used_over_a_direct_connection() {
    let locked = Phone::start(&["--auth", "refuse"]);
    let home = Folder::new();
    let call = |tool: &str, arguments: &str| {
        let options = ["call", tool, arguments, "--no-adb-server", "--device", &locked.address];
        run(Command::new(BINARY).args(options).env("HOME", home.path()))
    };
    assert_eq!(devices(call("list_devices", "{}")), [unauthorized(&locked)]);
    assert_eq!(refusal(&call("get_ui_tree", TREE)), "DEVICE_UNAUTHORIZED");
}
