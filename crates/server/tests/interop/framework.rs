//! Clients of others on the phone whose views are Android's own, as far as they need no program of theirs on the phone.

use std::path::{Path, PathBuf};

use crate::clients::{check, script};
use crate::phone::{Adb, Phone};
use crate::process::{part, run};

const APP: &str = "org.mdm.widgets";
/// The part of Appium that talks to adb.
const APPIUM_ADB: &str = "node_modules/appium-uiautomator2-driver/node_modules/appium-adb/build/lib/index.js";

fn start(home: &Path) -> Phone {
    let home = home.to_str().unwrap();
    Phone::start(&["--framework", "--api", "35", "--framework-home", home, "--app", "widgets"])
}

/// One test for both releases of adb, because each start of the framework takes seconds.
#[test]
fn both_adbs_drive_the_framework_phone() {
    let Some(home) = part("MDM_TEST_FRAMEWORK", "adb on the framework phone") else { return };
    let adbs: Option<Vec<PathBuf>> = ["MDM_TEST_ADB29", "MDM_TEST_ADB36"]
        .into_iter()
        .map(|variable| part(variable, "adb on the framework phone"))
        .collect();
    let Some(adbs) = adbs else { return };
    let phone = start(&home);
    for program in adbs {
        drive(&Adb::with(program, &phone));
    }
}

fn drive(adb: &Adb) {
    assert_eq!(adb.run(&["shell", "exit 7"]).code, Some(7));
    assert_eq!(adb.shell("getprop ro.build.version.sdk").trim(), "35");
    adb.run(&["logcat", "-c"]).ok();
    adb.shell(&format!("am force-stop {APP}; am start -n {APP}/.MainActivity"));
    let log = adb.run(&["logcat", "-d"]).ok().out();
    assert!(log.lines().any(|line| line.contains("START u0") && line.contains(APP)), "{log}");
    let (x, y) = wait_for(adb, "Toggle");
    adb.shell(&format!("input tap {x} {y}"));
    let (x, y) = wait_for(adb, "Box");
    assert!(!is_checked(adb, "Box"));
    adb.shell(&format!("input tap {x} {y}"));
    // A box is checked by the handler of its view, which may run after the command has ended.
    assert!((0..10).any(|_| is_checked(adb, "Box")), "{}", dump(adb));
    let png = adb.run(&["exec-out", "screencap", "-p"]).ok().stdout;
    assert_eq!(&png[..16], b"\x89PNG\r\n\x1a\n\0\0\0\x0dIHDR");
    assert_eq!(&png[png.len() - 12..], b"\0\0\0\0IEND\xaeB`\x82", "the picture is cut off");
    adb.shell("input keyevent BACK");
    wait_for(adb, "Toggle");
    let (sent, back) = (adb.home.path().join("sent"), adb.home.path().join("back"));
    std::fs::write(&sent, &png).unwrap();
    adb.run(&["push", sent.to_str().unwrap(), "/data/local/tmp/picture.png"]).ok();
    adb.run(&["pull", "/data/local/tmp/picture.png", back.to_str().unwrap()]).ok();
    assert!(std::fs::read(&back).unwrap() == png, "the file came back changed");
}

fn dump(adb: &Adb) -> String {
    adb.shell("rm -f /sdcard/t.xml; uiautomator dump /sdcard/t.xml >/dev/null && cat /sdcard/t.xml")
}

fn node(tree: &str, text: &str) -> Option<String> {
    tree.split("<node ").find(|node| node.contains(&format!("text=\"{text}\""))).map(str::to_owned)
}

fn is_checked(adb: &Adb, text: &str) -> bool {
    node(&dump(adb), text).is_some_and(|node| node.contains("checked=\"true\""))
}

/// Dumps until the text is there, and returns its middle. Each dump waits for a quiet screen.
#[track_caller]
fn wait_for(adb: &Adb, text: &str) -> (i32, i32) {
    for _ in 0..10 {
        if let Some(node) = node(&dump(adb), text) {
            let bounds = node.split("bounds=\"").nth(1).unwrap().split('"').next().unwrap();
            let edges: Vec<i32> =
                bounds.split(['[', ']', ',']).filter_map(|edge| edge.parse().ok()).collect();
            return ((edges[0] + edges[2]) / 2, (edges[1] + edges[3]) / 2);
        }
    }
    panic!("{text} never came: {}", dump(adb));
}

/// One test for two clients, for the same reason.
#[test]
fn adbutils_and_appium_adb_drive_the_framework_phone() {
    const NAME: &str = "adbutils and appium-adb on the framework phone";
    let Some(home) = part("MDM_TEST_FRAMEWORK", NAME) else { return };
    let Some(python) = part("MDM_TEST_PYTHON", NAME) else { return };
    let Some(program) = part("MDM_TEST_ADB36", NAME) else { return };
    let Some(node) = part("MDM_TEST_NODE_BIN", NAME) else { return };
    let Some(npm) = part("MDM_TEST_APPIUM_HOME", NAME) else { return };
    let phone = start(&home);
    let adb = Adb::with(program, &phone);
    let mut command = script(&python, "python/adbutils_framework.py");
    command.arg(&phone.address).arg(adb.home.path());
    let done = run(adb.environment(&mut command)).ok();
    check("adbutils 2.12.0, framework phone", &done, &[]);
    let mut command = script(&node, "interop/node/appium_adb.mjs");
    command.arg(npm.join(APPIUM_ADB)).arg(adb.program()).arg(&phone.address);
    let done = run(adb.environment(&mut command)).ok();
    check("appium-adb 16.0.5, framework phone", &done, &[]);
}
