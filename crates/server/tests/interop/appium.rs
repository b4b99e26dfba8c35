//! Appium with its UiAutomator2 driver. The virtual phone itself plays the driver's server on the phone.

use std::path::PathBuf;

use crate::clients::{check, script};
use crate::phone::{Adb, Phone};
use crate::process::{free_port, part, run};

/// The driver needs a folder with `platform-tools/adb`, and nothing else of an SDK.
fn sdk(adb: &Adb) -> PathBuf {
    let sdk = adb.home.path().join("sdk");
    let tools = sdk.join("platform-tools");
    std::fs::create_dir_all(&tools).unwrap();
    std::os::unix::fs::symlink(adb.program(), tools.join("adb")).unwrap();
    sdk
}

#[test]
fn appium_drives_the_phone() {
    let Some(python) = part("MDM_TEST_PYTHON", "appium") else { return };
    let Some(program) = part("MDM_TEST_ADB36", "appium") else { return };
    let Some(node) = part("MDM_TEST_NODE_BIN", "appium") else { return };
    let Some(appium) = part("MDM_TEST_APPIUM", "appium") else { return };
    let Some(appium_home) = part("MDM_TEST_APPIUM_HOME", "appium") else { return };
    let phone = Phone::start(&[]);
    let adb = Adb::with(program, &phone);
    let mut command = script(&python, "python/appium_session.py");
    command.arg(node).arg(appium).arg(free_port().to_string()).arg(free_port().to_string());
    command.arg(&phone.address).arg(adb.home.path());
    command.env("ANDROID_HOME", sdk(&adb)).env("APPIUM_HOME", appium_home).env_remove("ANDROID_SDK_ROOT");
    let done = run(adb.environment(&mut command)).ok();
    check("Appium 3.8.0 + uiautomator2-driver 8.7.0", &done, &["two fingers"]);
    phone.ran("am instrument");
}
