//! PyPI's pymobiledevice3, as a process of its own, in the tunnel of an iPhone of iOS 27. The virtual iPhone itself is the
//! phone.

use std::process::Command;

use crate::clients::{check, script};
use crate::iphone::{Face, IPhone};
use crate::process::{BINARY, part, run};

#[test]
fn pymobiledevice3_sees_and_touches_the_iphone() {
    let Some(python) = part("MDM_TEST_PYTHON", "pymobiledevice3") else { return };
    let phone = IPhone::start_with(&[Face::Usbmuxd], &["--ios-version", "27.0"]);
    let mut command = script(&python, "python/pymobiledevice3_session.py");
    command.arg(&phone.udid).env("USBMUXD_SOCKET_ADDRESS", phone.place(Face::Usbmuxd));
    let done = run(command.env("HOME", phone.folder.path())).ok();
    check("pymobiledevice3 11.45.0", &done, &[]);
}

/// WebDriverAgent is installed on the phone and does not run, before and after.
const RUNNER: &str = "com.facebook.WebDriverAgentRunner.xctrunner";

#[test]
fn pymobiledevice3_starts_web_driver_agent_through_xctest() {
    let Some(python) = part("MDM_TEST_PYTHON", "pymobiledevice3") else { return };
    for (version, way) in [("16.7", None), ("18.5", Some("--userspace"))] {
        let phone = IPhone::start_with(&[Face::Usbmuxd], &["--ios-version", version, "--wda-installed"]);
        let wda = |words: &[&str]| {
            let mut command = Command::new(&python);
            command.args(["-m", "pymobiledevice3", "developer", "wda"]).args(words).args(way);
            command.args(["--udid", &phone.udid]).env("HOME", phone.folder.path());
            run(command.env("USBMUXD_SOCKET_ADDRESS", phone.place(Face::Usbmuxd)))
        };
        let asleep = wda(&["status"]);
        assert!(!asleep.out().contains("ready to accept"), "{version}: {}", asleep.out());
        let status = wda(&["status", "--xctrunner", RUNNER]).ok();
        assert!(status.out().contains("WebDriverAgent is ready to accept commands"), "{}", status.out());
        let items = wda(&["list-items", "--xctrunner", RUNNER]).ok();
        assert!(items.out().contains("Workbench"), "{version}: {}", items.out());
        let asleep = wda(&["status"]);
        assert!(!asleep.out().contains("ready to accept"), "{version}: it ends with its session");
    }
}

#[test]
fn the_server_starts_web_driver_agent_and_ends_it() {
    for version in ["16.7", "18.5"] {
        let phone = IPhone::start_with(&[Face::Usbmuxd], &["--ios-version", version, "--wda-installed"]);
        let call = |tool: &str| {
            let mut command = Command::new(BINARY);
            command.args(["call", tool, "--no-adb-server", "--no-ios", "--usbmuxd"]);
            run(command.arg(phone.place(Face::Usbmuxd))).ok().out()
        };
        let asleep = "the first call that needs it starts it";
        assert!(call("list_devices").contains(asleep), "{version}");
        let tree = call("get_ui_tree");
        assert!(tree.contains("started WebDriverAgent, ") && tree.contains("Workbench"), "{version}: {tree}");
        assert!(call("list_devices").contains(asleep), "{version}: it ended with the server");
    }
}
